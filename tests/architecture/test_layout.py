"""The house rules that no linter knows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("junior_memory", "dashboard", "api")
MAX_LINES = 600
ALLOWED_TOP = {
    "manage.py", "pyproject.toml", "junior_memory", "dashboard", "api", "templates", "static",
    "tests", "README.md", "Makefile", "requirements.txt",
}  # fmt: skip
WRITERS = {"memories.py", "forgetting.py", "holding.py", "inventory.py"}
WRITING = {"create", "bulk_create", "update", "delete", "get_or_create", "update_or_create", "save"}


def sources(*packages: str) -> Iterator[Path]:
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def chain_of(node: ast.AST) -> list[str]:
    """Return the names of an attribute chain, calls skipped: Memory.objects.active → [...]."""
    names: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Name):
            names.append(node.id)
            return names[::-1]
        else:
            return names[::-1]


def chains(path: Path) -> Iterator[list[str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            yield chain_of(node)


@pytest.mark.parametrize(
    "path", list(sources(*PACKAGES, "tests")), ids=lambda p: str(p.relative_to(ROOT))
)
def test_file_stays_readable(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


def test_edges_reach_memories_only_through_visible_to() -> None:
    offences = []
    for path in sources("dashboard", "api"):
        for names in chains(path):
            if names[:2] == ["Memory", "objects"] and len(names) > 2:
                first = names[2]
                if first not in {"visible_to", "own", "decidable_by"}:
                    offences.append(f"{path.relative_to(ROOT)}: {'.'.join(names)}")
    assert not offences


def test_only_the_lifecycle_changes_memories() -> None:
    offences = []
    for path in sources(*PACKAGES):
        if path.name in WRITERS:
            continue
        offences += [
            f"{path.relative_to(ROOT)}: {'.'.join(names)}"
            for names in chains(path)
            if names[:1] == ["Memory"] and "objects" in names and names[-1] in WRITING
        ]
    assert not offences


def test_no_side_door_from_a_person_to_memories() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in sources(*PACKAGES))
    assert "memory_set" not in text
    models = (ROOT / "junior_memory/models/memory.py").read_text(encoding="utf-8")
    assert models.count("models.ForeignKey") == models.count('related_name="+"')


def test_only_the_demo_sets_the_clock() -> None:
    users = {
        path.name
        for path in sources(*PACKAGES)
        if re.search(r"\bclock\.at\(", path.read_text(encoding="utf-8"))
    }
    assert users == {"demo.py"}


def test_only_settings_reads_the_environment() -> None:
    readers = {
        str(path.relative_to(ROOT))
        for path in sources("junior_memory", "dashboard", "api")
        if re.search(r"os\.environ|os\.getenv", path.read_text(encoding="utf-8"))
    }
    # The reader itself, the entry points that name the settings, and the commands that start
    # other processes with the environment they were given.
    assert readers <= {
        "junior_memory/environment.py",
        "junior_memory/asgi.py",
        "junior_memory/wsgi.py",
        "junior_memory/management/commands/demo.py",
        "junior_memory/database/base.py",
        "junior_memory/database/embedded.py",
        "junior_memory/database/supervisor.py",
    }


def test_top_level_holds_nothing_else() -> None:
    present = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert present <= ALLOWED_TOP


def test_no_module_is_a_drawer() -> None:
    drawers = {"utils.py", "helpers.py", "services.py", "managers.py"}
    assert not [path for path in sources(*PACKAGES) if path.name in drawers]


@pytest.mark.parametrize(
    "template", sorted((ROOT / "templates").rglob("*.html")), ids=lambda p: p.name
)
def test_templates_hold_no_inline_style_or_script(template: Path) -> None:
    text = template.read_text(encoding="utf-8")
    assert not re.search(r"\sstyle=|<style|\son[a-z]+=|javascript:", text)
    for script in re.findall(r"<script\b[^>]*>", text):
        assert "src=" in script or 'type="application/json"' in script


@pytest.mark.parametrize(
    "template", sorted((ROOT / "templates").rglob("*.html")), ids=lambda p: p.name
)
def test_templates_never_walk_from_one_memory_to_another(template: Path) -> None:
    assert not re.search(r"\.superseded_by\.(content|kind)", template.read_text(encoding="utf-8"))


def test_every_setting_is_in_the_readme_and_the_example() -> None:
    settings = (ROOT / "junior_memory/settings.py").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    names = set(re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', settings))
    assert names
    assert not {name for name in names if name not in readme}
    assert not {name for name in names if name not in example}

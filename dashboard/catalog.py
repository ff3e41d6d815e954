"""The catalogs of translated strings: what is to be translated, and how a catalog is read and kept.

Needs none of gettext's own programs. A string counts when a template has it in `trans` or
`blocktrans`, or when Python passes it to a function of `MARKERS` as it stands.
"""

from __future__ import annotations

import ast
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.template import Template
from django.template.loader import get_template
from django.templatetags.i18n import BlockTranslateNode, TranslateNode

from junior_memory import errors
from junior_memory.errors import JuniorMemoryError

FOLDER = Path(__file__).resolve().parent / "locale"
MARKERS = frozenset(
    """_ gettext gettext_lazy gettext_noop ngettext ngettext_lazy say changed
    InvalidInput NotFound Forbidden Conflict Refused RateLimited QuotaExceeded
    ValidationError""".split()
)
"""Functions whose first text is translated, here or where it is shown."""
PLURALS = frozenset({"ngettext", "ngettext_lazy"})
HEADER = (
    "Language: {language}\nContent-Type: text/plain; charset=UTF-8\n"
    "Content-Transfer-Encoding: 8bit\nPlural-Forms: nplurals=2; plural=(n != 1);\n"
)


@dataclass(frozen=True, slots=True, order=True)
class Text:
    """A string in English; `many` where the number of things decides between two."""

    one: str
    many: str = ""


Catalog = dict[Text, tuple[str, ...]]
"""Each text with its translation: one, or one for each number; empty when there is none yet."""


def collect() -> set[Text]:
    """Return everything that is to be translated."""
    return {*_of_templates(), *_of_modules(), *_of_errors(JuniorMemoryError)}


def _of_errors(kind: type[JuniorMemoryError]) -> Iterator[Text]:
    """An error that is raised without words says the first line of its own description."""
    for one in kind.__subclasses__():
        if one.__module__ == errors.__name__:
            yield Text((one.__doc__ or "").splitlines()[0])
            yield from _of_errors(one)


def _of_templates() -> Iterator[Text]:
    folder = settings.BASE_DIR / "templates"
    for path in sorted(folder.rglob("*.*")):
        if path.suffix not in {".html", ".txt"}:
            continue
        template = get_template(str(path.relative_to(folder))).template  # type: ignore[attr-defined]
        yield from texts_of(template)


def texts_of(template: Template) -> Iterator[Text]:
    """Return what one template asks to be translated, as it is looked up."""
    for node in template.nodelist.get_nodes_by_type(TranslateNode):
        literal = getattr(node.filter_expression.var, "literal", None)  # type: ignore[attr-defined]
        if isinstance(literal, str):
            yield Text(str(literal).replace("%", "%%"))
    for node in template.nodelist.get_nodes_by_type(BlockTranslateNode):
        assert isinstance(node, BlockTranslateNode)  # noqa: S101
        one, _ = node.render_token_list(node.singular)
        many = node.render_token_list(node.plural)[0] if node.plural else ""
        yield Text(one, many)


def _of_modules() -> Iterator[Text]:
    for package in ("dashboard", "junior_memory"):
        for path in sorted((settings.BASE_DIR / package).rglob("*.py")):
            if not {"migrations", "demo", "commands", "providers"} & set(path.parts):
                yield from _of_module(path, all_calls=package == "dashboard")


def _of_module(path: Path, *, all_calls: bool) -> Iterator[Text]:
    """The domain translates nothing itself; what its errors say is translated where it is shown."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", "")
        if name not in MARKERS or not (all_calls or name[0].isupper()):
            continue
        said = [
            one.value
            for one in node.args
            if isinstance(one, ast.Constant) and isinstance(one.value, str)
        ]
        if name == "changed":
            said = said[1:]
        if said and said[0]:
            yield Text(said[0], said[1] if name in PLURALS else "")


def read_catalog(language: str) -> Catalog:
    """Read a `.po` file; an empty catalog when there is none."""
    path = _path(language, "po")
    found: Catalog = {}
    entry: dict[str, str] = {}
    key = ""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    for line in [*lines, ""]:
        if not line.strip():
            if entry.get("msgid"):
                text = Text(entry["msgid"], entry.get("msgid_plural", ""))
                found[text] = tuple(v for k, v in entry.items() if k.startswith("msgstr"))
            entry = {}
        elif line.startswith('"'):
            entry[key] += json.loads(line)
        elif not line.startswith("#"):
            key, _, value = line.partition(" ")
            entry[key] = json.loads(value)
    return found


def write_catalog(language: str, catalog: Catalog) -> None:
    """Write the `.po` file that people edit and the `.mo` file that is read at run time."""
    blocks = [_block("", HEADER.format(language=language))]
    for text, said in sorted(catalog.items()):
        if text.many:
            one, many = said if len(said) == 2 else ("", "")
            blocks.append(
                f"msgid {_quote(text.one)}\nmsgid_plural {_quote(text.many)}\n"
                f"msgstr[0] {_quote(one)}\nmsgstr[1] {_quote(many)}\n"
            )
        else:
            blocks.append(_block(text.one, said[0] if said else ""))
    path = _path(language, "po")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(blocks), encoding="utf-8")
    _path(language, "mo").write_bytes(compiled(language, catalog))


def compiled(language: str, catalog: Catalog) -> bytes:
    """Return a catalog in the binary form of GNU gettext, without what is not translated."""
    pairs = {"": HEADER.format(language=language)}
    for text, said in catalog.items():
        if said and all(said):
            key = f"{text.one}\0{text.many}" if text.many else text.one
            pairs[key] = "\0".join(said)
    items = sorted((key.encode(), value.encode()) for key, value in pairs.items())
    count = len(items)
    start = 28 + 16 * count
    keys, values, body = b"", b"", b""
    for key_or_value in (0, 1):
        for item in items:
            piece = item[key_or_value]
            place = struct.pack("<II", len(piece), start + len(body))
            keys, values = (keys, values + place) if key_or_value else (keys + place, values)
            body += piece + b"\0"
    header = struct.pack("<7I", 0x950412DE, 0, count, 28, 28 + 8 * count, 0, start)
    return header + keys + values + body


def is_current(language: str) -> bool:
    """True when the `.mo` file is what the `.po` file compiles to."""
    path = _path(language, "mo")
    return path.is_file() and path.read_bytes() == compiled(language, read_catalog(language))


def _path(language: str, kind: str) -> Path:
    return FOLDER / language / "LC_MESSAGES" / f"django.{kind}"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _block(text: str, said: str) -> str:
    return f"msgid {_quote(text)}\nmsgstr {_quote(said)}\n"

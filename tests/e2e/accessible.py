"""Whether a page can be read: by axe-core, on a narrow screen, with large text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, ViewportSize

AXE = Path(__file__).parent / "node_modules/axe-core/axe.min.js"
needs_axe = pytest.mark.skipif(
    not AXE.exists(), reason="axe-core is not installed: npm ci --prefix tests/e2e"
)

OPEN_EVERYTHING = "document.querySelectorAll('details').forEach(one => { one.open = true })"
SETTLED = """Promise.all(document.getAnimations()
  .filter(one => one.animationName !== 'countdown')
  .filter(one => one.effect.getComputedTiming().endTime < Infinity).map(one => one.finished))"""
"""What fades in is looked at once it is there: half of a colour is no colour that anybody reads.

A toast is looked at while it counts down, not once it is gone.
"""

NARROW: ViewportSize = {"width": 360, "height": 740}

OVER = "document.documentElement.scrollWidth - innerWidth"

ENLARGE = "size => { document.documentElement.style.fontSize = size }"

CHECK = "axe.run(document, {resultTypes: ['violations']}).then(found => found.violations)"


def objections(page: Page) -> list[str]:
    """Return what axe-core objects to on a page, every part of it opened."""
    page.evaluate(OPEN_EVERYTHING)
    page.evaluate(SETTLED)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate(CHECK)
    return [f"{one['id']} {one['nodes'][0]['html'][:200]}" for one in found]


def too_wide(page: Page, pages: dict[str, str], *sizes: str) -> dict[str, int]:
    """Return by how many pixels pages scroll sideways, with text of these sizes."""
    wide = {}
    for name, path in pages.items():
        page.goto(path)
        page.evaluate(OPEN_EVERYTHING)
        for size in sizes:
            page.evaluate(ENLARGE, size)
            over = page.evaluate(OVER)
            if over > 0:
                wide[f"{name}, {size}"] = over
    return wide

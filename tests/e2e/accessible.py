"""Whether a page can be read: by axe-core, on a narrow screen, with large text."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

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
BROAD: ViewportSize = {"width": 1280, "height": 740}

THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")

OVER = "document.documentElement.scrollWidth - innerWidth"

ENLARGE = "size => { document.documentElement.style.fontSize = size }"

CHECK = "axe.run(document, {resultTypes: ['violations']}).then(found => found.violations)"


def objections(page: Page) -> list[str]:
    """Return what axe-core objects to on a page in either theme, every part of it opened."""
    page.evaluate(OPEN_EVERYTHING)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    said = []
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        page.evaluate(SETTLED)
        found: list[dict[str, Any]] = page.evaluate(CHECK)
        said += [f"{theme}: {one['id']} {one['nodes'][0]['html'][:200]}" for one in found]
    return said


def too_wide(page: Page) -> dict[str, int]:
    """Return by how many pixels a page scrolls sideways, by width and size of its text."""
    page.evaluate(OPEN_EVERYTHING)
    wide = {}
    for width in (NARROW, BROAD):
        page.set_viewport_size(width)
        for size in ("100%", "200%"):
            page.evaluate(ENLARGE, size)
            over = page.evaluate(OVER)
            if over > 0:
                wide[f"{width['width']} px, {size}"] = over
    return wide

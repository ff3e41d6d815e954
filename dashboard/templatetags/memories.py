"""Tags and filters by which templates draw memories."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from django import template
from django.utils.formats import date_format
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from dashboard import report_words, words
from junior_memory import clock
from junior_memory.models import Memory, MemoryKind
from junior_memory.reports import Metric

register = template.Library()

CODE = re.compile(r"`([^`]+)`")


@register.filter
def visibility_name(memory: Memory) -> str:
    """Name who sees a memory; a team by its own name."""
    return words.visibility_name(memory)


@register.filter
def kind_name(kind: str) -> str:
    """Name what sort of fact it is."""
    return _(str(MemoryKind(kind).label))


@register.filter
def day(moment: datetime) -> SafeString:
    """Draw a moment as its day, with the exact time for whoever asks."""
    return _time(moment, words.day(moment, now=clock.now()))


@register.filter
def moment(at: datetime) -> SafeString:
    """Draw a moment as day and time."""
    return _time(at, date_format(localtime(at), _("j M Y, H:i")))


def _time(at: datetime, text: str) -> SafeString:
    local = localtime(at)
    return format_html(
        '<time datetime="{}" title="{} {}">{}</time>',
        local.isoformat(timespec="seconds"),
        date_format(local, _("j F Y, H:i")),
        local.tzname(),
        text,
    )


@register.simple_tag
def fact(content: str, spans: Iterable[tuple[int, int]] = ()) -> SafeString:
    """Draw the text of a memory: what matched is marked, what stands in backticks is code.

    `spans` are character ranges of the content; those that overlap or lie outside are left out.
    Everything is escaped piece by piece.
    """
    pieces: list[str] = []
    at = 0
    for start, end in sorted(spans):
        if start < at or end > len(content) or start >= end:
            continue
        pieces.append(escape(content[at:start]))
        pieces.append(f"<mark>{escape(content[start:end])}</mark>")
        at = end
    pieces.append(escape(content[at:]))
    return mark_safe(CODE.sub(_code, "".join(pieces)))  # noqa: S308


def _code(found: re.Match[str]) -> str:
    """Draw what stands in backticks as code, unless a mark begins outside and ends inside."""
    inside = found.group(1)
    if inside.count("<mark>") != inside.count("</mark>"):
        return found.group(0)
    return f"<code>{inside}</code>"


@register.filter
def spelled(code: str) -> str:
    """Put a code into words: its own without underscores, in the reader's language where known."""
    return _(code.replace("_", " "))


@register.filter
def why_not_learned(code: str) -> str:
    """Say why a session failed or was skipped."""
    return report_words.why_not_learned(code)


@register.filter
def figure_name(metric: Metric) -> str:
    """Name a figure of the operational report."""
    return report_words.figure_name(metric)


@register.filter
def figure_value(metric: Metric) -> str:
    """Write a figure of the operational report."""
    return report_words.figure_value(metric)


@register.filter
def each_spelled(codes: Iterable[str]) -> str:
    """Put codes into words, one after the other."""
    return ", ".join(spelled(code) for code in codes)


@register.filter
def refused_line(code: str) -> str:
    """Say why a line of an import was left out."""
    return words.refused_line(code)


@register.filter
def found_by(leg: str) -> str:
    """Say what found a memory when it was recalled."""
    return words.found_by(leg)

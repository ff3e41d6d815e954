"""Tags and filters by which templates draw memories."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from urllib.parse import urlencode

from django import template
from django.template.base import Node, NodeList, Parser, Token
from django.template.context import Context
from django.utils.formats import date_format
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from dashboard import amounts, report_words, words
from junior_memory import clock
from junior_memory.models import Memory, MemoryKind

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
def number(count: int) -> str:
    """Write a whole number as the reader groups it."""
    return amounts.number(count)


@register.filter
def percent(share: int) -> str:
    """Write a share of 100 as the reader does."""
    return amounts.percent(share)


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


LONGEST_WAY_BACK = 120


@register.filter
def way_back(here: str) -> str:
    """Write the query that leads back to a list; none to a long one, which every row would hold."""
    return f"?{urlencode({'next': here})}" if here and len(here) <= LONGEST_WAY_BACK else ""


INDENTED = re.compile(r"\n\s+")


@register.tag
def compact(parser: Parser, _token: Token) -> Node:
    """Send what stands in between without its indentation: `{% compact %}…{% endcompact %}`."""
    nodes = parser.parse(("endcompact",))
    parser.delete_first_token()
    return CompactNode(nodes)


class CompactNode(Node):
    """Lines of a template, each beginning at its margin."""

    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist

    def render(self, context: Context) -> SafeString:
        """Render what stands in between; texts of memories hold no line breaks."""
        return mark_safe(INDENTED.sub("\n", self.nodelist.render(context)))  # noqa: S308


EXCERPT = 320
"""Bytes of HTML that a list spends on one text: more than its lines show, and few for a page."""

MARK = len("<mark></mark>")
ESCAPED = {letter: len(escape(letter)) for letter in "&<>\"'"}


@register.simple_tag
def fact(content: str, spans: Iterable[tuple[int, int]] = ()) -> SafeString:
    """Draw the text of a memory: what matched is marked, what stands in backticks is code.

    `spans` are character ranges of the content; those that overlap or lie outside are left out.
    Everything is escaped piece by piece.
    """
    return _drawn(content, spans, 0, len(content))


@register.simple_tag
def fact_in_brief(content: str, spans: Iterable[tuple[int, int]] = ()) -> SafeString:
    """Draw as much of a text as a list has room for, from where something matched in it."""
    places = sorted(spans)
    if len(escape(content).encode()) + len(places) * MARK <= EXCERPT:
        return _drawn(content, places, 0, len(content))
    begin, end = 0, _end_of_room(content, places, 0)
    if places and places[0][0] >= end:
        begin = max(0, content.rfind(" ", 0, max(0, places[0][0] - 40)) + 1)
        end = _end_of_room(content, places, begin)
    return _drawn(content, places, begin, end)


def _end_of_room(content: str, places: list[tuple[int, int]], begin: int) -> int:
    """Return where a text has to end that begins there, after a whole word where there is one."""
    marked = {start for start, _ in places}
    room = EXCERPT
    for at in range(begin, len(content)):
        letter = content[at]
        room -= ESCAPED.get(letter) or len(letter.encode())
        room -= MARK if at in marked else 0
        if room < 0:
            space = content.rfind(" ", max(begin + 1, at - 30), at)
            return space if space > 0 else at
    return len(content)


def _drawn(content: str, spans: Iterable[tuple[int, int]], begin: int, end: int) -> SafeString:
    pieces: list[str] = ["… "] if begin else []
    at = begin
    for first, last in sorted(spans):
        if first < at or last > end or first >= last:
            continue
        pieces.append(escape(content[at:first]))
        pieces.append(f"<mark>{escape(content[first:last])}</mark>")
        at = last
    pieces.append(escape(content[at:end]))
    if end < len(content):
        pieces.append(" …")
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

"""Numbers, shares and money as the reader's language writes them.

How an amount is rounded is decided once, by the report; here only its signs are put where the
reader expects them: `$1,234.56` and `99%` in English, `1.234,56 $` and `99 %` in German.
"""

from __future__ import annotations

import re
from decimal import Decimal

from django.utils.formats import get_format, number_format
from django.utils.translation import gettext as _

from junior_memory.reports import format_usd

REPORTED = re.compile(r"(?P<less><?)(?P<usd>\$?)(?P<figures>[\d,]+(?:\.\d+)?)(?P<share>%?)")
"""An amount as reports write it, for programs as for people: in English."""


def number(count: int) -> str:
    """Write a whole number as the reader groups it."""
    return str(number_format(count, force_grouping=True))


def decimal(value: float | Decimal, places: int) -> str:
    """Write a number with so many places after its point or comma."""
    return _signs(f"{value:,.{places}f}")


def percent(share: float | str) -> str:
    """Write a share of 100; a text is one already, such as `+12`."""
    figures = share if isinstance(share, str) else f"{share:.4g}"
    return _("{n}%").format(n=_signs(figures))


def usd(amount: Decimal | None) -> str:
    """Write an amount of money as the reports round it."""
    return _("unknown") if amount is None else as_read(format_usd(amount))


def exact_usd(amount: Decimal | None) -> str:
    """Write an amount to its last digit, at least two: what a sum of many adds up from."""
    if amount is None:
        return _("unknown")
    whole, _point, rest = f"{amount:f}".partition(".")
    return as_read(f"${int(whole):,}.{rest.rstrip('0').ljust(2, '0')}")


def as_read(reported: str) -> str:
    """Write what a report says in figures as the reader does; words stay as they are."""
    found = REPORTED.fullmatch(reported)
    if found is None:
        return reported
    figures = found["figures"]
    if figures.isdecimal():
        figures = f"{int(figures):,}"
    written = _signs(figures)
    if found["usd"]:
        written = _("${amount}").format(amount=written)
    if found["share"]:
        written = _("{n}%").format(n=written)
    return f"{found['less']}{written}"


def _signs(figures: str) -> str:
    """Exchange the signs of English figures for the reader's."""
    signs = {",": get_format("THOUSAND_SEPARATOR"), ".": get_format("DECIMAL_SEPARATOR")}
    return "".join(str(signs.get(letter, letter)) for letter in figures)

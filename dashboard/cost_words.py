"""What costs are called on pages: purposes, operations, outcomes and amounts."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from dashboard.amounts import number, usd
from junior_memory import paid_calls, spending
from junior_memory.providers.base import OPEN
from junior_memory.spending import Share, Total

PURPOSES = {
    paid_calls.EXTRACTION: gettext_noop("Extraction"),
    paid_calls.RECALL: gettext_noop("Recall"),
    paid_calls.REVIEW: gettext_noop("Review on request"),
    paid_calls.UPKEEP: gettext_noop("Upkeep"),
    paid_calls.NOTHING: gettext_noop("Bought nothing"),
}
OPERATIONS = {
    "extraction": gettext_noop("Extraction"),
    "review": gettext_noop("Review"),
    "adjudication": gettext_noop("Adjudication"),
    "relevance": gettext_noop("Relevance"),
    "embed": gettext_noop("Embedding"),
    "check": gettext_noop("Connection check"),
    spending.OTHER: gettext_noop("Everything else"),
    paid_calls.NOTHING: gettext_noop("Bought nothing"),
}
OUTCOMES = {
    paid_calls.UNUSED: gettext_noop("Answered for nothing"),
    OPEN: gettext_noop("No answer noted"),
    "timeout": gettext_noop("Too late"),
    "failed": gettext_noop("Connection lost"),
    "rate_limited": gettext_noop("Too many requests"),
    "no_quota": gettext_noop("No credit left"),
    "truncated": gettext_noop("Cut off"),
    "refused": gettext_noop("Declined to answer"),
    "empty": gettext_noop("Empty"),
    "invalid": gettext_noop("Not readable"),
    "too_many": gettext_noop("More than asked for"),
    "too_long": gettext_noop("Prompt too long"),
    "form_refused": gettext_noop("Asked in a form it does not know"),
    "paused": gettext_noop("Left alone after hanging"),
    "unusable": gettext_noop("Not configured"),
    "http_401": gettext_noop("Key not accepted"),
    "http_403": gettext_noop("Not allowed"),
    "http_404": gettext_noop("No such model or address"),
}


def purpose_name(name: str) -> str:
    """Name what money was for."""
    return _(PURPOSES[name])


def operation_name(name: str) -> str:
    """Name an operation as people read it."""
    return _(OPERATIONS[name]) if name in OPERATIONS else name.replace("_", " ").capitalize()


def outcome_name(name: str) -> str:
    """Say in words how a call came out that was of no use."""
    if name.startswith("http_") and name not in OUTCOMES:
        return _("Refused with {status}").format(status=name.removeprefix("http_"))
    return _(OUTCOMES[name]) if name in OUTCOMES else name.replace("_", " ").capitalize()


def answer_name(outcome: str) -> str:
    """Say in words how a call came out, good or not."""
    return _("Answered") if outcome == paid_calls.GOOD else outcome_name(outcome)


def cost_of(share: Share | Total) -> str:
    """Write a share's cost; what has no known price is said, not guessed."""
    if share.unknown == share.calls:
        return _("price unknown")
    rest = _(" + {n} unpriced").format(n=number(share.unknown)) if share.unknown else ""
    return usd(share.cost_usd) + rest

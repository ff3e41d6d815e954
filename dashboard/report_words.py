"""The operational report in words: its figures, why nothing was learned, and what was tested."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from dashboard.amounts import as_read, number
from dashboard.behind import CallsAsked, ChangesAsked, PresentAsked, Stretch
from dashboard.cost_words import OUTCOMES, outcome_name
from junior_memory import turnover
from junior_memory.paid_calls import EXTRACTION
from junior_memory.reports import Metric, OperationalReport

FIGURES = {
    "active": gettext_noop("Active memories"),
    "extractionCost30d": gettext_noop("Extraction cost, 30 days"),
    "created30d": gettext_noop("Created, 30 days"),
    "private": gettext_noop("Private"),
    "org": gettext_noop("Team"),
    "public": gettext_noop("Public"),
    "embeddingCoverage": gettext_noop("Embedding coverage"),
}

REASONS = {
    "attempts_exhausted": gettext_noop("gave up after its last attempt"),
    "truncated": gettext_noop("the model’s answer was cut off"),
    "expired": gettext_noop("waited in the queue for too long"),
    "timeout": gettext_noop("the model did not answer in time"),
    "rate_limited": gettext_noop("the model took no more questions"),
    "refused": gettext_noop("the model refused"),
    "invalid": gettext_noop("the model’s answers could not be read"),
    "no_budget": gettext_noop("no money was left"),
    "budget_reached": gettext_noop("no money was left"),
    "local_source": gettext_noop("from a local source"),
    "memory_mode": gettext_noop("the conversation turned learning off"),
    "learning_off": gettext_noop("learning was turned off"),
    "no_consent": gettext_noop("there was no consent"),
    "no_stable_key": gettext_noop("its place has no key"),
    "system_only": gettext_noop("no person took part"),
    "memory_tool_used": gettext_noop("the assistant remembered by itself"),
    "no_text": gettext_noop("nobody said anything"),
    "no_linked_user": gettext_noop("its person has not linked an account"),
    "not_a_member": gettext_noop("its person is not in the team"),
    "forgotten_all": gettext_noop("its person forgot everything meanwhile"),
}

TESTED = (
    gettext_noop("list"),
    gettext_noop("one by one"),
    gettext_noop("search"),
    gettext_noop("counts"),
    gettext_noop("recall"),
    gettext_noop("export"),
    gettext_noop("conversation"),
    gettext_noop("chat widget"),
    gettext_noop("held"),
    gettext_noop("never again, conflicts"),
    gettext_noop("conflicts"),
    gettext_noop("first page of the list"),
    gettext_noop("history"),
    gettext_noop("list of expired"),
    gettext_noop("list of forgotten"),
    gettext_noop("list of held"),
    gettext_noop("never again"),
    gettext_noop("on one page"),
    gettext_noop("read with a reason"),
    gettext_noop("search in expired"),
    gettext_noop("search in held"),
    gettext_noop("where it was used"),
    gettext_noop("may be forgotten"),
    gettext_noop("what calls cost"),
    gettext_noop("what a budget paid"),
    gettext_noop("costs"),
    gettext_noop("report"),
    gettext_noop("events"),
    gettext_noop("what came or went"),
    gettext_noop("what is there now"),
    gettext_noop("staff"),
    gettext_noop("the first person"),
    gettext_noop("the second person"),
    gettext_noop("nobody at all"),
)
"""Ways of reading and who asks, as the self-test names them; a host's names are its own."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of the report in words, and where it leads."""

    name: str
    text: str
    url: str = ""
    tone: str = ""


def figures_of(report: OperationalReport) -> list[Figure]:
    """Return the numbers of a report, each with the list that it counts."""
    month = Stretch(days=30, until=report.generated_at)
    behind = {
        "active": PresentAsked().url(),
        "private": PresentAsked(part=turnover.PRIVATE).url(),
        "org": PresentAsked(part=turnover.ORG).url(),
        "public": PresentAsked(part=turnover.PUBLIC).url(),
        "embeddingCoverage": PresentAsked(part=turnover.EMBEDDED).url(),
        "created30d": ChangesAsked(stretch=month).url(),
        "extractionCost30d": CallsAsked(stretch=month, purpose=EXTRACTION).url(),
    }
    held = PresentAsked(part=turnover.HELD).url()
    found = [
        Figure(figure_name(one), figure_value(one), behind.get(one.key, ""), one.tone)
        for one in report.metrics
    ]
    found.append(Figure(_("Held for a person’s word"), number(report.held), held))
    for reason, times in report.skipped.items():
        name = _("Sessions skipped: {reason}").format(reason=why_not_learned(reason))
        found.append(Figure(name, number(times)))
    return found


def figure_name(metric: Metric) -> str:
    """Name a figure of the report."""
    return _(FIGURES.get(metric.key, metric.label))


def figure_value(metric: Metric) -> str:
    """Write a figure."""
    return as_read(metric.value)


def why_not_learned(code: str) -> str:
    """Say why a session failed or was skipped; a model's failure as the overview calls it."""
    plain = code.removeprefix("model_")
    if plain in REASONS:
        return _(REASONS[plain])
    if plain in OUTCOMES or plain.startswith("http_"):
        return outcome_name(plain)
    return code.replace("_", " ")

"""The system page, ready to draw: what needs attention first, then each part by itself.

Numbers, names of models and agents, and codes; no memory. Nothing is asked before it is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.db.models import Count, Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from dashboard.amounts import number, percent, usd
from dashboard.cost_words import OPERATIONS, outcome_name
from dashboard.report_words import Figure, figures_of
from junior_memory import (
    admin_reads,
    budgets,
    embedder_health,
    embedding_models,
    moderation,
    reports,
    tallies,
)
from junior_memory.access import Viewer, person
from junior_memory.budgets import DAY, Budget
from junior_memory.conf import conf
from junior_memory.model_health import ChatCheck
from junior_memory.models import AdminRead, Agent, EmbeddingModel, Memory, User
from junior_memory.providers.registry import chat_model_fault, chat_model_in_use
from junior_memory.reports import OperationalReport, QueueState

QUIET_WORKER = timedelta(minutes=2)
"""Without a heartbeat for so long, no worker is at work."""

LONG_WAIT = timedelta(minutes=15)

FAILING_SHOWN = 20

NEAR = 80
"""Percent of a budget from which its line warns."""

SWITCHED_HERE = 20_000
"""Memories up to which a page may switch models; beyond, building the index takes too long."""


@dataclass(frozen=True, slots=True)
class Concern:
    """One thing that needs attention, and where on the page it is."""

    text: str
    url: str
    tone: str = "danger"


@dataclass(frozen=True, slots=True)
class Standing:
    """One budget in words."""

    name: str
    text: str
    percent: int
    tone: str


@dataclass(frozen=True, slots=True)
class Embedding:
    """One model of vectors: what it is for and how far it is."""

    model: EmbeddingModel
    state: str
    done: int
    total: int
    may_switch: bool
    command: str

    @property
    def percent(self) -> int:
        """How much of what is remembered has its vectors, never rounded up to all."""
        return 100 * self.done // self.total if self.total else 100

    @property
    def is_complete(self) -> bool:
        """True when nothing is missing."""
        return self.done >= self.total


@dataclass(frozen=True, slots=True)
class Failing:
    """Calls of one sort that came to nothing lately."""

    what: str
    model: str
    reason: str
    times: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Checked:
    """How the chat model answered just now, in words."""

    text: str
    ok: bool


@dataclass(frozen=True, slots=True)
class AgentLine:
    """One agent with its options in words, and its budgets."""

    agent: Agent
    does: str
    tokens: int
    budgets: tuple[Standing, ...]
    url: str


class System:
    """The page's parts."""

    def __init__(self, user: User, *, now: datetime) -> None:
        self.user = user
        self.now = now
        self.viewer: Viewer = person(user)

    @cached_property
    def report(self) -> OperationalReport:
        """Counts and cost."""
        return reports.operational_report(now=self.now)

    @property
    def queue(self) -> QueueState:
        """How far learning has come."""
        return self.report.queue

    @cached_property
    def concerns(self) -> list[Concern]:
        """What needs attention, the worst first; empty when all is well."""
        found = [*self._of_learning(), *self._of_models(), *self._of_people()]
        return sorted(found, key=lambda concern: concern.tone != "danger")

    def _of_learning(self) -> Iterator[Concern]:
        queue = self.queue
        seen = queue.worker_seen_at
        if seen is None or self.now - seen > QUIET_WORKER:
            said = _("No worker is at work: nothing is learned, embedded or erased.")
            yield Concern(said, "#queue")
        if queue.oldest_queued_at and self.now - queue.oldest_queued_at > LONG_WAIT:
            said = ngettext(
                "{n} session waits to be learned from.",
                "{n} sessions wait to be learned from.",
                queue.queued,
            )
            yield Concern(said.format(n=number(queue.queued)), "#queue", "warn")
        if queue.failed:
            said = ngettext(
                "{n} session could not be learned from.",
                "{n} sessions could not be learned from.",
                queue.failed,
            )
            yield Concern(said.format(n=number(queue.failed)), "#failures", "warn")

    def _of_models(self) -> Iterator[Concern]:
        if self.chat_fault:
            yield Concern(self.chat_fault + ".", "#models")
        if self.embedder_fault:
            yield Concern(self.embedder_fault.text, "#models")
        for budget in self.reached:
            yield Concern(sentence_of(budget), "#budgets")
        calls = sum(row.calls for row in self.report.failing)
        if calls:
            said = ngettext(
                "{n} call of models came to nothing in 24 hours.",
                "{n} calls of models came to nothing in 24 hours.",
                calls,
            )
            yield Concern(said.format(n=number(calls)), "#failing", "warn")

    def _of_people(self) -> Iterator[Concern]:
        if self.held_public:
            said = ngettext(
                "{n} public fact waits for staff to decide.",
                "{n} public facts wait for staff to decide.",
                self.held_public,
            ).format(n=number(self.held_public))
            yield Concern(said, reverse("inbox") + "#public", "warn")

    # Models.

    @cached_property
    def chat_model(self) -> str:
        """The model that answers in words, or nothing."""
        model = chat_model_in_use()
        return f"{model.provider}:{model.model}" if model else ""

    @cached_property
    def chat_fault(self) -> str:
        """Why it cannot be asked, by the settings alone."""
        return chat_model_fault()

    @cached_property
    def embedder_fault(self) -> embedder_health.Fault | None:
        """What does not fit between the settings, the embedder and the vectors."""
        return embedder_health.fault()

    @cached_property
    def embeddings(self) -> list[Embedding]:
        """Every model whose vectors are kept, the one in use first."""
        order = {state: place for place, state in enumerate(EmbeddingModel.State.values)}
        rows = sorted(EmbeddingModel.objects.all(), key=lambda row: (order[row.state], row.pk))
        return [self._embedding(model) for model in rows]

    def _embedding(self, model: EmbeddingModel) -> Embedding:
        done, total = tallies.coverage(model.pk, self.now)
        name = embedding_models.name_of(model)
        is_used = model.state == EmbeddingModel.State.IN_USE
        is_whole = done >= total
        command = f"manage.py reembed --to {name}"
        if model.state == EmbeddingModel.State.PREVIOUS:
            command = "manage.py reembed --rollback"
        elif is_whole:
            command += " --switch"
        return Embedding(
            model=model,
            state=_(str(model.get_state_display())),
            done=done,
            total=total,
            may_switch=not is_used and is_whole and total <= SWITCHED_HERE,
            command="" if is_used and is_whole else command,
        )

    @cached_property
    def failing(self) -> list[Failing]:
        """Calls that came to nothing in the last day, the most frequent first."""
        return [
            Failing(
                what=_(OPERATIONS.get(row.operation, row.operation)),
                model=row.model,
                reason=outcome_name(row.reason),
                times=row.calls,
                last_at=row.last_at,
            )
            for row in self.report.failing[:FAILING_SHOWN]
        ]

    # Money.

    @cached_property
    def _standing(self) -> tuple[Budget, ...]:
        return budgets.all_standing(now=self.now)

    @property
    def reached(self) -> list[Budget]:
        """Budgets that are used up."""
        return [one for one in self._standing if one.is_reached]

    @property
    def budgets(self) -> list[Standing]:
        """The deployment's budgets."""
        return [standing_of(one) for one in self._standing if not one.agent]

    @property
    def over_budget(self) -> str:
        """What learning does without money."""
        return str(OVER_BUDGET[conf().over_budget])

    # Agents.

    @cached_property
    def agents(self) -> list[AgentLine]:
        """Every agent with its options."""
        alive = Q(tokens__revoked_at__isnull=True) & (
            Q(tokens__expires_at__isnull=True) | Q(tokens__expires_at__gt=self.now)
        )
        rows = Agent.objects.annotate(alive=Count("tokens", filter=alive)).order_by("name")[:200]
        return [self._agent(agent) for agent in rows]

    def _agent(self, agent: Any) -> AgentLine:
        own = [one for one in self._standing if one.agent == agent.name]
        return AgentLine(
            agent=agent,
            does=_does(agent),
            tokens=agent.alive,
            budgets=tuple(standing_of(one) for one in own),
            url=reverse("admin:junior_memory_agent_change", args=[agent.pk]),
        )

    # People.

    @cached_property
    def held_public(self) -> int:
        """Public facts that wait for staff."""
        rows = Memory.objects.visible_to(self.viewer).decidable_by(self.viewer).held()
        return rows.filter(visibility="public").count()

    @property
    def figures(self) -> list[Figure]:
        """The numbers of the report, each with the list behind it."""
        return figures_of(self.report)

    @cached_property
    def removed(self) -> int:
        """Public memories that staff removed and can put back."""
        return moderation.removed_public(self.viewer).count()

    @cached_property
    def reads(self) -> list[AdminRead]:
        """One's own open reads."""
        return admin_reads.open_reads(self.user, now=self.now)


OVER_BUDGET = {
    "heuristic": gettext_lazy(
        "Once it is used up, conversations are learned from by rules, without the model."
    ),
    "queue": gettext_lazy(
        "Once it is used up, conversations wait in the queue until there is money again."
    ),
}


def checked_of(check: ChatCheck) -> Checked:
    """Say how a chat model answered, how long it took and what that cost."""
    cost = _("at an unknown price")
    if check.cost_usd is not None:
        cost = _("for {usd}").format(usd=usd(check.cost_usd))
    took = f"{check.model}, {number(check.duration_ms)} ms, {cost}"
    if check.is_ok:
        mode = MODES.get(check.mode, "")
        return Checked(f"{_('It answers: {how}.').format(how=took)} {mode}".strip(), ok=True)
    why = outcome_name(check.reason).lower()
    said = _("No usable answer: {why} ({how}).").format(why=why, how=took)
    return Checked(said, ok=False)


MODES = {
    "json_schema": gettext_lazy("It takes a schema for its answers."),
    "json_object": gettext_lazy(
        "It takes no schema, so answers are asked for as JSON and read with care."
    ),
    "text": gettext_lazy("It takes neither schema nor JSON, so answers are found in its text."),
}


def standing_of(budget: Budget) -> Standing:
    """Put a budget into words."""
    spent = int(100 * budget.spent_usd / budget.limit_usd) if budget.limit_usd else 100
    text = _("{spent} of {limit}").format(spent=usd(budget.spent_usd), limit=usd(budget.limit_usd))
    if budget.unknown:
        unknown = ngettext(
            "and {n} call of unknown price", "and {n} calls of unknown price", budget.unknown
        )
        text += f", {unknown.format(n=number(budget.unknown))}"
    tone = "danger" if budget.is_reached else "warn" if spent >= NEAR else "good"
    name = _("Today") if budget.period == DAY else _("This month")
    return Standing(name, text, min(spent, 100), tone)


def sentence_of(budget: Budget) -> str:
    """Say that a budget is used up and what that means."""
    when = _("Today’s budget") if budget.period == DAY else _("This month’s budget")
    whose = _(" of “{agent}”").format(agent=budget.agent) if budget.agent else ""
    said = _("{which} is used up: {spent} of {limit}.").format(
        which=f"{when}{whose}",
        spent=usd(budget.spent_usd),
        limit=usd(budget.limit_usd),
    )
    then = {
        "heuristic": _("Learning goes on by rules, without the model; recall goes on."),
        "queue": _("Learning waits; recall goes on."),
    }[conf().over_budget]
    return f"{said} {then}"


def _does(agent: Agent) -> str:
    """Say what an agent may do, in a sentence."""
    learns = _("learns from conversations") if agent.extract else _("does not learn")
    if not agent.inject:
        return f"{_('Recalls nothing')}; {learns}"
    said = ngettext(
        "Recalls up to {n} memory within {ms} ms",
        "Recalls up to {n} memories within {ms} ms",
        agent.limit,
    ).format(n=agent.limit, ms=number(agent.retrieve_timeout_ms))
    if agent.min_score:
        said += _(", those that fit at least {share}").format(
            share=percent(round(100 * agent.min_score))
        )
    return f"{said}; {learns}"

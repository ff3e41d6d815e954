"""What a list is narrowed to. Filters narrow what a viewer may see; they never widen it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from junior_memory.models import Agent
from junior_memory.parts import TRUE, Fragment, Part
from junior_memory.querysets import MemoryQuerySet

_HOLDS = {"own": {"private", "session"}, "org": {"org"}, "public": {"public"}}


@dataclass(frozen=True, slots=True)
class Filters:
    """A list's filters; empty means any."""

    visibility: str = ""
    kind: str = ""
    origin: str = ""
    agent: str = ""

    def narrow(self, rows: MemoryQuerySet) -> MemoryQuerySet:
        """Apply them."""
        if self == NO_FILTERS:
            return rows
        narrowed = rows.in_filters(visibility=self.visibility, kind=self.kind, origin=self.origin)
        if not self.agent:
            return narrowed
        # Behind a join the planner guesses how many rows are this agent's, by its id it knows.
        return narrowed.filter(agent__in=list(Agent.objects.filter(name=self.agent)))

    def rule(self) -> Fragment:
        """Say what they ask of a row's columns."""
        named = (("visibility", self.visibility), ("kind", self.kind), ("origin", self.origin))
        rules = [Fragment(f"{name} = %s", (value,)) for name, value in named if value]
        if self.agent:
            ids = Agent.objects.filter(name=self.agent).values_list("pk", flat=True)
            rules.append(Fragment("agent_id = ANY(%s)", (list(ids),)))
        return Fragment.join(" AND ", rules) if rules else TRUE

    def narrow_parts(self, parts: Iterable[Part]) -> list[Part]:
        """Apply them to each part, leaving out the parts that a visibility empties."""
        if self == NO_FILTERS:
            return list(parts)
        return [part.narrowed(self.narrow) for part in parts if self.admits_part(part.name)]

    def admits_part(self, name: str) -> bool:
        """True when a visibility leaves something of a part."""
        return not self.visibility or self.visibility in _HOLDS[name]


NO_FILTERS = Filters()

"""Who takes part in the demo and where they talk: fiction, as plain data.

Saltmarsh is a small company that makes Ferrywise, timetables and tickets for island ferries; `tern`
is the assistant its people talk to. None of them exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import TypeAlias

JsonObject: TypeAlias = dict[str, object]

LINE_SPACING = timedelta(seconds=40)
"""Between two lines of a conversation; the last line is said when the conversation ends."""


@dataclass(frozen=True, slots=True)
class DemoPerson:
    """A User of the demo. `topics` are what this person never wants learned."""

    slug: str
    name: str
    email: str
    is_staff: bool = False
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DemoOrganization:
    """The organization all demo people are members of."""

    slug: str
    name: str
    members: tuple[DemoPerson, ...]


@dataclass(frozen=True, slots=True)
class DemoAgent:
    """The assistant whose namespace the demo's memories live in."""

    name: str
    display_name: str


@dataclass(frozen=True, slots=True)
class DemoLine:
    """One transcript entry before it has a time."""

    entry: JsonObject
    speaker: DemoIdentity | None = None

    @property
    def instructs(self) -> bool:
        """Whether a person speaks to the assistant here, rather than being quoted."""
        return self.speaker is not None and self.entry.get("authority") == "instruction"


@dataclass(frozen=True, slots=True)
class DemoIdentity:
    """One provider account; `person` is None for somebody who is linked to no User."""

    person: DemoPerson | None
    provider: str
    tenant: str
    subject: str
    display_name: str

    def as_actor(self) -> JsonObject:
        """The `actor` of a request."""
        return {
            "provider": self.provider,
            "tenant": self.tenant,
            "subject": self.subject,
            "kind": "human",
            "displayName": self.display_name,
        }

    def says(self, text: str) -> DemoLine:
        """A message to the assistant."""
        return self._line(text, authority="instruction")

    def quoted(self, text: str) -> DemoLine:
        """A message that the host passed along as context, not as an instruction."""
        return self._line(text, authority="context")

    def _line(self, text: str, *, authority: str) -> DemoLine:
        entry: JsonObject = {
            "type": "message",
            "role": "user",
            "text": text,
            "authority": authority,
            "actor": self.as_actor(),
        }
        return DemoLine(entry, self)


@dataclass(frozen=True, slots=True)
class DemoPlace:
    """Where a conversation happens. `visibility` is what its Source would say."""

    platform: str
    tenant: str
    key: str
    label: str
    visibility: str
    url: str

    def as_source(self, *, thread: str) -> JsonObject:
        """The `source` of a request for one thread in this place."""
        return {
            "platform": self.platform,
            "key": f"{self.platform}:{self.tenant}:{self.key}:{thread}",
            "visibility": self.visibility,
            "location": {
                "provider": self.platform,
                "tenant": self.tenant,
                "key": self.key,
                "label": self.label,
                "url": self.url,
            },
        }


@dataclass(frozen=True, slots=True)
class DemoConversation:
    """A completed conversation: `day` counts from today (-89 … 0), `ends_at` is UTC."""

    day: int
    ends_at: time
    slug: str
    place: DemoPlace
    actor: DemoIdentity
    lines: tuple[DemoLine, ...]
    memory_mode: str = "on"

    @property
    def session_id(self) -> str:
        """Unique and stable, so that a second run of the demo changes nothing."""
        return f"demo-{self.slug}"

    @property
    def conversation_id(self) -> str:
        """The conversation that the pages link to."""
        return f"conv-{self.slug}"

    @property
    def source(self) -> JsonObject:
        """The Source exactly as `POST /sessions` takes it."""
        return self.place.as_source(thread=self.slug)

    @property
    def actors(self) -> tuple[DemoIdentity, ...]:
        """Everyone who spoke to the assistant, the run's own actor first."""
        speakers = [line.speaker for line in self.lines if line.instructs and line.speaker]
        return tuple(dict.fromkeys((self.actor, *speakers)))

    def transcript(self, completed_at: datetime) -> list[JsonObject]:
        """The entries with their times, the last one at `completed_at`."""
        last = len(self.lines) - 1
        return [
            {**line.entry, "at": (completed_at - (last - number) * LINE_SPACING).isoformat()}
            for number, line in enumerate(self.lines)
        ]

    def as_session(self, completed_at: datetime) -> JsonObject:
        """The body of `POST /sessions`. `completed_at` must know its time zone."""
        return {
            "sessionId": self.session_id,
            "conversationId": self.conversation_id,
            "source": self.source,
            "actor": self.actor.as_actor(),
            "actors": [actor.as_actor() for actor in self.actors],
            "completedAt": completed_at.isoformat(),
            "transcript": self.transcript(completed_at),
            "memoryMode": self.memory_mode,
        }


@dataclass(frozen=True, slots=True)
class DemoForget:
    """On `day`, `person` forgets their active memories that hold `text` (any case)."""

    day: int
    at: time
    person: DemoPerson
    text: str


@dataclass(frozen=True, slots=True)
class DemoCorrection:
    """On `day`, `person` puts their own words in place of their memory `text`."""

    day: int
    at: time
    person: DemoPerson
    text: str
    says: str


@dataclass(frozen=True, slots=True)
class DemoReport:
    """On `day`, `person` reports the public memory that holds `text`; it waits for staff."""

    day: int
    at: time
    person: DemoPerson
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class DemoDispute:
    """Two memories of `person` that disagree, put to them on `day`, as a model would do it."""

    day: int
    at: time
    person: DemoPerson
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class DemoRecall:
    """A message that makes the host ask for memories, on a day when some are there."""

    day: int
    at: time
    actor: DemoIdentity
    conversation_id: str
    place: DemoPlace
    text: str

    def as_request(self) -> JsonObject:
        """The body of `POST /recall`."""
        return {
            "conversationId": self.conversation_id,
            "source": self.place.as_source(thread=self.conversation_id.removeprefix("conv-")),
            "actor": self.actor.as_actor(),
            "text": self.text,
        }


MARA = DemoPerson("mara", "Mara Lindqvist", "mara@saltmarsh.example", is_staff=True)
TEO = DemoPerson("teo", "Teo Varga Ruiz", "teo@saltmarsh.example")
HANA = DemoPerson("hana", "Hana Mori", "hana@saltmarsh.example", topics=("therapy", "salary"))

PEOPLE = (MARA, TEO, HANA)
ORGANIZATION = DemoOrganization("saltmarsh", "Saltmarsh", PEOPLE)
AGENT = DemoAgent("tern", "Tern")

SLACK_TENANT = "T0SALTMARSH"

mara = DemoIdentity(MARA, "slack", SLACK_TENANT, "U0MARA", "Mara")
mara_web = DemoIdentity(MARA, "web", "saltmarsh", "mara", "Mara Lindqvist")
teo = DemoIdentity(TEO, "slack", SLACK_TENANT, "U0TEO", "Teo")
teo_mail = DemoIdentity(
    TEO, "email", "saltmarsh.example", "teo@saltmarsh.example", "Teo Varga Ruiz"
)
hana = DemoIdentity(HANA, "slack", SLACK_TENANT, "U0HANA", "Hana")

IDENTITIES = (mara, mara_web, teo, teo_mail, hana)
"""Accounts that are linked to a person before the first conversation."""

ole = DemoIdentity(None, "slack", SLACK_TENANT, "U9GUEST", "Ole (Norderoog Ferries)")
"""A guest in a public channel, linked to nobody: the facts he states are held for review."""


def _slack(key: str, label: str, visibility: str) -> DemoPlace:
    url = f"https://saltmarsh.example/slack/{key}"
    return DemoPlace("slack", SLACK_TENANT, key, label, visibility, url)


MARA_DM = _slack("D0MARA", "Direct message", "private")
TEO_DM = _slack("D0TEO", "Direct message", "private")
HANA_DM = _slack("D0HANA", "Direct message", "private")
ENGINEERING = _slack("C0ENG", "#engineering", "org")
RELEASE = _slack("C0RELEASE", "#release", "org")
SUPPORT = _slack("C0SUPPORT", "#support", "org")
DESIGN = _slack("C0DESIGN", "#design", "org")
PARTNERS = _slack("C0PARTNERS", "#harbour-partners", "public")
MARA_WEB = DemoPlace(
    "web", "saltmarsh", "console", "Tern console", "private", "https://tern.saltmarsh.example/"
)
TEO_MAIL = DemoPlace(
    "email",
    "saltmarsh.example",
    "inbox",
    "tern@saltmarsh.example",
    "private",
    "https://mail.saltmarsh.example/",
)


def tern(text: str) -> DemoLine:
    """The assistant speaks."""
    return DemoLine({"type": "message", "role": "assistant", "text": text})


def ran(tool: str, text: str) -> DemoLine:
    """A tool gave a result."""
    return DemoLine({"type": "toolResult", "toolName": tool, "isError": False, "text": text})


def failed(tool: str, text: str) -> DemoLine:
    """A tool gave an error."""
    return DemoLine({"type": "toolResult", "toolName": tool, "isError": True, "text": text})


def told(
    day: int, ends_at: str, slug: str, place: DemoPlace, actor: DemoIdentity, *lines: DemoLine
) -> DemoConversation:
    """A conversation in one call; `ends_at` is `HH:MM`."""
    return DemoConversation(day, time.fromisoformat(ends_at), slug, place, actor, lines)

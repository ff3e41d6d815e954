"""How a memory is put into words: sentences instead of codes, for pages alone."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils.formats import date_format
from django.utils.timezone import localtime

from junior_memory import capture, holding
from junior_memory.access import Viewer
from junior_memory.history import knows_source
from junior_memory.models import Memory, Origin, SourcePlatform, SubjectType, Visibility

PLATFORMS = {
    SourcePlatform.SLACK: "Slack",
    SourcePlatform.WEB: "the web",
    SourcePlatform.API: "an app",
    SourcePlatform.EMAIL: "e-mail",
    SourcePlatform.LOCAL: "this computer",
    SourcePlatform.OTHER: "a conversation",
}

HELD_REASONS = {
    capture.HELD_ORDERS: "It reads like an order to the assistant rather than a fact.",
    holding.HELD_REPORTED: "Reported by its author or by the person it is about.",
    capture.HELD_UNLINKED: "A public fact from somebody who is not linked to a person here.",
    capture.HELD_MANY: "One of many new public facts that one person told in a day.",
}


def how_learned(memory: Memory, viewer: Viewer, *, corrected: bool = False) -> str:
    """Say how it was learned, in a few words that follow the fact."""
    mine = viewer.user is not None and memory.owner_id == viewer.user.pk
    if corrected and mine and memory.origin == Origin.EXPLICIT:
        return "in your own words"
    match memory.origin:
        case Origin.EXPLICIT:
            return "you asked to remember this" if mine else "somebody asked to remember this"
        case Origin.IMPORT:
            return "imported by you" if mine else "imported"
    return f"learned {_where(memory, viewer)}"


def _where(memory: Memory, viewer: Viewer) -> str:
    """Say where: the place by its label, or the kind of conversation."""
    platform = PLATFORMS.get(SourcePlatform(memory.source_platform), "a conversation")
    if memory.location is not None and memory.location.label and knows_source(viewer, memory):
        return f"in {memory.location.label}, {_title(memory)}"
    if memory.visibility == Visibility.PUBLIC:
        return f"in a public conversation, {_title(memory)}"
    if memory.visibility == Visibility.ORG:
        return f"in a team conversation, {_title(memory)}"
    match memory.source_platform:
        case SourcePlatform.SLACK:
            return "in a private chat, Slack"
        case SourcePlatform.EMAIL:
            return "from an e-mail"
    return f"in a conversation through {platform}"


def _title(memory: Memory) -> str:
    """Name the platform as a label."""
    return str(SourcePlatform(memory.source_platform).label)


def why_remembered(memory: Memory, viewer: Viewer, *, first: Memory | None = None) -> str:
    """Say in a sentence why this is remembered, where it came from and who sees it.

    `first` is the wording that it goes back to.
    """
    mine = viewer.user is not None and memory.owner_id == viewer.user.pk
    day = long_day(memory.created_at)
    if first is not None and first.pk != memory.pk:
        began = why_remembered(first, viewer).removesuffix(f" {who_sees(first)}")
        by = "you put it" if mine and memory.origin == Origin.EXPLICIT else "it was put"
        return f"{began} Since {day} {by} in these words. {who_sees(memory)}"
    match memory.origin:
        case Origin.EXPLICIT:
            start = f"{'You' if mine else 'Somebody'} asked on {day} that this be remembered"
        case Origin.IMPORT:
            start = f"{'You' if mine else 'Somebody'} imported this on {day}"
        case _:
            teller = "something you said" if mine else "what was said"
            start = f"Learned on {day} from {teller} {_where(memory, viewer)}"
    return f"{start}. {who_sees(memory)}"


def who_sees(memory: Memory) -> str:
    """Say who sees it."""
    match memory.visibility:
        case Visibility.PRIVATE:
            return "Only you can see it."
        case Visibility.SESSION:
            return "Only you can see it, and it is used in its own conversation alone."
        case Visibility.ORG:
            return f"Everyone in {team_name(memory)} can see it."
    return "Everyone here can see it, so it is view only; staff decide about public memory."


def visibility_name(memory: Memory) -> str:
    """Name who sees it, in a word: a team by its own name."""
    if memory.visibility == Visibility.ORG:
        return team_name(memory)
    return str(Visibility(memory.visibility).label)


def team_name(memory: Memory) -> str:
    """Name the organization of an org row."""
    return memory.org.name if memory.org is not None else "a team"


LEGS = {
    "lexical": "by its words",
    "private lexical": "by its words",
    "vector": "by its meaning",
    "private vector": "by its meaning",
    "characters": "by its characters",
}


def found_by(leg: str) -> str:
    """Say what found a memory when it was recalled."""
    return LEGS.get(leg, f"by {leg}")


def times(count: int) -> str:
    """Say how often something was used."""
    match count:
        case 0:
            return "never used"
        case 1:
            return "used once"
        case 2:
            return "used twice"
    return f"used {count:,} times"


def day(moment: datetime, *, now: datetime) -> str:
    """Name a day as short as it is clear: the year only when it is another one."""
    there, here = localtime(moment), localtime(now)
    return date_format(there, "j M" if there.year == here.year else "j M Y")


def long_day(moment: datetime) -> str:
    """Name a day in full."""
    return date_format(localtime(moment), "j F Y")


def group_of(moment: datetime, *, now: datetime) -> str:
    """Name the stretch of time under which a list shows a moment."""
    there, here = localtime(moment).date(), localtime(now).date()
    if there >= here:
        return "Today"
    if there == here - timedelta(days=1):
        return "Yesterday"
    if there > here - timedelta(days=7):
        return "Last seven days"
    if (there.year, there.month) == (here.year, here.month):
        return f"Earlier in {date_format(there, 'F')}"
    return date_format(there, "F Y")


def about(memory: Memory, viewer: Viewer) -> str:
    """Say what or whom it is about."""
    match memory.subject_type:
        case SubjectType.USER:
            mine = viewer.user is not None and memory.subject_key == str(viewer.user.pk)
            return "you" if mine else "somebody else"
        case SubjectType.CONVERSATION:
            return "one conversation"
    return "no one in particular"


def apart(one: datetime, other: datetime) -> str:
    """Say how far apart two things were said."""
    days = abs((localtime(one).date() - localtime(other).date()).days)
    match days:
        case 0:
            return "said on the same day"
        case 1:
            return "said one day apart"
    return f"said {days:,} days apart"


def counted(count: int, one: str, many: str) -> str:
    """Say how many there are of something, with the right noun."""
    return f"{count:,} {one if count == 1 else many}"

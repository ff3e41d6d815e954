"""How a memory is put into words: sentences instead of codes, for pages alone."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from dashboard.amounts import number
from junior_memory import capture, holding
from junior_memory.access import Viewer
from junior_memory.counting import Total
from junior_memory.errors import JuniorMemoryError
from junior_memory.history import knows_source
from junior_memory.models import Memory, Origin, SourcePlatform, SubjectType, Visibility

PLATFORMS = {
    SourcePlatform.SLACK: "Slack",
    SourcePlatform.WEB: gettext_noop("the web"),
    SourcePlatform.API: gettext_noop("an app"),
    SourcePlatform.EMAIL: gettext_noop("e-mail"),
    SourcePlatform.LOCAL: gettext_noop("this computer"),
    SourcePlatform.OTHER: gettext_noop("a conversation"),
}

LABELS = (
    gettext_noop("Preference"),
    gettext_noop("Procedure"),
    gettext_noop("Knowledge"),
    gettext_noop("This conversation"),
    gettext_noop("Private"),
    gettext_noop("Team"),
    gettext_noop("Public"),
    gettext_noop("Web"),
    gettext_noop("E-mail"),
    gettext_noop("Local"),
    gettext_noop("Other"),
    gettext_noop("In use"),
    gettext_noop("Being prepared"),
    gettext_noop("Kept to go back to"),
    gettext_noop("read"),
    gettext_noop("write"),
    gettext_noop("report"),
    gettext_noop("memory text"),
    gettext_noop("vectors"),
    gettext_noop("transcripts"),
    gettext_noop("extraction caches"),
    gettext_noop("reports"),
    gettext_noop("search terms"),
)
"""What the domain calls kinds, visibilities, platforms, models, scopes and places of a receipt;
translated where a page names one."""

REFUSED_LINES = {
    "invalid": gettext_noop("It could not be read."),
    "secret_or_credential": gettext_noop("It looks like a password, key or token."),
    "quota_exceeded": gettext_noop("There is no room left for this agent."),
    "expired": gettext_noop("Its date has passed."),
    "forgotten": gettext_noop("It was forgotten."),
}

HELD_REASONS = {
    capture.HELD_ORDERS: gettext_noop(
        "It reads like an order to the assistant rather than a fact."
    ),
    holding.HELD_REPORTED: gettext_noop("Reported by its author or by the person it is about."),
    capture.HELD_UNLINKED: gettext_noop(
        "A public fact from somebody who is not linked to a person here."
    ),
    capture.HELD_MANY: gettext_noop("One of many new public facts that one person told in a day."),
}


def how_learned(memory: Memory, viewer: Viewer, *, corrected: bool = False) -> str:
    """Say how it was learned, in a few words that follow the fact."""
    mine = viewer.user is not None and memory.owner_id == viewer.user.pk
    if corrected and mine and memory.origin == Origin.EXPLICIT:
        return _("in your own words")
    match memory.origin:
        case Origin.EXPLICIT:
            return _("you asked to remember this") if mine else _("somebody asked to remember this")
        case Origin.IMPORT:
            return _("imported by you") if mine else _("imported")
    return _("learned {where}").format(where=_where(memory, viewer))


def _where(memory: Memory, viewer: Viewer) -> str:
    """Say where: the place by its label, or the kind of conversation."""
    platform = _(PLATFORMS.get(SourcePlatform(memory.source_platform), "a conversation"))
    if memory.location is not None and memory.location.label and knows_source(viewer, memory):
        return _("in {place}, {platform}").format(
            place=memory.location.label, platform=_title(memory)
        )
    if memory.visibility == Visibility.PUBLIC:
        return _("in a public conversation, {platform}").format(platform=_title(memory))
    if memory.visibility == Visibility.ORG:
        return _("in a team conversation, {platform}").format(platform=_title(memory))
    match memory.source_platform:
        case SourcePlatform.SLACK:
            return _("in a private chat, Slack")
        case SourcePlatform.EMAIL:
            return _("from an e-mail")
    return _("in a conversation through {platform}").format(platform=platform)


def _title(memory: Memory) -> str:
    """Name the platform as a label."""
    return _(str(SourcePlatform(memory.source_platform).label))


def why_remembered(memory: Memory, viewer: Viewer, *, first: Memory | None = None) -> str:
    """Say in a sentence why this is remembered, where it came from and who sees it.

    `first` is the wording that it goes back to.
    """
    mine = viewer.user is not None and memory.owner_id == viewer.user.pk
    day = long_day(memory.created_at)
    if first is not None and first.pk != memory.pk:
        began = why_remembered(first, viewer).removesuffix(f" {who_sees(first)}")
        own = mine and memory.origin == Origin.EXPLICIT
        since = (
            _("On {day} you put it in these words.")
            if own
            else _("On {day} it was put in these words.")
        )
        return f"{began} {since.format(day=day)} {who_sees(memory)}"
    match memory.origin:
        case Origin.EXPLICIT:
            start = (
                _("You asked on {day} that this be remembered.")
                if mine
                else _("Somebody asked on {day} that this be remembered.")
            )
        case Origin.IMPORT:
            start = (
                _("You imported this on {day}.") if mine else _("Somebody imported this on {day}.")
            )
        case _:
            start = (
                _("Learned on {day} from something you said {where}.")
                if mine
                else _("Learned on {day} from what was said {where}.")
            )
    return f"{start.format(day=day, where=_where(memory, viewer))} {who_sees(memory)}"


def who_sees(memory: Memory) -> str:
    """Say who sees it."""
    match memory.visibility:
        case Visibility.PRIVATE:
            return _("Only you can see it.")
        case Visibility.SESSION:
            return _("Only you can see it, and it is used in its own conversation alone.")
        case Visibility.ORG:
            return _("Everyone in {team} can see it.").format(team=team_name(memory))
    if memory.held_at is not None:
        return _("Nobody else sees it unless it is approved; then everyone here does.")
    return _("Everyone here can see it, so it is view only; staff decide about public memory.")


def visibility_name(memory: Memory) -> str:
    """Name who sees it, in a word: a team by its own name."""
    if memory.visibility == Visibility.ORG:
        return team_name(memory)
    return _(str(Visibility(memory.visibility).label))


def team_name(memory: Memory) -> str:
    """Name the organization of an org row."""
    return memory.org.name if memory.org is not None else _("a team")


LEGS = {
    "lexical": gettext_noop("by its words"),
    "private lexical": gettext_noop("by its words"),
    "vector": gettext_noop("by its meaning"),
    "private vector": gettext_noop("by its meaning"),
    "characters": gettext_noop("by its characters"),
}


def found_by(leg: str) -> str:
    """Say what found a memory when it was recalled."""
    return _(LEGS[leg]) if leg in LEGS else leg


def times(count: int) -> str:
    """Say how often something was used."""
    match count:
        case 0:
            return _("never used")
        case 1:
            return _("used once")
        case 2:
            return _("used twice")
    return _("used {count} times").format(count=number(count))


def day(moment: datetime, *, now: datetime) -> str:
    """Name a day as short as it is clear: the year only when it is another one."""
    there, here = localtime(moment), localtime(now)
    return date_format(there, _("j M") if there.year == here.year else _("j M Y"))


def long_day(moment: datetime) -> str:
    """Name a day in full."""
    return date_format(localtime(moment), _("j F Y"))


def group_of(moment: datetime, *, now: datetime) -> str:
    """Name the stretch of time under which a list shows a moment."""
    there, here = localtime(moment).date(), localtime(now).date()
    if there >= here:
        return _("Today")
    if there == here - timedelta(days=1):
        return _("Yesterday")
    if there > here - timedelta(days=7):
        return _("Last seven days")
    if (there.year, there.month) == (here.year, here.month):
        return _("Earlier in {month}").format(month=date_format(there, "F"))
    return date_format(there, "F Y")


def about(memory: Memory, viewer: Viewer) -> str:
    """Say what or whom it is about."""
    match memory.subject_type:
        case SubjectType.USER:
            mine = viewer.user is not None and memory.subject_key == str(viewer.user.pk)
            return _("you") if mine else _("somebody else")
        case SubjectType.CONVERSATION:
            return _("one conversation")
    return _("no one in particular")


def apart(one: datetime, other: datetime) -> str:
    """Say how far apart two things were said."""
    days = abs((localtime(one).date() - localtime(other).date()).days)
    match days:
        case 0:
            return _("said on the same day")
        case 1:
            return _("said one day apart")
    return _("said {days} days apart").format(days=number(days))


def refused(error: JuniorMemoryError) -> str:
    """Say what the domain refused and why, as the reader writes words and numbers."""
    values = {
        name: number(value) if isinstance(value, int) else value
        for name, value in error.values.items()
    }
    return _(error.sentence).format(**values) if values else _(error.sentence)


def refused_line(code: str) -> str:
    """Say why a line of an import was left out."""
    return _(REFUSED_LINES.get(code, "It could not be read."))


def briefly(total: Total) -> str:
    """Write how many were counted, with a plus where there are more."""
    return f"{number(total.value)}{'' if total.relation == 'exact' else '+'}"


def memories(count: int) -> str:
    """Say how many memories."""
    return ngettext("{n} memory", "{n} memories", count).format(n=number(count))

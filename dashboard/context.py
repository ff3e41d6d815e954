"""What the frame around every page shows. Nothing is asked before a template asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from django.contrib.messages import get_messages
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from dashboard.amounts import number
from dashboard.http import COUNTED_BY, UNDO_TAG, WAITING_BY
from dashboard.words import briefly
from junior_memory import clock
from junior_memory.access import person
from junior_memory.compiled import active_rows
from junior_memory.conf import conf
from junior_memory.counting import Total, count_parts
from junior_memory.list_counts import count_waiting
from junior_memory.models import User
from junior_memory.parts import parts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

THEME_COOKIE = "theme"
THEMES = ("light", "dark")


@dataclass(frozen=True, slots=True)
class Toast:
    """One thing that was done, with the address that undoes it."""

    text: str
    undo: str
    target: str
    failed: bool


@dataclass(frozen=True, slots=True)
class Link:
    """One entry of the navigation."""

    name: str
    url: str
    title: str
    staff: bool = False


class Shell:
    """The frame's own data, read lazily and at most once a request."""

    pages = (
        ("memories", gettext_noop("Memories"), False),
        ("inbox", gettext_noop("Inbox"), False),
        ("recall", gettext_noop("Recall"), False),
        ("settings", gettext_noop("Settings"), False),
        ("overview", gettext_noop("Overview"), True),
        ("people", gettext_noop("People"), True),
        ("system", gettext_noop("System"), True),
    )

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    @property
    def _user(self) -> User | None:
        user = getattr(self._request, "user", None)
        return user if isinstance(user, User) or getattr(user, "is_authenticated", False) else None

    @property
    def demo(self) -> bool:
        """True when everything shown is made up."""
        return conf().demo

    @property
    def purge_days(self) -> int:
        """Days between forgetting and erasing."""
        return conf().purge_after_days

    @property
    def held_days(self) -> int:
        """Days that a held memory waits for a word."""
        return conf().held_days

    @property
    def theme(self) -> str:
        """The theme the person chose, or nothing: then the system's."""
        chosen = self._request.COOKIES.get(THEME_COOKIE, "")
        return chosen if chosen in THEMES else ""

    @property
    def here(self) -> str:
        """The name of the page, to mark it in the navigation."""
        match = self._request.resolver_match
        name = (match.url_name if match else "") or ""
        return "memories" if name.startswith("memory_") else name.partition("_")[0]

    def _links(self, *, staff: bool) -> Iterator[Link]:
        for name, title, for_staff in self.pages:
            if for_staff is staff:
                try:
                    yield Link(name, reverse(name), _(title))
                except NoReverseMatch:
                    continue

    @cached_property
    def links(self) -> list[Link]:
        """The pages that everyone has."""
        return list(self._links(staff=False))

    @cached_property
    def staff_links(self) -> list[Link]:
        """The pages that staff have besides."""
        user = self._user
        return list(self._links(staff=True)) if user and user.is_staff else []

    @cached_property
    def memory_count(self) -> str:
        """How many active memories this person sees: what the list says, too."""
        user = self._user
        if user is None:
            return ""
        counted: Callable[[], Total] | None = getattr(self._request, COUNTED_BY, None)
        if counted is not None:
            return briefly(counted())
        viewer = person(user)
        parts = list(parts_of(active_rows(viewer, clock.now()), viewer))
        return briefly(count_parts(parts, viewer))

    @cached_property
    def waiting_count(self) -> str:
        """How much waits in the inbox, or nothing."""
        user = self._user
        if user is None:
            return ""
        waiting: Callable[[], int] | None = getattr(self._request, WAITING_BY, None)
        count = waiting() if waiting else count_waiting(person(user), now=clock.now())
        return number(count) if count else ""

    @cached_property
    def toasts(self) -> list[Toast]:
        """What was just done; shown once."""
        found: list[Toast] = []
        for message in get_messages(self._request):
            undo, _, target = (message.extra_tags or "").partition(UNDO_TAG)[2].partition(" ")
            failed = message.level_tag == "error"
            found.append(Toast(str(message), undo, target, failed))
        return found


def shell(request: HttpRequest) -> dict[str, Shell]:
    """Give templates `shell`."""
    return {"shell": Shell(request)}

"""What is compiled once for everybody says for each what the ORM says for them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db.models import QuerySet

from junior_memory import around, compiled, conflicts, list_counts
from junior_memory.access import NOBODY, Source, Viewer, host, person
from junior_memory.compiled import Build, active_rows
from junior_memory.models import Memory, PublicUse
from junior_memory.parts import Fragment, Part, fetch
from tests.cast import Cast
from tests.dashboard.test_counts_everywhere import _steps, some_of_everything
from tests.factories import make_agent_token

BUILDS: tuple[Build, ...] = (
    compiled._active,
    list_counts._held,
    list_counts._states,
    conflicts.open_ids,
    around._own,
    around._earlier,
)


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    compiled._known.clear()
    yield
    compiled._known.clear()


def viewers(cast: Cast) -> dict[str, Viewer]:
    """People who differ in everything that a rule might ask of them, and hosts."""
    cast.bob.public_use, cast.bob.language = PublicUse.NONE, "de"
    cast.bob.learning_off_at = cast.bob.recall_off_at = cast.bob.created_at
    token, _ = make_agent_token(cast.agent, organization=cast.org)
    private = Source(platform="api", visibility="private")
    shared = Source(platform="api", visibility="org")
    return {
        "alice": person(cast.alice),
        "bob": person(cast.bob),
        "charlie": person(cast.charlie),
        "root": person(cast.root),
        "alice by a token": person(cast.alice, token=token),
        "nobody": NOBODY,
        "host": host(token, actor=cast.alice_slack, source=private),
        "host in a team": host(token, actor=cast.alice_slack, source=shared, conversation_id="c"),
        "host alone": host(token, actor=None, source=shared),
    }


@pytest.mark.parametrize("build", BUILDS, ids=lambda build: build.__name__)
def test_what_is_bound_is_what_is_compiled(cast: Cast, now: datetime, build: Build) -> None:
    for moment in (now, now + timedelta(days=400)):
        for name, viewer in viewers(cast).items():
            mine = compiled.compiled(build, viewer, moment)
            assert mine == compiled._compile(build(viewer, moment)), name


@pytest.mark.parametrize("build", BUILDS, ids=lambda build: build.__name__)
def test_one_shape_serves_all_people(cast: Cast, now: datetime, build: Build) -> None:
    for viewer in (person(cast.alice), person(cast.bob), person(cast.root)):
        compiled.compiled(build, viewer, now)
    shapes = [shape for (known, _), shape in compiled._known.items() if known is build]
    assert len(shapes) == 2
    assert None not in shapes


def by_language(viewer: Viewer, now: datetime) -> QuerySet[Any, Any]:
    """A rule that asks more of a person than who they are."""
    rows: QuerySet[Any, Any] = Memory.objects.visible_to(viewer).active(now)
    return rows.filter(language=viewer.user.language if viewer.user else "").values("pk")


def test_a_rule_that_asks_more_than_who_and_when_is_compiled_each_time(
    cast: Cast, now: datetime
) -> None:
    cast.alice.language, cast.bob.language = "en", "de"
    said = [compiled.compiled(by_language, person(user), now) for user in (cast.alice, cast.bob)]
    assert ["en" in found.values for found in said if found] == [True, False]
    assert ["de" in found.values for found in said if found] == [False, True]


def test_known_rows_are_the_rows(cast: Cast, now: datetime) -> None:
    for name, viewer in viewers(cast).items():
        known = Part.of("any", active_rows(viewer, now)).base
        fresh = Part.of("any", Memory.objects.visible_to(viewer).active(now)).base
        assert known == fresh, name


def test_what_is_read_is_what_the_rule_admits_whoever_asked_before(
    cast: Cast, now: datetime
) -> None:
    made = some_of_everything(cast)
    for step in _steps(cast, made, now):
        step()
    chance = random.Random("viewers")  # noqa: S311 - the same in every run
    asking = list(viewers(cast).values())
    for _ in range(6):
        chance.shuffle(asking)
        build = chance.choice(
            [around._own, around._earlier, list_counts._held, list_counts._states]
        )
        for viewer in asking:
            statement = compiled.compiled(build, viewer, now)
            found = Counter(fetch(statement)) if statement else Counter()
            assert found == Counter(tuple(row.values()) for row in build(viewer, now))
            seen = Part.of("any", active_rows(viewer, now)).select(Fragment("id"))
            wanted = Memory.objects.visible_to(viewer).active(now).values_list("pk")
            assert Counter(fetch(seen)) == Counter(wanted)

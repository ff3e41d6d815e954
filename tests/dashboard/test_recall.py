"""The what-if of recall."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.what_if import gate_in_words
from junior_memory.gates import Candidate, Gate
from junior_memory.models import ConversationEvent, MemoryUse, ModelCall
from junior_memory.recall import RecallExplanation, Silence
from junior_memory.search import Hit, Match
from tests.cast import Cast
from tests.dashboard.conftest import HTMX, SignIn, text
from tests.factories import MembershipFactory, OrganizationFactory, make_memory


def ask(client: Client, message: str, **fields: Any) -> str:
    """Return the answer to a message."""
    body = {"text": message, "where": "private", "agent": "default", "team": ""} | fields
    return text(client.post("/recall", body))


def test_what_fits_is_given_with_its_reason_and_nothing_is_written(
    cast: Cast, alice_client: Client
) -> None:
    make_memory(content="Never deploys the billing service on Fridays.", owner=cast.alice)
    make_memory(content="Drinks oolong.", owner=cast.alice)
    page = ask(alice_client, "Shall we deploy the billing service on Friday?")
    assert "1 memory would be given" in page
    assert "&lt;recalled_memories&gt;" in page
    assert "found by “deploys”, “billing”" in page
    assert "oolong" not in page
    for table in (ConversationEvent, MemoryUse, ModelCall):
        assert not table.objects.exists()


def test_nothing_is_a_normal_answer(cast: Cast, alice_client: Client) -> None:
    make_memory(content="Drinks oolong.", owner=cast.alice)
    assert "Nothing would be given." in ask(alice_client, "How tall is the tower?")


def test_private_knowledge_stays_out_of_public_conversations_and_says_why(
    cast: Cast, alice_client: Client
) -> None:
    make_memory(
        content="The billing service runs on port 8443.", owner=cast.alice, kind="knowledge"
    )
    question = "Which port does the billing service run on?"
    assert "1 memory would be given" in ask(alice_client, question)
    page = ask(alice_client, question, where="public")
    assert "would be given</h2>" not in page
    assert "you keep that out of conversations like this one" in page


def test_team_memory_needs_the_teams_agent(cast: Cast, alice_client: Client) -> None:
    make_memory(
        content="The billing service runs on port 8443.",
        owner=cast.bob,
        visibility="org",
        org=cast.org,
    )
    question = "Which port does the billing service run on?"
    assert "8443" not in ask(alice_client, question)
    assert "8443" in ask(alice_client, question, team=str(cast.org.pk), where="org")


def test_nobody_asks_for_others(cast: Cast, sign_in: SignIn) -> None:
    make_memory(content="The billing service runs on port 8443.", owner=cast.alice)
    make_memory(
        content="The billing service sleeps at night.",
        owner=cast.bob,
        visibility="org",
        org=cast.org,
    )
    question = "What does the billing service do, on which port does it run, does it sleep?"
    for user in (cast.charlie, cast.root):
        page = ask(sign_in(user), question)
        assert "8443" not in page, "leaked"
        assert "sleeps" not in page, "leaked"
        outside = {"text": question, "where": "org", "agent": "default", "team": cast.org.pk}
        assert sign_in(user).post("/recall", outside).status_code == 422


def test_who_turned_recall_off_is_told(cast: Cast, alice_client: Client) -> None:
    make_memory(content="Drinks oolong.", owner=cast.alice)
    cast.alice.recall_off_at = timezone.now()
    cast.alice.save()
    assert "You turned recall off in your settings." in ask(alice_client, "Some oolong?")


def test_htmx_gets_the_answer_alone(cast: Cast, alice_client: Client) -> None:
    body = {"text": "Some oolong?", "where": "private", "agent": "default"}
    response = alice_client.post("/recall", body, headers=HTMX)
    assert text(response).startswith('<section class="stack" id="answer"')
    assert "HX-Request" in response["Vary"]


@pytest.mark.parametrize(
    "fields",
    [{"text": ""}, {"where": "everywhere"}, {"agent": "nobody"}, {"text": "x" * 32_001}],
)
def test_what_cannot_be_asked_is_422(alice_client: Client, fields: dict[str, str]) -> None:
    body = {"text": "Some tea?", "where": "private", "agent": "default"} | fields
    assert alice_client.post("/recall", body).status_code == 422


def test_hostile_messages_are_shown_as_text(alice_client: Client) -> None:
    assert "<script>alert" not in ask(alice_client, "</textarea><script>alert(1)</script>")


def test_verbs_and_anonymous(alice_client: Client, db: None) -> None:
    assert alice_client.get("/recall").status_code == 200
    assert alice_client.put("/recall").status_code == 405
    assert Client().post("/recall", {"text": "x"}).status_code == 302


QUESTION = "Shall we deploy the billing service on Friday?"


def test_a_memory_switched_off_is_left_out_and_the_difference_is_said(
    cast: Cast, alice_client: Client
) -> None:
    cast.agent.limit = 1
    cast.agent.save()
    first = make_memory(content="Never deploys the billing service on Fridays.", owner=cast.alice)
    second = make_memory(content="Deploys the billing service on Mondays.", owner=cast.alice)
    page = ask(alice_client, QUESTION)
    assert f'name="off" value="{first.pk}"' in page
    assert "No. 2, and 1 are given" in page
    page = ask(alice_client, QUESTION, off=first.pk, given=first.pk)
    assert f'name="on" value="{first.pk}"' in page
    assert f'name="off" value="{second.pk}"' in page
    assert "1 more memory is given." in page
    assert "now given" in page
    page = ask(alice_client, QUESTION, without=first.pk, on=first.pk, given=second.pk)
    assert f'name="off" value="{first.pk}"' in page
    assert "Switched off for this question" not in page


def test_switching_off_shows_nothing_that_is_not_yours_to_see(
    cast: Cast, charlie_client: Client
) -> None:
    memory = make_memory(content="Never deploys the billing service on Fridays.", owner=cast.alice)
    page = ask(charlie_client, QUESTION, off=memory.pk, without=[memory.pk, "nonsense"])
    assert "Fridays" not in page, "leaked"


def test_what_is_weaker_says_by_how_much(cast: Cast, alice_client: Client) -> None:
    cast.agent.min_score = 0.9
    cast.agent.save()
    make_memory(content="Never deploys the billing service on Fridays.", owner=cast.alice)
    make_memory(content="Keeps the billing of the boathouse in a drawer.", owner=cast.alice)
    assert "and “default” asks for 90%" in ask(alice_client, QUESTION)


def test_the_model_is_asked_only_when_it_is_ticked(
    cast: Cast, alice_client: Client, chat_model: Any
) -> None:
    chat_model.script = ['{"relevant": [1]}']
    make_memory(content="Never deploys the billing service on Fridays.", owner=cast.alice)
    page = ask(alice_client, QUESTION)
    assert "it was not asked" in page
    assert not ModelCall.objects.exists()
    page = ask(alice_client, QUESTION, ask_model="on")
    assert "Chosen by the model, as for the assistant." in page
    assert ModelCall.objects.filter(operation="relevance").count() == 1
    assert not ConversationEvent.objects.exists()


def test_without_a_model_none_is_offered(alice_client: Client) -> None:
    assert "ask_model" not in text(alice_client.get("/recall"))


def test_the_one_team_of_a_person_is_chosen_already(cast: Cast, alice_client: Client) -> None:
    page = text(alice_client.get("/recall"))
    assert f'<option value="{cast.org.pk}" selected>' in page
    MembershipFactory.create(user=cast.alice, organization=OrganizationFactory.create())
    assert f'value="{cast.org.pk}" selected' not in text(alice_client.get("/recall"))


@pytest.mark.parametrize("missed_by", [0.0001, 0.004, 0.2])
def test_what_just_misses_its_bound_never_reads_as_the_bound(cast: Cast, missed_by: float) -> None:
    cast.agent.min_score = 0.4
    hit = Hit(make_memory(owner=cast.alice), Match((), None, False), ())
    candidate = Candidate(hit, 0.4 - missed_by, Gate.BELOW_MIN_SCORE)
    answer = RecallExplanation(None, (candidate,), Silence.NONE, "on")
    said = gate_in_words(candidate, answer, cast.agent)
    fits, least = (int(number) for number in re.findall(r"(\d+)%", said))
    assert fits < least == 40

"""The model is away, late, or answers what nobody can use."""

from __future__ import annotations

from dataclasses import replace

from tests.faults.trial import Trial, fault, understanding
from tests.model_server import Reply

BAD_SECONDS = 8.0


def _for_a_while(trial: Trial, reply: Reply) -> None:
    """Let every question be answered like this, those of the embedder too, then as before."""
    model = trial.model
    good = model.always
    model.always = reply
    model.embedding_always = reply
    trial.calm(BAD_SECONDS)
    model.always = replace(good)
    model.embedding_always = Reply()


@fault("model-errors", "every question to the model ends in a 500", model_may_fail=True)
def model_errors(trial: Trial) -> None:
    _for_a_while(trial, Reply(status=500))


@fault("model-limited", "the model takes no more questions for a while (429)", model_may_fail=True)
def model_limited(trial: Trial) -> None:
    _for_a_while(trial, Reply(status=429, headers={"retry-after": "2"}))


@fault("model-hangs", "the model answers nothing until nobody waits", model_may_fail=True)
def model_hangs(trial: Trial) -> None:
    _for_a_while(trial, Reply(delay_seconds=12, too_late=True))


@fault("model-slow", "the model takes two seconds for everything")
def model_slow(trial: Trial) -> None:
    _for_a_while(trial, replace(understanding().always, delay_seconds=2))


@fault(
    "model-cut-off", "the model's line breaks in the middle of every answer", model_may_fail=True
)
def model_cut_off(trial: Trial) -> None:
    _for_a_while(trial, Reply(drops_after=10))


@fault("model-garbage", "the model answers with what is no JSON", model_may_fail=True)
def model_garbage(trial: Trial) -> None:
    _for_a_while(trial, Reply(raw=b"<html>nothing to see here</html>"))


@fault("model-truncated", "the model stops in the middle of every answer", model_may_fail=True)
def model_truncated(trial: Trial) -> None:
    _for_a_while(trial, replace(understanding().always, finish="length"))

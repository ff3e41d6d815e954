"""How well search finds what a question needs, and how often recall is silent when it should be.

    python tests/benchmarks/retrieval.py --data FILE --embedder local [--only facts|turns]

FILE is LoCoMo's JSON or a folder that holds `locomo/*.json` (for measuring only, it is no part of
this project). *facts*: every observation is one private memory of its conversation's owner, a
question's gold are the facts whose evidence turn is among the question's. *turns*: every dialog
turn, "speaker: text", is one memory. All owners live in one store; categories 1-4; questions
without gold are left out.

`--embedder` is `none`, `local` or `openai`; the latter's model, key and base URL come from the
environment as the product reads them (MEMORY_EMBEDDING_MODEL, OPENAI_API_KEY, OPENAI_BASE_URL).

Everything goes through `search_memories` and `recall`, as REST calls them, on a database made for
the run. Beside them answer, over the same rows in the same run: PostgreSQL's own full text (OR,
ts_rank_cd, english), exact cosine distance over the same vectors, and their plain fusion (RRF,
k = 60, lists of 40).

Measured on five conversations in November 2026, recall@10 / nDCG@10 of search, facts and turns:

    local            .732 / .624   .682 / .565   (without wording .721 / .612  .669 / .539)
    all-MiniLM-L6-v2 .765 / .655   .725 / .581     (.753 / .639  .700 / .551), behind `openai`

The gate in use (words 0.45, distance 0.545 local and 0.465 MiniLM), facts and turns: recall@10
lost, and the share of questions that get nothing, asked of a wrong owner, the same without names,
and of category 5:

    local            .027  .90 .58 .12             .017  .86 .50 .04
    all-MiniLM-L6-v2 .006  .87 .60 .05             .027  .91 .57 .06
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import statistics
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "junior_memory.settings")


def read_arguments() -> argparse.Namespace:
    """Read the command line; the embedder is a setting, so it is read before the settings."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--embedder", choices=["none", "local", "openai"], default="local")
    parser.add_argument("--only", choices=["facts", "turns"])
    parser.add_argument("--no-gate", action="store_true", help="leave out the recall gate's curve")
    parser.add_argument("--each", action="store_true", help="print every conversation by itself")
    return parser.parse_args()


ARGUMENTS = read_arguments()
os.environ["MEMORY_EMBEDDER"] = ARGUMENTS.embedder

import django  # noqa: E402
from django.conf import settings  # noqa: E402

settings.DATABASES["default"]["TEST"] = {"NAME": f"bench_retrieval_{os.getpid()}"}
django.setup()

from django.db import connection  # noqa: E402

from junior_memory import access, embedding_models, embeddings, lexical, people, recall  # noqa: E402
from junior_memory.gates import Gate  # noqa: E402
from junior_memory.models import Agent, EmbeddingModel, Memory, User  # noqa: E402
from junior_memory.ranking import Fusion, RankList, fuse  # noqa: E402
from junior_memory.search import search_memories  # noqa: E402

NOW = datetime(2026, 11, 1, tzinfo=UTC)
KEPT = ("right", "bare")
SILENT = ("wrong owner", "without names", "category 5")
DEPTH = 10
SEED = 7


@dataclass
class Conversation:
    """One owner: texts with the turns they come from, questions with the turns that answer them."""

    name: str
    speakers: tuple[str, str]
    texts: list[str] = field(default_factory=list)
    sources: list[set[str]] = field(default_factory=list)
    questions: list[tuple[str, set[int]]] = field(default_factory=list)
    unanswerable: list[str] = field(default_factory=list)
    owner: User | None = None
    ids: list[uuid.UUID] = field(default_factory=list)

    @property
    def person(self) -> User:
        """The owner, once loaded."""
        if self.owner is None:
            raise LookupError(self.name)
        return self.owner


def turn_ids(evidence: str | Iterable[str]) -> set[str]:
    """Read evidence, which is one id, a list, or ids with separators inside."""
    parts = [evidence] if isinstance(evidence, str) else list(evidence)
    return {piece.strip() for part in parts for piece in re.split(r"[;,\s]+", part) if piece}


def read_conversations(data: Path, mode: str) -> list[Conversation]:
    """Read every conversation of the data as facts or turns."""
    found = []
    for path in [data] if data.is_file() else sorted((data / "locomo").glob("*.json")):
        for raw in json.loads(path.read_text(encoding="utf-8")):
            talk = raw["conversation"]
            conversation = Conversation(
                str(raw["sample_id"]), (talk["speaker_a"], talk["speaker_b"])
            )
            for text, evidence in (_facts if mode == "facts" else _turns)(raw):
                conversation.texts.append(text)
                conversation.sources.append(evidence)
            for question in raw["qa"]:
                if question["category"] == 5:
                    conversation.unanswerable.append(question["question"])
                    continue
                wanted = turn_ids(question["evidence"])
                gold = {i for i, ids in enumerate(conversation.sources) if ids & wanted}
                if gold:
                    conversation.questions.append((question["question"], gold))
            found.append(conversation)
    return found


def _facts(raw: dict[str, Any]) -> Iterator[tuple[str, set[str]]]:
    for per_speaker in raw["observation"].values():
        for observations in per_speaker.values():
            for text, evidence in observations:
                yield text, turn_ids(evidence)


def _turns(raw: dict[str, Any]) -> Iterator[tuple[str, set[str]]]:
    for name, turns in raw["conversation"].items():
        if re.fullmatch(r"session_\d+", name):
            for turn in turns:
                yield f"{turn['speaker']}: {turn['text']}", {turn["dia_id"]}


@contextmanager
def database() -> Iterator[None]:
    """Make a database for the run and drop it afterwards."""
    before = str(settings.DATABASES["default"]["NAME"])
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(before, verbosity=0)


def load(conversations: Sequence[Conversation]) -> Agent:
    """Insert every text as a private memory of its conversation's owner."""
    agent, _ = people.agent_named("default")
    for conversation in conversations:
        conversation.owner = User.objects.create_user(f"{uuid.uuid4().hex}@bench.example")
        rows = [
            Memory(
                content=text,
                kind="knowledge",
                visibility="private",
                owner=conversation.owner,
                agent=agent,
                subject_type="general",
                origin="import",
                source_platform="api",
                fingerprint=str(uuid.uuid4()),
                search_vector=lexical.vector_of(text),
                observed_at=NOW,
                created_at=NOW,
            )
            for text in conversation.texts
            if text.strip()
        ]
        places = [place for place, text in enumerate(conversation.texts) if text.strip()]
        conversation.ids = [uuid.UUID(int=0)] * len(conversation.texts)
        stored = Memory.objects.bulk_create(rows, batch_size=500)
        for place, row in zip(places, stored, strict=True):
            conversation.ids[place] = row.pk
        if embedding_models.adopt() is not None:
            embeddings.embed_memories([row.pk for row in stored])
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return agent


FULL_TEXT = """
SELECT id FROM junior_memory_memory, (SELECT string_agg(quote_literal(lexeme), ' | ')::tsquery AS q
  FROM unnest(to_tsvector('english', %s))) AS asked
WHERE owner_id = %s AND to_tsvector('english', content) @@ q
ORDER BY ts_rank_cd(to_tsvector('english', content), q) DESC, observed_at DESC, id LIMIT 40
"""
EXACT = """
SELECT memory_id FROM junior_memory_memoryembedding
WHERE owner_id = %s AND embedding_model_id = %s ORDER BY vector <=> %s::halfvec, memory_id LIMIT 40
"""


def by_full_text(conversation: Conversation, question: str) -> list[uuid.UUID]:
    """Answer as PostgreSQL does by itself."""
    with connection.cursor() as cursor:
        cursor.execute(FULL_TEXT, [question, conversation.person.pk])
        return [row[0] for row in cursor.fetchall()]


def by_exact_vectors(conversation: Conversation, question: str) -> list[uuid.UUID]:
    """Answer by cosine distance alone, every row compared."""
    model = model_in_use()
    vector = embeddings.embed_texts(model, [question], timeout_seconds=10)[0]
    with connection.cursor() as cursor:
        cursor.execute(EXACT, [conversation.person.pk, model.pk, str(list(vector))])
        return [row[0] for row in cursor.fetchall()]


def by_plain_fusion(conversation: Conversation, question: str) -> list[uuid.UUID]:
    """Fuse the two as most systems do."""
    lists = [
        RankList(name, {memory_id: -place for place, memory_id in enumerate(found)})
        for name, found in (
            ("words", by_full_text(conversation, question)),
            ("vectors", by_exact_vectors(conversation, question)),
        )
    ]
    return [fused.id for fused in fuse(lists, Fusion(k=60))]


def model_in_use() -> EmbeddingModel:
    """The model whose vectors were loaded."""
    model = embedding_models.in_use()
    if model is None:
        raise LookupError(ARGUMENTS.embedder)
    return model


def by_search(conversation: Conversation, question: str) -> list[uuid.UUID]:
    """Answer as REST does."""
    result = search_memories(access.person(conversation.person), question, limit=DEPTH, now=NOW)
    return [hit.memory.pk for hit in result.hits]


@dataclass
class Scores:
    """Sums over questions; `rows` prints means."""

    questions: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    milliseconds: list[float] = field(default_factory=list)

    def add(self, found: Sequence[uuid.UUID], gold: set[uuid.UUID]) -> None:
        """Judge one answer."""
        gains = [memory_id in gold for memory_id in found]
        ideal = sum(1 / math.log2(place + 2) for place in range(min(DEPTH, len(gold))))
        values = {
            "recall@5": sum(gains[:5]) / len(gold),
            "recall@10": sum(gains[:10]) / len(gold),
            "hit@1": float(bool(gains) and gains[0]),
            "MRR@10": next((1 / (p + 1) for p, g in enumerate(gains[:10]) if g), 0.0),
            "nDCG@10": sum(g / math.log2(p + 2) for p, g in enumerate(gains[:10])) / ideal,
        }
        self.questions += 1
        for name, value in values.items():
            self.sums[name] = self.sums.get(name, 0.0) + value

    def mean(self, name: str) -> float:
        """The mean of one measure."""
        return self.sums[name] / max(1, self.questions)


def measure(
    conversations: Sequence[Conversation], answer: Callable[[Conversation, str], list[uuid.UUID]]
) -> Scores:
    """Ask every answerable question of its own owner."""
    scores = Scores()
    for conversation in conversations:
        for question, gold in conversation.questions:
            begin = time.perf_counter()
            found = answer(conversation, question)
            scores.milliseconds.append((time.perf_counter() - begin) * 1000)
            scores.add(found, {conversation.ids[place] for place in gold})
    return scores


def print_scores(name: str, scores: Scores, ours: Scores | None = None) -> None:
    """Print one line; for a rival also how many times its value ours is."""
    cells = []
    for measure_name in scores.sums:
        value = scores.mean(measure_name)
        ratio = f" (x{ours.mean(measure_name) / max(value, 1e-9):.2f})" if ours else ""
        cells.append(f"{measure_name} {value:.3f}{ratio}")
    p50 = statistics.median(scores.milliseconds)
    print(f"  {name:<13} {'  '.join(cells)}  p50 {p50:.1f} ms  calls {scores.questions}")


@dataclass(frozen=True)
class Asked:
    """One recall: whether it spoke, its best strength, what of the gold ten candidates held."""

    spoke: bool
    strength: float
    found: float


def ask_recall(conversation: Conversation, agent: Agent, text: str, gold: set[int]) -> Asked:
    """Ask `recall`'s own decision, without its event."""
    explanation = recall.explain_recall(
        recall.RecallRequest(
            viewer=access.Viewer(user=conversation.person, agent=agent),
            agent=agent,
            conversation_id="bench",
            source=access.Source(platform="api", visibility="private"),
            text=text,
            limit=DEPTH,
            deadline_ms=10_000,
        ),
        now=NOW,
    )
    ids = {conversation.ids[place] for place in gold}
    # Beside the candidates an explanation shows what lay too far to be one.
    candidates = [one for one in explanation.candidates if one.gate is not Gate.TOO_FAR]
    first = [candidate.hit.memory.pk for candidate in candidates[:DEPTH]]
    strengths = [candidate.strength for candidate in candidates]
    return Asked(
        any(candidate.gate is not Gate.NOT_RELEVANT for candidate in candidates),
        max(strengths, default=0.0),
        len(ids.intersection(first)) / len(ids) if ids else 0.0,
    )


def without_names(question: str, speakers: tuple[str, str]) -> str:
    """Take the speakers' names out of a question."""
    names = "|".join(re.escape(part) for speaker in speakers for part in speaker.split())
    return re.sub(rf"\b(?:{names})(?:'s)?\b", " ", question)


def print_gate(conversations: Sequence[Conversation], agent: Agent) -> None:
    """Print what each threshold loses of the answerable and keeps silent of the rest."""
    chance = random.Random(SEED)  # noqa: S311 - a draw of owners, not a secret
    asked: dict[str, list[Asked]] = {name: [] for name in ("right", "bare", *SILENT)}
    for conversation in conversations:
        others = [other for other in conversations if other is not conversation]
        for question, gold in conversation.questions:
            stranger = chance.choice(others)
            bare = without_names(question, conversation.speakers)
            asked["right"].append(ask_recall(conversation, agent, question, gold))
            asked["bare"].append(ask_recall(conversation, agent, bare, gold))
            asked["wrong owner"].append(ask_recall(stranger, agent, question, set()))
            asked["without names"].append(ask_recall(stranger, agent, bare, set()))
        asked["category 5"] += [
            ask_recall(conversation, agent, question, set())
            for question in conversation.unanswerable
        ]
    everything = {name: statistics.mean(one.found for one in asked[name]) for name in KEPT}
    print(
        f"  gate: recall@10 of candidates without it {everything['right']:.3f}, "
        f"of questions without names {everything['bare']:.3f}; "
        f"calls {sum(map(len, asked.values()))}"
    )
    gates: dict[str, Callable[[Asked], bool]] = {"in use": lambda one: one.spoke}
    for least in (0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6):
        gates[f"strength >= {least:.2f}"] = lambda one, least=least: one.strength >= least  # type: ignore[misc]
    for name, lets_through in gates.items():
        lost = [
            everything[each]
            - statistics.mean(one.found if lets_through(one) else 0.0 for one in asked[each])
            for each in KEPT
        ]
        silent = [
            f"{each} {statistics.mean(float(not lets_through(one)) for one in asked[each]):.2f}"
            for each in SILENT
            if asked[each]
        ]
        print(
            f"    {name:<17} lost {lost[0]:.3f}, without names {lost[1]:.3f}; "
            f"silent: {'  '.join(silent)}"
        )


def main() -> None:
    """Measure and print."""
    rivals: dict[str, Callable[[Conversation, str], list[uuid.UUID]]] = {"full text": by_full_text}
    if ARGUMENTS.embedder != "none":
        rivals |= {"exact vectors": by_exact_vectors, "plain RRF": by_plain_fusion}
    for mode in [ARGUMENTS.only] if ARGUMENTS.only else ["facts", "turns"]:
        conversations = read_conversations(ARGUMENTS.data, mode)
        with database():
            agent = load(conversations)
            print(f"{mode}: {sum(len(c.ids) for c in conversations)} memories")
            search = measure(conversations, by_search)
            print_scores("search", search)
            for name, answer in rivals.items():
                print_scores(name, measure(conversations, answer), search)
            for conversation in conversations if ARGUMENTS.each else []:
                print_scores(conversation.name, measure([conversation], by_search))
            if not ARGUMENTS.no_gate:
                print_gate(conversations, agent)


if __name__ == "__main__":
    main()

"""What search costs and finds when a store is large.

    python tests/benchmarks/scale.py --rows 100000 [--save FILE] [--against FILE]
    python tests/benchmarks/scale.py --hidden

A store of made-up rows (`corpus.py`: 20 % public, the rest by Zipf over one owner per hundred rows)
with the product's own terms and the local embedder's vectors (256 dimensions) is loaded by COPY.
Then, in the same run and over the same rows: each leg and the whole search through
`search_memories`, as REST calls it, against comparing or ranking everything and against the design
with one index for all (an HNSW joined and filtered; the newest 160 word matches). Owners of
several sizes ask, half of them for a row of their own, half for a public one.

Milliseconds are this machine's; read the ratios, and where others use it too those of processor
time: what waits for its turn at every round trip looks slow beside one long statement. `--keep`
leaves the database for the next run.

Measured on two cores, a million rows of known words, 40 questions a group: everything visible
recall@10 .997 to 1.000 with 40 of 40 rows, private 1.000; for people under 10,000 rows, drawn as
often as they hold rows, the vector leg's p50 7 to 9 ms, 1/53 to 1/59 of exact (1/51 to 1/58 for few
rows, 1/49 to 1/59 for 1,000, 1/16 to 1/19 for 10,000, whose own rows are most of it); the lexical
leg 10 ms, 1/20 to 1/23 of ranking all matches, .95 in the first ten; the whole search 39 to 43 ms,
for an owner of 10,000 rows 49, p95 84, for the largest of 82,000 rows 124 and 180; 1.2 to 1.4 times
that of 100,000 rows; a private create x1.33 of one without a vector. Public vectors: batches made
in 5 s, codes loaded in 2 to 3 s, 61 MB. The one index for all (1,302 MB, built in 342 s) finds
.65-.73 and 9-12 of 40 rows.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "junior_memory.settings")

import django
from django.conf import settings

# A web process's connections, and a server with some memory of its own.
DATABASE: dict[str, Any] = settings.DATABASES["default"]
DATABASE["OPTIONS"] |= {"pool": settings.WEB_CONNECTION_POOL}
DATABASE |= {"CONN_MAX_AGE": 0, "CONN_HEALTH_CHECKS": False}
DATABASE["EMBEDDED_OPTIONS"] = {"shared_buffers": "2GB", "max_wal_size": "8GB"}
settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "local"}
django.setup()

from django.db import close_old_connections, connection  # noqa: E402
from django.test.utils import override_settings  # noqa: E402

from junior_memory import access, embedding_models, memories, people, vector_index  # noqa: E402
from junior_memory.compiled import active_rows  # noqa: E402
from junior_memory.deadlines import statement_limit  # noqa: E402
from junior_memory.filters import NO_FILTERS, Filters  # noqa: E402
from junior_memory.models import EmbeddingModel, Memory, User  # noqa: E402
from junior_memory.search import LEXICAL, find_by_words, search_memories  # noqa: E402
from junior_memory.vector import VECTOR, Query, vector_leg  # noqa: E402
from tests.benchmarks import loading  # noqa: E402
from tests.benchmarks.corpus import NOW, Corpus  # noqa: E402
from tests.benchmarks.hidden import check_hidden  # noqa: E402
from tests.benchmarks.timing import Times  # noqa: E402

SIZE = 40
"""Rows asked of each leg; what is found is judged by the first ten."""

DEPTH = 10
WARM_UP = 100
"""Questions of each group that are asked before anything is measured."""

LARGE = 10_000
"""Rows from which a person's are measured for themselves."""

PEOPLE = "people under 10,000 rows"
DRAWN = 50
"""Owners of a group, who ask in turns: all of them have asked before anything is measured."""

LIMIT_MS = 60_000
SAME = 1e-4
"""Distances that half precision does not tell apart."""

VISIBLE = "(visibility = 'public' OR owner_id = %(owner)s)"
EXACT = """
SELECT memory_id, vector <=> %(vector)s::vector AS distance FROM bench_vectors
WHERE {where} ORDER BY (vector <=> %(vector)s::vector) + 0 LIMIT 40
"""
ONE_INDEX = """
SELECT memory_id FROM bench_vectors JOIN junior_memory_memory AS m ON m.id = memory_id
WHERE (m.visibility = 'public' OR m.owner_id = %(owner)s) AND m.archived_at IS NULL
  AND m.superseded_at IS NULL AND m.held_at IS NULL
  AND (m.expires_at IS NULL OR m.expires_at > %(now)s)
ORDER BY vector <=> %(vector)s::vector LIMIT 40
"""
ASKED = """
(SELECT string_agg(quote_literal(lexeme), ' | ')::tsquery AS q
 FROM unnest(to_tsvector('english', %(text)s))) AS asked
"""
RANK_ALL = f"""
SELECT memory_id FROM bench_words, {ASKED} WHERE words @@ q AND {VISIBLE}
ORDER BY ts_rank_cd(words, q) DESC, created_at DESC, memory_id LIMIT 10
"""  # noqa: S608 - no value is in it
NEWEST_160 = f"""
SELECT memory_id FROM (
  SELECT memory_id, words, q, created_at FROM bench_words, {ASKED} WHERE words @@ q AND {VISIBLE}
  ORDER BY created_at DESC LIMIT 160) AS newest
ORDER BY ts_rank_cd(words, q) DESC, created_at DESC, memory_id LIMIT 10
"""  # noqa: S608


@dataclass(frozen=True)
class Asking:
    """One question of one person, and the row that answers it."""

    user: User
    text: str
    wanted: UUID


@dataclass
class Group:
    """People who hold about as much."""

    name: str
    sizes: list[int] = field(default_factory=list)
    asking: list[Asking] = field(default_factory=list)
    before: list[Asking] = field(default_factory=list)
    """What is asked before anything is measured."""


def run(sql: str, values: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
    """Run a statement."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall()) if cursor.description else []


@contextmanager
def database(corpus: Corpus, *, keep: bool) -> Iterator[None]:
    """Make a database of that corpus's name, or take the one that was kept."""
    connection.settings_dict["TEST"]["NAME"] = f"bench_scale_{corpus.words}_{corpus.rows}"
    before = str(connection.settings_dict["NAME"])
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False, keepdb=keep)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(before, verbosity=0, keepdb=keep)


def prepare(corpus: Corpus, workers: int) -> EmbeddingModel:
    """Load the rows unless they are there, and build every index with its owner's own means."""
    model = embedding_models.adopt(now=NOW)
    if model is None:
        raise SystemExit("there is no embedder")
    agent, _ = people.agent_named("default")
    if Memory.objects.count() < corpus.rows:
        run("DROP TABLE IF EXISTS bench_vectors")
        run("TRUNCATE junior_memory_memory CASCADE")
        run(
            "CREATE TABLE bench_vectors (memory_id uuid, owner_id uuid, visibility varchar,"
            f" vector vector({int(model.dimensions)}))"
        )
        User.objects.bulk_create(
            (
                User(id=corpus.owner_id(number), email=f"owner{number}@bench.example", password="!")
                for number in range(corpus.owners)
            ),
            batch_size=2_000,
            ignore_conflicts=True,
        )
        target = loading.Target(loading.address(), agent.pk, model.pk, "bench_vectors")
        with loading.built_afterwards():
            seconds = loading.load(corpus, target, workers=workers)
            begin = time.perf_counter()
        print(
            f"loaded in {seconds:.0f} s ({corpus.rows / seconds:,.0f} rows/s), indexes in "
            f"{time.perf_counter() - begin:.0f} s"
        )
        run("VACUUM ANALYZE")
    begin = time.perf_counter()
    packed = vector_index.pack(model)
    if packed:
        print(f"public vectors: {packed} batches packed in {time.perf_counter() - begin:.1f} s")
        run("VACUUM ANALYZE junior_memory_memoryembedding")
    model.refresh_from_db()
    begin = time.perf_counter()
    vector_index.refresh(model)
    codes = vector_index.loaded(model).codes
    if codes is not None:
        print(
            f"public vectors: codes of {len(codes):,} loaded in"
            f" {time.perf_counter() - begin:.1f} s, {codes.size_bytes / 1e6:.0f} MB"
        )
    return model


def prepare_other_design(*, with_index: bool) -> None:
    """Build what the measured design is compared with: full-precision vectors, stemmed words."""
    run("SET maintenance_work_mem = '3GB'")
    run("SET max_parallel_maintenance_workers = 2")
    if run("SELECT to_regclass('bench_words') IS NULL")[0][0]:
        run(
            "CREATE TABLE bench_words AS SELECT id AS memory_id, owner_id, visibility, created_at,"
            " to_tsvector('english', content) AS words FROM junior_memory_memory"
        )
        run("CREATE INDEX ON bench_words USING gin (words)")
        run("CREATE INDEX ON bench_words (owner_id)")
        run("CREATE INDEX ON bench_words (created_at)")
        run("VACUUM ANALYZE bench_words")
    if with_index and not has_one_index():
        begin = time.perf_counter()
        run("CREATE INDEX bench_one_index ON bench_vectors USING hnsw (vector vector_cosine_ops)")
        print(f"one index for all: built in {time.perf_counter() - begin:.1f} s")
    run("CREATE INDEX IF NOT EXISTS bench_vectors_owner ON bench_vectors (owner_id)")
    run("VACUUM ANALYZE bench_vectors")
    run("RESET ALL")


def has_one_index() -> bool:
    """True when the one index for all was built."""
    return not run("SELECT to_regclass('bench_one_index') IS NULL")[0][0]


def print_sizes() -> None:
    """Print the size of every index that search reads."""
    names = run(
        "SELECT c.relname, pg_relation_size(c.oid) / 1048576.0 FROM pg_class c JOIN pg_index i"
        " ON i.indexrelid = c.oid WHERE pg_relation_size(c.oid) > 1048576"
        " AND c.relname ~ '^(memory|embedding|bench)_' ORDER BY 2 DESC"
    )
    print("indexes, MB: " + ", ".join(f"{name} {size:.0f}" for name, size in names))


def choose(corpus: Corpus, questions: int) -> list[Group]:
    """Choose who asks and what, half of it for own rows and half for public ones.

    People under 10,000 rows, drawn as often as they hold rows; beside them, each for itself, owners
    of four sizes.
    """
    chance = random.Random("who asks")  # noqa: S311
    sizes = dict(
        run(
            "SELECT owner_id, count(*) FROM junior_memory_memory WHERE visibility = 'private'"
            " GROUP BY owner_id"
        )
    )
    size_of = {
        number: sizes[corpus.owner_id(number)]
        for number in range(corpus.owners)
        if corpus.owner_id(number) in sizes
    }
    by_size = sorted(((size, number) for number, size in size_of.items()), reverse=True)

    def nearest(wanted: int, count: int) -> list[tuple[int, int]]:
        return sorted(by_size, key=lambda each: abs(each[0] - wanted))[:count]

    under = {number: size for number, size in size_of.items() if size < LARGE}
    as_they_hold = chance.choices(list(under), list(under.values()), k=DRAWN)
    chosen = {
        PEOPLE: [(under[number], number) for number in as_they_hold],
        "few rows": chance.sample(by_size[len(by_size) // 4 :], min(DRAWN, len(by_size) // 2)),
        "1,000 rows": nearest(1_000, 10),
        "10,000 rows": nearest(LARGE, 1),
        "the largest": by_size[:1],
    }
    wanted = {number for owners in chosen.values() for _, number in owners}
    rows_of: dict[int | None, list[int]] = {}
    for number in range(corpus.rows):
        owner = corpus.owner_of(number)
        if owner is None or owner in wanted:
            rows_of.setdefault(owner, []).append(number)
    groups = []
    for name, owners in chosen.items():
        group = Group(name, [size for size, _ in owners])
        for place in range(WARM_UP + questions):
            _, owner_number = owners[place // 2 % len(owners)]
            row = chance.choice(rows_of[owner_number if place % 2 else None])
            user = User.objects.get(pk=corpus.owner_id(owner_number))
            asked = group.before if place < WARM_UP else group.asking
            asked.append(Asking(user, corpus.question(row), corpus.draft(row).id))
        groups.append(group)
    return groups


def by_vectors(
    model: EmbeddingModel, asking: Asking, filters: Filters, times: Times
) -> tuple[list[UUID], str]:
    """Answer by the product's vector leg; returns the rows and the vector that was asked."""
    query = Query(model, asking.text, timeout_seconds=60)
    rows = active_rows(access.person(asking.user), NOW)
    leg = vector_leg(query, access.person(asking.user), lambda: rows, size=SIZE, filters=filters)

    def answer() -> list[UUID]:
        query.embed()
        with statement_limit(LIMIT_MS):
            return [row.id for row in leg.find().lists[VECTOR]]

    found = times.of(answer)
    return found, "[" + ",".join(f"{value:.7g}" for value in query.vector) + "]"


def by_words(asking: Asking, times: Times) -> list[UUID]:
    """Answer by the product's lexical leg."""
    viewer = access.person(asking.user)
    rows = active_rows(viewer, NOW)

    def answer() -> list[UUID]:
        with statement_limit(LIMIT_MS):
            found = find_by_words(viewer, rows, asking.text, size=SIZE, by_characters=True)
        return [row.id for row in found.lists.get(LEXICAL, ())][:DEPTH]

    return times.of(answer)


def by_one_index(values: dict[str, Any], times: Times) -> list[tuple[Any, ...]]:
    """Answer by the one index for all, which a small table's plan would pass over."""
    with statement_limit(LIMIT_MS):
        run("SET LOCAL enable_seqscan = off")
        run("SET LOCAL enable_sort = off")
        found = times.of(partial(run, ONE_INDEX, values))
        run("SET LOCAL enable_seqscan = on")
        run("SET LOCAL enable_sort = on")
    return found


def share(found: Sequence[UUID], exact: Sequence[tuple[UUID, float]], depth: int) -> float:
    """Return how much of exact's first `depth` was found; what is as near counts as well."""
    if not exact:
        return 1.0
    edge = exact[: min(depth, len(exact))][-1][1] + SAME
    near = {memory_id for memory_id, distance in exact if distance <= edge}
    return min(1.0, len(near.intersection(found[:depth])) / min(depth, len(exact)))


def in_tens(asking: Sequence[Asking]) -> Iterator[Sequence[Asking]]:
    """Return questions ten at a time.

    One way answers ten before another does: who reads a gigabyte in between leaves nothing of
    anybody's in the processor's caches, as no search before a search does.
    """
    for at in range(0, len(asking), 10):
        yield asking[at : at + 10]


def measure_vectors(model: EmbeddingModel, groups: Sequence[Group]) -> dict[str, float]:
    """Print recall, rows and times of the vector leg; returns the figures of the last lines."""
    print(f"\nvector leg ({SIZE} asked)")
    figures: dict[str, float] = {}
    everyone: dict[str, list[float]] = {}
    ours_all, exact_all = Times(), Times()
    only_own, all_of_it = Filters(visibility="private"), EXACT.format(where=VISIBLE)
    for group in groups:
        ours, exact, other, private = Times(), Times(), Times(), Times()
        scores: dict[str, list[float]] = {}
        for some in in_tens(group.asking):
            answers = [by_vectors(model, asking, NO_FILTERS, ours) for asking in some]
            own_answers = [by_vectors(model, asking, only_own, private) for asking in some]
            asked = [
                {"owner": asking.user.pk, "vector": text, "now": NOW}
                for asking, (_, text) in zip(some, answers, strict=True)
            ]
            truths = [exact.of(partial(run, all_of_it, values)) for values in asked]
            for values, truth, (found, _), (own, _) in zip(
                asked, truths, answers, own_answers, strict=True
            ):
                own_truth = run(EXACT.format(where="owner_id = %(owner)s"), values)
                theirs = by_one_index(values, other) if has_one_index() else []
                for name, value in {
                    "recall@10": share(found, truth, DEPTH),
                    "recall@40": share(found, truth, SIZE),
                    "rows": float(len(found)),
                    "private@10": share(own, own_truth, DEPTH),
                    "private@40": share(own, own_truth, SIZE),
                    "one index @10": share([row[0] for row in theirs], truth, DEPTH),
                    "one index rows": float(len(theirs)),
                }.items():
                    scores.setdefault(name, []).append(value)
        if group.name == PEOPLE:
            ours_all.add(ours)
            exact_all.add(exact)
            for name, values_of in scores.items():
                everyone.setdefault(name, []).extend(values_of)
        mean = {name: statistics.mean(each) for name, each in scores.items()}
        print(
            f"  {group.name} ({min(group.sizes)}-{max(group.sizes)}, median"
            f" {statistics.median(group.sizes):.0f}): recall@10"
            f" {mean['recall@10']:.4f} @40 {mean['recall@40']:.4f}, rows {min(scores['rows']):.0f}"
            f"-{max(scores['rows']):.0f}, private recall@10 {mean['private@10']:.4f} @40"
            f" {mean['private@40']:.4f}; {ours}; exact {exact}; x{exact.p50 / ours.p50:.0f} faster;"
            f" private alone {private}"
        )
        if other.values:
            print(
                f"    one index for all: recall@10 {mean['one index @10']:.3f}, rows"
                f" {mean['one index rows']:.1f}, {other}"
            )
    figures["vector p50"] = ours_all.p50
    figures["exact p50"] = exact_all.p50
    print(
        f"  {PEOPLE}: recall@10 {statistics.mean(everyone['recall@10']):.4f}, 40 of"
        f" 40 in {statistics.mean(r == SIZE for r in everyone['rows']):.3f}, private recall@10"
        f" {statistics.mean(everyone['private@10']):.4f}, {ours_all.as_share_of(exact_all)} of"
        f" exact, p95 1/{exact_all.p95 / ours_all.p95:.0f}"
    )
    return figures


def measure_words(groups: Sequence[Group]) -> None:
    """Print what the lexical leg finds and costs."""
    print("\nlexical leg (the wanted row in the first ten)")
    total: dict[str, list[float]] = {"ours": [], "all": [], "160": []}
    ours_all, all_all = Times(), Times()
    for group in groups:
        ours, ranked, newest = Times(), Times(), Times()
        hits: dict[str, list[float]] = {name: [] for name in total}
        for some in in_tens(group.asking):
            for asking in some:
                hits["ours"].append(asking.wanted in by_words(asking, ours))
            values_of_some = [{"owner": one.user.pk, "text": one.text} for one in some]
            for asking, values in zip(some, values_of_some, strict=True):
                everything = ranked.of(partial(run, RANK_ALL, values))
                hits["all"].append((asking.wanted,) in everything)
            for asking, values in zip(some, values_of_some, strict=True):
                window = newest.of(partial(run, NEWEST_160, values))
                hits["160"].append((asking.wanted,) in window)
        if group.name == PEOPLE:
            ours_all.add(ours)
            all_all.add(ranked)
            for name, values_of in hits.items():
                total[name] += values_of
        print(
            f"  {group.name}: {statistics.mean(hits['ours']):.3f} {ours}; rank all"
            f" {statistics.mean(hits['all']):.3f} {ranked}; newest 160"
            f" {statistics.mean(hits['160']):.3f} {newest}"
        )
    print(
        f"  {PEOPLE}: {statistics.mean(total['ours']):.3f} against rank all"
        f" {statistics.mean(total['all']):.3f}, newest 160 {statistics.mean(total['160']):.3f};"
        f" {ours_all.as_share_of(all_all)} of rank all"
    )


def warm_up(groups: Sequence[Group]) -> None:
    """Ask questions of everybody's that are not measured, as a process that has been running.

    Before each kind of measurement: the one before has read whole tables through the memory.
    """
    for group in groups:
        for asking in group.before:
            search_memories(access.person(asking.user), asking.text, limit=DEPTH, now=NOW)


def measure_search(groups: Sequence[Group], repeats: int) -> dict[str, float]:
    """Print the whole search's times, through `search_memories`."""
    print("\nwhole search, `search_memories(limit=10)`")
    everyone = Times()
    found: list[bool] = []
    calls = 0
    for group in groups:
        times = Times()
        hits, degraded = [], 0
        for _ in range(repeats):
            for asking in group.asking:
                close_old_connections()
                viewer = access.person(asking.user)
                result = times.of(
                    partial(search_memories, viewer, asking.text, limit=DEPTH, now=NOW)
                )
                calls += 1
                degraded += bool(result.degraded)
                hits.append(asking.wanted in [hit.memory.pk for hit in result.hits])
        if group.name == PEOPLE:
            everyone.add(times)
            found += hits
        print(
            f"  {group.name}: wanted row in ten {statistics.mean(hits):.3f}, {times.on_clock},"
            f" p95/p50 {times.p95 / times.p50:.2f}, degraded {degraded}"
        )
    print(
        f"  {PEOPLE}: {statistics.mean(found):.3f}, {everyone.on_clock};"
        f" {calls} calls of search_memories in all"
    )
    return {"search p50": everyone.p50}


def measure_inserts(corpus: Corpus, model: EmbeddingModel, count: int = 200) -> None:
    """Print what a vector adds to a private create, and to a row of the one index for all."""
    agent, _ = people.agent_named("default")
    writer = User.objects.create_user(f"writer{time.time_ns()}@bench.example")
    times = {"local": Times(), "none": Times()}
    for place in range(2 * count):
        embedder = "local" if place % 2 else "none"
        new = memories.NewMemory(
            content=f"{corpus.draft(corpus.rows + place).content} {time.time_ns()}",
            kind="knowledge",
            visibility="private",
            agent=agent,
            origin="explicit",
            source_platform="api",
            owner=writer,
        )
        with override_settings(JUNIOR_MEMORY=settings.JUNIOR_MEMORY | {"embedder": embedder}):
            times[embedder].of(partial(memories.create_memory, new, now=NOW))
    one = Times()
    if has_one_index():
        sample = run("SELECT vector::text FROM bench_vectors LIMIT %(n)s", {"n": count})
        for (text,) in sample:
            values = {"vector": text, "owner": writer.pk}
            insert = (
                "INSERT INTO bench_vectors (owner_id, visibility, vector)"
                " VALUES (%(owner)s, 'private', %(vector)s::vector)"
            )
            one.of(partial(run, insert, values))
        run("DELETE FROM bench_vectors WHERE memory_id IS NULL")
    Memory.objects.filter(owner=writer).delete()
    print(
        f"\nprivate create with a vector ({model.provider}) {times['local']}; without"
        f" {times['none']}; x{times['local'].p50 / times['none'].p50:.2f}"
        + (f"; a row into the one index for all {one}" if one.values else "")
    )


def main() -> None:
    """Load, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument(
        "--hidden", action="store_true", help="three rows of one person among 200,000, alone"
    )
    parser.add_argument("--words", choices=["facts", "known", "invented"], default="known")
    parser.add_argument("--questions", type=int, default=50, help="by each group of owners")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", action="store_true", help="leave the database, use it again")
    parser.add_argument("--only", choices=["load", "vector", "words", "search", "insert", "hidden"])
    parser.add_argument(
        "--without-one-index", action="store_true", help="leave out what takes longest to build"
    )
    parser.add_argument("--save", type=Path, help="write the figures that another run compares")
    parser.add_argument("--against", type=Path, help="figures of a smaller store")
    arguments = parser.parse_args()
    if arguments.hidden:
        # Among known words there are nearer ones to what is asked for by meaning, and rightly so.
        arguments.rows, arguments.words = 200_000, "invented"
        arguments.only, arguments.without_one_index = "hidden", True
    corpus = Corpus(arguments.rows, arguments.words)
    figures: dict[str, float] = {"rows": arguments.rows}
    with database(corpus, keep=arguments.keep):
        model = prepare(corpus, arguments.workers)
        prepare_other_design(with_index=not arguments.without_one_index)
        print_sizes()
        if arguments.only == "load":
            return
        groups = choose(corpus, arguments.questions)
        if arguments.only in {None, "vector"}:
            warm_up(groups)
            figures |= measure_vectors(model, groups)
        if arguments.only in {None, "words"}:
            warm_up(groups)
            measure_words(groups)
        if arguments.only in {None, "search"}:
            warm_up(groups)
            figures |= measure_search(groups, 3)
        if arguments.only in {None, "insert"}:
            measure_inserts(corpus, model)
        if arguments.only == "hidden" or (arguments.only is None and corpus.words == "invented"):
            check_hidden()
    if arguments.against:
        before = json.loads(arguments.against.read_text(encoding="utf-8"))
        growth = figures["search p50"] / before["search p50"]
        print(f"\nfrom {before['rows']:,} rows to {arguments.rows:,}: search p50 x{growth:.2f}")
    if arguments.save:
        arguments.save.write_text(json.dumps(figures), encoding="utf-8")


if __name__ == "__main__":
    main()

"""A dump of everything, and the proof that it can be brought back.

Beside the dump lies a manifest: rows and a checksum of every table, counted in the very snapshot
that the dump is of. A restore counts again and compares; a drill does so in a server of its own.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.db import connection
from psycopg import sql
from pydantic import BaseModel, ConfigDict, ValidationError

from junior_memory import clock, fingerprints
from junior_memory.database import embedded
from junior_memory.doctor.finding import Finding, fail, ok, warn

VECTORS = ("junior_memory_memoryembedding", "junior_memory_vectortally")
"""Vectors, and how many there are of them: what may be left out."""
DRILL_DATABASE = "restored"
MAX_NAMED = 5

Address = Mapping[str, str]
"""Where a database is, as the environment of PostgreSQL's programs (PGHOST, PGDATABASE …)."""

_KEYWORDS = {
    "PGHOST": "host",
    "PGPORT": "port",
    "PGUSER": "user",
    "PGPASSWORD": "password",
    "PGDATABASE": "dbname",
    "PGSSLMODE": "sslmode",
    "PGSSLROOTCERT": "sslrootcert",
}


class BackupFailed(Exception):
    """A dump could not be made or brought back; the message says why and holds no content."""


class Table(BaseModel):
    """One table: its rows, and a checksum that does not depend on their order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: int
    checksum: str


class Manifest(BaseModel):
    """What a dump holds. `key_proof` tells whether a fingerprint key is the dump's own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    made_at: datetime
    key_proof: str
    has_vectors: bool
    tables: dict[str, Table]

    @property
    def rows(self) -> int:
        """All of them."""
        return sum(table.rows for table in self.tables.values())


def manifest_path(dump: Path) -> Path:
    """Return where the manifest of a dump lies."""
    return dump.with_name(f"{dump.name}.manifest.json")


def take(dump: Path, *, vectors: bool = True, now: datetime | None = None) -> Manifest:
    """Write a dump and its manifest, both for their owner alone; a dump of that name is replaced.

    Reading and writing go on meanwhile. Without `vectors` the derived vectors are left out, and the
    worker makes them again. Raises BackupFailed.
    """
    draft = dump.with_name(f"{dump.name}.partial")
    draft.touch(mode=0o600)
    options = [] if vectors else [f"--exclude-table-data={table}" for table in VECTORS]
    address = _default_address()
    try:
        with closing(_connect(address)) as raw, raw.transaction():
            raw.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            snapshot = _one(raw, "SELECT pg_export_snapshot()")[0]
            tables = count_tables(raw, but=() if vectors else VECTORS)
            _run(
                "pg_dump",
                "--format=custom",
                "--no-statistics",
                f"--snapshot={snapshot}",
                f"--file={draft}",
                *options,
                address=address,
            )
    except BackupFailed:
        draft.unlink()
        raise
    manifest = Manifest(
        made_at=now or clock.now(),
        key_proof=_key_proofs()[0],
        has_vectors=vectors,
        tables=tables,
    )
    manifest_path(dump).touch(mode=0o600)
    manifest_path(dump).write_text(manifest.model_dump_json(indent=1), encoding="utf-8")
    draft.replace(dump)
    return manifest


def read_manifest(dump: Path) -> Manifest | None:
    """Return the manifest of a dump, None when there is none. Raises BackupFailed."""
    path = manifest_path(dump)
    if not path.is_file():
        return None
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except ValidationError:
        raise BackupFailed(f"{path.name} is damaged.") from None


def restore(dump: Path) -> list[Finding]:
    """Bring a dump back into the configured database, which has to be empty; say how it went.

    All of it or nothing. Raises BackupFailed.
    """
    address = _default_address()
    with closing(_connect(address)) as raw:
        if _tables(raw):
            raise BackupFailed(
                "The configured database holds tables. Restore into an empty one: another "
                "MEMORY_DATA_DIR or DATABASE_URL."
            )
    return _bring_back(dump, address)


def drill(dump: Path) -> list[Finding]:
    """Bring a dump back in an empty server of its own, say how it went, remove that server.

    The configured database is not touched. Needs room for the whole database in MEMORY_DATA_DIR.
    Raises BackupFailed.
    """
    with _empty_server() as address:
        return _bring_back(dump, address)


def _bring_back(dump: Path, address: Address) -> list[Finding]:
    if not dump.is_file():
        raise BackupFailed(f"There is no dump {dump}.")
    manifest = read_manifest(dump)
    _run(
        "pg_restore",
        "--no-owner",
        "--no-privileges",
        "--single-transaction",
        "--exit-on-error",
        f"--dbname={address['PGDATABASE']}",
        str(dump),
        address=address,
    )
    with closing(_connect(address)) as raw:
        # A dump holds no statistics: without any the planner reads whole tables.
        raw.execute("ANALYZE")
        return [
            _compared(raw, manifest),
            _key(manifest),
            _indexes(raw),
            _erased(raw),
            _vectors(raw, manifest),
        ]


def _compared(raw: psycopg.Connection[Any], manifest: Manifest | None) -> Finding:
    if manifest is None:
        found = count_tables(raw)
        rows = sum(table.rows for table in found.values())
        return warn(
            "tables",
            f"{len(found)} tables, {rows} rows; no manifest to compare them with",
            "Make dumps with manage.py backup: it writes the manifest.",
        )
    found = count_tables(raw, but=() if manifest.has_vectors else VECTORS)
    names = sorted(manifest.tables.keys() | found.keys())
    other = [name for name in names if manifest.tables.get(name) != found.get(name)]
    if not other:
        return ok(
            "tables", f"{len(found)} tables, {manifest.rows} rows: counts and checksums agree"
        )
    seen = ", ".join(
        f"{name} ({_rows(manifest.tables.get(name))} → {_rows(found.get(name))})"
        for name in other[:MAX_NAMED]
    )
    return fail(
        "tables",
        f"{len(other)} of {len(names)} differ: {seen}",
        "The dump or its manifest is damaged, or they are not of one another: use another dump.",
    )


def _rows(table: Table | None) -> str:
    return "absent" if table is None else f"{table.rows} rows"


def _key(manifest: Manifest | None) -> Finding:
    if manifest is None:
        return warn(
            "fingerprint key", "the dump does not say which", "Run manage.py doctor once it serves."
        )
    if manifest.key_proof in _key_proofs():
        return ok("fingerprint key", "the one configured here is the dump's")
    return warn(
        "fingerprint key",
        "the one configured here is not the dump's: nothing forgotten would be recognised",
        "Set MEMORY_FINGERPRINT_KEY to the key that was kept with the dump.",
    )


def _indexes(raw: psycopg.Connection[Any]) -> Finding:
    whole, broken, loose = _one(
        raw,
        "SELECT (SELECT count(*) FROM pg_index WHERE indisvalid), "
        "(SELECT count(*) FROM pg_index WHERE NOT indisvalid), "
        "(SELECT count(*) FROM pg_constraint WHERE NOT convalidated)",
    )
    if broken or loose:
        seen = f"{broken} indexes and {loose} constraints are not valid"
        return fail("indexes", seen, "REINDEX them, VALIDATE CONSTRAINT; see the original server.")
    return ok("indexes", f"{whole} valid, every constraint holds")


def _erased(raw: psycopg.Connection[Any]) -> Finding:
    erased, texts, vectors = _one(
        raw,
        "SELECT count(*), count(*) FILTER (WHERE content <> '' OR search_vector IS NOT NULL), "
        "count(*) FILTER (WHERE EXISTS (SELECT FROM junior_memory_memoryembedding AS vector"
        " WHERE vector.memory_id = memory.id))"
        " FROM junior_memory_memory AS memory WHERE purged_at IS NOT NULL",
    )
    if texts or vectors:
        seen = f"text of {texts} and vectors of {vectors} erased memories"
        return fail("erasure", seen, "Run manage.py purge, then manage.py doctor.")
    return ok("erasure", f"nothing is left of the {erased} erased memories")


def _vectors(raw: psycopg.Connection[Any], manifest: Manifest | None) -> Finding:
    (models,) = _one(
        raw, "SELECT count(*) FROM junior_memory_embeddingmodel WHERE state = 'in_use'"
    )
    if not models:
        return ok("vectors", "none were in use")
    (lacking,) = _one(
        raw,
        "SELECT count(*) FROM junior_memory_memory AS memory WHERE held_at IS NULL AND archived_at"
        " IS NULL AND superseded_at IS NULL AND (expires_at IS NULL OR expires_at > now())"
        " AND NOT EXISTS (SELECT FROM junior_memory_memoryembedding AS vector"
        " JOIN junior_memory_embeddingmodel AS model ON model.id = vector.embedding_model_id"
        " WHERE vector.memory_id = memory.id AND model.state = 'in_use')",
    )
    if not lacking:
        return ok("vectors", "every active memory has its vector")
    left_out = "were left out: " if manifest and not manifest.has_vectors else ""
    return warn(
        "vectors",
        f"{left_out}{lacking} active memories have none",
        "Start a worker: it makes them again, 5,000 memories a minute and more.",
    )


def count_tables(raw: psycopg.Connection[Any], *, but: Sequence[str] = ()) -> dict[str, Table]:
    """Count and sum up every table of a database but these: one pass over each."""
    raw.execute(
        "SET LOCAL TIME ZONE 'UTC'" if raw.info.transaction_status else "SET TIME ZONE 'UTC'"
    )
    return {name: _sum_up(raw, name) for name in _tables(raw) if name not in but}


def _sum_up(raw: psycopg.Connection[Any], name: str) -> Table:
    # The sum of 64 bits of each row's digest is the same in any order of rows.
    statement = sql.SQL(
        "SELECT count(*),"
        " COALESCE(sum(('x' || left(md5(whole::text), 16))::bit(64)::bigint), 0)::text"
        " FROM {} AS whole"
    )
    rows, checksum = _one(raw, statement.format(sql.Identifier("public", name)))
    return Table(rows=rows, checksum=checksum)


def _tables(raw: psycopg.Connection[Any]) -> list[str]:
    query = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
    return [row[0] for row in raw.execute(query).fetchall()]


def _one(raw: psycopg.Connection[Any], query: str | sql.Composed) -> tuple[Any, ...]:
    row = raw.execute(query).fetchone()
    assert row is not None  # noqa: S101 - an aggregate has one row
    return tuple(row)


def _key_proofs() -> list[str]:
    """What shows which key a deployment has, under every key, without showing the key."""
    return fingerprints.keyed_all("backup", "proof")


def _default_address() -> Address:
    return connection.address()  # type: ignore[attr-defined,no-any-return]


def _connect(address: Address) -> psycopg.Connection[Any]:
    keywords = {_KEYWORDS[name]: value for name, value in address.items()}
    return psycopg.connect(**keywords, autocommit=True)  # type: ignore[arg-type]


def _run(program: str, *arguments: str, address: Address) -> None:
    """Run one of PostgreSQL's programs; its own words go no further, since they can quote rows."""
    done = subprocess.run(  # noqa: S603
        [str(embedded.binary(program)), *arguments],
        env=dict(address),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise BackupFailed(f"{program} failed: {_reason(done.stderr)}")


def _reason(said: bytes) -> str:
    """Return the first complaint of a program, up to where a value could follow."""
    lines = said.decode("utf-8", "replace").splitlines()
    first = next((line for line in lines if "error:" in line), "it did not say why")
    return first.partition("error: ")[2].partition("DETAIL")[0].partition('"')[0].strip() or first


@contextmanager
def _empty_server() -> Iterator[Address]:
    """An embedded server with an empty database, in a folder that is removed afterwards."""
    base = Path(settings.DATA_DIR)
    base.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix="drill-", dir=base))
    try:
        server = embedded.use_server(place / "postgres", options={"fsync": "off"})
        embedded.create_database_if_absent(server, DRILL_DATABASE)
        yield {
            "PGHOST": server.host,
            "PGPORT": str(server.port),
            "PGUSER": server.user,
            "PGDATABASE": DRILL_DATABASE,
        }
    finally:
        embedded.release_server(place / "postgres")
        shutil.rmtree(place, ignore_errors=True)

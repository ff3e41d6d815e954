"""Numbers of memories and vectors that the database keeps in the transaction that changes them."""

# ruff: noqa: S608 - no value from outside is in it

from django.db import migrations, models

TALLY = """
CREATE FUNCTION junior_memory_tally(
    on_day date, seen varchar, of_kind varchar, of_origin varchar, of_org uuid,
    more bigint, more_kept bigint, more_held bigint, more_active bigint
) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    -- A row that another writer is changing is left to them: nobody waits.
    UPDATE junior_memory_memorytally SET
        "rows" = "rows" + more, kept = kept + more_kept,
        held = held + more_held, active = active + more_active
    WHERE id = (
        SELECT id FROM junior_memory_memorytally
        WHERE day = on_day AND visibility = seen AND kind = of_kind AND origin = of_origin
        AND org_id IS NOT DISTINCT FROM of_org
        ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
    );
    IF NOT FOUND THEN
        INSERT INTO junior_memory_memorytally
            (day, visibility, kind, origin, org_id, "rows", kept, held, active)
        VALUES (on_day, seen, of_kind, of_origin, of_org, more, more_kept, more_held, more_active);
    END IF;
END $$;

CREATE FUNCTION junior_memory_tally_vectors(of_model bigint, seen varchar, of_org uuid, more bigint)
RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE junior_memory_vectortally SET "rows" = "rows" + more
    WHERE id = (
        SELECT id FROM junior_memory_vectortally
        WHERE model_id = of_model AND visibility = seen AND org_id IS NOT DISTINCT FROM of_org
        ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
    );
    IF NOT FOUND THEN
        INSERT INTO junior_memory_vectortally (model_id, visibility, org_id, "rows")
        VALUES (of_model, seen, of_org, more);
    END IF;
END $$;
"""

SORT = "(created_at AT TIME ZONE 'UTC')::date AS day, visibility, kind, origin, org_id"
SIGNED = f"""
    SELECT {SORT}, %s AS n, purged_at IS NULL AS kept, held_at IS NOT NULL AS held,
        held_at IS NULL AND archived_at IS NULL AND superseded_at IS NULL AS active FROM %s
"""
ADDED, TAKEN = SIGNED % ("1", "added"), SIGNED % ("-1", "taken")
VECTORS = "SELECT embedding_model_id, visibility, org_id, %s AS n FROM %s"
MORE, FEWER = VECTORS % ("1", "added"), VECTORS % ("-1", "taken")
EVENTS = {
    "insert": ("REFERENCING NEW TABLE AS added", ADDED, MORE),
    "delete": ("REFERENCING OLD TABLE AS taken", TAKEN, FEWER),
    "update": (
        "REFERENCING OLD TABLE AS taken NEW TABLE AS added",
        f"{ADDED} UNION ALL {TAKEN}",
        f"{MORE} UNION ALL {FEWER}",
    ),
}


def _trigger(event: str, table: str, referencing: str, body: str) -> str:
    name = f"{table}_tally_{event}"
    return f"""
CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    {body}
    RETURN NULL;
END $$;
CREATE TRIGGER {name} AFTER {event.upper()} ON {table} {referencing}
FOR EACH STATEMENT EXECUTE FUNCTION {name}();
"""


def _memories(changes: str) -> str:
    return f"""
    PERFORM junior_memory_tally(
        day, visibility, kind, origin, org_id, "rows", kept, held, active
    ) FROM (
        SELECT day, visibility, kind, origin, org_id, sum(n)::bigint AS "rows",
            coalesce(sum(n) FILTER (WHERE kept), 0)::bigint AS kept,
            coalesce(sum(n) FILTER (WHERE held), 0)::bigint AS held,
            coalesce(sum(n) FILTER (WHERE active), 0)::bigint AS active
        FROM ({changes}) AS changes GROUP BY day, visibility, kind, origin, org_id
        ORDER BY day, visibility, kind, origin, org_id
    ) AS sums WHERE "rows" <> 0 OR kept <> 0 OR held <> 0 OR active <> 0;
    """


def _vectors(changes: str) -> str:
    return f"""
    PERFORM junior_memory_tally_vectors(embedding_model_id, visibility, org_id, more) FROM (
        SELECT embedding_model_id, visibility, org_id, sum(n)::bigint AS more
        FROM ({changes}) AS changes GROUP BY embedding_model_id, visibility, org_id
        ORDER BY embedding_model_id, visibility, org_id
    ) AS sums WHERE more <> 0;
    """


MEMORIES, EMBEDDINGS = "junior_memory_memory", "junior_memory_memoryembedding"
TABLES = ((MEMORIES, "junior_memory_memorytally"), (EMBEDDINGS, "junior_memory_vectortally"))
CREATE = (
    TALLY
    + "".join(
        _trigger(event, MEMORIES, referencing, _memories(of_memories))
        + _trigger(event, EMBEDDINGS, referencing, _vectors(of_vectors))
        for event, (referencing, of_memories, of_vectors) in EVENTS.items()
    )
    + "".join(_trigger("truncate", table, "", f"DELETE FROM {tally};") for table, tally in TABLES)
)
DROP = (
    "".join(
        f"DROP TRIGGER {table}_tally_{event} ON {table};DROP FUNCTION {table}_tally_{event}();"
        for table, _ in TABLES
        for event in (*EVENTS, "truncate")
    )
    + "DROP FUNCTION junior_memory_tally; DROP FUNCTION junior_memory_tally_vectors;"
)

# The triggers' locks let nobody write until what is there is counted.
FILL = f"""
INSERT INTO junior_memory_memorytally
    (day, visibility, kind, origin, org_id, "rows", kept, held, active)
SELECT day, visibility, kind, origin, org_id, count(*), count(*) FILTER (WHERE kept),
    count(*) FILTER (WHERE held), count(*) FILTER (WHERE active)
FROM ({SIGNED % ("1", MEMORIES)}) AS present GROUP BY day, visibility, kind, origin, org_id;
INSERT INTO junior_memory_vectortally (model_id, visibility, org_id, "rows")
SELECT embedding_model_id, visibility, org_id, count(*) FROM {EMBEDDINGS}
GROUP BY embedding_model_id, visibility, org_id;
"""

SEEN = [
    ("session", "This conversation"),
    ("private", "Private"),
    ("org", "Team"),
    ("public", "Public"),
]
KINDS = [
    ("preference", "Preference"),
    ("procedure", "Procedure"),
    ("knowledge", "Knowledge"),
]
ORIGINS = [
    ("explicit", "Asked to remember"),
    ("automatic", "Learned from a conversation"),
    ("import", "Imported"),
]


class Migration(migrations.Migration):
    """Tables of numbers, the triggers that keep them, and the numbers of what is there."""

    dependencies = [("junior_memory", "0011_sorts_and_moments")]
    operations = [
        migrations.CreateModel(
            name="MemoryTally",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("day", models.DateField()),
                ("visibility", models.CharField(choices=SEEN, max_length=8)),
                ("kind", models.CharField(choices=KINDS, max_length=12)),
                ("origin", models.CharField(choices=ORIGINS, max_length=10)),
                ("org_id", models.UUIDField(null=True)),
                ("rows", models.BigIntegerField()),
                ("kept", models.BigIntegerField()),
                ("held", models.BigIntegerField()),
                ("active", models.BigIntegerField()),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["day", "visibility", "kind", "origin"], name="memory_tally_sort"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="VectorTally",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("model_id", models.BigIntegerField()),
                ("visibility", models.CharField(choices=SEEN, max_length=8)),
                ("org_id", models.UUIDField(null=True)),
                ("rows", models.BigIntegerField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["model_id", "visibility"], name="vector_tally_model")
                ],
            },
        ),
        migrations.RunSQL(CREATE, DROP),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]

"""What models cost by day, which the database keeps in the transaction that changes it."""

# ruff: noqa: S608 - no value from outside is in it

from django.db import migrations, models

TALLY = """
CREATE FUNCTION junior_memory_tally_calls(
    on_day date, of_event varchar, of_operation varchar, of_model varchar, of_outcome varchar,
    loose boolean, more bigint, more_unknown bigint, more_usd numeric
) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    -- A row that another writer is changing is left to them: nobody waits.
    UPDATE junior_memory_calltally SET
        calls = calls + more, unknown = unknown + more_unknown, cost_usd = cost_usd + more_usd
    WHERE id = (
        SELECT id FROM junior_memory_calltally
        WHERE day = on_day AND operation = of_operation AND event = of_event
        AND model = of_model AND outcome = of_outcome AND is_loose = loose
        ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
    );
    IF NOT FOUND THEN
        INSERT INTO junior_memory_calltally
            (day, event, operation, model, outcome, is_loose, calls, unknown, cost_usd)
        VALUES (on_day, of_event, of_operation, of_model, of_outcome, loose,
            more, more_unknown, more_usd);
    END IF;
END $$;
"""

CALLS = "junior_memory_modelcall"
LINES = """
    SELECT (coalesce(event.created_at, call.created_at) AT TIME ZONE 'UTC')::date AS day,
        coalesce(event.name, '') AS event, call.operation, call.model, call.outcome,
        call.recall_id IS NULL AND call.session_id IS NULL AND call.tool_call_key = '' AS is_loose,
        %s AS n, call.cost_usd
    FROM %s AS call LEFT JOIN junior_memory_conversationevent AS event ON event.id = call.event_id
"""
ADDED, TAKEN = LINES % ("1", "added"), LINES % ("-1", "taken")
EVENTS = {
    "insert": ("REFERENCING NEW TABLE AS added", ADDED),
    "delete": ("REFERENCING OLD TABLE AS taken", TAKEN),
    "update": (
        "REFERENCING OLD TABLE AS taken NEW TABLE AS added",
        f"{ADDED} UNION ALL {TAKEN}",
    ),
}
SORT = "day, event, operation, model, outcome, is_loose"
SUMS = """sum(n)::bigint AS calls,
        coalesce(sum(n) FILTER (WHERE cost_usd IS NULL), 0)::bigint AS unknown,
        coalesce(sum(n * cost_usd), 0) AS cost_usd"""


def _trigger(event: str, referencing: str, body: str) -> str:
    name = f"{CALLS}_tally_{event}"
    return f"""
CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    {body}
    RETURN NULL;
END $$;
CREATE TRIGGER {name} AFTER {event.upper()} ON {CALLS} {referencing}
FOR EACH STATEMENT EXECUTE FUNCTION {name}();
"""


def _body(changes: str) -> str:
    return f"""
    PERFORM junior_memory_tally_calls(
        day, event, operation, model, outcome, is_loose, calls, unknown, cost_usd
    ) FROM (
        SELECT {SORT}, {SUMS} FROM ({changes}) AS changes GROUP BY {SORT} ORDER BY {SORT}
    ) AS sums WHERE calls <> 0 OR unknown <> 0 OR cost_usd <> 0;
    """


CREATE = (
    TALLY
    + "".join(
        _trigger(event, referencing, _body(changes))
        for event, (referencing, changes) in EVENTS.items()
    )
    + _trigger("truncate", "", "DELETE FROM junior_memory_calltally;")
)
DROP = (
    "".join(
        f"DROP TRIGGER {CALLS}_tally_{event} ON {CALLS};DROP FUNCTION {CALLS}_tally_{event}();"
        for event in (*EVENTS, "truncate")
    )
    + "DROP FUNCTION junior_memory_tally_calls;"
)

# The trigger's lock lets nobody write until what is there is counted.
FILL = f"""
INSERT INTO junior_memory_calltally ({SORT}, calls, unknown, cost_usd)
SELECT {SORT}, {SUMS} FROM ({LINES % ("1", CALLS)}) AS present GROUP BY {SORT}
"""


class Migration(migrations.Migration):
    """A table of sums, the triggers that keep them, and the sums of what is there."""

    dependencies = [("junior_memory", "0014_public_about")]
    operations = [
        migrations.CreateModel(
            name="CallTally",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("day", models.DateField()),
                ("event", models.CharField(blank=True, max_length=60)),
                ("operation", models.CharField(max_length=40)),
                ("model", models.CharField(max_length=200)),
                ("outcome", models.CharField(max_length=40)),
                ("is_loose", models.BooleanField()),
                ("calls", models.BigIntegerField()),
                ("unknown", models.BigIntegerField()),
                ("cost_usd", models.DecimalField(decimal_places=12, max_digits=24)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["day", "operation"], name="call_tally_day"),
                ],
            },
        ),
        migrations.RunSQL(CREATE, DROP),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]

"""An index by batch in place of one by model; the graphs over public vectors go, and all that is not
public is at 0.

A graph of 200,000 rows took minutes to build and some milliseconds of every public write.
"""

from django.contrib.postgres.operations import (
    AddIndexConcurrently,
    RemoveIndexConcurrently,
    ValidateConstraint,
)
from django.db import migrations, models


def drop_graphs(_apps, schema_editor):
    """Drop each model's approximate index, which no migration had made."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexrelid::regclass::text FROM pg_index"
            " WHERE indrelid = 'junior_memory_memoryembedding'::regclass"
            " AND indexrelid::regclass::text ~ 'embedding_near_[0-9]+$'"
        )
        for (name,) in cursor.fetchall():
            cursor.execute(f"DROP INDEX CONCURRENTLY {name}")


FILL = """
WITH few AS (
    SELECT id FROM junior_memory_memoryembedding WHERE id > %s ORDER BY id LIMIT 5000
), filled AS (
    UPDATE junior_memory_memoryembedding AS one SET batch = 0
    FROM few WHERE one.id = few.id AND one.visibility <> 'public' AND one.batch <> 0
)
SELECT max(id) FROM few
"""


def fill(_apps, schema_editor):
    """Put what is not public at 0, some at a time."""
    last = 0
    with schema_editor.connection.cursor() as cursor:
        while last is not None:
            cursor.execute(FILL, [last])
            (last,) = cursor.fetchone()


class Migration(migrations.Migration):
    """Concurrently: writes go on."""

    atomic = False
    dependencies = [("junior_memory", "0017_batches")]
    operations = [
        # Here, by itself: who writes a vector holds that table's lock and asks for this one's.
        migrations.AddField(
            model_name="embeddingmodel",
            name="batches",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        AddIndexConcurrently(
            model_name="memoryembedding",
            index=models.Index(
                condition=models.Q(("visibility", "public")),
                fields=["embedding_model", "batch"],
                include=["memory"],
                name="embedding_batches",
            ),
        ),
        RemoveIndexConcurrently(model_name="memoryembedding", name="embedding_public"),
        migrations.RunPython(drop_graphs, migrations.RunPython.noop),
        migrations.RunPython(fill, migrations.RunPython.noop),
        ValidateConstraint("memoryembedding", "embedding_public_in_a_batch"),
    ]

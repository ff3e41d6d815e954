"""Public vectors in numbered batches, by which processes load their codes.

What is there begins in no batch: public rows behind all others, the rest at 0, for good. All in one
transaction, so that no row is written in between.
"""

from django.db import migrations, models

FILL = """
UPDATE junior_memory_memoryembedding SET batch = 2147483647 WHERE visibility = 'public'
"""


class Migration(migrations.Migration):
    """`batches` of a model, `batch` of a vector."""

    dependencies = [("junior_memory", "0016_about")]
    operations = [
        migrations.AddField(
            model_name="embeddingmodel",
            name="batches",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="memoryembedding",
            name="batch",
            field=models.PositiveIntegerField(db_default=0),
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.AlterField(
            model_name="memoryembedding",
            name="batch",
            field=models.PositiveIntegerField(db_default=2_147_483_647),
        ),
        migrations.AddConstraint(
            model_name="memoryembedding",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("visibility", "public"), _negated=True),
                    ("batch__gt", 0),
                    _connector="OR",
                ),
                name="embedding_public_in_a_batch",
            ),
        ),
    ]

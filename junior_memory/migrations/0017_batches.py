"""Public vectors in numbered batches, by which processes load their codes.

What is there begins in no batch, without a row being written: the graphs over public vectors, which
go with the next migration, would take some milliseconds for each.
"""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    """`batch` of a vector."""

    dependencies = [("junior_memory", "0016_about")]
    operations = [
        migrations.AddField(
            model_name="memoryembedding",
            name="batch",
            field=models.PositiveIntegerField(db_default=2_147_483_647),
        ),
        AddConstraintNotValid(
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

"""An index over a person's own replaced rows, built beside writes."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Own rows that were replaced and not forgotten, newest first."""

    atomic = False
    dependencies = [("junior_memory", "0012_tallies")]
    operations = [
        AddIndexConcurrently(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("archived_at__isnull", True), ("superseded_at__isnull", False)),
                fields=["owner", "-created_at", "id"],
                name="memory_own_replaced",
            ),
        ),
    ]

"""An index over what is about people, whoever wrote it, built beside writes."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Rows in any state by whom they are about."""

    atomic = False
    dependencies = [("junior_memory", "0015_call_tallies")]
    operations = [
        AddIndexConcurrently(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("subject_type", "user")),
                fields=["subject_key"],
                name="memory_about",
            ),
        ),
    ]

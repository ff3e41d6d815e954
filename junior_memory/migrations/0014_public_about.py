"""An index over public facts about people, which are few, built beside writes."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

ACTIVE = [("archived_at__isnull", True), ("held_at__isnull", True), ("superseded_at__isnull", True)]


class Migration(migrations.Migration):
    """Active public rows by whom they are about."""

    atomic = False
    dependencies = [("junior_memory", "0013_own_replaced")]
    operations = [
        AddIndexConcurrently(
            model_name="memory",
            index=models.Index(
                condition=models.Q(*ACTIVE, ("subject_type", "user"), ("visibility", "public")),
                fields=["subject_key"],
                name="memory_public_about",
            ),
        ),
    ]

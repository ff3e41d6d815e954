"""Indexes over public rows by what they are filtered by and by removal, built beside writes."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

ACTIVE = [("archived_at__isnull", True), ("held_at__isnull", True), ("superseded_at__isnull", True)]


class Migration(migrations.Migration):
    """Public rows by kind, origin and agent; removed ones by when."""

    atomic = False
    dependencies = [("junior_memory", "0009_admin_history_without_words")]
    operations = [
        AddIndexConcurrently(
            model_name="memory",
            index=models.Index(
                condition=models.Q(*ACTIVE, ("visibility", "public")),
                fields=["kind", "origin", "agent"],
                include=["expires_at"],
                name="memory_public_sorts",
            ),
        ),
        AddIndexConcurrently(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("archived_at__isnull", False), ("visibility", "public")),
                fields=["-archived_at"],
                name="memory_public_archived",
            ),
        ),
    ]

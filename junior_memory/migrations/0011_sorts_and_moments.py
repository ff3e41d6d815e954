"""Indexes by what a list is filtered by and by what came and went when, built beside writes."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models

ACTIVE = [("archived_at__isnull", True), ("held_at__isnull", True), ("superseded_at__isnull", True)]


class Migration(migrations.Migration):
    """Own and team rows by sort; all rows by when they came, were replaced and went."""

    atomic = False
    dependencies = [("junior_memory", "0010_public_sorts")]
    operations = [
        AddIndexConcurrently(
            model_name="memory",
            index=models.Index(
                condition=models.Q(*ACTIVE),
                fields=["owner", "agent", "visibility", "kind", "origin"],
                include=["expires_at", "org"],
                name="memory_own_sorts",
            ),
        ),
        AddIndexConcurrently(
            model_name="memory",
            index=models.Index(
                condition=models.Q(*ACTIVE, ("visibility", "org")),
                fields=["org", "agent", "kind", "origin"],
                include=["expires_at", "owner", "visibility"],
                name="memory_org_sorts",
            ),
        ),
        RemoveIndexConcurrently(model_name="memory", name="memory_own_agent"),
        AddIndexConcurrently(
            model_name="memory",
            index=models.Index(fields=["-created_at"], name="memory_created"),
        ),
        AddIndexConcurrently(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("archived_at__isnull", False)),
                fields=["-archived_at"],
                include=["archive_reason", "superseded_at"],
                name="memory_archived",
            ),
        ),
        AddIndexConcurrently(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("superseded_at__isnull", False)),
                fields=["-superseded_at"],
                name="memory_superseded",
            ),
        ),
    ]

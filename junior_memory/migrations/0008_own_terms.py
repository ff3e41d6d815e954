"""The index over a person's own rows and the words in them, built beside running writes."""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Own rows by owner and term."""

    atomic = False
    dependencies = [("junior_memory", "0007_invitations_and_locale")]
    operations = [
        AddIndexConcurrently(
            model_name="memory",
            index=GinIndex(
                condition=models.Q(
                    ("archived_at__isnull", True),
                    ("held_at__isnull", True),
                    ("superseded_at__isnull", True),
                    ("owner__isnull", False),
                ),
                fastupdate=False,
                fields=["owner", "search_vector"],
                name="memory_own_terms",
            ),
        ),
    ]

"""The index behind an agent's budget, built beside running writes."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Calls of one agent by day."""

    atomic = False
    dependencies = [("junior_memory", "0005_tool_calls_and_budgets")]
    operations = [
        AddIndexConcurrently(
            model_name="modelcall",
            index=models.Index(fields=["agent", "created_at"], name="call_by_agent"),
        ),
    ]

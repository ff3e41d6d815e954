"""Tool calls that are claimed before a model is asked, and budgets of one agent."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("junior_memory", "0004_embedding_models"),
    ]

    operations = [
        migrations.CreateModel(
            name="ToolCall",
            fields=[
                ("key_hash", models.CharField(max_length=80, primary_key=True, serialize=False)),
                ("tool", models.CharField(max_length=40)),
                ("claimed_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
                ("outcome", models.CharField(blank=True, max_length=64)),
            ],
        ),
        migrations.AddField(
            model_name="agent",
            name="daily_budget_usd",
            field=models.DecimalField(blank=True, decimal_places=6, max_digits=12, null=True),
        ),
        migrations.AddField(
            model_name="agent",
            name="monthly_budget_usd",
            field=models.DecimalField(blank=True, decimal_places=6, max_digits=12, null=True),
        ),
        migrations.AddConstraint(
            model_name="agent",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("daily_budget_usd__isnull", True),
                        ("daily_budget_usd__gte", 0),
                        _connector="OR",
                    ),
                    models.Q(
                        ("monthly_budget_usd__isnull", True),
                        ("monthly_budget_usd__gte", 0),
                        _connector="OR",
                    ),
                ),
                name="agent_budget_not_negative",
            ),
        ),
        migrations.AddField(
            model_name="toolcall",
            name="agent",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="junior_memory.agent",
            ),
        ),
        migrations.AddField(
            model_name="toolcall",
            name="memory",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="junior_memory.memory",
            ),
        ),
        migrations.AddIndex(
            model_name="toolcall",
            index=models.Index(fields=["claimed_at"], name="tool_call_by_age"),
        ),
    ]

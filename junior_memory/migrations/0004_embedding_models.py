"""Vectors belong to a model that is a row: several side by side, one in use.

Vectors are derived, so the old table goes and the worker makes them again.
"""

import django.db.models.deletion
import pgvector.django.halfvec
from django.db import migrations, models

TABLE = "junior_memory_memoryembedding"


class Migration(migrations.Migration):
    """EmbeddingModel; MemoryEmbedding with the columns that find near rows without a join."""

    dependencies = [("junior_memory", "0003_no_text_statistics")]
    operations = [
        migrations.DeleteModel(name="MemoryEmbedding"),
        migrations.CreateModel(
            name="EmbeddingModel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("provider", models.CharField(max_length=40)),
                ("model", models.CharField(max_length=200)),
                ("dimensions", models.PositiveSmallIntegerField()),
                ("metric", models.CharField(default="cosine", max_length=10)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("in_use", "In use"),
                            ("preparing", "Being prepared"),
                            ("previous", "Kept to go back to"),
                        ],
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField()),
                ("switched_at", models.DateTimeField(null=True)),
                ("checked_to", models.UUIDField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("provider", "model", "dimensions"), name="embedding_model_unique"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "in_use")),
                        fields=("state",),
                        name="embedding_model_one_in_use",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("dimensions__gte", 1), ("dimensions__lte", 2000)),
                        name="embedding_model_dimensions",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("metric", "cosine")),
                        name="embedding_model_metric_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="MemoryEmbedding",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "memory",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="junior_memory.memory",
                    ),
                ),
                (
                    "embedding_model",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="junior_memory.embeddingmodel",
                    ),
                ),
                ("owner_id", models.UUIDField(null=True)),
                ("org_id", models.UUIDField(null=True)),
                (
                    "visibility",
                    models.CharField(
                        choices=[
                            ("session", "This conversation"),
                            ("private", "Private"),
                            ("org", "Team"),
                            ("public", "Public"),
                        ],
                        max_length=8,
                    ),
                ),
                ("content_hash", models.CharField(max_length=80)),
                ("vector", pgvector.django.halfvec.HalfVectorField()),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("owner_id__isnull", False)),
                        fields=["owner_id", "embedding_model"],
                        name="embedding_own",
                    ),
                    models.Index(
                        condition=models.Q(("org_id__isnull", False)),
                        fields=["org_id", "embedding_model"],
                        name="embedding_org",
                    ),
                    models.Index(
                        condition=models.Q(("visibility", "public")),
                        fields=["embedding_model"],
                        name="embedding_public",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("memory", "embedding_model"), name="embedding_unique"
                    ),
                ],
            },
        ),
        # PLAIN: fetching vectors from a side table costs more than comparing them. No statistics: a
        # dump with statistics must not hold what was erased.
        migrations.RunSQL(
            [
                f"ALTER TABLE {TABLE} ALTER COLUMN vector SET STORAGE PLAIN",
                f"ALTER TABLE {TABLE} ALTER COLUMN vector SET STATISTICS 0",
            ],
            migrations.RunSQL.noop,
        ),
    ]

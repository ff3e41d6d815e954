"""What PostgreSQL must be able to do before there are tables."""

from django.contrib.postgres.operations import (
    BtreeGinExtension,
    TrigramExtension,
    UnaccentExtension,
)
from django.db import migrations
from pgvector.django import VectorExtension


class Migration(migrations.Migration):
    """Vectors, trigrams, btree columns inside GIN indexes, accents."""

    dependencies: list[tuple[str, str]] = []
    operations = [
        VectorExtension(),
        TrigramExtension(),
        BtreeGinExtension(),
        UnaccentExtension(),
    ]

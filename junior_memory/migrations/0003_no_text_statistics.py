"""The planner keeps samples of common values; text columns keep none, so that erased means erased.

After a row is deleted and its table vacuumed and analysed, `pg_statistic` can still hold whole
texts of it, and a dump with statistics shows them. None of these columns is filtered by value.
"""

from django.db import migrations

TEXT_COLUMNS = (
    ("junior_memory_memory", "content"),
    ("junior_memory_memory", "search_vector"),
    ("junior_memory_completedsession", "transcript"),
    ("junior_memory_completedsession", "extraction_cache"),
    ("junior_memory_memoryreport", "reason"),
)


class Migration(migrations.Migration):
    """STATISTICS 0 on every column that holds what was said."""

    dependencies = [("junior_memory", "0002_initial")]
    operations = [
        migrations.RunSQL(
            f"ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS 0",
            f"ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS -1",
        )
        for table, column in TEXT_COLUMNS
    ]

"""What the admin's history calls a row: its id, never its words, also in what was noted before."""

from django.db import migrations

NAME_BY_ID = "UPDATE django_admin_log SET object_repr = left(coalesce(object_id, ''), 8)"
NO_STATISTICS = """
ALTER TABLE django_admin_log ALTER COLUMN object_repr SET STATISTICS 0,
    ALTER COLUMN change_message SET STATISTICS 0
"""
STATISTICS = """
ALTER TABLE django_admin_log ALTER COLUMN object_repr SET STATISTICS -1,
    ALTER COLUMN change_message SET STATISTICS -1
"""


class Migration(migrations.Migration):
    """Empty the names; nothing brings them back."""

    dependencies = [
        ("junior_memory", "0008_own_terms"),
        ("admin", "0003_logentry_add_action_flag_choices"),
    ]
    operations = [
        migrations.RunSQL(NAME_BY_ID, migrations.RunSQL.noop),
        migrations.RunSQL(NO_STATISTICS, STATISTICS),
    ]

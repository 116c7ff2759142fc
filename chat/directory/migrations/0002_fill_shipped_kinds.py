from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from chat.directory.kinds import SHIPPED


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    kinds = apps.get_model("directory", "RecordKind").objects
    for kind in SHIPPED:
        kinds.get_or_create(
            slug=kind.slug,
            defaults={
                "label": kind.label,
                "singular": kind.singular,
                "words": kind.words,
                "is_shipped": True,
                "fields": [field.as_json() for field in kind.fields],
            },
        )


class Migration(migrations.Migration):
    dependencies = [("directory", "0001_initial")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]

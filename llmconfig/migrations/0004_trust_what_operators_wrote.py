"""Until now only operators could write a config: all addresses are theirs."""

from django.db import migrations


def trust(apps, schema_editor):
    apps.get_model("llmconfig", "LLMConfig").objects.update(made_by_staff=True)


class Migration(migrations.Migration):
    dependencies = [("llmconfig", "0003_describe_what_models_are_for")]

    operations = [migrations.RunPython(trust, migrations.RunPython.noop)]

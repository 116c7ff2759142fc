from django.db import migrations

from chat.knowledge.search_index import install, remove


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0001_initial")]

    operations = [migrations.RunPython(install, remove)]

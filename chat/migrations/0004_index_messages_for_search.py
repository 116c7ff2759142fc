from django.db import migrations

from chat.search_index import install, remove


class Migration(migrations.Migration):
    dependencies = [("chat", "0003_rate_answers")]

    operations = [migrations.RunPython(install, remove)]

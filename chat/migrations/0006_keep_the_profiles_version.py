from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0005_bind_approvals_to_what_was_shown")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="profile_version",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
    ]

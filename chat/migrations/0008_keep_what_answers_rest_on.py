from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0006_keep_the_profiles_version")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="agent",
            field=models.CharField(
                default="lab",
                help_text="The profile's: lab or grounded.",
                max_length=16,
            ),
        ),
        migrations.AddField(
            model_name="run",
            name="options",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="What the request asked for besides.",
            ),
        ),
        migrations.AddField(
            model_name="toolcall",
            name="evidence",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="What an answer may cite of the result, facts, and devices changed.",
            ),
        ),
        migrations.AlterField(
            model_name="llmcall",
            name="operation",
            field=models.CharField(
                choices=[
                    ("chat", "Chat"),
                    ("title", "Title"),
                    ("planning", "Planning"),
                    ("gate", "evidence gate"),
                ],
                default="chat",
                max_length=16,
            ),
        ),
    ]

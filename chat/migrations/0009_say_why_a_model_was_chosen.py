from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0008_keep_what_answers_rest_on")]

    operations = [
        migrations.AddField(
            model_name="llmcall",
            name="reason",
            field=models.CharField(
                blank=True, help_text="Why this model was chosen.", max_length=300
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
                    ("analysis", "data analysis"),
                    ("web_search", "Web Search"),
                    ("embedding", "Embedding"),
                ],
                default="chat",
                max_length=16,
            ),
        ),
    ]

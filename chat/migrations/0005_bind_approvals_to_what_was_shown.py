import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0004_index_messages_for_search")]

    operations = [
        migrations.AlterModelOptions(
            name="approval",
            options={"ordering": ["requested_at", "tool_call__position"]},
        ),
        migrations.RemoveField(model_name="approval", name="config_hash"),
        migrations.AddField(
            model_name="approval",
            name="asked_arguments",
            field=models.TextField(
                blank=True,
                default="",
                help_text="JSON text, as the model wrote it.",
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="approval",
            name="proposal",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="What the person was shown: lines by device, "
                "and their origin.",
            ),
        ),
        migrations.AddField(
            model_name="approval",
            name="state",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="Hash of each part's configuration before; "
                "empty: not readable.",
            ),
        ),
        migrations.AlterField(
            model_name="approval",
            name="tool_call",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="approvals",
                to="chat.toolcall",
            ),
        ),
        migrations.AlterField(
            model_name="approval",
            name="status",
            field=models.CharField(
                choices=[
                    ("waiting", "Waiting"),
                    ("approved", "Approved"),
                    ("rejected", "Rejected"),
                    ("expired", "Expired"),
                    ("cancelled", "Cancelled"),
                ],
                default="waiting",
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="approval",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status__in", ["waiting", "approved", "rejected"])),
                fields=("tool_call",),
                name="one_valid_approval_per_call",
            ),
        ),
        migrations.AddField(
            model_name="run",
            name="takeovers",
            field=models.PositiveIntegerField(
                default=0, help_text="How many workers have died of it, or with it."
            ),
        ),
    ]

from django.apps import AppConfig


class KnowledgeConfig(AppConfig):
    name = "chat.knowledge"
    label = "knowledge"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "knowledge"

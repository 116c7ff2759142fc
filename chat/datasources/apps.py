from django.apps import AppConfig


class DataSourcesConfig(AppConfig):
    name = "chat.datasources"
    label = "datasources"
    verbose_name = "Data sources"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from chat.datasources import checks  # noqa: F401 # registers itself

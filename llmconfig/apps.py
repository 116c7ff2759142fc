from django.apps import AppConfig


class LlmConfigConfig(AppConfig):
    name = "llmconfig"
    verbose_name = "LLM configuration"

    def ready(self) -> None:
        from llmconfig import checks  # noqa: F401  registers the system checks

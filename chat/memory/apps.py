from django.apps import AppConfig


class MemoryConfig(AppConfig):
    name = "chat.memory"
    label = "memory"
    verbose_name = "memory"

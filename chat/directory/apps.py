from django.apps import AppConfig


class DirectoryConfig(AppConfig):
    name = "chat.directory"
    label = "directory"
    verbose_name = "directory"

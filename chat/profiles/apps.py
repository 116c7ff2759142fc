from django.apps import AppConfig


class ProfilesConfig(AppConfig):
    name = "chat.profiles"
    label = "profiles"
    verbose_name = "Assistant profiles"

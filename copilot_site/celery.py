"""The Celery application; tasks live in the tasks.py of chat and its apps."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "copilot_site.settings")

app = Celery("copilot")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["chat", "chat.documents", "chat.knowledge"])

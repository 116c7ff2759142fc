"""`{% static %}` without Django's settings, for templates served by the fake."""

from django import template

register = template.Library()


@register.simple_tag
def static(path: str) -> str:
    return f"/static/{path}"

"""The page of documents: for who is logged in, and without inline scripts."""

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse


def test_nobody_is_sent_to_the_login(transactional_db: None) -> None:
    response = Client().get(reverse("knowledge-page"))

    assert response.status_code == 302
    assert response["Location"].startswith(reverse("login"))


def test_a_person_gets_the_page_and_a_csrf_token(alice: User) -> None:
    client = Client()
    client.force_login(alice)

    response = client.get(reverse("knowledge-page"))

    assert response.status_code == 200
    assert "csrftoken" in response.cookies
    assert b"knowledge/page.js" in response.content
    assert "script-src 'self'" in response["Content-Security-Policy"]

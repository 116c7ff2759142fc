"""Profiles in the admin: checked, compared, rolled back."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from chat.profiles.active import profile_for
from chat.profiles.definition import as_text
from chat.profiles.models import Profile

pytestmark = pytest.mark.django_db
LIST = "admin:profiles_profile_changelist"


@pytest.fixture
def lab_profile() -> Profile:
    call_command("load_profiles")
    return Profile.objects.get(slug="lab")


def page_of(profile: Profile) -> str:
    return reverse("admin:profiles_profile_change", args=[profile.pk])


def form(profile: Profile, text: str | None = None, **changes: Any) -> dict[str, Any]:
    edited = {**profile.current.definition, **changes}
    return {
        "definition": as_text(edited) if text is None else text,
        "note": "",
        "is_enabled": "on",
        "versions-TOTAL_FORMS": 0,
        "versions-INITIAL_FORMS": 0,
    }


def test_an_edit_is_a_new_version_of_its_author(
    admin_client: Client, lab_profile: Profile, admin_user: User
) -> None:
    edited = {**form(lab_profile, prompt="Be brief. It is {date}."), "note": "Shorter"}

    admin_client.post(page_of(lab_profile), edited)

    assert profile_for("lab").prompt == "Be brief. It is {date}."
    version = lab_profile.versions.get(number=2)
    assert (version.author, version.note) == (admin_user, "Shorter")
    assert version.source == "operator"


def test_saving_without_a_change_makes_no_version(
    admin_client: Client, lab_profile: Profile
) -> None:
    admin_client.post(page_of(lab_profile), form(lab_profile))

    assert lab_profile.versions.count() == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"slug": ', "This is not JSON"),
        ('{"slug": "lab", "slug": "lab"}', "the key “slug” stands twice"),
        ("[]", "profile:"),
    ],
)
def test_what_is_no_profile_is_refused_with_its_fault(
    admin_client: Client, lab_profile: Profile, text: str, said: str
) -> None:
    answer = admin_client.post(page_of(lab_profile), form(lab_profile, text))

    assert said in answer.content.decode()
    assert lab_profile.versions.count() == 1


def test_a_profile_keeps_its_name(admin_client: Client, lab_profile: Profile) -> None:
    answer = admin_client.post(page_of(lab_profile), form(lab_profile, slug="other"))

    assert "it cannot be renamed" in answer.content.decode()


def test_an_operator_can_add_a_profile_of_the_site(
    admin_client: Client, lab_profile: Profile
) -> None:
    text = as_text({**lab_profile.current.definition, "slug": "ours"})

    admin_client.post(
        reverse("admin:profiles_profile_add"), form(lab_profile, text, slug="ours")
    )

    assert profile_for("ours").version == 1


def test_versions_are_compared_and_rolled_back(
    admin_client: Client, lab_profile: Profile
) -> None:
    admin_client.post(page_of(lab_profile), form(lab_profile, prompt="Be brief."))
    first = lab_profile.versions.get(number=1)

    page = admin_client.get(reverse("admin:profile_compare", args=[first.pk]))
    admin_client.post(reverse("admin:profile_roll_back", args=[first.pk]))

    assert "Be brief." in page.content.decode()
    assert profile_for("lab").version == 3
    assert profile_for("lab").prompt == profile_for("lab", version=1).prompt
    assert lab_profile.versions.get(number=3).note == "Back to version 1"


def test_a_newer_file_is_told_where_an_edit_is_in_use(
    admin_client: Client, lab_profile: Profile, tmp_path: Any
) -> None:
    first = lab_profile.current.definition
    admin_client.post(page_of(lab_profile), form(lab_profile, prompt="Be brief."))
    path = tmp_path / "lab.json"
    path.write_text(json.dumps({**first, "prompt": "From the file."}))
    call_command("load_profiles", str(path))

    page = admin_client.get(page_of(lab_profile)).content.decode()

    assert "The file has changed since" in page
    assert "compare with version 3" in page


def test_the_prompt_is_shown_as_filled(
    admin_client: Client, lab_profile: Profile
) -> None:
    page = admin_client.get(page_of(lab_profile)).content.decode()

    assert "Campus lab&lt;/project-" in page


def test_one_from_a_file_is_disabled_rather_than_deleted(
    admin_client: Client, lab_profile: Profile
) -> None:
    address = reverse("admin:profiles_profile_delete", args=[lab_profile.pk])

    assert admin_client.post(address, {"post": "yes"}).status_code == 403
    assert Profile.objects.filter(pk=lab_profile.pk).exists()


def test_who_may_only_look_rolls_nothing_back(
    client: Client, lab_profile: Profile
) -> None:
    first = lab_profile.current
    client.force_login(User.objects.create_user("auditor", is_staff=True))

    assert (
        client.post(reverse("admin:profile_roll_back", args=[first.pk])).status_code
        == 403
    )
    assert (
        client.get(reverse("admin:profile_compare", args=[first.pk])).status_code == 403
    )


def test_a_page_of_many_versions_takes_as_many_queries(
    admin_client: Client, lab_profile: Profile, django_assert_max_num_queries: Any
) -> None:
    for number in range(12):
        lab_profile.add_version(
            source="operator",
            definition={**lab_profile.current.definition, "prompt": f"{number}"},
        )

    with django_assert_max_num_queries(22):
        admin_client.get(page_of(lab_profile))
    with django_assert_max_num_queries(8):
        admin_client.get(reverse(LIST))

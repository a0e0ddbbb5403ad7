"""From a user to a request: tokens by command and in the admin, links, and the permission of the staff."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from rest_framework.authtoken.models import Token

from memory.models import Resource

pytestmark = pytest.mark.django_db

THREADS = "/api/memory/threads"


@pytest.fixture
def ada() -> Any:
    users: Any = get_user_model().objects
    return users.create_user("ada")


def ask(key: str, **query: str) -> Any:
    return Client().get(THREADS, query, headers={"Authorization": f"Token {key}"})


def test_by_command(ada: Any) -> None:
    call_command("drf_create_token", "ada", stdout=(out := StringIO()))
    key = Token.objects.get(user=ada).key
    assert out.getvalue().strip() == f"Generated token {key} for user ada"
    assert ask(key).json()["threads"] == []
    call_command("drf_create_token", "ada", "--reset", stdout=StringIO())
    assert ask(key).status_code == 401


def test_in_the_admin(admin_client: Client, ada: Any) -> None:
    add = reverse("admin:authtoken_tokenproxy_add")
    form = admin_client.get(add).content.decode()
    assert "admin-autocomplete" in form
    assert ">ada<" not in form  # no list of all users
    listed = admin_client.post(add, {"user": ada.pk}, follow=True).content.decode()
    key = Token.objects.get(user=ada).key
    assert key in listed
    assert ask(key).status_code == 200
    found = admin_client.get(reverse("admin:authtoken_tokenproxy_changelist"), {"q": "ada"})
    assert key in found.content.decode()
    admin_client.post(reverse("admin:authtoken_tokenproxy_delete", args=[ada.pk]), {"post": "yes"})
    assert ask(key).status_code == 401


def test_a_linked_user_sees_its_resource_only(ada: Any) -> None:
    key = Token.objects.create(user=ada).key
    Resource.objects.ensure("customer-7")
    assert ask(key, resourceId="customer-7").status_code == 404
    Resource.objects.filter(uid="customer-7").update(user=ada)
    assert ask(key, resourceId="customer-7").status_code == 200
    assert ask(key, resourceId="customer-8").status_code == 404


def test_a_user_without_a_link_owns_the_resource_of_its_key(ada: Any) -> None:
    key = Token.objects.create(user=ada).key
    headers = {"Authorization": f"Token {key}"}
    for owner, status in {"customer-7": 404, str(ada.pk): 200}.items():
        made = Client().post(THREADS, {"resourceId": owner}, "application/json", headers=headers)
        assert made.status_code == status
    assert Resource.objects.get().user == ada


def test_the_admin_grants_the_permission_to_act_for_all(admin_client: Client, ada: Any) -> None:
    key = Token.objects.create(user=ada).key
    Resource.objects.ensure("customer-7")
    page = reverse("admin:auth_user_change", args=[ada.pk])
    assert "Can act for every resource over the API" in admin_client.get(page).content.decode()
    permission = Permission.objects.get(codename="access_all_resources")
    sent = {
        "username": "ada",
        "is_active": "on",
        "is_staff": "on",
        "user_permissions": permission.pk,
        "date_joined_0": "2026-01-01",
        "date_joined_1": "00:00:00",
    }
    assert admin_client.post(page, sent).status_code == 302
    assert ask(key, resourceId="customer-7").status_code == 200

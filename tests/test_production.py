"""What the production settings make of their environment."""

from __future__ import annotations

import runpy
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

POSTGRES = "postgresql://chat@db.example.org/chat"
OPTIONAL = (
    "DB_POOL_MAX",
    "DB_POOL_TIMEOUT",
    "BEHIND_PROXY",
    "CSRF_TRUSTED_ORIGINS",
    "HSTS_SECONDS",
    "STATIC_ROOT",
)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Any:
    """`read(NAME=value)`: the settings in this environment."""

    def settings(**environ: str) -> dict[str, Any]:
        given = {"SECRET_KEY": "x" * 50, "ALLOWED_HOSTS": "a.example, b.example,", "DATABASE_URL": POSTGRES}
        for name in OPTIONAL:
            monkeypatch.delenv(name, raising=False)
        for name, value in {**given, **environ}.items():
            monkeypatch.setenv(name, value)
        return runpy.run_module("project.settings.production")

    return settings


def test_the_defaults(read: Any) -> None:
    settings = read()
    assert settings["ALLOWED_HOSTS"] == ["a.example", "b.example"]
    assert settings["CSRF_TRUSTED_ORIGINS"] == []
    database = settings["DATABASES"]["default"]
    assert database["OPTIONS"]["pool"] == {"min_size": 1, "max_size": 10, "timeout": 10}
    assert database["CONN_HEALTH_CHECKS"] is True
    assert not database.get("ATOMIC_REQUESTS")
    assert "SECURE_PROXY_SSL_HEADER" not in settings


def test_what_the_environment_changes(read: Any) -> None:
    settings = read(
        DB_POOL_MAX="40",
        DB_POOL_TIMEOUT="3",
        HSTS_SECONDS="0",
        BEHIND_PROXY="1",
        CSRF_TRUSTED_ORIGINS="https://app.example.org",
        STATIC_ROOT="/srv/static",
    )
    pool = settings["DATABASES"]["default"]["OPTIONS"]["pool"]
    assert (pool["max_size"], pool["timeout"]) == (40, 3)
    assert settings["SECURE_HSTS_SECONDS"] == 0
    assert settings["SECURE_PROXY_SSL_HEADER"] == ("HTTP_X_FORWARDED_PROTO", "https")
    assert settings["CSRF_TRUSTED_ORIGINS"] == ["https://app.example.org"]
    assert settings["STATIC_ROOT"] == "/srv/static"


def test_sqlite_has_no_pool(read: Any) -> None:
    database = read(DATABASE_URL="sqlite:////srv/chat.sqlite3")["DATABASES"]["default"]
    assert "pool" not in database["OPTIONS"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SECRET_KEY", " "),
        ("ALLOWED_HOSTS", ""),
        ("DATABASE_URL", ""),
        ("DB_POOL_MAX", "0"),
        ("DB_POOL_MAX", "many"),
        ("DB_POOL_TIMEOUT", "1.5"),
        ("HSTS_SECONDS", "-1"),
    ],
)
def test_what_is_missing_or_wrong_is_named(read: Any, name: str, value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=name):
        read(**{name: value})

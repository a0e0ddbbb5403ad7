"""Settings for a server; ``docs/production.md`` has a page on them. The environment says what is secret, and
what differs between places:

``SECRET_KEY``, ``ALLOWED_HOSTS`` (separated by commas) and ``DATABASE_URL`` have to be there.
``DB_POOL_MAX`` (default 10) is how many connections to PostgreSQL one process opens at most, and
``DB_POOL_TIMEOUT`` (default 10) how many seconds a request waits for one of them.
``BEHIND_PROXY=1`` trusts the X-Forwarded-Proto header of a proxy that sets it and is the only way in.
``CSRF_TRUSTED_ORIGINS`` (separated by commas): pages of other origins that may write with a session.
``HSTS_SECONDS`` (default 3600) is how long browsers insist on HTTPS; raise it once all is well.
``STATIC_ROOT`` (default: staticfiles, beside manage.py) is where collectstatic puts what whitenoise serves.
"""

import os
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from project.settings import base
from project.settings.base import *  # noqa: F403


def required(name: str) -> str:
    """The value of an environment variable; ``ImproperlyConfigured`` where it is missing or blank."""
    if value := os.environ.get(name, "").strip():
        return value
    raise ImproperlyConfigured(f"The environment variable {name} has to be set for the production settings.")


def whole(name: str, default: int, *, least: int = 1) -> int:
    """An environment variable as a number; ``ImproperlyConfigured`` where it is none, or below `least`."""
    value = os.environ.get(name, "").strip() or str(default)
    if value.isdecimal() and int(value) >= least:
        return int(value)
    raise ImproperlyConfigured(f"The environment variable {name} has to be a whole number from {least} up.")


def listed(value: str) -> list[str]:
    """The entries of a list that is separated by commas."""
    return [entry for part in value.split(",") if (entry := part.strip())]


def pooled(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry of ``DATABASES`` with a pool of connections, where the database is PostgreSQL.

    Every request in work holds a connection. Under ASGI each has a thread of its own, and there is no limit
    to them: those that find the pool empty wait their turn. What the URL says about the pool stays.
    """
    if entry["ENGINE"] != "django.db.backends.postgresql":
        return entry
    pool = {
        "min_size": 1,
        "max_size": whole("DB_POOL_MAX", 10),
        "timeout": whole("DB_POOL_TIMEOUT", 10),
    }
    # The check costs a round trip, and spares the requests after a restart of the database an error each.
    return {**entry, "CONN_HEALTH_CHECKS": True, "OPTIONS": {"pool": pool, **entry.get("OPTIONS", {})}}


DEBUG = False
SECRET_KEY = required("SECRET_KEY")
ALLOWED_HOSTS = listed(required("ALLOWED_HOSTS"))
CSRF_TRUSTED_ORIGINS = listed(os.environ.get("CSRF_TRUSTED_ORIGINS", ""))

DATABASES = {"default": pooled(base.database(required("DATABASE_URL")))}

SECURE_SSL_REDIRECT = True
# Load balancers ask by plain HTTP, and take a redirect for an illness.
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_HSTS_SECONDS = whole("HSTS_SECONDS", 3600, least=0)
# Neither for all subdomains nor for the lists of browsers: both reach beyond this site. `check --deploy` asks
# for them.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
if os.environ.get("BEHIND_PROXY") == "1":
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# The admin's files, by the application itself: names with a hash of the content, compressed, cached for good.
STATIC_ROOT = os.environ.get("STATIC_ROOT", "").strip() or base.STATIC_ROOT
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
MIDDLEWARE = list(base.MIDDLEWARE)
MIDDLEWARE.insert(
    MIDDLEWARE.index("django.middleware.security.SecurityMiddleware") + 1,
    "whitenoise.middleware.WhiteNoiseMiddleware",
)

# Django by itself only mails errors to ADMINS, of which this site has none.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["console"], "level": "INFO"},
}

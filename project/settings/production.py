"""Settings for a server. What is secret, and what differs between places, comes from the environment:

``SECRET_KEY``, ``ALLOWED_HOSTS`` (separated by commas) and ``DATABASE_URL`` have to be there.
``HSTS_SECONDS`` (default 3600) is how long browsers insist on HTTPS; raise it once all is well.
``BEHIND_PROXY=1`` trusts the X-Forwarded-Proto header of a proxy that sets it and is the only way in.
"""

import os

from django.core.exceptions import ImproperlyConfigured

from project.settings import base
from project.settings.base import *  # noqa: F403


def required(name: str) -> str:
    """The value of an environment variable; ``ImproperlyConfigured`` where it is missing or blank."""
    if value := os.environ.get(name, "").strip():
        return value
    raise ImproperlyConfigured(f"The environment variable {name} has to be set for the production settings.")


DEBUG = False
SECRET_KEY = required("SECRET_KEY")
ALLOWED_HOSTS = [host for name in required("ALLOWED_HOSTS").split(",") if (host := name.strip())]

DATABASES = {"default": base.database(required("DATABASE_URL"))}
if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    DATABASES["default"]["OPTIONS"] = {"pool": True, **DATABASES["default"].get("OPTIONS", {})}

SECURE_SSL_REDIRECT = True
SECURE_HSTS_SECONDS = int(os.environ.get("HSTS_SECONDS", "3600"))
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
if os.environ.get("BEHIND_PROXY") == "1":
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# Django by itself only mails errors to ADMINS, of which this site has none.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["console"], "level": "INFO"},
}

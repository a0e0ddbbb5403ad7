"""Settings for work on one's own machine: what manage.py uses unless told otherwise."""

from project.settings.base import *  # noqa: F403

DEBUG = True

# Public and good for nothing but a machine that serves nobody else.
SECRET_KEY = "django-insecure-only-for-development"  # noqa: S105

ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]

EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"

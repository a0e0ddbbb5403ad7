"""What all settings of the bundled site share. Nothing here is secret and nothing is only for one place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

BASE_DIR = Path(__file__).resolve().parents[2]

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "rest_framework.authtoken",
    "memory",
    # The command `demo`; it is the site's, not the app's: it writes people of its own into the database.
    "project",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "project.urls"
WSGI_APPLICATION = "project.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("ko", "한국어"), ("zh-hans", "简体中文")]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"

# Django 6 has this by default; Django 5.2 warns without it.
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# SQLite with its defaults fails with "database is locked" as soon as two writers meet. WAL lets readers
# and one writer work side by side; IMMEDIATE queues a transaction at its start, where waiting helps, and
# not at its first write, where it cannot; the time-out is how long it queues. NORMAL is safe under WAL
# against a crash of the process. Foreign keys are switched on by Django itself.
SQLITE_OPTIONS: dict[str, Any] = {
    "timeout": 20,
    "transaction_mode": "IMMEDIATE",
    "init_command": "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL",
}


def database(url: str) -> dict[str, Any]:
    """The entry of ``DATABASES`` for a ``DATABASE_URL``; an empty one means SQLite beside manage.py."""
    if not url:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": BASE_DIR / "db.sqlite3",
            "OPTIONS": dict(SQLITE_OPTIONS),
        }
    # Only here, so that the site runs on SQLite without the package.
    import dj_database_url

    entry: dict[str, Any] = {**dj_database_url.parse(url)}
    if entry["ENGINE"] == "django.db.backends.sqlite3":
        entry["OPTIONS"] = {**SQLITE_OPTIONS, **entry.get("OPTIONS", {})}
    return entry


DATABASES = {"default": database(os.environ.get("DATABASE_URL", ""))}

# Browsers come with a session, and with a CSRF token where they write; programs with `Authorization: Token`.
REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
}

# With a key, texts are sent to OpenAI (or to the compatible server OPENAI_BASE_URL names) to be embedded.
# Without one, a small multilingual model embeds them in this process, and nothing leaves the machine.
if os.environ.get("OPENAI_API_KEY"):
    EMBEDDER: dict[str, Any] = {"BACKEND": "memory.embedders.OpenAIEmbedder"}
else:
    EMBEDDER = {"BACKEND": "memory.embedders.LocalEmbedder"}

MEMORY: dict[str, Any] = {
    "EMBEDDERS": {"default": EMBEDDER},
    # The site shows the whole product, so its agent searches by meaning too; the app's own default is off.
    "AGENTS": {"default": {"semantic_recall": True}},
}

"""What all settings of the bundled site share. Nothing here is secret and nothing is only for one place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from memory import __version__

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
    "drf_spectacular",
    "drf_spectacular_sidecar",
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
    "project.security.admin_security_policy",
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
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
}

# The schema holds no data, so anyone may read it; the page is served by this site alone.
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Conversation memory",
    "DESCRIPTION": (
        "Threads, messages and recall. Authorize with a token (`Token <key>`), or log in to the admin.\n\n"
        "Every answer is JSON. A method that a path lacks is 405 with the header `Allow`, an unknown path is "
        "404. A parameter may be given once, unknown ones are ignored. JSON in a parameter is written as "
        '`filter={"metadata": {"priority": "high"}}`, percent-encoded.'
    ),
    "VERSION": __version__,
    "OAS_VERSION": "3.1.0",
    "TAGS": [
        {"name": "memory: threads", "description": "Conversations, each of one resource."},
        {"name": "memory: messages", "description": "Their pages; saving and deleting."},
        {"name": "memory: recall", "description": "History, named messages and a search in one."},
        {"name": "memory: search", "description": "By meaning or by words."},
        {"name": "memory: working memory", "description": "What is remembered of a thread or its resource."},
        {"name": "memory: status", "description": "What an agent offers."},
        {"name": "memory: network", "description": "The second path of the client library."},
    ],
    "CAMELIZE_NAMES": True,
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "persistAuthorization": False, "validatorUrl": None},
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

"""Settings of the server for the client library's suite: those of the tests, on the database of the run."""

import os

from project.settings.base import database
from project.settings.test import *  # noqa: F403

DATABASES = {"default": database(os.environ["DATABASE_URL"])}
ALLOWED_HOSTS = ["127.0.0.1"]

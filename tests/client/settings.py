"""Settings of the server for the client library's suite: those of the tests, on the database of the run."""

import json
import os

from project.settings.test import *  # noqa: F403

DATABASES = {"default": json.loads(os.environ["CLIENT_DATABASE"])}
ALLOWED_HOSTS = ["127.0.0.1"]

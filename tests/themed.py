"""Settings of a site whose admin classes stand on a class of its own, and that class."""

from __future__ import annotations

from django.contrib.admin.options import ModelAdmin

from project.settings.test import *  # noqa: F403
from project.settings.test import MEMORY as _MEMORY

MEMORY = {**_MEMORY, "ADMIN_BASE": "tests.themed.Themed"}


class Themed(ModelAdmin):  # type: ignore[type-arg]
    """What a theme's class would be."""

    list_per_page = 100

"""The tokens of the API in the admin of the bundled site."""

from __future__ import annotations

from django.contrib import admin
from rest_framework.authtoken.admin import TokenAdmin as PlainTokenAdmin
from rest_framework.authtoken.models import TokenProxy

admin.site.unregister(TokenProxy)


@admin.register(TokenProxy)
class TokenAdmin(PlainTokenAdmin):
    """Made for a user, found by a user; keys are shown, so whoever may see tokens can act as their users."""

    # A site may have a million users: no list of them to choose from.
    autocomplete_fields = ("user",)

"""Addresses of the bundled site."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from memory.health import health

urlpatterns: list[URLPattern | URLResolver] = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("healthz", health, name="health"),
    path("admin/", admin.site.urls),
    path("api/memory/", include("memory.api.urls")),
]

"""Addresses of the bundled site."""

from django.contrib import admin
from django.http import HttpResponse
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from memory.health import health

urlpatterns: list[URLPattern | URLResolver] = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    # Browsers ask for it, and write into their console that it is missing.
    path("favicon.ico", lambda request: HttpResponse(status=204)),
    path("healthz", health, name="health"),
    path("admin/", admin.site.urls),
    path("api/memory/", include("memory.api.urls")),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    # The view that keeps its script apart from the page, as a Content-Security-Policy wants it.
    path("api/docs/", SpectacularSwaggerSplitView.as_view(template_name="api/docs.html"), name="docs"),
]

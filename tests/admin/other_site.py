"""Addresses of a site whose support staff have an admin of their own, beside one without this app."""

from __future__ import annotations

from django.contrib import admin
from django.urls import path

from memory import health

support = admin.AdminSite(name="support")
for model, model_admin in admin.site._registry.items():
    if model._meta.app_label == "memory":
        support.register(model, type(model_admin))

urlpatterns = [
    path("admin/", admin.AdminSite(name="admin").urls),
    path("support/", support.urls),
    path("healthz", health.health, name="health"),
]

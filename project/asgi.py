"""The bundled site for ASGI servers, with its production settings unless others are named."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings.production")

application = get_asgi_application()

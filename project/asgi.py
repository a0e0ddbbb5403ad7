"""The bundled site for ASGI servers, with its production settings unless others are named."""

import os
import warnings

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings.production")

# whitenoise hands its files over one after the other, and ASGI reads each as a whole: they are small.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")

application = get_asgi_application()

"""The web application, as WSGI."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "junior_memory.settings")

application = get_wsgi_application()

from junior_memory import vector_index  # noqa: E402 - models want the set-up

vector_index.keep_loaded()

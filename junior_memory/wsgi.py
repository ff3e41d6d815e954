"""The web application, as WSGI."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "junior_memory.settings")

application = get_wsgi_application()

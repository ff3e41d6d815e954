"""The web application, as ASGI.

Every request runs in a thread of its own here, so a connection kept by its thread would never be
used again: web processes share a pool instead.
"""

import os
import threading
from importlib import import_module

from django.conf import settings
from django.core.asgi import get_asgi_application

from junior_memory.body_limit import BodyLimit

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "junior_memory.settings")

_database = settings.DATABASES["default"]
_database |= {
    "OPTIONS": _database["OPTIONS"] | {"pool": settings.WEB_CONNECTION_POOL},  # type: ignore[operator]
    "CONN_MAX_AGE": 0,
    "CONN_HEALTH_CHECKS": False,
    "LOCK_TIMEOUT_MS": settings.WEB_LOCK_TIMEOUT_MS,
}

application = BodyLimit(get_asgi_application())

# Read all addresses now: the first request may have only a recall's deadline for its answer.
import_module(settings.ROOT_URLCONF)


def _warm_up() -> None:
    from junior_memory import embeddings

    embeddings.warm_up()


threading.Thread(target=_warm_up, name="warm-up", daemon=True).start()

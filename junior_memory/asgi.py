"""The web application, as ASGI.

Every request runs in a thread of its own here, so a connection kept by its thread would never be
used again: web processes share a pool instead.
"""

import os
import threading
import warnings
from importlib import import_module

import django
from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from junior_memory.body_limit import BodyLimit

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "junior_memory.settings")

_database = settings.DATABASES["default"]
_database |= {
    "OPTIONS": _database["OPTIONS"] | {"pool": settings.WEB_CONNECTION_POOL},  # type: ignore[operator]
    "CONN_MAX_AGE": 0,
    "CONN_HEALTH_CHECKS": False,
    "LOCK_TIMEOUT_MS": settings.WEB_LOCK_TIMEOUT_MS,
}

django.setup(set_prefix=False)

# Static files, which are small and lie in memory's cache: all that is large streams asynchronously.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous")

from junior_memory.legs import lend_connection  # noqa: E402 - models want the set-up


class InOneGo(ASGIHandler):
    """Runs a request's middleware and its view in one go, in the request's own thread.

    None of them is asynchronous here. Django would go back to the event loop between the middleware
    and the view, which costs every request a millisecond or two.
    """

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: ARG002 - Django asks so
        """Build the chain for `get_response`, whatever the handler is."""
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """See the class."""
        return await sync_to_async(self._answer, thread_sensitive=True)(request)

    def _answer(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, and need no database any more: whoever reads it may take their time."""
        response = self.get_response(request)
        lend_connection()
        return response


application = BodyLimit(InOneGo())

# Read all addresses now: the first request may have only a recall's deadline for its answer.
import_module(settings.ROOT_URLCONF)


def _warm_up() -> None:
    from junior_memory import embeddings, vector_index

    vector_index.keep_loaded()
    embeddings.warm_up()


threading.Thread(target=_warm_up, name="warm-up", daemon=True).start()

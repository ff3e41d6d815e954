"""What people see when something fails: one place where kinds of error become statuses."""

from __future__ import annotations

import logging

from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from dashboard import words
from dashboard.views import errors
from junior_memory.errors import JuniorMemoryError, Kind, RateLimited

logger = logging.getLogger(__name__)


class FailureMiddleware(MiddlewareMixin):
    """Answers for views that raise; the database may be gone, so nothing here may ask it."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Turn what a view raised into a page, or into our JSON under /api/."""
        if isinstance(exception, OperationalError | InterfaceError):
            logger.error("the database does not answer (%s)", type(exception).__name__)
            return errors.unavailable(request)
        if not isinstance(exception, JuniorMemoryError) or request.path.startswith("/api/"):
            return None
        match exception.kind:
            case Kind.NOT_FOUND:
                return errors.not_found(request, Http404())
            case Kind.FORBIDDEN:
                return errors.forbidden(request, PermissionDenied())
            case Kind.UNAVAILABLE:
                return errors.unavailable(request)
            case Kind.CONFLICT:
                return errors.refused(request, words.refused(exception), status=409)
            case Kind.LIMITED:
                if isinstance(exception, RateLimited):
                    return errors.too_many(request, wait_seconds=exception.retry_after_seconds)
                return errors.refused(request, words.refused(exception), status=429)
        return errors.refused(request, words.refused(exception), status=422)

"""What went wrong, in one shape for every status: `{"error": {"code", "message", "fields"?}}`."""

from __future__ import annotations

from collections.abc import Mapping

from django.http import HttpResponse, JsonResponse

from junior_memory.errors import JuniorMemoryError, Kind, RateLimited

STATUS_OF_KIND = {
    Kind.INVALID: 422,
    Kind.CONFLICT: 409,
    Kind.NOT_FOUND: 404,
    Kind.FORBIDDEN: 403,
    Kind.LIMITED: 429,
    Kind.UNAVAILABLE: 503,
}
"""The one place where the domain's kinds of error become statuses of the REST interface."""

COME_AGAIN_SECONDS = 5
"""What `retry-after` says beside a 503: a database that was restarted answers by then."""


class Refused(Exception):
    """A call that the edge turns away before the domain hears of it."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        fields: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.status = status
        self.code = code
        self.message = message
        self.fields = fields or {}
        self.headers = headers or {}
        super().__init__(code)


def unauthenticated(message: str = "Sign in or send a valid token.") -> Refused:
    """Nobody is known to be calling."""
    return Refused(401, "unauthenticated", message, headers={"WWW-Authenticate": "Bearer"})


def forbidden(message: str, *, code: str = "forbidden") -> Refused:
    """The caller is known and may not do that."""
    return Refused(403, code, message)


def malformed(message: str, *, fields: Mapping[str, str] | None = None) -> Refused:
    """The request cannot be read as what it claims to be."""
    return Refused(422, "malformed", message, fields=fields)


def answer_failure(
    status: int,
    code: str,
    message: str,
    *,
    fields: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    """Return an error in our shape; `fields` says which part of the request is meant.

    What is unavailable (503) says when to come again.
    """
    error: dict[str, object] = {"code": code, "message": message}
    if fields:
        error["fields"] = dict(fields)
    sent = dict(headers or {})
    if status == 503:
        sent.setdefault("Retry-After", str(COME_AGAIN_SECONDS))
    return JsonResponse({"error": error}, status=status, headers=sent)


def answer_refusal(refused: Refused) -> HttpResponse:
    """Return what the edge turned away, in our shape."""
    return answer_failure(
        refused.status,
        refused.code,
        refused.message,
        fields=refused.fields,
        headers=refused.headers,
    )


def answer_domain_error(error: JuniorMemoryError) -> HttpResponse:
    """Return what the domain refused, in our shape."""
    headers = {}
    if isinstance(error, RateLimited):
        headers["Retry-After"] = str(error.retry_after_seconds)
    return answer_failure(
        STATUS_OF_KIND[error.kind],
        error.code,
        error.message,
        fields=error.fields,
        headers=headers,
    )

"""One tree of errors, each with a stable `code` and a `kind` that the edges map to statuses."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What went wrong, in words that fit every edge."""

    INVALID = "invalid"
    CONFLICT = "conflict"
    NOT_FOUND = "not_found"
    FORBIDDEN = "forbidden"
    LIMITED = "limited"
    UNAVAILABLE = "unavailable"


class JuniorMemoryError(Exception):
    """The root. The message is for people and never holds memory content.

    `values` fill the places of the message; kept apart, so that a page can say it in another
    language.
    """

    code = "error"
    kind = Kind.INVALID

    def __init__(
        self,
        message: str = "",
        *,
        code: str = "",
        fields: dict[str, str] | None = None,
        values: dict[str, int | str] | None = None,
    ) -> None:
        self.sentence = message or (self.__doc__ or "").splitlines()[0]
        self.values = values or {}
        self.message = self.sentence.format(**self.values) if values else self.sentence
        self.code = code or type(self).code
        self.fields = fields or {}
        super().__init__(self.message)


class InvalidInput(JuniorMemoryError):
    """The request does not fit what is asked for."""

    code = "invalid"


class SecretRejected(InvalidInput):
    """The text looks like it holds a password, key or token. Those are never remembered."""

    code = "secret_or_credential"


class NotFound(JuniorMemoryError):
    """Nothing here under that id."""

    code = "not_found"
    kind = Kind.NOT_FOUND


class Forbidden(JuniorMemoryError):
    """This caller may not do that."""

    code = "forbidden"
    kind = Kind.FORBIDDEN


class PublicMemoryReadOnly(Forbidden):
    """Public memory is shared by everyone and read-only here. Report it instead."""

    code = "public_memory_read_only"


class Conflict(JuniorMemoryError):
    """The present state does not allow that."""

    code = "conflict"
    kind = Kind.CONFLICT


class VersionConflict(Conflict):
    """The memory has changed since you read it."""

    code = "version_conflict"


class Forgotten(Conflict):
    """A memory written under this key was forgotten; use a new key to remember it again."""

    code = "forgotten"


class QuotaExceeded(Conflict):
    """The limit of active memories is reached."""

    code = "quota_exceeded"


class IdentityLinked(Conflict):
    """That identity is linked to somebody else already."""

    code = "identity_linked"


class Expired(Conflict):
    """The memory has expired."""

    code = "expired"


class SessionChanged(Conflict):
    """A session with this id was handed in with other content."""

    code = "session_changed"


class RateLimited(JuniorMemoryError):
    """Too many calls; wait and try again."""

    code = "rate_limited"
    kind = Kind.LIMITED

    def __init__(self, *, retry_after_seconds: int, message: str = "") -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class Unavailable(JuniorMemoryError):
    """The service cannot answer just now."""

    code = "unavailable"
    kind = Kind.UNAVAILABLE

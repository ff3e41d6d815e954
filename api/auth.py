"""Who is calling, by what right, and how often: one gate in front of every call.

A gate checks in this order: credential (401), right (403), body (413, 415, 422), CSRF for cookies
(403), rate (429), unknown query keys (422). Only then the call's own parameters are read.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from ninja.security.base import AuthBase
from ninja.utils import check_csrf
from pydantic import BaseModel

from api.bodies import JSON_BODY, NO_BODY, Intake, take_body
from api.failures import forbidden, malformed, unauthenticated
from junior_memory import access, people
from junior_memory.access import Viewer
from junior_memory.audit import Doer
from junior_memory.conf import conf
from junior_memory.models import Agent, ApiToken, TokenKind, User

SAFE_METHODS = frozenset({"GET", "HEAD"})
LONGEST_HEADER = 300


@dataclass(frozen=True, slots=True)
class Caller:
    """A person: signed in by cookie (no token), or by a personal token."""

    user: User
    token: ApiToken | None

    @property
    def viewer(self) -> Viewer:
        """On whose behalf memories are read."""
        return access.person(self.user, token=self.token)

    @property
    def doer(self) -> Doer:
        """Who stands in the audit."""
        return Doer(user=self.user, token=self.token, via="api")


@dataclass(frozen=True, slots=True)
class HostCaller:
    """An agent host, by its token."""

    token: ApiToken
    agent: Agent

    @property
    def doer(self) -> Doer:
        """Who stands in the audit."""
        return Doer(token=self.token, via="api")


class ApiRequest(HttpRequest):
    """A request that has passed a person's gate."""

    auth: Caller


class HostRequest(HttpRequest):
    """A request that has passed an agent host's gate."""

    auth: HostCaller


class Gate(AuthBase):
    """What every gate does; subclasses say who may pass."""

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __init__(
        self,
        scope: str,
        *,
        query: type[BaseModel] | None = None,
        intake: Intake = NO_BODY,
        is_write: bool = False,
    ) -> None:
        self.scope = scope
        self.query = query
        self.intake = intake
        self.is_write = is_write
        super().__init__()

    def __call__(self, request: HttpRequest) -> Caller | HostCaller:
        """Let a caller pass. Raises Refused or RateLimited."""
        caller = self.admit(request)
        is_unsafe = request.method not in SAFE_METHODS
        if is_unsafe:
            take_body(request, self.intake)
        if caller.token is None and is_unsafe and check_csrf(request) is not None:
            raise forbidden("The CSRF token is missing or wrong.", code="csrf")
        self._spend(caller)
        self._check_query(request)
        return caller

    @abstractmethod
    def admit(self, request: HttpRequest) -> Caller | HostCaller:
        """Return the caller if the call is theirs to make."""

    def _spend(self, caller: Caller | HostCaller) -> None:
        knobs = conf()
        limit = knobs.token_writes_per_minute if self.is_write else knobs.token_reads_per_minute
        if caller.token is not None:
            who = f"token:{caller.token.pk}"
        else:
            who = f"user:{caller.user.pk}" if isinstance(caller, Caller) else ""
        bucket = f"{'write' if self.is_write else 'read'}:{who}"
        people.spend_rate(bucket, limit=limit, in_passing=True)

    def _check_query(self, request: HttpRequest) -> None:
        """Refuse keys that the call does not know, and known ones given twice."""
        fields = self.query.model_fields if self.query else {}
        known = {field.alias or name for name, field in fields.items()}
        wrong: dict[str, str] = {}
        for key, values in request.GET.lists():
            if key not in known:
                wrong[key] = "unknown"
            elif len(values) > 1:
                wrong[key] = "given twice"
        if wrong:
            raise malformed(
                "The address holds parameters that this call does not know, or one twice.",
                fields=wrong,
            )


class PersonGate(Gate):
    """A signed-in person, or a personal token with the scope."""

    def admit(self, request: HttpRequest) -> Caller:
        """See Gate."""
        secret = bearer_secret(request)
        if secret is None:
            user = request.user
            if not isinstance(user, User) or not is_known(user):
                raise unauthenticated()
            return self.check_right(Caller(user=user, token=None))
        token = find_live_token(secret)
        if token.kind != TokenKind.PERSONAL or token.user is None:
            raise forbidden("This call is for people; an agent's token does not do.")
        if self.scope not in token.scopes:
            raise forbidden(f"This token lacks the scope {self.scope}.")
        return self.check_right(Caller(user=token.user, token=token))

    def check_right(self, caller: Caller) -> Caller:
        """Any person may; subclasses are narrower."""
        return caller


class CookieGate(PersonGate):
    """A signed-in person alone: tokens are not managed with tokens."""

    def check_right(self, caller: Caller) -> Caller:
        """See PersonGate."""
        if caller.token is not None:
            raise forbidden("Sign in to do that; a token does not do.")
        return caller


class StaffGate(PersonGate):
    """Staff: signed in, or by a personal token with the scope `report`."""

    def check_right(self, caller: Caller) -> Caller:
        """See PersonGate."""
        if not caller.user.is_staff:
            raise forbidden("This call is for staff.")
        return caller


class HostGate(Gate):
    """An agent host by its token."""

    def admit(self, request: HttpRequest) -> HostCaller:
        """See Gate."""
        secret = bearer_secret(request)
        if secret is None:
            if isinstance(request.user, User) and is_known(request.user):
                raise forbidden("This call is for agent hosts; send an agent's token.")
            raise unauthenticated()
        token = find_live_token(secret)
        if token.kind != TokenKind.AGENT or token.agent is None:
            raise forbidden("This call is for agent hosts; a personal token does not do.")
        if self.scope not in token.scopes:
            raise forbidden(f"This token lacks the scope {self.scope}.")
        return HostCaller(token=token, agent=token.agent)


def bearer_secret(request: HttpRequest) -> str | None:
    """Return what the Authorization header carries, None without one. Raises Refused."""
    header = request.headers.get("Authorization")
    if header is None:
        return None
    scheme, _, secret = header.strip().partition(" ")
    if scheme.lower() != "bearer" or not secret.strip() or len(header) > LONGEST_HEADER:
        raise unauthenticated()
    return secret.strip()


def find_live_token(secret: str) -> ApiToken:
    """Return the token with this secret. Raises Refused when there is none that lives."""
    token = people.find_token(secret)
    if token is None or (token.user is not None and not is_known(token.user)):
        raise unauthenticated("The token is unknown, expired or revoked.")
    return token


def is_known(user: User) -> bool:
    """Return whether somebody may act: not shut out, and with an address of their own."""
    return user.is_active and user.email_verified_at is not None


def may_read(query: type[BaseModel] | None = None) -> PersonGate:
    """Let a person read what is theirs to see."""
    return PersonGate("read", query=query)


def may_write(intake: Intake = JSON_BODY) -> PersonGate:
    """Let a person change what is their own."""
    return PersonGate("write", intake=intake, is_write=True)


def staff_only(query: type[BaseModel] | None = None, **fields: Any) -> StaffGate:
    """Let staff look at the deployment."""
    return StaffGate("report", query=query, **fields)


def cookie_only(*, is_write: bool = False, intake: Intake = NO_BODY) -> CookieGate:
    """Let a signed-in person manage tokens."""
    return CookieGate("write" if is_write else "read", intake=intake, is_write=is_write)


def host_may(scope: str, *, is_write: bool = False, intake: Intake = NO_BODY) -> HostGate:
    """Let an agent host with this scope pass."""
    return HostGate(scope, intake=intake, is_write=is_write)

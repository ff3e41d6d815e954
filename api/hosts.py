"""What a host says about where it speaks from and for whom; its token alone gives it the right."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from api.auth import HostCaller
from api.failures import forbidden
from api.schemas import In, Name, Text
from junior_memory import people
from junior_memory.access import LocationRef, Source
from junior_memory.candidates import ActorRef
from junior_memory.models import Identity

PlatformName = Literal["slack", "web", "api", "local", "email", "other"]
MemoryMode = Literal["on", "off", "readOnly", "writeOnly"]
TierName = Literal["session", "user", "org"]


def _web_address(url: str) -> str:
    if not url.lower().startswith(("https://", "http://")):
        raise ValueError("must begin with https:// or http://")
    return url


class LocationIn(In):
    """Where something was said. A record; grants nothing."""

    provider: Name
    tenant: Name
    key: Name
    label: Annotated[Text, Field(max_length=255)] | None = None
    url: Annotated[Text, Field(max_length=2000), AfterValidator(_web_address)] | None = None


class SourceIn(In):
    """The input that caused the call. An unknown visibility counts as missing."""

    platform: PlatformName
    key: Name | None = None
    visibility: Text | None = None
    session_only: bool = False
    location: LocationIn | None = None

    def to_domain(self) -> Source:
        """Return it in the domain's words."""
        place = self.location
        return Source(
            platform=self.platform,
            key=self.key or "",
            visibility=self.visibility or "",
            session_only=self.session_only,
            location=LocationRef(
                provider=place.provider,
                tenant=place.tenant,
                key=place.key,
                label=place.label or "",
                url=place.url or "",
            )
            if place
            else None,
        )


class ActorIn(In):
    """An account on the host's side."""

    provider: Name
    tenant: Name
    subject: Name
    kind: Literal["human", "system"] = "human"
    display_name: Annotated[Text, Field(max_length=255)] | None = None
    email: Annotated[Text, Field(max_length=254)] | None = None
    email_verified: bool | None = None

    def to_domain(self) -> ActorRef:
        """Return it in the domain's words."""
        return ActorRef(
            provider=self.provider,
            tenant=self.tenant,
            subject=self.subject,
            is_human=self.kind == "human",
        )


def check_actor(caller: HostCaller, actor: ActorIn | None) -> None:
    """Refuse an actor of a provider and tenant that the token does not speak for."""
    if actor is not None and not people.token_admits(caller.token, actor.to_domain()):
        raise forbidden("This token does not speak for that provider and tenant.")


def link_verified(caller: HostCaller, actor: ActorIn) -> Identity:
    """Return the actor's Identity, linked by the e-mail that a trusted host has verified."""
    identity = people.identity_for(actor.to_domain(), display_name=actor.display_name or "")
    if actor.email and actor.email_verified:
        return people.link_by_email(identity, actor.email, token=caller.token, doer=caller.doer)
    return identity

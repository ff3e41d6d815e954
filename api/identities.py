"""Linking an account to a person by the code that they read out."""

from typing import Annotated

from ninja import Router
from pydantic import Field

from api.auth import HostRequest, host_may
from api.bodies import JSON_BODY
from api.hosts import ActorIn, SourceIn, check_actor
from api.schemas import In, Out, Text
from junior_memory import people

router = Router(tags=["identities"], by_alias=True)


class LinkIn(In):
    """A code, and the account that gave it."""

    code: Annotated[Text, Field(min_length=1, max_length=64)]
    actor: ActorIn
    source: SourceIn


class LinkedOut(Out):
    """The account that is linked now. Whose it is stays between the person and this server."""

    provider: str
    tenant: str
    subject: str
    linked: bool


@router.post(
    "/identities/link",
    auth=host_may("sessions", is_write=True, intake=JSON_BODY),
    response=LinkedOut,
)
def link_identity(request: HostRequest, body: LinkIn) -> LinkedOut:
    """Link an account by the code that its person gave in a private conversation."""
    caller = request.auth
    check_actor(caller, body.actor)
    identity = people.redeem_linking_code(
        body.code,
        body.actor.to_domain(),
        token=caller.token,
        source_is_private=body.source.to_domain().is_private,
        doer=caller.doer,
    )
    return LinkedOut(
        provider=identity.provider,
        tenant=identity.tenant,
        subject=identity.subject,
        linked=True,
    )

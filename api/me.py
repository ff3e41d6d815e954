"""A person's own settings: preferences, topics, identities, quota, linking code, tokens."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from django.db.models import Count
from ninja import Router, Status
from pydantic import Field, field_validator

from api.auth import ApiRequest, cookie_only, may_read, may_write
from api.bodies import JSON_BODY, NO_BODY
from api.schemas import In, Instant, Moment, Out, Text
from junior_memory import clock, people
from junior_memory.conf import conf
from junior_memory.errors import InvalidInput
from junior_memory.models import ApiToken, Identity, Memory, Organization, User
from junior_memory.models.people import MAX_TOPICS

router = Router(tags=["me"], by_alias=True)


class PreferencesIn(In):
    """What a person allows; a key that is left out stays as it is."""

    learning: bool | None = None
    recall: bool | None = None
    public_use: Literal["preferences", "all", "none"] | None = None
    never_learn_topics: Annotated[list[Text], Field(max_length=MAX_TOPICS)] | None = None
    display_name: Annotated[Text, Field(max_length=120)] | None = None

    @field_validator("*", mode="before")
    @classmethod
    def _named_means_chosen(cls, value: object) -> object:
        """Refuse null: a choice is left as it is by leaving its key out."""
        if value is None:
            raise ValueError("leave the key out to leave the choice as it is")
        return value


class IdentityOut(Out):
    """One linked account."""

    id: UUID
    provider: str
    tenant: str
    subject: str
    display_name: str
    linked_at: Moment | None


class OrganizationOut(Out):
    """One organization the person belongs to now."""

    slug: str
    name: str


class AgentUseOut(Out):
    """How many active memories one agent holds of the person."""

    agent: str
    use: int


class QuotaOut(Out):
    """How many active memories each agent may hold, and how many it does."""

    limit: int
    agents: list[AgentUseOut]


class MeOut(Out):
    """The person as they have set themselves up."""

    id: UUID
    email: str
    display_name: str
    is_staff: bool
    learning: bool
    recall: bool
    public_use: Literal["preferences", "all", "none"]
    never_learn_topics: list[str]
    identities: list[IdentityOut]
    organizations: list[OrganizationOut]
    quota: QuotaOut


class LinkingCodeOut(Out):
    """A one-time code to read out to the assistant in a private conversation."""

    code: str
    expires_at: Moment


class NewTokenIn(In):
    """A personal token to be."""

    scopes: Annotated[list[Literal["read", "write", "report"]], Field(min_length=1, max_length=3)]
    label: Annotated[Text, Field(max_length=100)] | None = None
    expires_at: Instant | None = None


class TokenOut(Out):
    """A token, without its secret."""

    id: UUID
    label: str
    prefix: str
    scopes: list[str]
    created_at: Moment
    last_used_at: Moment | None
    expires_at: Moment | None
    revoked_at: Moment | None


class NewTokenOut(TokenOut):
    """A new token with its secret, which is shown this once."""

    token: str


class TokensOut(Out):
    """All tokens of a person, newest first."""

    tokens: list[TokenOut]


def _me(user: User, request: ApiRequest, now: datetime) -> MeOut:
    rows = Memory.objects.visible_to(request.auth.viewer).own(request.auth.viewer).active(now)
    uses = rows.values("agent__name").annotate(use=Count("id")).order_by("agent__name")
    organizations = Organization.objects.filter(memberships__user=user).order_by("slug")
    return MeOut(
        id=user.pk,
        email=user.email,
        display_name=user.display_name,
        is_staff=user.is_staff,
        learning=user.learning_off_at is None,
        recall=user.recall_off_at is None,
        public_use=user.public_use,
        never_learn_topics=user.never_learn_topics,
        identities=[
            IdentityOut(
                id=one.pk,
                provider=one.provider,
                tenant=one.tenant,
                subject=one.subject,
                display_name=one.display_name,
                linked_at=one.linked_at,
            )
            for one in Identity.objects.filter(user=user).order_by("linked_at", "id")
        ],
        organizations=[OrganizationOut(slug=one.slug, name=one.name) for one in organizations],
        quota=QuotaOut(
            limit=conf().active_quota,
            agents=[AgentUseOut(agent=row["agent__name"], use=row["use"]) for row in uses],
        ),
    )


@router.get("/me", auth=may_read(), response=MeOut)
def get_me(request: ApiRequest) -> MeOut:
    """Read your preferences, topics, identities and quota."""
    return _me(request.auth.user, request, clock.now())


@router.patch("/me", auth=may_write(), response=MeOut)
def patch_me(request: ApiRequest, body: PreferencesIn) -> MeOut:
    """Change what you allow."""
    now = clock.now()
    user = people.change_preferences(
        request.auth.user,
        doer=request.auth.doer,
        learning=body.learning,
        recall=body.recall,
        public_use=body.public_use,
        topics=body.never_learn_topics,
        display_name=body.display_name,
        now=now,
    )
    return _me(user, request, now)


@router.post("/me/linking-code", auth=may_write(NO_BODY), response=LinkingCodeOut)
def post_linking_code(request: ApiRequest) -> LinkingCodeOut:
    """Get a one-time code; an earlier one stops working."""
    code, expires_at = people.new_linking_code(request.auth.user)
    return LinkingCodeOut(code=code, expires_at=expires_at)


@router.delete("/me/identities/{uuid:identity_id}", auth=may_write(NO_BODY), response={204: None})
def delete_identity(request: ApiRequest, identity_id: UUID) -> Status[None]:
    """Unlink one account; what was learned through it stays yours."""
    people.unlink_identity(request.auth.user, identity_id, doer=request.auth.doer)
    return Status(204, None)


def _token_fields(token: ApiToken) -> dict[str, object]:
    return {
        "id": token.pk,
        "label": token.label,
        "prefix": token.prefix,
        "scopes": token.scopes,
        "created_at": token.created_at,
        "last_used_at": token.last_used_at,
        "expires_at": token.expires_at,
        "revoked_at": token.revoked_at,
    }


@router.get("/tokens", auth=cookie_only(), response=TokensOut)
def get_tokens(request: ApiRequest) -> TokensOut:
    """List your tokens (signed in only)."""
    rows = ApiToken.objects.filter(user=request.auth.user).order_by("-created_at", "id")
    return TokensOut(tokens=[TokenOut(**_token_fields(token)) for token in rows])


@router.post(
    "/tokens", auth=cookie_only(is_write=True, intake=JSON_BODY), response={201: NewTokenOut}
)
def post_token(request: ApiRequest, body: NewTokenIn) -> Status[NewTokenOut]:
    """Make a token (signed in only); its secret is shown this once."""
    if body.expires_at is not None and body.expires_at <= clock.now():
        raise InvalidInput("The expiry must lie in the future.", fields={"expiresAt": "past"})
    token, secret = people.create_personal_token(
        request.auth.user,
        scopes=list(body.scopes),
        label=body.label or "",
        doer=request.auth.doer,
        expires_at=body.expires_at,
    )
    return Status(201, NewTokenOut(**_token_fields(token), token=secret))


@router.delete("/tokens/{uuid:token_id}", auth=cookie_only(is_write=True), response={204: None})
def delete_token(request: ApiRequest, token_id: UUID) -> Status[None]:
    """Revoke a token of yours (signed in only); repeating it changes nothing."""
    people.revoke_token(request.auth.user, token_id, doer=request.auth.doer)
    return Status(204, None)

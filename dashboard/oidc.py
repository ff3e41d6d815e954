"""OpenID Connect through django-allauth, which speaks the protocol; who is who is decided here.

None of allauth's own pages has an address, and none of its tables is written: a connected account
is an Identity like any other. Configured by environment alone; without it nothing here answers.
"""

from __future__ import annotations

import secrets
from typing import Any

import jwt
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.internal import jwtkit
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from requests import RequestException

from dashboard.http import next_url
from junior_memory.models import User
from junior_memory.single_sign_on import Claims, Refused, person_of

APP = "oidc"
BACKEND = "django.contrib.auth.backends.ModelBackend"
STARTED = "oidc_started"
SIGNATURES = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)
"""Signatures with a key that the issuer publishes; never one that a shared secret makes."""
FAULTS = (OAuth2Error, RequestException, KeyError, TypeError, ValueError, jwt.PyJWTError)
"""What an issuer that is down, wrongly configured or somebody else's comes to."""


def provider_name() -> str:
    """Return the name on the button, or nothing where no issuer is configured."""
    wanted = ("name", "issuer", "client_id", "client_secret")
    return str(settings.OIDC["name"]) if all(settings.OIDC[key] for key in wanted) else ""


class Issuers(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """The one issuer of the environment; what somebody keeps in allauth's tables counts nothing."""

    def list_apps(
        self,
        request: HttpRequest,
        provider: str | None = None,
        client_id: str | None = None,
    ) -> list[SocialApp]:
        """Return the configured issuer, or none."""
        del request, provider, client_id
        if not provider_name():
            return []
        return [
            SocialApp(
                provider="openid_connect",
                provider_id=APP,
                name=settings.OIDC["name"],
                client_id=settings.OIDC["client_id"],
                secret=settings.OIDC["client_secret"],
                settings={"server_url": settings.OIDC["issuer"], "oauth_pkce_enabled": True},
            )
        ]

    def on_authentication_error(self, request: HttpRequest, *_: Any, **__: Any) -> None:
        """Take every failure of the protocol to our own page."""
        del request
        raise Refused("Signing in there did not work. Try again.")


class Issuer(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """The conversation with the issuer; its word is taken only signed, and for us."""

    @property
    def openid_config(self) -> dict[str, Any]:
        """Return what the issuer publishes about itself, under its own name."""
        found: dict[str, Any] = super().openid_config
        if str(found["issuer"]).rstrip("/") != settings.OIDC["issuer"]:
            raise OAuth2Error("the document is of another issuer")
        return found

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        """Return where the issuer sends people back to."""
        del app
        return request.build_absolute_uri(reverse("oidc_callback"))

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: Any, **kwargs: Any
    ) -> None:
        """Check what the issuer says, and sign in whom it means."""
        started = request.session.pop(STARTED, None) or {}
        said = self._signed_claims(app, kwargs["response"]["id_token"], started.get("nonce"))
        if "email" not in said:
            more = self._fetch_user_info(token.token)
            if more.get("sub") != said["sub"]:
                raise OAuth2Error("the userinfo is about somebody else")
            said |= {key: more.get(key) for key in ("email", "email_verified", "name")}
        claims = Claims(
            issuer=str(settings.OIDC["issuer"]),
            subject=str(said["sub"]),
            email=str(said.get("email") or ""),
            email_verified=said.get("email_verified") in (True, "true"),
            name=str(said.get("name") or ""),
        )
        present = request.user if isinstance(request.user, User) else None
        person = person_of(claims, present=present, sign_up=bool(settings.OIDC["sign_up"]))
        if present is None:
            login(request, person, backend=BACKEND)
        raise ImmediateHttpResponse(HttpResponse(status=302, headers={"Location": started["next"]}))

    def _signed_claims(self, app: SocialApp, id_token: str, nonce: str | None) -> dict[str, Any]:
        """Read the token by the issuer's published keys, whatever way it came."""
        if jwt.get_unverified_header(id_token).get("alg") not in SIGNATURES:
            raise OAuth2Error("the token is not signed by a published key")
        said: dict[str, Any] = jwtkit.verify_and_decode(
            credential=id_token,
            keys_url=self.openid_config["jwks_uri"],
            issuer=self.openid_config["issuer"],
            audience=app.client_id,
            lookup_kid=jwtkit.lookup_kid_jwk,
        )
        if not nonce or said.get("nonce") != nonce:
            raise OAuth2Error("the token answers another request")
        if "exp" not in said or said.get("azp", app.client_id) != app.client_id:
            raise OAuth2Error("the token is for somebody else, or for ever")
        return said


def send_away(request: HttpRequest, *, default: str) -> HttpResponse:
    """Send somebody to the issuer. Raises Http404 where there is none, Refused when it is down."""
    if not provider_name():
        raise Http404
    nonce = secrets.token_urlsafe(24)
    request.session[STARTED] = {"nonce": nonce, "next": next_url(request, default)}
    try:
        provider = Issuer(request, APP).get_provider()
        provider.oauth2_adapter_class = Issuer
        params = {"nonce": nonce}
        return provider.redirect(request, "login", auth_params=params)  # type: ignore[no-any-return]
    except FAULTS as error:
        raise Refused("Signing in there did not work. Try again.") from error


def take_back(request: HttpRequest) -> HttpResponse:
    """Take somebody back from the issuer. Raises Http404, Refused."""
    if not provider_name():
        raise Http404
    try:
        view = OAuth2CallbackView.adapter_view(Issuer(request, APP))
        return view(request)  # type: ignore[no-any-return]
    except FAULTS as error:
        raise Refused("Signing in there did not work. Try again.") from error

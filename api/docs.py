"""The browsable documentation: Swagger's files come from this server, nothing from elsewhere."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from ninja import NinjaAPI, Swagger


class LocalSwagger(Swagger):
    """Swagger from the package's own static files; it asks no validator on the network."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        """Return the page; a signed-in person's calls carry the CSRF token."""
        settings = {
            "url": self.get_openapi_url(api, kwargs),
            "layout": "BaseLayout",
            "deepLinking": True,
            "validatorUrl": None,
        }
        context = {"settings": settings, "api": api, "csrf_token": get_token(request)}
        return HttpResponse(render_to_string("api/docs.html", context))

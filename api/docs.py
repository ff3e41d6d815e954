"""The browsable documentation: Swagger's files come from this server, nothing from elsewhere."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from ninja import NinjaAPI, Swagger
from ninja.openapi.schema import OpenAPISchema

from api.schemas import ErrorOut

ERROR_REF = "#/components/schemas/{model}"


class DescribedAPI(NinjaAPI):
    """The interface, whose description also says what every call answers when it fails."""

    def get_openapi_schema(self, **kwargs: Any) -> OpenAPISchema:
        """Return Ninja's description with the one shape of all errors."""
        described = super().get_openapi_schema(**kwargs)
        error = ErrorOut.model_json_schema(ref_template=ERROR_REF)
        schemas = described.setdefault("components", {}).setdefault("schemas", {})
        schemas.update(error.pop("$defs", {}), ErrorOut=error)
        failure = {
            "description": "What went wrong: a code, a sentence, the parts of the request meant",
            "content": {
                "application/json": {"schema": {"$ref": ERROR_REF.format(model="ErrorOut")}}
            },
        }
        for methods in described["paths"].values():
            for operation in methods.values():
                operation["responses"]["default"] = failure
        return described


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

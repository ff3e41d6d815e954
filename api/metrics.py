"""Numbers for Prometheus, to whoever knows the token."""

import hmac

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse
from prometheus_client import CONTENT_TYPE_PLAIN_1_0_0

from api.auth import bearer_secret
from api.edge import guarded, not_allowed
from api.failures import Refused, answer_failure, answer_refusal, unauthenticated
from junior_memory import metrics


@guarded
def show_metrics(request: HttpRequest) -> HttpResponse:
    """Answer the metrics as text; without a configured token there is no such address."""
    if not settings.METRICS_TOKEN:
        return answer_failure(404, "not_found", "Nothing here under that address.")
    if request.method != "GET":
        return not_allowed("GET")
    try:
        secret = bearer_secret(request)
    except Refused as refused:
        return answer_refusal(refused)
    wanted = settings.METRICS_TOKEN.encode()
    if secret is None or not hmac.compare_digest(secret.encode("utf-8", "replace"), wanted):
        return answer_refusal(unauthenticated("Send the metrics token as a bearer token."))
    try:
        text = metrics.exposition()
    except (DatabaseError, InterfaceError):
        return answer_failure(503, "unavailable", "The database does not answer.")
    return HttpResponse(text, content_type=CONTENT_TYPE_PLAIN_1_0_0)

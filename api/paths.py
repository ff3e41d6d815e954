"""Addresses as they were sent: an encoded slash belongs to an id, a plain one ends it."""

from urllib.parse import unquote

from django.http import HttpRequest

from junior_memory.errors import InvalidInput, NotFound
from junior_memory.text import check_name


def raw_path(request: HttpRequest) -> str:
    """Return the path with its percent-encoding where the server hands it on, else decoded."""
    scope = getattr(request, "scope", None) or {}
    raw = scope.get("raw_path")
    return raw.decode("ascii", "replace") if raw else request.path


def ends_with(request: HttpRequest, word: str) -> bool:
    """True when `word` is the last step of the address, and not the tail of an encoded id."""
    return unquote(raw_path(request).rpartition("/")[2]) == word


def checked_id(text: str) -> str:
    """Return an id of somebody else's making from an address. Raises NotFound when it is none."""
    try:
        return check_name(text, field="id")
    except InvalidInput as error:
        raise NotFound from error

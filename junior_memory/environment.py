"""Typed readers of environment variables that fail loudly. Used by settings.py alone."""

from __future__ import annotations

import os
from decimal import Decimal, InvalidOperation
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off", ""})


def load_dotenv(path: Path) -> None:
    """Read `NAME=value` lines from a file into the environment; what is set already wins."""
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith("#"):
            os.environ.setdefault(name.strip(), value.strip().strip("\"'"))


def text(name: str, default: str = "") -> str:
    """Return a trimmed string."""
    return os.environ.get(name, default).strip()


def flag(name: str, *, default: bool = False) -> bool:
    """Return a boolean; anything but a known word is an error."""
    raw = os.environ.get(name)
    if raw is None:
        return default
    word = raw.strip().lower()
    if word in TRUE:
        return True
    if word in FALSE:
        return False
    raise ImproperlyConfigured(f"{name} must be one of true, false, 1, 0, yes, no, on, off")


def integer(name: str, default: int, *, low: int, high: int) -> int:
    """Return a whole number between `low` and `high`."""
    raw = text(name)
    if not raw:
        return default
    try:
        value = int(raw)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be a whole number") from error
    if not low <= value <= high:
        raise ImproperlyConfigured(f"{name} must be between {low} and {high}")
    return value


def number(name: str, *, low: float, high: float) -> float | None:
    """Return a number between `low` and `high`, or None when it is not set."""
    raw = text(name)
    if not raw:
        return None
    try:
        value = float(raw)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be a number") from error
    if not low <= value <= high:
        raise ImproperlyConfigured(f"{name} must be between {low} and {high}")
    return value


def money(name: str) -> Decimal | None:
    """Return an amount of US dollars, or None when it is not set."""
    raw = text(name)
    if not raw:
        return None
    try:
        value = Decimal(raw)
    except InvalidOperation as error:
        raise ImproperlyConfigured(f"{name} must be an amount of US dollars") from error
    if not value.is_finite() or value < 0:
        raise ImproperlyConfigured(f"{name} must be an amount of at least 0")
    return value


def choice(name: str, default: str, *, among: tuple[str, ...]) -> str:
    """Return one of a few words."""
    value = text(name) or default
    if value not in among:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(among)}")
    return value


def words(name: str, default: str = "") -> list[str]:
    """Return a comma-separated list without blanks."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def database(url: str) -> dict[str, object]:
    """Return a database entry for a `postgres://` address; errors never repeat the address."""
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured("DATABASE_URL must begin with postgres:// or postgresql://")
    try:
        port = parts.port
    except ValueError as error:
        raise ImproperlyConfigured("DATABASE_URL has a port that is not a number") from error
    options = dict(parse_qsl(parts.query))
    name = unquote(parts.path.lstrip("/"))
    if not name:
        raise ImproperlyConfigured("DATABASE_URL names no database")
    return {
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", unquote(parts.hostname or "")),
        "PORT": str(port or ""),
        "OPTIONS": options,
    }

"""Deterministic secret detection: what must never become a memory. Pure: no Django, no I/O, no log.

The formats come from two places. The maintained detector's rules (`detect-secrets`) are used as
compiled patterns only: its scanner reads files, asks the issuer over the network whether a key is
live, and keeps global settings, none of which belongs here. Beside them stand our own rules for
what people paste into a conversation: cards, key blocks, connection strings, headers, assignments.

Precision comes first, because a wrong hit silently drops something a person wanted kept: a commit
hash, a UUID, the bare word "password" or a placeholder is no secret. Entropy alone never decides.

Every pattern is linear or bounded, so hostile text costs no more than its length. What was found
to hold no secret is known again by a keyed digest: a recall looks at the same few texts each time.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from junior_memory.remembered import Remembered
from junior_memory.secret_rules import FORMAT_RULES, assigned_values

RULES_VERSION = "1"
"""Changes with any rule, so that stored memories can be checked again against the newer rules."""

MASK = "[secret]"
"""What stands in for a secret in text on its way to a model or an embedder."""


@dataclass(frozen=True, slots=True)
class SecretSpan:
    """A secret at `text[start:end]` and the name of the rule that found it; never the secret."""

    start: int
    end: int
    rule: str


_known_clean: Remembered[bool] = Remembered(20_000)
"""The latest texts in which no secret was found."""


def find_secrets(text: str) -> tuple[SecretSpan, ...]:
    """Return every secret in `text`, in order and without overlaps.

    Spans index `text` as given. Full-width and zero-width disguises are seen through.
    """
    plain, places = _undisguise(text)
    spans = sorted(_raw_spans(plain), key=lambda span: (span.start, -span.end))
    merged: list[SecretSpan] = []
    for span in spans:
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = SecretSpan(last.start, max(last.end, span.end), last.rule)
        else:
            merged.append(span)
    if places is None:
        return tuple(merged)
    return tuple(SecretSpan(places[s.start], places[s.end - 1] + 1, s.rule) for s in merged)


def contains_secret(text: str) -> bool:
    """Whether `text` holds at least one secret."""
    if _known_clean.get(text):
        return False
    plain, _ = _undisguise(text)
    if next(_raw_spans(plain), None) is not None:
        return True
    _known_clean.put(text, True)
    return False


def mask_secrets(text: str) -> str:
    """Return `text` with each secret replaced by `[secret]` and everything else untouched."""
    if not contains_secret(text):
        return text
    parts: list[str] = []
    position = 0
    for span in find_secrets(text):
        parts += (text[position : span.start], MASK)
        position = span.end
    parts.append(text[position:])
    return "".join(parts)


def _raw_spans(text: str) -> Iterator[SecretSpan]:
    yield from _key_blocks(text)
    yield from _cards(text)
    for rule in FORMAT_RULES:
        for match in rule.pattern.finditer(text):
            start, end = match.span(rule.group)
            if rule.group == 0 and _joins(text, start - 1):
                continue
            if rule.grows:
                end = _token_end(text, end)
            elif rule.group == 0 and _joins(text, end):
                continue
            if rule.check is None or rule.check(text[start:end]):
                yield SecretSpan(start, end, rule.name)
    for start, end in assigned_values(text):
        yield SecretSpan(start, end, "assignment")


_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]"
)


def _undisguise(text: str) -> tuple[str, list[int] | None]:
    """Fold width variants and drop invisible characters; return also each kept one's old place.

    The list is None when nothing changed. Folding is character by character, so places stay exact.
    """
    if text.isascii():
        return text, None
    if not _INVISIBLE.search(text) and unicodedata.is_normalized("NFKC", text):
        return text, None
    kept: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        if char > "\x7f":
            if _INVISIBLE.match(char):
                continue
            folded = unicodedata.normalize("NFKC", char)
            if len(folded) == 1:
                char = folded
        kept.append(char)
        places.append(place)
    return "".join(kept), places


def _joins(text: str, place: int) -> bool:
    """Whether the character there makes a token part of a longer word (`鍵AKIA…` is two)."""
    return 0 <= place < len(text) and text[place].isascii() and text[place].isalnum()


_TOKEN_REST = re.compile(r"[A-Za-z0-9_-]*")


def _token_end(text: str, end: int) -> int:
    rest = _TOKEN_REST.match(text, end)
    return rest.end() if rest else end


# --- private keys ---------------------------------------------------------------------------------

_KEY_HEADER = re.compile(r"-{2,5} ?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{2,5}")
_KEY_FOOTER = re.compile(r"-{2,5} ?END [A-Z0-9 ]{0,40}-{2,5}")
_KEY_BODY = re.compile(r"[A-Za-z0-9+/=]{16,}")
_KEY_RUN = re.compile(r"(?:(?:\s|\\[nr]){0,8}+[A-Za-z0-9+/=]{16,}+)++")


def _key_blocks(text: str) -> Iterator[SecretSpan]:
    """PEM private keys, on many lines or collapsed to one, whole or cut off.

    The header alone is a thing people write about; a secret has a body.
    """
    headers = list(_KEY_HEADER.finditer(text))
    for number, header in enumerate(headers):
        limit = headers[number + 1].start() if number + 1 < len(headers) else len(text)
        footer = _KEY_FOOTER.search(text, header.end(), limit)
        if footer and _KEY_BODY.search(text, header.end(), footer.start()):
            yield SecretSpan(header.start(), footer.end(), "private_key")
        elif not footer and (run := _KEY_RUN.match(text, header.end(), limit)):
            yield SecretSpan(header.start(), run.end(), "private_key")


# --- payment cards --------------------------------------------------------------------------------

_CARD = re.compile(
    r"(?<![A-Za-z0-9_-])(?<!\d[.,])(?=("
    r"\d{4}[ .-]\d{4}[ .-]\d{4}[ .-]\d{4}(?:[ .-]\d{3})?"
    r"|\d{4}[ .-]\d{6}[ .-]\d{4,5}"
    r"|\d{13,19}"
    r")(?![A-Za-z0-9_]|[.,-]\d))"
)
_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})"
    r"|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}"
    r"|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d|9\d)\d{11}"
    r"|(?:6011|65\d\d|64[4-9]\d|62\d\d)\d{12}(?:\d{3})?"
    r"|35(?:2[89]|[3-8]\d)\d{12}"
)
_CARD_WORD = re.compile(
    r"card|visa|master|amex|american express|karte|tarjeta|carte|カード|cart[aã]o",
    re.IGNORECASE,
)
_ID_WORD = re.compile(
    r"(?:order|invoice|tracking|ticket|shipment|parcel|case|build|trace|request|event|message|run|sku|"
    r"bestellung|rechnung|auftrag|pedido|\bid)\s?(?:number|nummer|no\.?|nr\.?|id)?\s?(?:is\s)?[:#=]?\s?#?$",
    re.IGNORECASE,
)


def passes_luhn(digits: str) -> bool:
    """Whether `digits` (decimal digits only) end in the check digit of ISO/IEC 7812-1."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit)
        if place % 2:
            value = value * 2 - 9 if value > 4 else value * 2
        total += value
    return total % 10 == 0


def _cards(text: str) -> Iterator[SecretSpan]:
    for match in _CARD.finditer(text):
        shown = match[1]
        start = match.start(1)
        grouped = not shown.isdigit()
        before = text[max(0, start - 40) : start]
        named = _CARD_WORD.search(before) is not None
        # Sixteen digits in fours may be followed by a security code that looks like a fifth group.
        for length in (len(shown), 19) if grouped and len(shown) > 19 else (len(shown),):
            digits = re.sub(r"\D", "", shown[:length])
            if not digits.isascii() or not _ISSUERS.fullmatch(digits) or not passes_luhn(digits):
                continue
            is_bare_number = not grouped and not named
            if is_bare_number and (len(digits) not in (15, 16) or _ID_WORD.search(before)):
                continue
            yield SecretSpan(start, start + length, "card_number")
            break

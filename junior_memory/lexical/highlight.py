"""Which words of a content a query matched, as they stand there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from junior_memory.lexical.folding import fold
from junior_memory.lexical.queries import Unit, query_terms
from junior_memory.lexical.terms import GRAM_MARK, may_hold, stem_languages, token_terms
from junior_memory.lexical.tokens import Kind, Token, tokens


def matched_spans(content: str, units: Iterable[Unit]) -> list[tuple[int, int]]:
    """Return where a content holds these units, in order and without overlaps."""
    wanted = [(unit, alternative) for unit in units for alternative in unit.any_of]
    if not wanted:
        return []
    found = list(tokens(content))
    latin = stem_languages(content, found)
    spans: list[tuple[int, int]] = []
    starts = {term[:2] for _, alternative in wanted for term in alternative}
    for token in found:
        if token.kind is Kind.WORD and not may_hold(token, starts):
            continue
        terms = token_terms(token, latin)
        for unit, alternative in wanted:
            if terms.issuperset(alternative):
                spans.extend(_places(token, unit, alternative, latin))
    return _merged(spans)


def _places(
    token: Token, unit: Unit, alternative: Sequence[str], latin: Sequence[str]
) -> list[tuple[int, int]]:
    """Narrow a token to the word, or the characters, that the unit means."""
    for word in token.inside:
        if token_terms(word, latin).issuperset(alternative):
            return [(word.start, word.end)]
    if token.kind is Kind.RUN:
        wanted = [unit.surface, *(term.removeprefix(GRAM_MARK) for term in alternative)]
        for texts in (wanted[:1], wanted[1:]):
            inside = [span for text in texts for span in find_characters(token.surface, text)]
            if inside:
                return [(token.start + start, token.start + end) for start, end in inside]
    return [(token.start, token.end)]


def find_characters(content: str, wanted: str) -> list[tuple[int, int]]:
    """Return where a text stands in a content; case, accents and width aside."""
    needle = fold(wanted)
    if not needle:
        return []
    folded: list[str] = []
    places: list[int] = []
    for match in re.finditer(r".[\u0300-\u036f\u3099\u309a\uff9e\uff9f]*", content, re.DOTALL):
        piece = fold(match[0])
        folded.append(piece)
        places.extend([match.start()] * len(piece))
    places.append(len(content))
    haystack = "".join(folded)
    spans: list[tuple[int, int]] = []
    at = haystack.find(needle)
    while at >= 0:
        end = at + len(needle)
        stop = places[end]
        if stop == places[end - 1]:
            stop += 1
        spans.append((places[at], stop))
        at = haystack.find(needle, end)
    return spans


def highlight_spans(content: str, query: str | Sequence[str]) -> list[tuple[int, int]]:
    """Return what to mark in a content, as (start, end) offsets in order.

    `query` is what was typed, or the words that a match named. Words that the content holds are
    marked; when it holds none, the characters of the query are.
    """
    if not isinstance(query, str):
        return _merged(span for word in query for span in _word_places(content, word))
    asked = query_terms(query)
    units = [each for unit in asked.units for each in (unit, *unit.parts)]
    whole = matched_spans(content, asked.units)
    if whole:
        return whole
    parts = matched_spans(content, units)
    return parts or _merged(
        span for chunk in asked.chunks for span in find_characters(content, chunk.text)
    )


def _word_places(content: str, word: str) -> list[tuple[int, int]]:
    places = [(match.start(), match.end()) for match in re.finditer(re.escape(word), content)]
    standing = [
        (start, end)
        for start, end in places
        if not (word[:1].isalnum() and content[start - 1 : start].isalnum() and start)
        and not (word[-1:].isalnum() and content[end : end + 1].isalnum())
    ]
    return standing or places


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(set(spans)):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged

"""Words: how memories are indexed for them, how queries are read, and the leg that finds them."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchVectorField
from django.db.models import Func, TextField, Value

from junior_memory.lexical.queries import QueryTerms, Unit, query_terms
from junior_memory.lexical.terms import index_terms, language_of

__all__ = [
    "QueryTerms",
    "Unit",
    "index_terms",
    "language_of",
    "query_terms",
    "vector_of",
]


class _TermVector(Func):
    """`array_to_tsvector` over one parameter: terms go in as they are, past any parser."""

    function = "array_to_tsvector"
    template = "%(function)s(%(expressions)s::text[])"
    arity = 1
    output_field = SearchVectorField()


def vector_of(content: str) -> Func:
    """Return the expression to write into `Memory.search_vector` for this content."""
    return term_vector(index_terms(content))


def term_vector(terms: Sequence[str]) -> Func:
    """Return the tsvector of terms that are known already."""
    return _TermVector(Value(list(terms), output_field=ArrayField(TextField())))

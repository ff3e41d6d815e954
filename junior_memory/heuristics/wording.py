"""From a predicate in the third person to a reading, when nothing in it still speaks of "I" or "you"."""

from __future__ import annotations

from junior_memory.heuristics import canonical
from junior_memory.heuristics.statements import Family, Reading


def reading_of(family: Family, predicate: str, *, adverbial: str, said: str) -> Reading | None:
    if adverbial:
        first = adverbial[0]
        lowered = first.lower() if not adverbial.startswith(("I ", "I'")) and not adverbial[:2].isupper() else first
        predicate = f"{predicate} {lowered}{adverbial[1:]}"
    content = canonical.finish(canonical.to_third_person(predicate))
    if not content or len(content) > canonical.MAX_CONTENT or canonical.has_person(content):
        return None
    return Reading(family=family, content=content, said=said)


_COMMON = frozenset(
    "music nature art reading sports sport family painting gaming yoga friendship exercise coffee food travel love life work"
    " running swimming writing cooking meditation therapy camping hiking volunteering dancing singing fitness self-care prayer"
    " faith religion science history football basketball tennis chess poetry literature fantasy photography knitting baking"
    " the a an my our having being getting playing making taking seeing knowing this these those some all every each both"
    " one blue red green black white purple pink orange yellow tea chocolate pizza pasta home community kindness honesty".split()
)


def inside(phrase: str) -> str:
    """A phrase from the head of a sentence as it stands inside of one: "Painting" → "painting", "Max" stays."""
    first, _, rest = phrase.partition(" ")
    lowered = first.lower().strip(",")
    if first[1:].lower() != first[1:] or rest[:1].isupper() or rest[:1].isdigit() or first.endswith("'s"):
        return phrase
    plural = lowered.endswith("s") and not lowered.endswith(("ss", "us", "is"))
    if lowered in _COMMON or plural or (rest and not rest.startswith(("and ", "& "))) or (rest and lowered.endswith("ing")):
        return phrase[0].lower() + phrase[1:]
    return phrase

"""Facts told in passing: in a subordinate clause ("after I failed the test"), of a thing ("a trip
we took"), by a name.
"""

from __future__ import annotations

import re

from junior_memory.heuristics import canonical, marks, refusals, words
from junior_memory.heuristics.inflection import is_past
from junior_memory.heuristics.statements import Family, Reading
from junior_memory.heuristics.wording import reading_of

_SUBORDINATE = re.compile(
    r"\b(?:after|when|since|because|before|while|until|'cause|is that) (?:i|we)"
    r" (?P<rest>(?:just |recently |finally |first |also"
    r" )?(?P<verb>[a-z]+)\b[^,;:()]{4,140})",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    r"\b(?P<which>an?|the|my|our|this|that|these|those|some) "
    r"(?P<noun>(?!one\b|thing|stuff|way|time|day"
    r"|pic\b|photo|picture|moment|first|last|most|best|only)(?:[\w'-]+ ){1,4}?)(?:that "
    r"|which )?(?:i|we|i've|we've) "
    r"(?:just |recently |finally |also )?(?P<verb>took|made|started|joined|bought|read"
    r"|wrote|finished|attended|built|painted|created|adopted|visited|went on|went to"
    r"|organized|organised|launched|opened|found|won|met|been (?:playing|reading|watching|learning"
    r"|building|writing|studying|training for|working on)|run|own|go to|work at|volunteer at"
    r"|belong to|attend|live in)\b(?P<rest>[^,;:()]{0,100})",
    re.IGNORECASE,
)
_DOING = re.compile(
    r"^the (?P<noun>[\w-]+(?: [\w-]+)?) (?:i'm|i am|we're) (?:currently"
    r" )?(?P<verb>reading|watching|playing|learning|taking|writing|training for|studying)"
    r" (?:is|are) (?P<what>.{3,100})$",
    re.IGNORECASE,
)
_THERE_LIKED = re.compile(
    r"^there(?:'s| is) (?P<what>an? [^,:;]{4,80}?) (?:that |which )?i (?:really |absolutely "
    r"|just )?(?P<verb>like|love|enjoy)\b",
    re.IGNORECASE,
)
_PET = (
    r"(?:dog|cat|puppy|pup|kitten|rabbit|parrot|hamster|turtle|horse|guinea pig|tortoise|bird"
    r"|fish|lizard|snake|ferret)"
)
_KIN = (
    r"(?:son|daughter|sister|brother|wife|husband|partner|girlfriend|boyfriend|fianc\u00e9e?"
    r"|niece|nephew|cousin)"
)
_MY_NAMED = re.compile(
    rf"\bmy (?P<noun>(?:\w+ )?(?:{_PET}|{_KIN})),? (?P<name>[A-Z][a-z]{{1,14}})\b(?! (?:[A-Z]"
    rf"|and [A-Z]))"
)
_NAMED_MY = re.compile(
    rf"\b(?P<name>[A-Z][a-z]{{1,14}}), my (?P<noun>(?:\w+ )?(?:{_PET}|{_KIN}))\b(?!'s)"
)


_ROLE = (
    r"(?:woman|man|dad|mom|mum|mother|father|parent|nurse|teacher|doctor|engineer"
    r"|designer|student|vegetarian|vegan|musician"
    r"|writer|artist|manager|lawyer|chef|scientist|researcher|journalist|photographer"
    r"|programmer|freelancer|veteran|immigrant|christian|muslim|feminist|beginner|athlete"
    r"|runner|coach|therapist|accountant|architect|farmer|pilot|introvert|extrovert|gamer"
    r"|volunteer|firefighter|fan)"
)
_AS_A = re.compile(
    rf"\bas an? (?P<role>(?:(?!(?:good|great|better|new|bad|user|test)\b)[\w-]+"
    rf" ){{0,2}}{_ROLE})\b(?! (?:would|might|could|i know))",
    re.IGNORECASE,
)
_NOW_A = re.compile(
    rf"\b(?:now that|since|because|as) i(?:'m| am) (?P<role>an? (?:(?!(?:good|great|better|new|bad"
    rf"|user|test|bit)\b)[\w-]+ ){{0,2}}{_ROLE})\b",
    re.IGNORECASE,
)
_MY_NEW = re.compile(
    r"\b[Mm]y (?:brand[- ])?new (?P<noun>(?:[a-z][\w'-]* ){0,2}?(?:car|truck|van|bike|motorbike"
    r"|bicycle|scooter|boat|house|home|flat|apartment|condo|studio|garden|greenhouse|dog|cat|puppy|kitten"
    r"|camera|guitar|piano|violin|keyboard|drum kit|telescope|job)|[A-Z][a-z]\w+(?: [A-Z0-9]\w*)?)"
    r"\b(?!'s| (?:and|or)\b)"
)
_SPEAKER = re.compile(r"\b(?:i|i'm|i've|my|me)\b", re.IGNORECASE)
_THIS_IS_MY = re.compile(
    r"^(?:this is|here's|here is|that's) my (?P<noun>(?!(?:first|last|only|take|question"
    r"|problem|thing|one|idea|plan|guess|point|best|way|pic|photo|picture)\b)[\w'-]+(?:"
    r" [\w'-]+){1,2}?)"
    r"(?: so far|, (?P<apposed>an? [^,]{6,100}))?$",
    re.IGNORECASE,
)
_RELATION = re.compile(
    r"\bmy (?P<whole>(?P<age>oldest |youngest |older |younger |little |big |twin |eldest"
    r" )?(?P<kin>son|daughter|wife|husband|kids|children|girlfriend|boyfriend|fianc\u00e9e?"
    r"|sister|brother|grandson|granddaughter|grandkids|dog|cat|dogs|cats|puppy))\b(?!'s"
    r" (?:name|birthday)| and)",
    re.IGNORECASE,
)


def _read_relation(text: str) -> Reading | None:
    """That there is a son, a wife, a dog: the least that "my son" says, whatever the rest says
    about him.
    """
    match = _RELATION.search(text)
    if not match or re.search(
        r"\b(?:late|ex|dead|passed away|lost|used to|if)\b", text, re.IGNORECASE
    ):
        return None
    kin = match["whole"].lower()
    article = (
        ""
        if match["kin"].lower() in {"kids", "children", "grandkids", "dogs", "cats"}
        else "an "
        if kin[0] in "aeiou"
        else "a "
    )
    return reading_of(Family.ASIDE, f"has {article}{kin}", adverbial="", said=text)


def read_aside(text: str) -> Reading | None:
    """A fact that a sentence mentions about its speaker without being about it; weak by itself."""
    if marks.LISTENER.search(text) or refusals.is_unsure(text):
        return None
    named = _MY_NAMED.search(text) or _NAMED_MY.search(text)
    if named:
        article = "an" if named["noun"][0].lower() in "aeiou" else "a"
        return reading_of(
            Family.ASIDE,
            f"has {article} {named['noun']} named {named['name']}",
            adverbial="",
            said=text,
        )
    liked = _THERE_LIKED.match(text)
    if liked:
        return reading_of(
            Family.ASIDE, f"{liked['verb'].lower()}s {liked['what']}", adverbial="", said=text
        )
    doing = _DOING.match(text)
    if doing and not marks.is_task(text):
        return reading_of(
            Family.ASIDE,
            f"is {doing['verb']} the {doing['noun']} {doing['what']}",
            adverbial="",
            said=text,
        )
    role = _AS_A.search(text)
    if role and _SPEAKER.search(text):
        article = "an" if role["role"][0].lower() in "aeiou" else "a"
        return reading_of(Family.ASIDE, f"is {article} {role['role']}", adverbial="", said=text)
    became = _NOW_A.search(text)
    if became:
        return reading_of(Family.ASIDE, f"is {became['role']}", adverbial="", said=text)
    new = _MY_NEW.search(text)
    if new and not re.search(
        r"\b(?:want|need|looking for|get|buy|if|dream)\b", text, re.IGNORECASE
    ):
        return reading_of(Family.ASIDE, f"has a new {new['noun']}", adverbial="", said=text)
    shown = _THIS_IS_MY.match(text)
    if shown and not marks.is_task(text):
        held = shown["apposed"] or f"a {shown['noun']}"
        return reading_of(Family.ASIDE, f"has {held}", adverbial="", said=text)
    return _read_subordinate(text) or _read_relative(text) or _read_relation(text)


def _read_subordinate(text: str) -> Reading | None:
    match = _SUBORDINATE.search(text)
    if not match:
        return None
    rest = canonical.trim_tail(match["rest"].strip())
    adverbs, tokens = canonical.split_adverbs(rest.split())
    if len(tokens) < 3:
        return None
    verb, tail = tokens[0].lower(), " ".join(tokens[1:])
    if (
        not is_past(verb, f"yesterday {rest}")
        or verb in words.WORK_STEP_VERBS
        or verb in {"was", "were", "got", "felt", "saw", "did", "put"}
    ):
        return None
    if verb == "had" and not tail.startswith("to "):
        return None
    if (
        marks.PRONOUN_OBJECT.match(tail)
        or marks.SELF_OBJECT.match(tail)
        or marks.is_task(tail)
        or re.search(r"\b(?:they|it|he|she)\b", tail)
    ):
        return None
    return reading_of(Family.ASIDE, " ".join([*adverbs, *tokens]), adverbial="", said=text)


_NEXT_VERB = re.compile(
    r" (?:is|are|was|were|has|have|had|looks?|made|makes|helps?|gave|gives|remind|reminds|needs?"
    r"|will|does)\b.*$",
    re.IGNORECASE,
)


def _read_relative(text: str) -> Reading | None:
    match = _RELATIVE.search(text)
    if not match or marks.is_task(match[0]):
        return None
    rest = canonical.trim_tail(_NEXT_VERB.sub("", match["rest"].strip()))
    if re.match(
        r"^(?:is|are|was|were|and|but|so|to|it|that|looks?|has|have|needs?|will|does|not)\b", rest
    ):
        rest = ""
    noun = match["noun"].strip()
    which = match["which"].lower()
    if which in {"these", "those"}:
        which = "some"
    if which in {"this", "that"}:
        which = "an" if noun[0].lower() in "aeiou" else "a"
    if match["verb"].lower().startswith("been "):
        verb = f"has {match['verb'].lower()}"
        return reading_of(
            Family.ASIDE, f"{verb} {which} {noun} {rest}".strip(), adverbial="", said=text
        )
    verb = {
        "own": "owns",
        "run": "runs",
        "go to": "goes to",
        "work at": "works at",
        "volunteer at": "volunteers at",
        "belong to": "belongs to",
        "attend": "attends",
        "live in": "lives in",
    }.get(match["verb"].lower(), match["verb"].lower())
    return reading_of(
        Family.ASIDE, f"{verb} {which} {noun} {rest}".strip(), adverbial="", said=text
    )

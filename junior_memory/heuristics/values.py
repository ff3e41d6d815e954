"""What things mean to somebody, and general judgements: "Painting helps me relax", "Family means
the world to me".
"""

from __future__ import annotations

import re

from junior_memory.heuristics import marks
from junior_memory.heuristics.outlets import WEAK_SUBJECT, read_outlet
from junior_memory.heuristics.statements import Family, Reading
from junior_memory.heuristics.wording import inside, reading_of

_INFLUENCE = re.compile(
    r"^(?P<subject>[\w', \"-]{3,90}?) (?P<verb>(?:really |always |all |has |have |also "
    r"|definitely |truly |certainly |can |sure |just ){0,3}(?:helps?|helped|makes?|made"
    r"|has|have|gives?|gave|given|brings?|brought|inspires?|inspired|keeps?|kept"
    r"|motivates?|motivated|relaxes|calms|taught|teaches|means?|lets?|allows?|allowed"
    r"|reminds?|reminded|encourage[sd]?|push(?:es|ed)|chang(?:es|ed)|shaped|sparks?"
    r"|sparked|fuels?|drives?|fires? up|lifts?|boosts?|cheers?|calms?|recharges?"
    r"|connects?|guides?|supports?|surrounds?|meant|impress(?:es|ed)?|fascinates?|fascinated"
    r"|amazes?|amazed)) (?P<rest>(?:me|my|us|a lot to me|so"
    r" much to me|the world to me|everything to me|(?:a |an |the |such |so much |lots of"
    r" )(?:\w+ ){1,4}(?:for|to|in) (?:me|my life))\b.{0,200})$",
    re.I,
)
_S_HAS = re.compile(
    r"(?<=\w)'s (?=(?:really |always |also |definitely )?(?:helped|made|given|brought|taught"
    r"|allowed|changed|shaped|inspired|been)\b)",
    re.I,
)
_IS_MY = re.compile(
    r"^(?P<subject>[A-Z\"][\w\"' .-]{1,60}?)(?P<be>'s| is| are| was| were)"
    r" (?P<only>(?:definitely |still |probably |by far |always |mostly |really |also )?(?:my|our)"
    r" (?P<what>(?:all[- ]time )?(?:favou?rites?|fave|go-to|passion|hobby|dream|comfort|happy"
    r" place|escape|outlet|motto|rock|goal|first language|native language|mother tongue|home"
    r" town|hometown|birthday|editor of choice|thing|chance|outlet|way)(?: (?!when|for"
    r"|because|to\b)\w+){0,3}))\b(?P<rest>.{0,120})$",
    re.I,
)
_TO_ME = re.compile(
    r"^(?P<subject>[\w' -]{3,80}?)(?:'s| is| are|'re| has always been| have always been)"
    r" (?:also |really |so |very |super |always |mega-|extremely |incredibly"
    r" )*(?:particularly |especially )?(?P<how>important|precious|special|meaningful"
    r"|essential|sacred|everything|interesting|fascinating|relaxing|therapeutic) (?:to|for)"
    r" (?:me|us)\b",
    re.I,
)
_MEANS = re.compile(
    r"^(?P<subject>[\w' -]{3,80}?) (?:has )?(?:really |always )?(?:means?|meant) (?:so much|a"
    r" lot|the world|everything) to (?:me|us)\b",
    re.I,
)
_FOR_ME = re.compile(
    r"^(?:for|to) me,? (?P<subject>[\w' -]{3,60}?)(?: is|'s| are) (?P<rest>(?:about|a way"
    r"|more than|the|an?) .{4,160})$",
    re.I,
)
_FOUND_IT = re.compile(
    r"(?:^|, |\bbut |\band |\bso )(?:it|that)(?P<when>'s| is| was| has been|'s been| felt"
    r"| feels) (?:so |really |very |super |pretty |quite |such |always |also |truly |just"
    r" )*"
    r"(?P<how>(?:such )?an? (?:great|good|amazing|wonderful|incredible|awesome)"
    r" (?:feeling|experience|honou?r|privilege)|(?:amazing|awesome|great|cool|fun|nice"
    r"|wonderful|incredible|inspiring|rewarding|powerful|special|exciting|fulfilling"
    r"|interesting|satisfying|empowering|freeing|relaxing|heartwarming|challenging"
    r"|cathartic|touching|helpful|humbling|sad|hard|tough|comforting|fantastic"
    r"|eye-opening|gratifying|uplifting|refreshing)(?: and (?!it\b)\w+)?)"
    r" (?P<what>(?:to (?!(?:see you|hear|talk|chat|meet you|catch|know you)\b)\w+"
    r"|(?!(?:talking|chatting|hearing from|catching|seeing you|meeting you)\b)\w+ing|how"
    r" (?=.*\b(?:me|my|i|we|our|us)\b)(?!(?:it|that|this|they)\b)\w+) .{6,150})$",
    re.I,
)
_MADE_ME = re.compile(
    r"\b(?:it|that|this|which)(?:'s| has| have)?(?: really| also| always| definitely){0,2} "
    r"(?:(?:made|makes|got) (?:me|us) (?=realize|realise|appreciate|want)|(?=remind|taught))"
    r"(?P<verb>realize|realise|appreciate|want|reminds?|reminded|taught)(?: (?:me|us))?"
    r" (?P<what>(?!me\b|us\b|of (?:you|that|this|it)\b).{8,150})$",
    re.I,
)
_ONE_OF_MY = re.compile(
    r"^(?P<subject>[A-Z][\w', -]{3,70}?) (?:is|are|was|were) (?:definitely |always )?(?:one"
    r"|some) of my (?P<kind>(?:all-time )?(?:favou?rites?|faves?)(?: \w+){0,3})$",
    re.I,
)
_ALL_THAT = re.compile(
    r"^(?P<subject>[A-Z][\w', -]{3,90}?) (?:is|are) (?:all (?:the things )?|the things? |things? "
    r"|what )(?:that )?(?P<verb>brings?|makes?|helps?|keeps?|gives?) (?P<rest>(?:me|us) .{4,120})$",
    re.I,
)
_DONE_TO_ME = re.compile(
    r"^(?:my (?:[\w-]+ ){1,3}?|(?:a|one of my) (?:[\w-]+ ){1,3}?|the (?:whole |entire"
    r" )?(?:team|company|school|university|club|band|organi[sz]ation|agency) |they"
    r" )(?:(?!My\b)[A-Z][a-z]+ )?(?:just |recently |also |even |finally )?"
    r"(?P<verb>invited|introduced|taught|offered|gave|hired|promoted|chose|selected"
    r"|accepted|nominated|awarded|encouraged|convinced|inspired) me (?P<rest>(?:to|into|a"
    r"|an|as|for|how|some|my)\b.{4,120})$",
    re.I,
)
_IMPORTANT_TO = re.compile(
    r"(?:^|, |\bbut |\band |\bso )(?:it's|it is|it's always been|it feels) (?:so |really "
    r"|very |super |always |also )*(?P<how>important|essential|crucial|vital|key|rewarding"
    r"|great|good|better|necessary) (?:for (?:me|us) |to me )?to (?P<aim>(?!see\b|hear\b"
    r"|know\b|meet\b|talk\b|catch\b|chat\b|have you).{6,140})$",
    re.I,
)
_I_ENJOY = re.compile(
    r"^(?P<subject>[A-Z][\w', -]{3,80}?) (?:is|are) (?:all |some |one |a few |both"
    r" )?(?:[\w' -]{0,50} )?(?:things?|activit(?:y|ies)|hobb(?:y|ies)|sports?|games?"
    r"|something)(?: (?:that|which))? i (?:really |always |absolutely )?(?P<verb>enjoy|love"
    r"|like)$",
    re.I,
)
_PART_OF_LIFE = re.compile(
    r"^(?P<subject>[\w', -]{3,80}?)(?:'s| is| are| has been| have been) (?P<rest>(?:such "
    r"|still |always )?(?:(?:an?|one) (?:\w+ ){0,3}(?:part|source) of my \w+|my (?:rocks?"
    r"|world|life|inspiration|motivation|strength|support system|biggest \w+|greatest \w+"
    r"|safe \w+)).{0,80})$",
    re.I,
)


def _lower(phrase: str) -> str:
    """ "Cello" as the common noun it is here; a name of several words keeps its capitals."""
    return phrase if " " in phrase or phrase[1:] != phrase[1:].lower() else phrase.lower()


def read_influence(text: str, *, whole: str, said: str) -> Reading | None:
    """ "Painting helps me relax" → "Finds that painting helps them relax."; "Blue is my favourite
    colour" likewise.
    """
    own = _IS_MY.match(text)
    if own and not WEAK_SUBJECT.match(own["subject"]):
        be = "is" if own["be"] == "'s" else own["be"].strip()
        named = inside(own["subject"])
        if own["what"].lower() == "thing" and not own["rest"]:
            return reading_of(
                Family.PREFERENCE, f"is into {_lower(named)}", adverbial="", said=said
            )
        return reading_of(
            Family.PREFERENCE, f"{own['what']} {be} {named}{own['rest']}", adverbial="", said=said
        )
    match = _INFLUENCE.match(_S_HAS.sub(" has ", text, count=1))
    if (
        not match
        or WEAK_SUBJECT.match(match["subject"])
        or marks.is_task(text)
        or _ALL_THAT.match(text)
    ):
        return _read_value(text, whole=whole, said=said)
    if re.search(
        r"\b(?:this|that|these|those|it|they)\b", match["subject"], re.I
    ) and not re.search(
        r"\b(?:moments|times|events|experiences|days) like (?:these|this)\b|\b(?:seeing"
        r"|watching|making) (?:it|them) \w+",
        match["subject"],
        re.I,
    ):
        return None
    if re.search(r"\bthem\b", match["subject"], re.I) and not re.search(
        r"\b(?:others|people|kids|friends|family|animals|pets)\b", match["subject"], re.I
    ):
        return None
    subject, verb, rest = match["subject"], match["verb"], match["rest"]
    if " " not in rest:
        return None
    subject = inside(subject)
    return reading_of(
        Family.INFLUENCE, f"finds that {subject} {verb} {rest}", adverbial="", said=said
    )


_GERUND_MATTERS = re.compile(
    r"^(?P<what>[A-Za-z]+ing (?!(?:it|this|that|you)\b)[^.;:]{6,110}?) (?:is|are) (?:so "
    r"|really |very |super |always )*(?:important|key|essential|crucial|vital)$",
    re.I,
)
_GERUND_FELT = re.compile(
    r"^(?P<what>(?!(?:being there|hearing|seeing you|talking to you|chatting|something"
    r"|nothing|everything|anything|thing)\b)[A-Za-z]+ing (?!(?:it|this|that|you"
    r"|them)\b)[^.;:]{6,110}?) (?P<be>was|is|has been|felt|feels)"
    r" (?:so |really |very |super |such |truly |absolutely |definitely"
    r" )*(?P<how>(?:amazing|awesome|great|cool|fun|nice|wonderful|incredible|inspiring"
    r"|rewarding|powerful|special|exciting|fulfilling|interesting|satisfying|empowering"
    r"|freeing|relaxing|heartwarming|hard|tough|comforting|fantastic|eye-opening"
    r"|refreshing|challenging|liberating|magical|meaningful|peaceful"
    r"|calming|soothing|an? (?:\w+ )?(?:experience|time|blast|challenge|joy|honou?r|pleasure"
    r"|adventure))(?: and \w+| but (?:\w+|worth it))?)$",
    re.I,
)


def _read_value(text: str, *, whole: str, said: str) -> Reading | None:
    """ "Family means the world to me" → "Values family."; "For me, adoption is a way of giving
    back" likewise.
    """
    held = re.match(
        r"^this (?P<noun>[\w -]{3,40}?)(?:'s| is) (?:so |really |very |super |always "
        r"|extremely )*(?P<how>special|important|precious|meaningful|dear) to (?:me|us)\b",
        text,
        re.I,
    )
    if held and not re.search(
        r"\b(?:pic|photo|picture|one|moment|conversation|chat|issue|project)\b", held["noun"]
    ):
        article = "an" if held["noun"][0].lower() in "aeiou" else "a"
        return reading_of(
            Family.POSSESSION,
            f"has {article} {held['noun']} that is {held['how']} to me",
            adverbial="",
            said=said,
        )
    recalled = re.match(
        r"^(?:this|that|it)(?: \w+)? (?:really |always )?reminds? me of (?P<what>(?:a|an|the"
        r"|my|our) (?:[\w'-]+ ){1,5}(?:i|we) .{4,120})$",
        text,
        re.I,
    )
    if recalled:
        return reading_of(Family.EVENT, f"remembers {recalled['what']}", adverbial="", said=said)
    match = _TO_ME.match(text) or _MEANS.match(text)
    if match and not WEAK_SUBJECT.match(match["subject"]) and not marks.is_task(text):
        subject = inside(match["subject"])
        if match.groupdict().get("how", "").lower() in {
            "interesting",
            "fascinating",
            "relaxing",
            "therapeutic",
        }:
            return reading_of(
                Family.INFLUENCE, f"finds {subject} {match['how']}", adverbial="", said=said
            )
        return reading_of(Family.INFLUENCE, f"values {subject}", adverbial="", said=said)
    outlet = read_outlet(text, said=said)
    if outlet is not None:
        return outlet
    listed = _ONE_OF_MY.match(text)
    if listed and not WEAK_SUBJECT.match(listed["subject"]):
        what = listed["subject"]
        return reading_of(
            Family.PREFERENCE,
            f"counts {inside(what)} among my {listed['kind']}",
            adverbial="",
            said=said,
        )
    brings = _ALL_THAT.match(text)
    if brings and not WEAK_SUBJECT.match(brings["subject"]):
        subject = re.sub(r"^my ", "their ", brings["subject"], flags=re.I)
        return reading_of(
            Family.INFLUENCE,
            f"finds that {inside(subject)} {brings['verb']} {brings['rest']}",
            adverbial="",
            said=said,
        )
    passive = _DONE_TO_ME.match(text)
    if passive and not marks.is_task(text) and not marks.PRONOUN_OBJECT.match(passive["rest"]):
        done = {"gave": "given", "taught": "taught", "offered": "offered"}.get(
            passive["verb"].lower(), passive["verb"].lower()
        )
        return reading_of(Family.EVENT, f"was {done} {passive['rest']}", adverbial="", said=said)
    found = _FOUND_IT.search(text)
    if found and len(text.split()) >= 6 and not marks.is_task(text):
        verb = "finds" if found["when"].lower() in {"'s", " is", " feels"} else "found"
        return reading_of(
            Family.FEELING, f"{verb} it {found['how']} {found['what']}", adverbial="", said=said
        )
    valued = _GERUND_MATTERS.match(text)
    if valued and re.search(r"\b(?:ourselves|myself|me|my|our|us|i|we)\b", valued["what"], re.I):
        return reading_of(Family.OPINION, f"thinks that {inside(text)}", adverbial="", said=said)
    hurt = re.match(
        r"^(?:it|that) (?:really )?(?:breaks|broke) my heart (?P<what>(?:that|to see|when)"
        r" (?!(?:it|this|that)\b).{8,120})$",
        text,
        re.I,
    )
    if hurt:
        return reading_of(Family.FEELING, f"is heartbroken {hurt['what']}", adverbial="", said=said)
    felt = _GERUND_FELT.match(text)
    if (
        felt
        and not marks.is_task(text)
        and not re.search(r"\b(?:like (?:that|this)|it's|them)\b", felt["what"], re.I)
    ):
        verb = "finds" if felt["be"].lower() in {"is", "feels"} else "found"
        what = felt["what"][0].lower() + felt["what"][1:]
        return reading_of(
            Family.FEELING,
            f"{verb} {what} {felt['how'].replace('worth it', 'worthwhile')}",
            adverbial="",
            said=said,
        )
    reminder = re.search(
        r"\bit (?:was|is|'s)(?: such| really)? an? (?:\w+ )?reminder (?P<what>(?:that|of|to"
        r"|how) (?!(?:that|this|it)\b).{8,140})$",
        whole,
        re.I,
    )
    if reminder:
        return reading_of(
            Family.FEELING, f"was reminded {reminder['what']}", adverbial="", said=said
        )
    learned = _MADE_ME.search(whole)
    if (
        learned
        and not marks.PRONOUN_OBJECT.match(learned["what"])
        and len(learned["what"].split()) >= 4
    ):
        verb = {
            "realize": "realized",
            "realise": "realized",
            "appreciate": "came to appreciate",
            "want": "came to want",
        }.get(learned["verb"].lower(), "was reminded")
        if learned["verb"].lower() == "taught":
            verb = "learned"
        return reading_of(Family.FEELING, f"{verb} {learned['what']}", adverbial="", said=said)
    match = _IMPORTANT_TO.search(text)
    if (
        match
        and not marks.PRONOUN_OBJECT.match(match["aim"].partition(" ")[2])
        and len(match["aim"].split()) > 2
    ):
        return reading_of(
            Family.OPINION,
            f"thinks it is {match['how']} to {match['aim']}",
            adverbial="",
            said=said,
        )
    match = _I_ENJOY.match(text)
    if match and not WEAK_SUBJECT.match(match["subject"]):
        return reading_of(
            Family.PREFERENCE,
            f"{match['verb']}s {match['subject'][0].lower()}{match['subject'][1:]}",
            adverbial="",
            said=said,
        )
    match = _PART_OF_LIFE.match(text)
    if match and not WEAK_SUBJECT.match(match["subject"]) and not marks.is_task(text):
        subject = re.sub(r"^(?:my|our) ", "", match["subject"], flags=re.I)
        subject = inside(subject)
        return reading_of(
            Family.INFLUENCE, f"sees {subject} as {match['rest']}", adverbial="", said=said
        )
    match = _FOR_ME.match(text)
    if match and not WEAK_SUBJECT.match(match["subject"]):
        return reading_of(
            Family.OPINION,
            f"sees {inside(match['subject'])} as {match['rest']}",
            adverbial="",
            said=said,
        )
    return None

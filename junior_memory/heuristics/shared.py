"""What a team states about how it works: knowledge that nobody owns. How things are, not how they
stand today.
"""

from __future__ import annotations

import re

from junior_memory.heuristics import canonical, refusals, words
from junior_memory.heuristics.clauses import strip_leaders
from junior_memory.heuristics.inflection import third_person
from junior_memory.heuristics.procedures import TO_DO, read_procedure
from junior_memory.heuristics.statements import Family, Reading

_COLLECTIVE = re.compile(
    r"^(?P<subject>we|our (?:team|company|squad|department|org|organi[sz]ation|startup|agency"
    r"|firm|studio)|the team|everyone (?:on|in) (?:the|our) team|as a team,? we|at work,? we"
    r"|in our (?:team|company|org),? we|our policy is (?:to|that we))(?P<be>'re|'ve|'ll)?"
    r" (?P<rest>.{4,300})$",
    re.I,
)
_RULE_MARK = re.compile(
    r"\b(?:always|never|every|each|all|only|before|after|without|unless|whenever|when|on"
    r" (?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)days|from now on|by default|at least|no longer)\b",
    re.I,
)
_TEAM_VERBS = frozenset(
    "deploy release ship use run keep store host track write review require tag squash "
    "merge rebase follow treat log"
    " publish plan meet rotate branch support bill charge target own maintain version "
    "test build monitor alert back cache"
    " pin format lint enforce prefix name serve call document sign send do start hold "
    "have work communicate hand roll freeze"
    " commit archive retain encrypt stage mirror sync export import index pay accept cut "
    "push schedule prefer avoid allow"
    " forbid develop practise practice pair onboard escalate discuss post open close "
    "estimate count expire invoice ask put get"
    " manage configure provision expose measure consider split share rely standardise "
    "standardize target skip cap limit"
    " translate aim offer sell ban answer update name take show explain reply refund "
    "invite train teach celebrate hire buy order review label group color colour measure "
    "check".split()
)
_DECIDED = re.compile(
    r"^(?:have |recently |just )*(?:decided|agreed|switched|moved|migrated|standardi[sz]ed"
    r"|settled|adopted|stopped|dropped|replaced|chose) (?!it\b|that we should|this\b)(?:to|on"
    r"|from|using|not|against|[\w-]+)\b",
    re.I,
)
_NEGATED = re.compile(
    r"^(?:do not|don't|never|no longer|can't|cannot|aren't allowed to|are not allowed to|may"
    r" not|must not|mustn't) (?P<verb>\w+)",
    re.I,
)
_OBLIGED = re.compile(
    r"^(?:must|should|have to|need to|are required to|are supposed to) (?P<rest>.+)$", re.I
)
_STATE_OF_WAY = re.compile(
    r"^are (?:on|using|based|split|organi[sz]ed|allowed|required|located|hosted|in (?:the"
    r" )?\w+|a (?:team|group|remote|small|\w+) )\b",
    re.I,
)
_SUBJECT = re.compile(
    r"^(?P<subject>(?:(?:the|our|all|every|each|no|any|production|staging|prod|main|new"
    r"|old|code|public|internal) )?[\w@#/.'`:-]+(?: (?:for|of|in|to|on|from|with|and|the"
    r"|our|at|[\w@#/.'`-]+)){0,7}?) "
    r"(?P<predicate>(?:is|are|lives?|runs?|uses?|requires?|needs?|depends?|happens?|goes"
    r"|go|expires?|supports?|listens?|reads?|writes?|ships?|belongs?|must|should"
    r" (?:always|only|never)|can only|cannot|can't|never|always|only|starts?|rotates?"
    r"|comes? from|points? (?:to|at)|sits?|closes?|opens?|ends?|holds?|contains?|talks?"
    r" to|calls?|sends?|returns?|times? out|defaults? to|caps? at|stays?|gets?|has|have"
    r"|does not|do not|doesn't|don't|covers?|owns?|follows?|accepts?|means?|stands for"
    r"|serves?) .{3,260})$",
    re.I,
)
_BARE_PREDICATE = re.compile(r"^(?:is|are)(?:n't| not)? (?P<rest>.+)$", re.I)
_LASTING_PREDICATE = re.compile(
    r"^(?:(?:on|in|at|behind|under|called|named|stored|kept|hosted|owned|managed|maintained"
    r"|located|written|built|deployed|released|reviewed|run|limited|required|based"
    r"|protected|"
    r"read-only|a|an|the|our|always|never|only|not allowed|forbidden|frozen (?:on|every"
    r"|from|during)|every|each|capped|signed|cut|sent|scheduled|automated|versioned"
    r"|generated|mirrored|rotated|encrypted|tagged|backed up|published|merged (?:by|with"
    r"|only|after)|handled|responsible|mandatory|optional|deprecated|reserved|billed|paid"
    r"|due (?:on|every)|held|spread|split|assigned automatically)\b|"
    r"[A-Za-z\d]+[-_/][\w./-]*\w\b|\"|`|https?:|[\w.-]+\.(?:\w{2,10})\b|\d+ (?:days?"
    r"|hours?|minutes?|seconds?|requests?|characters?|years?|weeks?|months?)|port \d"
    r"|v?\d+\.\d)",
    re.I,
)
_FORBIDDEN_SUBJECT = re.compile(
    r"^(?:it|this|that|these|those|there|he|she|they|you|i|we|my|your|his|her|their|who|what"
    r"|which|how|why|where|when|if|please|let|sam|thanks|hope|one|someone|somebody|everyone"
    r"|everybody|nobody|something|nothing|anything|everything|here|and|but|so|because|as|then"
    r"|note|ok|yes|no)\b(?! (?:deploy|release|service|code|merge|push|commit|branch)\w*)",
    re.I,
)
_LIMIT = re.compile(
    r"\b(?:limit|port|version|timeout|quota|window|threshold|retention|ttl|budget|sla|size"
    r"|interval|schedule|deadline|cap|maximum|minimum|period|frequency)\b",
    re.I,
)
_NUMBER = re.compile(r"\b\d[\d.,]*\b")
_FRESH = re.compile(
    r"\b(?:still|currently|already|yet|again|since (?:yesterday|this|last|monday|tuesday"
    r"|wednesday|thursday|friday)|yesterday|last (?:night|week)|next week|recently|just|so"
    r" far|until (?:the|we|i)|waiting|almost|nearly|soon|going to|gonna|will be|was|were)\b",
    re.I,
)
_PERSON_SUBJECT = re.compile(
    r"^(?!The |Our |All |Every |Each |No |Any |Production|Staging|Prod|Main |New |Old |Code "
    r"|Public |Internal )[A-Z][a-z]{2,14}(?:'s \w+)? (?:is|has|hates?|likes?|loves?|prefers?"
    r"|lives?|works?|wants?|needs?|uses?|owns?|gets?|does not|doesn't|never|always|runs?"
    r"|goes)\b"
)
_HEADS = frozenset(
    "standup retro limit deploys hotfixes rate truth source password passwords keys key "
    "tables table data reports report files images"
    " traffic requests jobs job tasks credentials window freeze template templates "
    "module package packages library repo's instance instances"
    " bucket token tokens script scripts team calendar meeting meetings review account "
    "accounts page pages link links guide process".split()
)
_NAME_OF_THING = re.compile(
    r"^(?:Postgre\w*|Redis|Kafka|Jenkins|GitHub|GitLab|Sentry|Grafana|Terraform|Docker"
    r"|Kubernetes|Slack|Jira|Linear|Stripe|Python|Django|Releases?|Deploys?|Deployments?"
    r"|Backups?|Migrations?|Tickets?|Incidents?|Customers?|Invoices?|Secrets?|Logs?|Alerts?"
    r"|Tests?|Hotfix\w*|Standup|Retro\w*|Onboarding|Payroll|Expenses)\b"
)


_ENDS_ELSEWHERE = re.compile(
    r"\b(?:before|after|behind|since|until|about|like|for|with) (?:it|that|this|those|then)$",
    re.IGNORECASE,
)


def read_team_fact(text: str, *, among: bool = False) -> Reading | None:
    """ "We deploy from main", "Our staging db is pg-3", "Releases go out on Thursdays": how things
    are, not how they stand.
    """
    said = text
    text = canonical.trim_tail(strip_leaders(text))
    if (
        refusals.is_unsure(text)
        or refusals.is_reported(text)
        or refusals.speaks_of_now(text)
        or refusals.speaks_of_thread(text)
        or refusals.is_hypothetical(text)
        or _ENDS_ELSEWHERE.search(text)
        or re.search(r"\byou(?:r|'re)?\b", text, re.I)
    ):
        return None
    return (
        _collective(text, among=among, said=said)
        or _impersonal_fact(text, among=among, said=said)
        or (_our_fact(text, said=said) if among else None)
    )


def _collective(text: str, *, among: bool, said: str) -> Reading | None:
    match = _COLLECTIVE.match(text)
    if not match:
        return None
    rest = match["rest"]
    named_team = not match["subject"].lower().endswith("we")
    if not named_team and not (
        among or refusals.is_operational(rest) or set(refusals.words_of(rest)) & words.TEAM_ONLY
    ):
        return None
    if _FRESH.search(rest) and not _DECIDED.match(rest):
        return None
    if refusals.holds_metric(rest) and not _LIMIT.search(rest):
        return None
    predicate = _team_predicate(rest, be=match["be"] or "", singular=named_team, among=among)
    if predicate is None:
        return None
    content = canonical.finish(f"The team {_shared_references(predicate)}")
    if canonical.has_person(content) or len(content) > canonical.MAX_CONTENT:
        return None
    return Reading(family=Family.TEAM, content=content, said=said)


def _team_predicate(rest: str, *, be: str, singular: bool, among: bool) -> str | None:
    rest = re.sub(r"^(?:all|also|just|really|basically|actually|both) ", "", rest, flags=re.I)
    if be == "'ve" or (rest.startswith("have ") and _DECIDED.match(rest)):
        return f"has {rest.removeprefix('have ')}" if _DECIDED.match(rest) else None
    if be == "'re" or rest.startswith("are "):
        rest = rest.removeprefix("are ")
        return f"is {rest}" if _STATE_OF_WAY.match(f"are {rest}") else None
    if be:
        return None
    if _DECIDED.match(rest):
        return rest
    obliged = _OBLIGED.match(rest)
    if obliged:
        return (
            f"must {obliged['rest']}"
            if _RULE_MARK.search(rest) and "must" not in obliged["rest"]
            else None
        )
    negated = _NEGATED.match(rest)
    if negated:
        verb = negated["verb"].lower()
        if verb in {"know", "have", "think", "need", "want", "see", "understand", "believe"}:
            return None
        lead = rest[: negated.start("verb")].strip().lower()
        if lead in {"never", "no longer"}:
            return f"{lead} {third_person(negated['verb'])}{rest[negated.end('verb') :]}"
        turned = {
            "don't": "does not",
            "do not": "does not",
            "can't": "cannot",
            "mustn't": "must not",
        }.get(lead, lead.replace("aren't", "is not").replace("are not", "is not"))
        return f"{turned} {rest[negated.start('verb') :]}"
    adverbs, tokens = canonical.split_adverbs(rest.split())
    if not tokens:
        return None
    verb = tokens[0].lower()
    base = (
        verb
        if not singular
        else verb.removesuffix("s")
        if verb.removesuffix("s") in _TEAM_VERBS
        else verb.removesuffix("es")
    )
    ruled = bool(_RULE_MARK.search(rest)) or bool(set(adverbs) & words.HABIT_ADVERBS)
    if base not in _TEAM_VERBS and not (among and ruled and base not in _MINDS):
        return None
    if _POINTS_BACK.match(" ".join(tokens[1:])):
        return None
    if base in {"have", "get", "put", "ask", "do", "call", "open", "close", "has"} and not (
        _RULE_MARK.search(rest)
        or set(adverbs) & words.HABIT_ADVERBS
        or re.match(
            r"^have (?:standup|stand-up|retro|a (?:standup|retro|policy|rule|freeze|code freeze)"
            r"|\w+ (?:environments?|regions?|clusters?|offices?))",
            rest,
            re.I,
        )
    ):
        return None
    if base == "has":
        base = "have"
    return canonical.third_person_predicate([*adverbs, base, *tokens[1:]])


def _shared_references(text: str) -> str:
    text = re.sub(r"\bwe\b", "they", text, flags=re.I)
    text = re.sub(r"\bwe're\b", "they are", text, flags=re.I)
    return re.sub(r"\bour\b", "the", re.sub(r"\bus\b", "them", text), flags=re.I)


def _impersonal_fact(text: str, *, among: bool, said: str) -> Reading | None:
    match = _SUBJECT.match(text)
    if not match or _FORBIDDEN_SUBJECT.match(text):
        return None
    subject, predicate = match["subject"], match["predicate"]
    head = (
        re.split(r" (?:for|of|in|to|on|from|with|at) ", subject, maxsplit=1)[0]
        .split()[-1]
        .lower()
        .strip("`'")
    )
    known = head in words.OPERATIONS | words.TEAM_ONLY | _HEADS or re.search(r"[\d_/.-]", head)
    if among and not known:
        return _recurring_fact(text, said=said)
    if not known:
        return None
    subject_words = set(refusals.words_of(subject.replace("/", " ").replace(".", " ")))
    if not (
        subject_words & words.OPERATIONS
        or subject_words & words.TEAM_ONLY
        or subject_words & {"standup", "source", "retro", "limit", "deploys", "hotfixes", "rate"}
    ):
        return None
    if _PERSON_SUBJECT.match(text) and not _NAME_OF_THING.match(text):
        return None
    if subject_words & {
        "who",
        "which",
        "that",
        "because",
        "when",
        "i",
        "my",
        "me",
        "is",
        "was",
        "today",
    }:
        return None
    if (
        refusals.gives_status(text)
        or _FRESH.search(text)
        or re.search(r"\b(?:i|me|my|we'll|we're)\b", text, re.I)
    ):
        return None
    bare = _BARE_PREDICATE.match(predicate)
    if bare and not _LASTING_PREDICATE.match(bare["rest"]):
        return None
    if _NUMBER.search(predicate) and refusals.holds_metric(predicate) and not _LIMIT.search(text):
        return None
    if (
        re.match(r"^(?:need|needs|get|gets|has|have) ", predicate, re.I)
        and not _RULE_MARK.search(predicate)
        and not re.match(
            r"^(?:need|needs|has|have) (?:a|an|two|three|\d|at least|approval|one)\b",
            predicate,
            re.I,
        )
    ):
        return None
    if re.match(
        r"^(?:has|have|gets?|contains?|returns?) (?:about |around |over )?\d", predicate
    ) and not re.search(
        r"\b(?:environments?|replicas?|regions?|nodes?|stages?|shards?|approvers?|reviewers?"
        r"|owners?|offices?|days?|members?|workers?|zones?)\b",
        predicate,
    ):
        return None
    if re.match(r"^(?:need|needs) (?:a|an|to)\b", predicate) and not re.search(
        r"\b(?:approv\w+|review\w*|sign-?off|before|every|each|always|permission|ticket)\b",
        predicate,
        re.I,
    ):
        return None
    content = re.sub(
        r"^our ",
        "The team's " if not subject.lower().startswith("our team") else "The ",
        text,
        flags=re.I,
    )
    content = canonical.finish(_shared_references(content))
    if canonical.has_person(content) or len(content) > canonical.MAX_CONTENT:
        return None
    return Reading(family=Family.TEAM, content=content, said=said)


def _recurring_fact(text: str, *, said: str) -> Reading | None:
    """ "The pier closes every winter": among people, what happens again and again."""
    if not _RECURS.search(text) or not _OF_THINGS.match(text):
        return None
    if refusals.gives_status(text) or _FRESH.search(text) or refusals.holds_metric(text):
        return None
    if re.search(r"\b(?:i|i'm|me|my|mine|he|she|his|her|him)\b", text, re.I):
        return None
    return _reading(text, said=said)


def _our_fact(text: str, *, said: str) -> Reading | None:
    """ "Our release notes live in docs/releases": among people "our" is nobody's own."""
    match = _OURS.match(text)
    if not match or refusals.gives_status(text) or _FRESH.search(text):
        return None
    if re.search(r"\b(?:i|i'm|me|my|mine|they)\b", text, re.I) or len(text.split()) < 5:
        return None
    if set(refusals.words_of(match["noun"])) & (words.OTHERS | words.PASSING_POSSESSIONS | _PEOPLE):
        return None
    rest = match["rest"]
    if match["verb"].lower() in {"is", "are"} and re.match(
        r"^(?:not |so |very |really )*\w+ing\b", rest
    ):
        return None
    if refusals.holds_metric(rest) and not _LIMIT.search(text):
        return None
    return _reading(re.sub(r"^our ", "", text, flags=re.I), said=said)


def _reading(text: str, *, said: str) -> Reading | None:
    content = canonical.finish(_shared_references(text))
    if canonical.has_person(content) or len(content) > canonical.MAX_CONTENT:
        return None
    return Reading(family=Family.TEAM, content=content, said=said)


_MINDS = frozenset(
    "need want think know hope see get have be guess feel believe wish mean like love "
    "wonder say tell look try go come".split()
)
_PEOPLE = frozenset(
    "ceo cto cfo intern lead manager president chair founder customer accountant".split()
)
_POINTS_BACK = re.compile(r"^(?:it|them|this|that|these|those|him|her)\b", re.I)
_RECURS = re.compile(
    r"\b(?:every|each|always|never|nobody|no one|only|on the first|on the last|on (?:mon"
    r"|tues|wednes|thurs|fri|satur|sun)days?|on weekdays|on weekends"
    r"|daily|nightly|weekly|monthly|yearly|at night|at noon|once a|twice a|by default"
    r"|whenever|until the end of)\b",
    re.I,
)
_OF_THINGS = re.compile(
    r"^(?:(?:the|all|every|each|no|any) (?!(?:one|two|first|last|other|same|best|problem"
    r"|question)\b)(?:[\w'/-]+ ){1,5}?|nobody |(?:[A-Z][a-z]+ )?[a-z-]*[A-Za-z]+s )"
    r"(?:is|are|lives?|runs?|uses?|keeps?|opens?|closes?|starts?|ends?|goes|go|ships?"
    r"|sails?|uploads?|leaves?|changes?|takes?|takes|gets?|needs?|requires?|belongs?"
    r"|happens?|answers?|sends?|speaks?|shows?|must|may|can|cannot|never|always|only"
    r"|expires?|covers?|costs?|travels?|pays?) .{4,200}$"
)
_OURS = re.compile(
    r"^our (?P<noun>[\w' -]{2,50}?) (?P<verb>is|are|has|have|lives?|runs?|changes?"
    r"|starts?|ends?|closes?|opens?|keeps?|speaks?|goes|go|asks?|uses?|needs?|sits?"
    r"|rotates?|means?|covers?|answers?|takes?|ships?|stands?|wears?|comes?|belongs?"
    r"|expires?|follows?|requires?|shows?|never \w+|always \w+|only \w+)"
    r" (?P<rest>.{3,200})$",
    re.I,
)


def read_tool_output(line: str) -> Reading | None:
    """A durable statement or procedure in the output of a tool: whole prose sentences only, no
    values.
    """
    if (
        len(line) > 220
        or not re.match(r"^[A-Z]", line)
        or len(line.split()) < 5
        or re.search(r"[{}\[\]<>|=]", line)
    ):
        return None
    if re.search(r"\b(?:i|we|my|our|you|me)\b", line, re.I) and not TO_DO.match(line):
        return None
    return read_procedure(line) or read_team_fact(line)

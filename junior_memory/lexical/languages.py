"""Languages: a cheap guess by script and function words, stemmers, and words too common to ask for.

A guess only adds stems. The unstemmed word is always a term too, so a wrong one loses nothing.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

import snowballstemmer

from junior_memory.lexical.folding import fold

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "english": """
            a about after again all also am an and any are as at be because been before
            being but by can could did do does doing down during each few for from
            further had has have having he her here hers him his how i if in into is it
            its just me more most my no nor not now of off on once only or other our out
            over own she should so some such than that the their them then there these
            they this those through to too under until up very was we were what when
            where which while who whom whose why will with would you your im ive id
            youre hes shes theyre dont doesnt didnt isnt arent wasnt werent cant may
            might must shall us upon""",
        "german": """
            aber als am an auch auf aus bei bin bis das dass dem den der des die dies
            diese dieser dieses doch du durch ein eine einem einen einer eines er es fur
            hat habe haben ich ihr ihre im in ist ja kann kein keine man mein meine mit
            muss nach nicht noch nur oder ohne sein seine sich sie sind so soll uber um
            und uns unser unsere vom von vor war was welche wenn wer werden wie wird wir
            wo zu zum zur wurde wann warum""",
        "french": """
            au aux avec ce ces cette dans de des du elle elles en est et etait ete eu il
            ils je la le les leur leurs lui ma mais me mes moi mon ne nos notre nous on
            ont ou par pas pour qu que quel quelle qui sa sans se ses si son sont sur ta
            tes toi ton tu un une vos votre vous quand comment pourquoi""",
        "spanish": """
            al como con cual cuando de del desde donde el ella ellas ellos en entre era
            es esa ese esta este esto estos fue ha han hay la las le les lo los mas me
            mi mis muy nos nuestra nuestro no o para pero por porque que quien se ser si
            sin sobre son su sus tambien te tiene todo tu un una uno y ya yo""",
        "italian": """
            a ai al alla alle anche che chi ci come con cosa cui da dal dalla degli dei
            del della delle di dove e era gli ha hanno ho i il in io la le lei lo loro
            lui ma mi mia mio ne nel nella non o per perche piu quale quando quello
            questa questo se sono su sua sul sulla suo tra tu un una uno""",
        "portuguese": """
            a ao aos as com como da das de do dos e ela ele eles em era essa esse esta
            este eu foi ha isso isto ja la lhe mais mas me meu minha muito na nao nas
            nem no nos nossa nosso o onde os ou para pela pelo por porque qual quando
            que quem se sem ser seu sua tambem te tem um uma voce""",
        "dutch": """
            aan als bij dan dat de deze die dit door een en er geen had heb hebben heeft
            het hij hoe ik in is je kan maar me meer met mijn na naar niet nog nu of om
            onder ons ook op over te tot uit van veel voor waar wanneer was wat we welke
            werd wie wij worden wordt zal ze zich zij zijn zo zou""",
        "swedish": """
            alla att av blev den denna det detta dig din du efter eller en ett fran for
            ha han hade har hon hur i inte jag kan man med men min mot mycket nar ni nu
            och om pa sa sig sin ska som till under upp ut vad var vara vart vem vi vid
            vilken ar""",
        "danish": """
            af alle at blev da de dem den der deres det dette dig din du efter eller en
            er et for fra ham han har havde hun hvad hvem hvor hvornar i ikke jeg kan
            med men mig min mod ned nar og om op os over pa sig sin skal som til ud
            under var vi vil""",
        "norwegian": """
            av alle at ble da de dem den der deres det dette deg din du etter eller en
            er et for fra ham han har hadde hun hva hvem hvor i ikke jeg kan med men meg
            min mot nar og om opp oss over pa seg sin skal som til ut under var vi vil""",
        "finnish": """
            ei ja on oli olla han hanen he me mina minun ne niin se sen ovat etta mutta
            kun kuin tai myos missa mika milloin miksi kuka joka jos nyt vain""",
        "polish": """
            ale bo byc byl byla by co czy dla do gdzie go i ich ja jak jest jestem je
            juz kto ktora ktory ma mi mnie moj na nie o od oraz po przez sa sie ta tak
            ten to tu tylko w we wiec z za ze kiedy dlaczego""",
        "turkish": """
            ama bir bu cok da daha de degil diye en gibi hangi her icin ile kadar ki kim
            mi ne neden nerede nasil o olan olarak sonra su var ve veya ya ben sen biz
            siz""",
        "romanian": """
            al ale am ar are au ca care ce cu cum de din dar este eu fi fost in la le
            mai ne nu o pe pentru prin sa sau se si sunt un una unde cand""",
        "hungarian": """
            a az azt egy es de ez ezt hogy ha is meg mint nem van volt lesz csak mar
            vagy ki mi mit hol mikor miert""",
        "russian": """
            а без более бы был была были было быть в вам вас весь во вот все всё вы где
            да для до его ее её если есть еще ещё же за и из или им их к как какой когда
            кто ли мне мой моя мы на над не него нет но о об он она они от по под при с
            себя со так такой там то того только ты у уже что чтобы это этот я почему
            зачем""",
        "arabic": """
            في من على الى إلى عن مع هذا هذه ذلك التي الذي ما هو هي أن ان لا كان كانت قد
            كل بين بعد قبل أو ثم هل متى أين كيف لماذا""",
        "hindi": """
            है हैं का की के को में से और पर यह वह इस उस ने भी था थी थे हो कि जो नहीं तो
            ही एक मैं हम आप क्या कब कहाँ क्यों कैसे""",
        "greek": """
            ο η το οι τα του της των τον την και να με σε για από απο είναι ειναι που
            δεν θα στο στη στην ένα ενα μια πως πότε πού γιατί""",
    }.items()
}
"""Words that carry grammar rather than topic, folded; written for this project."""

LATIN = (
    "english",
    "german",
    "french",
    "spanish",
    "italian",
    "portuguese",
    "dutch",
    "swedish",
    "danish",
    "norwegian",
    "finnish",
    "polish",
    "turkish",
    "romanian",
    "hungarian",
)
_LIKELY = LATIN[:8]
"""Tried when nothing tells the language: the stems of a short text cost little."""

_SCRIPTS = (
    (re.compile("[\u0400-\u052f]"), "russian"),
    (
        re.compile("[\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufeff]"),
        "arabic",
    ),
    (re.compile("[\u0900-\u097f]"), "hindi"),
    (re.compile("[\u0370-\u03ff\u1f00-\u1fff]"), "greek"),
    (re.compile("[\u0b80-\u0bff]"), "tamil"),
    (re.compile("[\u0530-\u058f]"), "armenian"),
)
_LATIN_LETTER = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff]")
_HINTS = (
    (re.compile("[äöüß]"), "german"),
    (re.compile("[ñ¿¡]"), "spanish"),
    (re.compile("[ãõ]"), "portuguese"),
    (re.compile("[çœèêëîïûù]"), "french"),
    (re.compile("[åäö]"), "swedish"),
    (re.compile("[æøå]"), "danish"),
    (re.compile("[łśźżćęą]"), "polish"),
    (re.compile("[ğşı]"), "turkish"),
    (re.compile("[șțăâ]"), "romanian"),
    (re.compile("[őű]"), "hungarian"),
)
_KOREAN_PARTICLE = re.compile(
    "(?:에서는|으로는|에게서|에서|에게|으로|까지|부터|처럼|보다|하고|이나|은|는|이|가|을|를|에|의|로|와|과|도|만)$"
)
_HANGUL_WORD = re.compile("[\uac00-\ud7a3]+")

_IRREGULAR = {
    form: forms.split()[0]
    for forms in """
        be been being;bear bore borne;beat beaten;become became;begin began begun;bend
        bent; bite bit bitten;blow blew blown;break broke broken;bring brought;build
        built;burn burnt; buy bought;catch caught;child children;choose chose
        chosen;come came;deal dealt;dig dug; draw drew drawn;dream dreamt;drink drank
        drunk;drive drove driven;eat ate eaten;fall fell fallen;feed fed;feel felt;fight
        fought;find found;fly flew flown;foot feet;forget forgot forgotten;forgive
        forgave forgiven;freeze froze frozen;get got gotten;give gave given;go went
        gone;grow grew grown;hang hung;hear heard;hide hid hidden;hold held;keep
        kept;kneel knelt; know knew known;lay laid;lead led;leap leapt;learn
        learnt;leave left;lend lent;life lives; lose lost;make made;man men;mean
        meant;meet met;mouse mice;pay paid;person people;ride rode ridden;ring rang
        rung;rise rose risen;run ran;say said;see saw seen;seek sought;sell sold; send
        sent;shake shook shaken;shine shone;shoot shot;show shown;sing sang sung;sink
        sank sunk; sit sat;sleep slept;speak spoke spoken;spend spent;stand stood;steal
        stole stolen;stick stuck;strike struck;swear swore sworn;sweep swept;swim swam
        swum;take took taken;teach taught;tear tore torn;tell told;think thought;throw
        threw thrown;tooth teeth;understand understood;wake woke woken;wear wore
        worn;weep wept;wife wives;win won;woman women;write wrote written""".split(";")
    for form in forms.split()
}
"""English forms that no suffix rule reaches, with the form they belong to."""


class Stemmer(Protocol):
    """What a snowball stemmer does."""

    def stemWord(self, word: str) -> str:  # noqa: N802 - the library's name
        """Return the stem of one lower-case word."""


class _Stemmers(threading.local):
    """Stemmers keep a cursor, so every thread has its own."""

    def __init__(self) -> None:
        self.by_language: dict[str, Stemmer] = {}

    def get(self, language: str) -> Stemmer:
        stemmer = self.by_language.get(language)
        if stemmer is None:
            stemmer = self.by_language[language] = snowballstemmer.stemmer(language)
        return stemmer


_stemmers = _Stemmers()


def guess_latin(text: str, folded_words: Iterable[str], *, least: int = 1) -> tuple[str, ...]:
    """Return the languages that a text in Latin script may be in, likeliest first.

    Empty when nothing tells. `text` is lower-case with its accents, which are hints. A language
    other than English needs `least` function words: one alone may be an English word.
    """
    votes: Counter[str] = Counter()
    for word in folded_words:
        for language in LATIN:
            if word in FUNCTION_WORDS[language]:
                votes[language] += 1
    for language in LATIN[1:]:
        if votes[language] < least:
            del votes[language]
    if not votes:
        for letters, language in _HINTS:
            if letters.search(text):
                votes[language] += 1
    if not votes:
        return ()
    best = max(votes.values())
    ranked = sorted(votes, key=lambda language: (-votes[language], LATIN.index(language)))
    return tuple(language for language in ranked if votes[language] * 2 > best)[:3]


def stem_languages(guessed: Sequence[str], *, short: bool) -> tuple[str, ...]:
    """Return the Latin-script languages to stem in; English always, all likely ones when unsure."""
    if not guessed and short:
        return _LIKELY
    return tuple(dict.fromkeys((*guessed, "english")))


def stems(word: str, latin: Sequence[str]) -> set[str]:
    """Return the folded stems of one lower-case word (accents kept), by its script's language."""
    if _HANGUL_WORD.fullmatch(word):
        return {_KOREAN_PARTICLE.sub("", word)} if len(word) > 2 else set()
    languages: Sequence[str] = ()
    if _LATIN_LETTER.search(word):
        languages = latin
    else:
        for letters, language in _SCRIPTS:
            if letters.search(word):
                languages = (language,)
                break
    found: set[str] = set()
    bare = fold(word)
    for language in languages:
        stemmer = _stemmers.get(language)
        found.add(fold(stemmer.stemWord(word)))
        if language == "english" and bare in _IRREGULAR:
            found.add(_IRREGULAR[bare])
        if bare != word:
            found.add(fold(stemmer.stemWord(bare)))
    return {stem for stem in found if stem}


def regular_form(word: str) -> str:
    """Return the form that an irregular English one belongs to, else the word itself."""
    return _IRREGULAR.get(word, word)


def is_function_word(folded: str, languages: Sequence[str]) -> bool:
    """True when a word carries no topic in one of these languages or in its own script's."""
    for letters, language in _SCRIPTS:
        if language in FUNCTION_WORDS and letters.search(folded):
            return folded in _FOLDED_FUNCTION_WORDS[language]
    return any(folded in FUNCTION_WORDS[language] for language in languages)


_FOLDED_FUNCTION_WORDS = {
    language: frozenset(fold(word) for word in words) for language, words in FUNCTION_WORDS.items()
}

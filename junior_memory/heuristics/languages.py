"""First-person statements in German, French, Spanish, Japanese and Chinese: a few safe patterns
each.

Only forms whose third person is known are read; a rest that still speaks of "ich", "je", "yo",
私 or 我 is dropped. Every other language yields nothing rather than something odd.
"""

from __future__ import annotations

import re

from junior_memory.heuristics.statements import Family, Reading

_Pattern = tuple[re.Pattern[str], str, Family]


def _rules(*rows: tuple[str, str, Family]) -> tuple[_Pattern, ...]:
    return tuple(
        (re.compile(pattern, re.IGNORECASE), shape, family) for pattern, shape, family in rows
    )


_P, _B, _A, _H, _O = (
    Family.PREFERENCE,
    Family.BEING,
    Family.ATTRIBUTE,
    Family.HABIT,
    Family.POSSESSION,
)
_REST = r"(?P<rest>.{2,140})$"

_GERMAN = _rules(
    (rf"^ich bevorzuge {_REST}", "Bevorzugt {rest}", _P),
    (rf"^ich mag (?!das nicht|es|dich){_REST}", "Mag {rest}", _P),
    (rf"^ich liebe (?!es\b|das\b|dich){_REST}", "Liebt {rest}", _P),
    (rf"^ich hasse (?!es\b|das\b){_REST}", "Hasst {rest}", _P),
    (
        r"^ich esse (?P<rest>(?:kein|keine|keinen|nur|nie|gerne?|am liebsten|vegan"
        r"|vegetarisch)\b.{0,120})$",
        "Isst {rest}",
        _P,
    ),
    (
        r"^ich trinke (?P<rest>(?:kein|keine|keinen|nur|nie|gerne?|am liebsten)\b.{0,120})$",
        "Trinkt {rest}",
        _P,
    ),
    (r"^ich (?:wohne|lebe) (?P<rest>in\b.{2,120})$", "Wohnt {rest}", _B),
    (
        r"^ich arbeite (?P<rest>(?:als|bei|f\u00fcr|in|am liebsten|nur)\b.{2,120})$",
        "Arbeitet {rest}",
        _B,
    ),
    (r"^ich spreche (?P<rest>[A-Z\u00c4\u00d6\u00dc].{2,120})$", "Spricht {rest}", _B),
    (
        r"^ich bin (?P<rest>(?:allergisch|vegetarier(?:in)?|veganer(?:in)?|verheiratet|ledig"
        r"|linksh\u00e4nder(?:in)?|laktoseintolerant|von beruf|in \w+ (?:geboren"
        r"|aufgewachsen)|geboren)\b.{0,120})$",
        "Ist {rest}",
        _A,
    ),
    (
        r"^ich habe (?P<rest>(?:einen hund|eine katze|(?:zwei|drei|vier) (?:kinder|hunde"
        r"|katzen|schwestern|br\u00fcder)|ein kind|eine tochter|einen sohn|eine allergie"
        r"|diabetes)\b.{0,120})$",
        "Hat {rest}",
        _O,
    ),
    (
        r"^ich (?:benutze|nutze|verwende) (?P<rest>(?:immer|nur|nie|lieber|meistens|am"
        r" liebsten|f\u00fcr\b.{2,40}) .{2,120})$",
        "Benutzt {rest}",
        _H,
    ),
)
_FRENCH = _rules(
    (rf"^je pr\u00e9f\u00e8re {_REST}", "Pr\u00e9f\u00e8re {rest}", _P),
    (rf"^j'(?P<verb>aime|adore) (?!pas\b|bien ton|ton\b|ta\b){_REST}", "{verb} {rest}", _P),
    (rf"^je d\u00e9teste {_REST}", "D\u00e9teste {rest}", _P),
    (rf"^je n'aime pas {_REST}", "N'aime pas {rest}", _P),
    (
        rf"^je ne (?P<verb>mange|bois) (?P<not>pas|jamais|plus) {_REST}",
        "Ne {verb} {not} {rest}",
        _P,
    ),
    (
        r"^je suis (?P<rest>(?:allergique|v\u00e9g\u00e9tarien(?:ne)?|v\u00e9gane?"
        r"|mari\u00e9e?|c\u00e9libataire|gauch\u00e8re?|gaucher|n\u00e9e? \u00e0"
        r"|intol\u00e9rante?|originaire)\b.{0,120})$",
        "Est {rest}",
        _A,
    ),
    (rf"^j'habite {_REST}", "Habite {rest}", _B),
    (
        r"^je travaille (?P<rest>(?:comme|chez|pour|\u00e0|dans|en tant)\b.{2,120})$",
        "Travaille {rest}",
        _B,
    ),
    (
        r"^je parle (?P<rest>(?:couramment )?(?:fran\u00e7ais|anglais|allemand|espagnol"
        r"|italien|arabe|portugais)\b.{0,120})$",
        "Parle {rest}",
        _B,
    ),
    (
        r"^j'ai (?P<rest>(?:un chien|un chat|une fille|un fils|(?:deux|trois|quatre)"
        r" (?:enfants|chiens|chats|fr\u00e8res|s\u0153urs)|une allergie)\b.{0,120})$",
        "A {rest}",
        _O,
    ),
    (
        r"^j'utilise (?P<rest>(?:toujours|seulement|jamais|surtout)\b.{2,120})$",
        "Utilise {rest}",
        _H,
    ),
)
_SPANISH = _rules(
    (rf"^(?:yo )?prefiero {_REST}", "Prefiere {rest}", _P),
    (
        rf"^(?P<not>no )?me (?P<verb>gustan?|encantan?) (?:mucho )?(?!tu\b|que tu\b){_REST}",
        "{not}le {verb} {rest}",
        _P,
    ),
    (rf"^(?:yo )?(?:odio|detesto) {_REST}", "Odia {rest}", _P),
    (rf"^(?:yo )?(?:no como) {_REST}", "No come {rest}", _P),
    (rf"^(?:yo )?(?:no bebo|no tomo) {_REST}", "No bebe {rest}", _P),
    (
        r"^(?:yo )?soy (?P<rest>(?:al\u00e9rgic[oa]|vegetarian[oa]|vegan[oa]|zurd[oa]"
        r"|intolerante|de [A-Z\u00c1-\u00da]\w+|ingenier[oa]|m\u00e9dic[oa]|profesora?"
        r"|celiac[oa]|cel\u00edac[oa])\b.{0,120})$",
        "Es {rest}",
        _A,
    ),
    (r"^(?:yo )?vivo (?P<rest>en\b.{2,120})$", "Vive {rest}", _B),
    (r"^(?:yo )?trabajo (?P<rest>(?:como|en|para|de)\b.{2,120})$", "Trabaja {rest}", _B),
    (
        r"^(?:yo )?hablo (?P<rest>(?:espa\u00f1ol|ingl\u00e9s|franc\u00e9s|alem\u00e1n"
        r"|portugu\u00e9s|italiano|catal\u00e1n)\b.{0,120})$",
        "Habla {rest}",
        _B,
    ),
    (
        r"^(?:yo )?tengo (?P<rest>(?:un perro|una perra|un gato|una gata|una hija|un hijo"
        r"|(?:dos|tres|cuatro) (?:hij[oa]s|perros|gatos|herman[oa]s)|alergia"
        r"|diabetes)\b.{0,120})$",
        "Tiene {rest}",
        _O,
    ),
)
_JAPANESE = _rules(
    (
        r"^(?:(?:\u79c1|\u50d5|\u4ffa|\u308f\u305f\u3057|\u307c\u304f)(?:\u306f"
        r"|\u304c)\u3001?)?(?P<rest>[^\u306f\u3001\u3002]{1,40}?)(?:\u306e\u65b9"
        r"|\u306e\u307b\u3046)?\u304c(?P<much>\u5927)?\u597d\u304d(?:\u3067\u3059|\u3060)?$",
        "{rest}\u304c{much}\u597d\u304d\u3002",
        _P,
    ),
    (
        r"^(?:(?:\u79c1|\u50d5|\u4ffa|\u308f\u305f\u3057|\u307c\u304f)(?:\u306f"
        r"|\u304c)\u3001?)?(?P<rest>[^\u306f\u3001\u3002]{1,40}?)\u304c(?P<verb>\u5acc\u3044"
        r"|\u82e6\u624b)(?:\u3067\u3059|\u3060)?$",
        "{rest}\u304c{verb}\u3002",
        _P,
    ),
    (
        r"^(?:(?:\u79c1|\u50d5|\u4ffa|\u308f\u305f\u3057|\u307c\u304f)(?:\u306f"
        r"|\u304c)\u3001?)?(?P<rest>[^\u306f\u3001\u3002]{1,40}?)\u306b\u4f4f\u3093\u3067(?:\u3044)?(?:\u307e\u3059"
        r"|\u308b)$",
        "{rest}\u306b\u4f4f\u3093\u3067\u3044\u308b\u3002",
        _B,
    ),
    (
        r"^(?:(?:\u79c1|\u50d5|\u4ffa|\u308f\u305f\u3057|\u307c\u304f)(?:\u306f"
        r"|\u304c)\u3001?)?(?P<rest>[^\u306f\u3001\u3002]{1,40}?)\u30a2\u30ec\u30eb\u30ae\u30fc(?:\u304c\u3042\u308a\u307e\u3059"
        r"|\u304c\u3042\u308b|\u3067\u3059|\u3060)$",
        "{rest}\u30a2\u30ec\u30eb\u30ae\u30fc\u304c\u3042\u308b\u3002",
        _A,
    ),
    (
        r"^(?:(?:\u79c1|\u50d5|\u4ffa|\u308f\u305f\u3057"
        r"|\u307c\u304f)\u306f\u3001?)?(?P<rest>[^\u306f\u3001\u3002]{1,40}?)(?:\u306f"
        r"|\u3092)\u98df\u3079(?:\u307e\u305b\u3093|\u306a\u3044)$",
        "{rest}\u3092\u98df\u3079\u306a\u3044\u3002",
        _P,
    ),
    (
        r"^(?:(?:\u79c1|\u50d5|\u4ffa|\u308f\u305f\u3057"
        r"|\u307c\u304f)\u306f\u3001?)?(?P<rest>(?:\u3044\u3064\u3082"
        r"|\u666e\u6bb5\u306f?)[^\u306f\u3001\u3002]{1,40}?)\u3092\u4f7f\u3063\u3066(?:\u3044\u307e\u3059"
        r"|\u3044\u308b)$",
        "{rest}\u3092\u4f7f\u3063\u3066\u3044\u308b\u3002",
        _H,
    ),
)
_CHINESE = _rules(
    (
        r"^\u6211(?P<much>\u4e00\u76f4|\u6700|\u66f4|\u5f88|\u975e\u5e38|\u6bd4\u8f83"
        r"|\u771f\u7684\u5f88|\u4e0d\u592a|\u4e0d|\u7279\u522b)?(?P<verb>\u559c\u6b22"
        r"|\u8ba8\u538c|\u504f\u597d|\u559c\u6b61|\u8a0e\u53ad"
        r"|\u504f\u7231)(?P<rest>[^\uff0c,\u3002]{1,40})$",
        "{much}{verb}{rest}\u3002",
        _P,
    ),
    (
        r"^\u6211(?P<verb>\u4f4f\u5728"
        r"|\u5728)(?P<rest>[^\uff0c,\u3002]{1,30}?)(?P<work>\u5de5\u4f5c)?$",
        "",
        _B,
    ),
    (
        r"^\u6211\u5bf9(?P<rest>[^\uff0c,\u3002]{1,20})\u8fc7\u654f$",
        "\u5bf9{rest}\u8fc7\u654f\u3002",
        _A,
    ),
    (
        r"^\u6211(?P<not>\u4e0d|\u4ece\u4e0d)(?P<verb>\u5403|\u559d"
        r"|\u62bd)(?P<rest>[^\uff0c,\u3002\u4e86]{1,20})$",
        "{not}{verb}{rest}\u3002",
        _P,
    ),
    (
        r"^\u6211\u662f(?:\u4e00\u4e2a|\u4e00\u540d"
        r"|\u540d)?(?P<rest>[^\uff0c,\u3002]{0,8}(?:\u8005|\u5e08|\u751f|\u4eba|\u5458"
        r"|\u5e2b))$",
        "\u662f{rest}\u3002",
        _A,
    ),
)
_CHINESE_HOME = re.compile(r"^\u6211\u4f4f\u5728(?P<rest>[^\uff0c,\u3002]{1,30})$")
_ASKS_CJK = re.compile(r"(?:\u5417|\u5462|\u55ce|\u304b|\u304b\u306a)$")
_LEADERS = re.compile(
    r"^(?:hallo|hi|hey|also|\u00fcbrigens|ja|nein|danke|und|aber|bonjour|salut|oui|non"
    r"|merci|au fait|en fait|et|mais|hola|s\u00ed|gracias|por cierto|adem\u00e1s|y|pero"
    r"|bitte (?:merk dir|denk daran),?(?: dass)?|merk dir,?(?: dass)?|recuerda que"
    r"|souviens-toi que|n'oublie pas que)[,!:]? +",
    re.IGNORECASE,
)
_FIRST_OR_SECOND = re.compile(
    r"\b(?:ich|mich|mir|mein\w*|du|dich|dir|dein\w*|wir|uns|unser\w*|euch|euer\w*|je|j'"
    r"|moi|mon|ma|mes|tu|toi|te|ton|ta|tes|vous|votre|vos|nous|notre|nos|yo|m\u00ed|mi"
    r"|mis|t\u00fa|tu|ti|tus|usted|ustedes|nosotros|nuestr\w+|os|vosotros)\b"
    r"|\u79c1|\u50d5|\u4ffa|\u3042\u306a\u305f|\u541b|\u6211|\u4f60|\u60a8",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:vielleicht|wahrscheinlich|gerade|heute|morgen|jetzt|momentan|wenn|falls|ob"
    r"|peut-\u00eatre|maintenant|aujourd'hui|demain|si|quiz\u00e1s?|tal vez|ahora|hoy"
    r"|ma\u00f1ana|cuando)\b"
    r"|\u4eca\u65e5|\u660e\u65e5|\u4eca|\u53ef\u80fd|\u4eca\u5929|\u660e\u5929"
    r"|\u73b0\u5728|\u5982\u679c|\u304b\u3082|\u3082\u3057",
    re.IGNORECASE,
)


_POLITE_END = re.compile(r",? (?:por favor|bitte|s'il (?:te|vous) pla\u00eet)[.!]?$", re.IGNORECASE)


def read_other_language(text: str) -> Reading | None:
    """The fact of a German, French, Spanish, Japanese or Chinese sentence; None for every other."""
    said = text
    text = _POLITE_END.sub("", _LEADERS.sub("", text.strip(), count=1))
    if len(text) > 200 or _UNSURE.search(text) or _ASKS_CJK.search(text):
        return None
    home = _CHINESE_HOME.match(text)
    if home:
        return Reading(family=_B, content=f"\u4f4f\u5728{home['rest']}\u3002", said=said)
    for pattern, shape, family in (*_GERMAN, *_FRENCH, *_SPANISH, *_JAPANESE, *_CHINESE):
        match = pattern.match(text)
        if not match or not shape:
            continue
        content = shape.format(
            **{
                name: (value or "").strip(" ,")
                + (
                    " "
                    if name == "not" and value and value.isascii() and shape.startswith("{not}")
                    else ""
                )
                for name, value in match.groupdict().items()
            }
        )
        content = " ".join(content.split())
        if _FIRST_OR_SECOND.search(content):
            return None
        content = content[0].upper() + content[1:]
        return Reading(
            family=family, content=content if content[-1] in ".\u3002" else f"{content}.", said=said
        )
    return None

"""The formats and assignments that `secrets.py` looks for. Pure: no Django, no I/O, no log.

`FORMAT_RULES` are tokens that give themselves away: the maintained detector's patterns, and ours
for issuers it does not know or whose tokens have grown since. `assigned_values` reads
`password = …`, `api_key: …`, "the password is …" and decides whether what follows is a secret or
a word about one.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.cloudant import CloudantDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.ibm_cloud_iam import IbmCloudIamDetector
from detect_secrets.plugins.ibm_cos_hmac import IbmCosHmacDetector
from detect_secrets.plugins.jwt import JwtTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.softlayer import SoftlayerDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector


@dataclass(frozen=True, slots=True)
class FormatRule:
    """A pattern, the group that holds the secret, and what its text must pass besides."""

    name: str
    pattern: re.Pattern[str]
    group: int = 0
    check: Callable[[str], bool] | None = None
    grows: bool = False
    """The token may be longer than the pattern says: its span runs on to the token's end."""


# --- tokens with a format of their own ------------------------------------------------------------


def _has_digit_and_letter(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _is_mixed(value: str) -> bool:
    return _has_digit_and_letter(value) and value.lower() != value and value.upper() != value


_LONG_RUN = re.compile(r"[A-Za-z0-9]{16,}")


def _has_random_run(value: str) -> bool:
    """A run of sixteen letters and digits with both in it: no word list, no class name."""
    return any(_has_digit_and_letter(run) for run in _LONG_RUN.findall(value))


def _is_json_web_token(value: str) -> bool:
    try:
        header_and_claims = ".".join(value.split(".")[:2])
        return JwtTokenDetector.is_formally_valid(header_and_claims)
    except RecursionError:  # nested to hurt the reader: nothing a person means to keep
        return True


def _is_basic_credential(value: str) -> bool:
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


def _is_header_value(value: str) -> bool:
    return not _is_placeholder(value) and (_has_digit_and_letter(value) or len(value) >= 24)


def _is_url_password(value: str) -> bool:
    return not _is_placeholder(value, documented=False)


def _from_detector(
    name: str,
    patterns: Iterable[re.Pattern[str]],
    *,
    group: int = 0,
    check: Callable[[str], bool] | None = None,
    grows: bool = False,
) -> tuple[FormatRule, ...]:
    """The maintained detector's patterns under our boundaries and our choice of group."""
    return tuple(
        FormatRule(name, p, group if p.groups >= group else 0, check, grows) for p in patterns
    )


def _prefixed(name: str, pattern: str, check: Callable[[str], bool] | None = None) -> FormatRule:
    return FormatRule(name, re.compile(pattern), check=check, grows=True)


FORMAT_RULES: tuple[FormatRule, ...] = (
    *_from_detector("aws_key", AWSKeyDetector.denylist, group=1),
    *_from_detector("azure_storage_key", AzureStorageKeyDetector.denylist),
    *_from_detector("cloudant", CloudantDetector.denylist, group=1, check=_has_digit_and_letter),
    *_from_detector("discord_token", DiscordBotTokenDetector.denylist, check=_is_mixed),
    *_from_detector("github_token", GitHubTokenDetector.denylist, grows=True),
    *_from_detector("gitlab_token", GitLabTokenDetector.denylist, grows=True),
    *_from_detector("ibm_cloud_key", IbmCloudIamDetector.denylist, group=1, check=_is_mixed),
    *_from_detector("ibm_cos_key", IbmCosHmacDetector.denylist, group=1),
    *_from_detector("mailchimp_key", MailchimpDetector.denylist),
    *_from_detector("pypi_token", PypiTokenDetector.denylist, grows=True),
    *_from_detector("sendgrid_key", SendGridDetector.denylist, grows=True),
    *_from_detector("slack_token", SlackDetector.denylist, grows=True),
    *_from_detector("softlayer_key", SoftlayerDetector.denylist, group=1),
    *_from_detector("square_secret", SquareOAuthDetector.denylist, grows=True),
    *_from_detector("stripe_key", StripeDetector.denylist, grows=True),
    *_from_detector("telegram_token", TelegramBotTokenDetector.denylist, check=_is_mixed),
    *_from_detector("twilio_key", TwilioKeyDetector.denylist),
    # The detector's own pattern restarts inside every run of the alphabet; this one cannot.
    FormatRule(
        "json_web_token",
        re.compile(r"(?<![\w=-])eyJ[\w=-]{8,}+\.[\w=-]{4,}+(?:\.[\w=+/-]*+)?", re.ASCII),
        check=_is_json_web_token,
    ),
    _prefixed("junior_memory_token", r"jm[pa]_[A-Za-z0-9_-]{20,}", _has_digit_and_letter),
    _prefixed("github_token", r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})"),
    _prefixed(
        "slack_token",
        r"(?:xox[a-z](?:\.xox[a-z])?|xapp)-[A-Za-z0-9-]{10,}",
        _has_digit_and_letter,
    ),
    _prefixed("stripe_key", r"(?:(?:sk|rk)_(?:live|test)|whsec)_[A-Za-z0-9]{16,}"),
    _prefixed("model_provider_key", r"sk-[A-Za-z0-9_-]{20,}+", _has_random_run),
    _prefixed(
        "model_provider_key",
        r"(?:gsk_|r8_|pplx-|xai-)[A-Za-z0-9]{32,}",
        _has_digit_and_letter,
    ),
    _prefixed(
        "google_key",
        r"(?:AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{24,}|ya29\.[A-Za-z0-9_-]{20,})",
    ),
    _prefixed("npm_token", r"npm_[A-Za-z0-9]{36}"),
    FormatRule("npm_token", re.compile(r"_authToken\s?=\s?([A-Za-z0-9-]{20,})"), group=1),
    _prefixed("pypi_token", r"pypi-AgE[A-Za-z0-9_-]{40,}"),
    _prefixed("hugging_face_token", r"hf_[A-Za-z0-9]{30,}"),
    _prefixed("docker_token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    _prefixed("vault_token", r"hv[sb]\.[A-Za-z0-9_-]{24,}", _has_digit_and_letter),
    _prefixed("digitalocean_token", r"do[opr]_v1_[a-f0-9]{64}"),
    _prefixed("shopify_token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _prefixed("linear_key", r"lin_api_[A-Za-z0-9]{32,}"),
    _prefixed("notion_token", r"(?:ntn_|secret_)[A-Za-z0-9]{40,}", _has_digit_and_letter),
    _prefixed("sentry_token", r"sntry[su]_[A-Za-z0-9_=+/-]{32,}"),
    _prefixed("new_relic_key", r"NRAK-[A-Z0-9]{27}"),
    _prefixed("databricks_token", r"dapi[a-f0-9]{32}"),
    _prefixed("mailgun_key", r"key-[a-f0-9]{32}"),
    _prefixed("rubygems_key", r"rubygems_[a-f0-9]{48}"),
    _prefixed("atlassian_token", r"ATATT3[A-Za-z0-9_=-]{60,}"),
    _prefixed("square_secret", r"sq0(?:csp|atp)-[A-Za-z0-9_-]{22,}"),
    _prefixed("artifactory_key", r"AKC[a-zA-Z0-9]{60,}"),
    _prefixed("tailscale_key", r"tskey-[a-z]{3,12}-[A-Za-z0-9-]{16,}", _has_digit_and_letter),
    _prefixed("age_key", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    _prefixed(
        "discord_webhook",
        r"https://discord(?:app)?\.com/api/webhooks/\d{6,20}/[\w-]{40,}",
    ),
    FormatRule(
        "signed_url",
        re.compile(r"X-Amz-Signature=([0-9a-f]{64})", re.IGNORECASE),
        group=1,
    ),
    FormatRule("signed_url", re.compile(r"[?&]sig=([A-Za-z0-9%+/=]{30,})"), group=1),
    FormatRule(
        "one_time_password",
        re.compile(r"otpauth://\S{1,200}?secret=([A-Z2-7]{16,})", re.IGNORECASE),
        group=1,
    ),
    FormatRule(
        "authorization",
        re.compile(
            r"authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|token|apikey)\s{1,3}"
            r"([A-Za-z0-9._~+/=-]{8,}+)",
            re.IGNORECASE,
        ),
        group=1,
        check=_is_header_value,
    ),
    FormatRule(
        "authorization",
        re.compile(r"\bbearer\s{1,3}([A-Za-z0-9._~+/=-]{20,}+)", re.IGNORECASE),
        group=1,
        check=_has_digit_and_letter,
    ),
    FormatRule(
        "authorization",
        re.compile(r"\bbasic\s{1,3}([A-Za-z0-9+/]{8,}={0,2})", re.IGNORECASE),
        group=1,
        check=_is_basic_credential,
    ),
    FormatRule(
        "url_password",
        re.compile(
            r"(?<=[a-z0-9])://[^\s/:@?#\"'<>]{0,100}:([^\s/?#\"'<>]{1,200})@",
            re.IGNORECASE,
        ),
        group=1,
        check=_is_url_password,
    ),
    FormatRule(
        "url_password",
        re.compile(
            r"(?:postgres(?:ql)?|mysql|mariadb|mongodb|srv|rediss?|amqps?|mssql|psycopg)://"
            r"[^\s/:@\"'<>]{0,100}:(?!\d{1,5}/)([^\s\"'<>]{1,200})@",
            re.IGNORECASE,
        ),
        group=1,
        check=_is_url_password,
    ),
)


# --- assignments ----------------------------------------------------------------------------------

_LOGIN_WORDS = (
    r"pass(?:word|wort|phrase|code|wd)|kennwort|pwd|contrase(?:ñ|n\u0303?)a|mot de passe|senha|"
    r"wachtwoord|пароль|パスワード|密码|비밀번호"
)
_KEY_WORDS = (
    r"(?:api|access|secret|signing|encryption|private|account|license|auth)"
    r"[ _-]?(?:access[ _-]?)?key(?:_base)?|secret|token"
)
_ASIDE = (
    r"(?:\s\([^()\n]{1,30}\)|\s(?:for|to|of|on|at|für|von|para|de|del|pour)\s[^\n.:=?!]{1,40}?)?"
)
# A parameter separator ends a value only when another parameter follows; Japanese runs on unspaced.
_VALUE = (
    r"[^\s\"'`,;&<>»”\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3]"
    r"|&(?!\w{0,30}=)|;(?!\s|\Z|[\w ]{0,30}=)"
)
_ASSIGNED = re.compile(
    rf"(?:(?P<password>{_LOGIN_WORDS})|(?P<token>{_KEY_WORDS})|(?P<short>(?<![a-z])(?:pass|pw)))"
    rf"{_ASIDE}[\"'`\]]{{0,2}}"
    r"(?P<how>\s{0,2}(?::=|[=-]>|[:=→])\s{0,2}|\s?は\s?|['\u2019]s\s|"
    r"\s(?:is|was|ist|lautet|es|est|é)[: ]\s?)"
    rf"(?P<quote>[\"'`«“]?)(?P<value>(?:{_VALUE}){{4,400}})",
    re.IGNORECASE,
)
_FLAGGED = re.compile(
    r"\s--?(?:(?P<password>pass(?:word|phrase|wd)?)|(?P<token>token|secret|api-?key|access-?key))"
    r"\s(?P<quote>[\"']?)(?P<value>[^\s\"'`,;<>]{6,200})",
    re.IGNORECASE,
)
_LOGIN = re.compile(
    r"(?:\b(?:user(?:name)?|login|account)[: ]\s?[^\s,;]{1,60}[,;/]?\s(?:and\s|with\s)?"
    r"(?:password|passwd|pass|pw)|\bcred(?:ential)?s?\s?(?:are|:)?\s[^\s:/]{1,60}[:/])"
    r"\s?(?P<quote>[\"'`]?)(?P<value>[^\s\"'`,;<>/]{6,200})",
    re.IGNORECASE,
)
_CURL_USER = re.compile(
    r"\bcurl\b[^|\n]{0,120}?\s(?:-u|--user)\s?[\"']?[\w.@+-]{1,60}:([^\s\"']{4,100})",
    re.IGNORECASE,
)
_WORDS = re.compile(
    r"pass|kennwort|pw|cred|contrase|senha|wachtwoord|пароль|パスワード|密码|비밀번호|key|secret|token",
    re.IGNORECASE,
)

_PLACEHOLDER = re.compile(
    r"[<\[{(]|\$\{?\{?\s?[A-Za-z_]\w*\}{0,2}\Z|%\w+%\Z|[^$]*\$\{|[^{]*\{\{|"
    r"[*•.xX_#-]+\Z|(?:your|insert|enter)|"
    r"(?:my|the|an?|some|replace|add|put)[-_].*?(?:key|token|password|secret|here|pass)|"
    r"(?:op|vault|file|env|https?|ssm|arn|gs|s3):|[~./\\]|[A-Za-z_][\w.]*\(|"
    r"(?:os|process|settings|config|env|self|secrets|vars|import)\.|"
    r"[\w.+-]{1,64}@[\w-]{1,64}\.[A-Za-z.]{2,}\Z",
    re.IGNORECASE,
)
_STAND_INS = frozenset(
    (
        *(
            "change_me",
            "change-me",
            "changeme",
            "changeit",
            "changethis",
            "dummy",
            "empty",
        ),
        *(
            "example",
            "false",
            "foobar",
            "hidden",
            "masked",
            "missing",
            "null",
            "none",
            "optional",
        ),
        *(
            "password",
            "passwort",
            "placeholder",
            "redacted",
            "removed",
            "required",
            "secret",
        ),
        *(
            "string",
            "token",
            "true",
            "undefined",
            "unset",
            "unknown",
            "disabled",
            "enabled",
        ),
        *("encrypted", "expired", "rejected", "incorrect", "correct", "protected"),
    )
)
_FORMAT_WORDS = re.compile(
    r"(?:^|[-_/.])(?:1password|base(?:32|58|64|64url)|sha-?(?:1|2|3|224|256|384|512)|md5|utf-?8|"
    r"oauth2?|argon2(?:id)?|pbkdf2|ed25519|x509|pkcs\d+|[her]s256|aes\d*|rsa\d*|k8s|s3|ec2|http2|"
    r"2fa|mfa|i18n|ipv[46])(?:$|[-_/.'\u2019])",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\d{1,4}[-\u2013]?[a-z]{1,12}(?:-[a-z]+)*", re.IGNORECASE)
_VERSION_OR_DATE = re.compile(r"v?\d+(?:[.:/]\d+)+[\w.-]*|\d{4}-\d\d(?:-\d\d)?\D?.*", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+")


def _is_placeholder(value: str, *, documented: bool = True) -> bool:
    """Text that stands where a secret would: `<password>`, `${TOKEN}`, `****`, `[secret]`.

    `documented` also takes the words that documentation uses (`changeme`, `your-api-key`).
    """
    if not any(c.isalnum() for c in value) or len(set(value.lower())) == 1:
        return True
    if not documented:
        return value[0] in "<[{$"
    return _PLACEHOLDER.match(value) is not None or value.lower() in _STAND_INS


def _is_plausible(value: str, *, password: bool, written: bool, tight: bool) -> bool:
    """Whether an assigned value looks like a secret rather than a word about one.

    `written`: `=` or `:` stands between, not "is". `tight`: quoted, or `=` without spaces.
    """
    if _is_placeholder(value) or _FORMAT_WORDS.search(value) or _VERSION_OR_DATE.fullmatch(value):
        return False
    if _COUNTED.fullmatch(value) and not (written and len(value) >= 8 and "-" not in value):
        return False
    if not password:
        return _has_digit_and_letter(value) and len(value) >= (10 if written else 16)
    if _has_digit_and_letter(value):
        return len(value) >= 6
    if not written:
        return False
    if value.isdigit():
        return 6 <= len(value) <= 12
    if tight and len(value) >= 8 and "." not in value:
        return value.isascii()
    symbols = set(value) & set("!@#%^*+?~")
    return len(value) >= 8 and (len(_LETTERS.findall(value)) >= 4 or len(symbols) >= 2)


def assigned_values(text: str) -> Iterator[tuple[int, int]]:
    """Yield where an assigned secret stands: the value alone, without quotes or closing marks."""
    if _WORDS.search(text):
        for pattern in (_ASSIGNED, _FLAGGED, _LOGIN):
            for match in pattern.finditer(text):
                groups = match.groupdict()
                how = groups.get("how", "=" if pattern is _FLAGGED else " ")
                value = groups["value"].rstrip(".,:)]}")
                written = any(mark in how for mark in ":=→>")
                tight = written and (bool(groups["quote"]) or how in ("=", ":="))
                if len(value) < 4 or (groups.get("short") and not (written and len(value) >= 7)):
                    continue
                password = groups.get("token") is None
                if _is_plausible(value, password=password, written=written, tight=tight):
                    start = match.start("value")
                    yield start, start + len(value)
    for match in _CURL_USER.finditer(text):
        if not _is_placeholder(match[1]):
            yield match.span(1)

"""What the deterministic secret detector finds, and what it leaves alone.

Every fake credential is put together from pieces, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import base64
import json
import logging
import socket
import string
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from junior_memory.secrets import (
    MASK,
    contains_secret,
    find_secrets,
    mask_secrets,
    passes_luhn,
)

LETTERS = "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA"
HEX = "9f86d081884c7d659a2feaa0c55ad015"
PASS = "pass" + "word"
DASHES = "-" * 5


def _alphabet(length: int) -> str:
    return (LETTERS * 8)[:length]


def _hex(length: int) -> str:
    return (HEX * 8)[:length]


def _wide(text: str) -> str:
    """The full-width twin of every visible ASCII character."""
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _json_web_token() -> str:
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": "1042", "name": "Robin"})
    encoded = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts
    ]
    return ".".join([*encoded, _alphabet(43)])


def _key_block(label: str = "RSA ", *, join: str = "\n", whole: bool = True) -> str:
    lines = [f"{DASHES}BEGIN {label}PRIVATE KEY{DASHES}", _alphabet(64), _alphabet(64), "Qw3=="]
    if whole:
        lines.append(f"{DASHES}END {label}PRIVATE KEY{DASHES}")
    return join.join(lines)


def _with_check_digit(digits: str) -> str:
    return next(digits + d for d in string.digits if passes_luhn(digits + d))


VISA = "4111" + "1111" * 3
MASTERCARD = "5555" * 3 + "4444"
AMEX = "3782" + "822463" + "10005"

# (text with {} where the secret stands, the secret that must be masked)
SECRETS: dict[str, tuple[str, str]] = {
    "aws access key": ("the key is {} for the bucket", "AK" + "IA" + "Q3EXAMPLE7ZYXW45"),
    "aws temporary key": ("AWS_ACCESS_KEY_ID={}", "AS" + "IA" + "Q3EXAMPLE7ZYXW45"),
    "aws secret key": ("aws_secret_access_key = {}", _alphabet(40)),
    "aws secret quoted": ('aws secret key "{}"', _alphabet(38) + "/+"),
    "github personal token": ("use {} to clone", "gh" + "p_" + _alphabet(36)),
    "github server token": ("({})", "gh" + "s_" + _alphabet(40)),
    "github fine-grained token": ("{}", "github" + "_pat_" + _alphabet(22) + "_" + _alphabet(59)),
    "gitlab token": ("GitLab: {}.", "gl" + "pat-" + _alphabet(20)),
    "gitlab runner token": ("runner {}", "gl" + "rt-" + _alphabet(20)),
    "slack bot token": ("SLACK {}", "xo" + "xb-" + "123456789012-123456789012-" + _alphabet(24)),
    "slack app token": (
        "{} is the app token",
        "xa" + "pp-1-A0123456789-" + "1234567890-" + _hex(40),
    ),
    "slack webhook": (
        "posts to {}",
        "https://hooks.slack.com/" + "services/T0AB12CD3/B0AB12CD3/" + _alphabet(24),
    ),
    "stripe live key": ("{}", "sk" + "_live_" + _alphabet(24)),
    "stripe long live key": ("stripe {} now", "sk" + "_live_" + _alphabet(99)),
    "stripe restricted key": ("{}", "rk" + "_live_" + _alphabet(24)),
    "stripe webhook secret": ("hook {}", "wh" + "sec_" + _alphabet(32)),
    "openai legacy key": ("{}", "sk" + "-" + _alphabet(20) + "T3Blbk" + "FJ" + _alphabet(20)),
    "openai project key": ("my key {} thanks", "sk" + "-proj-" + _alphabet(48)),
    "anthropic key": ("{}", "sk" + "-ant-api03-" + _alphabet(90)),
    "google api key": ("maps {}", "AI" + "za" + _alphabet(35)),
    "google client secret": ("{}", "GOC" + "SPX-" + _alphabet(28)),
    "npm token": ("publish with {}", "np" + "m_" + _alphabet(36)),
    "npmrc line": ("//registry.example.com/:_authToken={}", "9f86d081-884c-4d65-9a2f-eaa0c55ad015"),
    "pypi token": ("{}", "py" + "pi-AgEIcHlwaS5vcmc" + _alphabet(80)),
    "sendgrid key": ("mail {}", "S" + "G." + _alphabet(22) + "." + _alphabet(43)),
    "twilio key": ("{}", "S" + "K" + _hex(32)),
    "mailgun key": ("{}", "ke" + "y-" + _hex(32)),
    "mailchimp key": ("{}", _hex(32) + "-us" + "12"),
    "hugging face token": ("{}", "h" + "f_" + _alphabet(34)),
    "docker token": ("docker login: {}", "dckr" + "_pat_" + _alphabet(27)),
    "vault token": ("{}", "hv" + "s." + _alphabet(40)),
    "digitalocean token": ("{}", "do" + "p_v1_" + _hex(64)),
    "shopify token": ("{}", "shp" + "at_" + _hex(32)),
    "linear key": ("{}", "lin" + "_api_" + _alphabet(40)),
    "telegram bot token": ("bot {}", "1234567890" + ":" + _alphabet(35)),
    "discord bot token": ("{}", "M" + _alphabet(23) + "." + _alphabet(6) + "." + _alphabet(27)),
    "databricks token": ("{}", "da" + "pi" + _hex(32)),
    "azure storage key": ("AccountName=kestrel;{};", "Account" + "Key=" + _alphabet(86) + "=="),
    "own personal token": ("curl with {}", "jm" + "p_" + _alphabet(43)),
    "own agent token": ("{}", "jm" + "a_" + _alphabet(43)),
    "json web token": ("session {} expired", _json_web_token()),
    "bearer header": ("Authorization: Bearer {}", _alphabet(40)),
    "bearer header json": ('"Authorization": "Bearer {}"', _alphabet(24)),
    "bearer alone": ("I sent bearer {} along", _alphabet(32)),
    "basic header": ("Authorization: Basic {}", _base64("robin:" + "s3same-open")),
    "postgres url": ("postgres://kestrel:{}@db.example.com/orders", "pl" + "um42"),
    "postgres url plain word": ("postgres://user:{}@host/db", "pa" + "ss"),
    "postgres url with at sign": ("postgresql://app:{}@10.0.0.4:5432/app", "p" + "@ss"),
    "postgres url with slash": ("postgres://app:{}@db.example/app", "pl" + "/um42"),
    "redis url": ("redis://:{}@cache.example:6379/0", "cach" + "e99"),
    "amqp url": ("amqps://queue:{}@mq.example/v", "rab" + "bit7"),
    "mongodb url": ("mongodb+srv://app:{}@cluster0.example.net/app", "mon" + "go-8"),
    "mysql url": ("mysql://root:{}@localhost/shop", "ro" + "ot"),
    "https url": ("clone https://robin:{}@git.example.com/x.git", "to" + "ken77"),
    "password equals": (PASS + "={}", "hunter" + "2"),
    "password spaced": (PASS + " = {}", "hunter" + "2"),
    "password colon": ("The staging " + PASS + ": {}", "Kes" + "trel-42!"),
    "password is": ("my " + PASS + " is {}, by the way", "hunter" + "2"),
    "password for something is": (
        "the " + PASS + " for the staging box is {}.",
        "Plum" + "Tree77",
    ),
    "password aside": (PASS + " (wifi): {}", "Blue" + "Heron42"),
    "password json": ('{{"user": "robin", "' + PASS + '": "{}"}}', "sword" + "fish"),
    "password env": ("DB_PASS" + "WORD={}", "correct" + "horse"),
    "password yaml": ("db_" + PASS + ": '{}'", "tr0ub4dor" + "&3"),
    "password digits": ("Passcode: {}", "4829" + "13"),
    "password query": ("?user=robin&" + PASS + "={}&x=1", "hunter" + "22"),
    "password flag": ("mytool --" + PASS + " {} --verbose", "hunter" + "2"),
    "password short key": ("DB_PASS={}", "hunter" + "2222"),
    "password with ampersand": (PASS + ": {} for now", "tr0ub4dor" + "&3"),
    "password in a connection string": (
        "Server=db;Pass" + "word={};User ID=app",
        "Plum" + "Tree77",
    ),
    "password arrow": (PASS + " → {}", "hunter" + "2"),
    "password short hand": ("pw: {}", "hunter" + "22"),
    "login line": ("user robin, " + PASS + " {}", "hunter" + "2"),
    "credentials": ("the creds are admin:{}", "hunter" + "22"),
    "rails secret": ("secret_key_base: {}", _hex(64)),
    "passwort": ("Das Pass" + "wort ist {}", "Kran" + "ich7"),
    "kennwort": ("Kenn" + "wort: {}", "Kran" + "ich7"),
    "contraseña": ("la contra" + "seña es {}", "gar" + "za2024"),
    "pasuwādo": ("パス" + "ワードは{}です", "sagi" + "2024"),
    "api key colon": ("api_key: {}", _hex(24)),
    "api key header": ("X-Api-Key: {}", _alphabet(20)),
    "api key uuid": ("api key: {}", "9f86d081-884c-4d65-9a2f-eaa0c55ad015"),
    "client secret": ("client_secret={}", _alphabet(32)),
    "secret key": ("SECRET_KEY = '{}'", _alphabet(50)),
    "token query": ("https://api.example.com/v1/x?access_token={}", _alphabet(24)),
    "token is": ("the token is {}", _alphabet(20)),
    "curl user": ("curl -s -u robin:{} https://api.example.com", "plum" + "tree"),
    "otpauth": ("otpauth://totp/Example:robin?secret={}&issuer=Example", "JBSWY3DP" + "EHPK3PXP"),
    "signed url": ("https://s3.example/x?X-Amz-Signature={}", _hex(64)),
    "visa": ("{}", VISA),
    "visa spaced": ("my card {} 12/27 123", "4111 1111 1111 1111"),
    "visa with security code": ("{} 123", "4111 1111 1111 1111"),
    "mastercard dashed": ("pay with {}.", "5555-5555-5555-4444"),
    "mastercard": ("card number:{}", MASTERCARD),
    "amex": ("{}", AMEX),
    "amex grouped": ("amex {}", "3782 822463 10005"),
    "discover": ("use {} please", "6011 1111 1111 1117"),
    "jcb": ("{}", "3530 1113 3330 0000"),
    "diners": ("{}", "3056 930902 5904"),
    "visa of thirteen digits": ("Visa {}", "4222" + "222222" + "222"),
    "visa of nineteen digits": ("card {}", _with_check_digit("4" + "000056655665556"[:15] + "12")),
    "card after other digits": ("tel 0170 {}", "4111 1111 1111 1111"),
    "card in Japanese": ("カード番号{}です", VISA),
    "private key": ("here:\n{}\nthanks", _key_block()),
    "private key on one line": ("here: {} thanks", _key_block(join=" ")),
    "private key with escapes": ('"private_key": "{}"', _key_block("", join="\\n")),
    "private key cut off": (
        "{}",
        _key_block("OPENSSH ", whole=False, join=" ").removesuffix(" Qw3=="),
    ),
    "pgp private key": (
        "{}",
        _key_block("PGP ").replace(f"KEY{DASHES}", f"KEY BLOCK{DASHES}"),
    ),
}

HARMLESS: tuple[str, ...] = (
    "",
    "I forgot my password again.",
    "The password is in 1Password.",
    "The password is 1Password's job.",
    "password: ********",
    "password: <password>",
    "password=${PASSWORD}",
    "password: $DB_PASSWORD",
    "password = os.environ['DB_PASSWORD']",
    "password=get_password(user)",
    "password: {{ vault_password }}",
    "password=%PASSWORD%",
    "password: changeme",
    "password: required",
    'type="password" name="password"',
    '{"password": "string"}',
    "password: [secret]",
    "Password: see the onboarding page",
    "Passwords are rotated every 90 days.",
    "The password must be at least 12 characters.",
    "The password is 12-characters long.",
    "The password is argon2id-hashed.",
    "The password is case-sensitive.",
    "password: /run/secrets/db_password1",
    "password: op://Kestrel/staging/password1",
    "password changed: 2026-11-01",
    "Passwort: steht im Tresor",
    "Das Passwort ist abgelaufen.",
    "パスワードは金庫にあります。",
    "la contraseña es obligatoria",
    "api_key: your-api-key-1",
    "api key: YOUR_API_KEY_HERE1",
    "The API key is rotated every quarter.",
    "The key is under the mat.",
    "user login with password reset link2",
    "user login page: password field missing2",
    "The creds are kept in infra/vault2.",
    "Our secret is good coffee.",
    "Secret: 2 teaspoons of miso",
    "token: 128000",
    "max_tokens=4096",
    "The token is base64-encoded.",
    "token type: oauth2",
    "The idempotency key is 550e8400-e29b-41d4-a716-446655440000.",
    "commit 3f5a9c1e7b2d4f6a8c0e1b3d5f7a9c1e3b5d7f90",
    "fixed in 3f5a9c1e and 9b2d4f6a",
    "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "md5 9f86d081884c7d659a2feaa0c55ad015",
    "9f86d081-884c-4d65-9a2f-eaa0c55ad015",
    "conversation 12345678-4111-1111-1111-111111111111",
    "order 100-2938475-1827364",
    "Order #4539148803436467 was shipped",
    "order number 1234567890123456",
    "invoice 2026-000431-DE",
    "call +49 30 901820 or +1 (555) 010-4477",
    "0044 20 7946 0958 3344",
    "2026-11-29T14:03:22.123456+00:00",
    "1764425002123",
    "epoch 1764425002123456789",
    "10.0.12.7 and 2001:db8:85a3::8a2e:370:7334",
    "upgrade from 18.6.0.post1 to 19.0.0-rc.2",
    "ISBN 978-3-16-148410-0",
    "EAN 4006381333931",
    "IMEI 356938035643809",
    "4111 1111 1111 1112",
    "4111.1111",
    "0000 0000 0000 0000",
    "4096 8192 16384 32768 65536",
    "https://example.com/path?page=2&sort=desc",
    "https://example.com:8443/users/@robin",
    "http://localhost:8000/@a",
    "postgres://db.example.com:5432/orders",
    "postgres://kestrel@db.example.com/orders",
    "postgres://user:<password>@host/db",
    "postgres://user:${PGPASSWORD}@host/db",
    "postgres://user:****@host/db",
    "redis://cache.example:6379/0",
    "mail mara@example.com: done",
    "ssh deploy@staging.example",
    "git@github.com:kestrel/orders.git",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "We use bearer authentication everywhere.",
    "basic knowledge of Postgres",
    "-----BEGIN PRIVATE KEY----- is how the file starts",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "-----BEGIN PUBLIC KEY-----\n" + LETTERS * 2 + "\n-----END PUBLIC KEY-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl robin@laptop",
    "class sk-fading-circle-with-twelve-dots",
    "pip install sk-learn-extra-tools-for-everyone",
    "sk_test mode is on",
    "the ghp_ prefix marks a personal token",
    "AKIA is the prefix of access keys",
    "eyJ is how such tokens begin",
    "OrderServiceControllerIntegrationTest.should.return.404",
    "pk_live_ keys may be public",
    "jma_scope_names_of_every_agent_here",
    "aGVsbG8gd29ybGQ=",
    "SGVsbG8sIHRoaXMgaXMgYSBsb25nZXIgdGV4dA==",
    "error E11000 duplicate key error collection: orders.index_1",
    "the hotfix branch is release/2026.11.2",
    "Mara prefers tabs; Jonas prefers 4 spaces.",
    "build 20261129.1403 passed: 1842 tests",
    "bypass: 12345678abc",
    "compass: north42west",
)


@pytest.mark.parametrize("name", SECRETS)
def test_secret_is_masked_and_the_rest_untouched(name: str) -> None:
    template, secret = SECRETS[name]
    text = template.format(secret)
    assert contains_secret(text)
    assert mask_secrets(text) == template.format(MASK)
    start = template.format("\0").index("\0")
    assert [(s.start, s.end) for s in find_secrets(text)] == [(start, start + len(secret))]


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_is_left_alone(text: str) -> None:
    assert find_secrets(text) == ()
    assert not contains_secret(text)
    assert mask_secrets(text) == text


def test_tables_are_large_enough_to_mean_something() -> None:
    assert len(SECRETS) >= 60
    assert len(set(HARMLESS)) >= 60


def test_several_secrets_in_one_text_are_each_masked() -> None:
    texts = [template.format(secret) for template, secret in SECRETS.values()]
    masked = mask_secrets(" | ".join(texts))
    assert not contains_secret(masked)
    for _, secret in SECRETS.values():
        if len(secret) > 8:
            assert secret not in masked


def test_harmless_texts_stay_harmless_side_by_side() -> None:
    assert find_secrets(" \n ".join(HARMLESS)) == ()


def test_masking_twice_changes_nothing() -> None:
    for template, secret in SECRETS.values():
        masked = mask_secrets(template.format(secret))
        assert mask_secrets(masked) == masked


@pytest.mark.parametrize("name", ["password colon", "visa spaced", "github personal token"])
def test_full_width_disguise_is_seen_through(name: str) -> None:
    template, secret = SECRETS[name]
    assert mask_secrets(template.format(_wide(secret))) == template.format(MASK)


@pytest.mark.parametrize("gap", ["\u200b", "\u2060", "\ufeff", "\u00ad"])
def test_zero_width_disguise_is_seen_through(gap: str) -> None:
    secret = "gh" + "p_" + _alphabet(36)
    text = f"Größe 👩‍👩‍👧 {gap.join(secret)} ende"
    assert mask_secrets(text) == f"Größe 👩‍👩‍👧 {MASK} ende"


def test_spans_are_right_behind_text_of_every_width() -> None:
    before = "日本語 ﬁ é 👩‍🚀 \u3000 "
    text = before + VISA + " 終わり"
    (span,) = find_secrets(text)
    assert (span.start, span.end, span.rule) == (
        len(before),
        len(before) + len(VISA),
        "card_number",
    )


def test_deeply_nested_token_is_a_secret_and_no_crash() -> None:
    nested = base64.urlsafe_b64encode(b'{"a":' * 20_000).decode().rstrip("=")
    assert contains_secret(f"{nested}.{nested}")


def test_found_spans_never_carry_the_secret() -> None:
    text = PASS + ": " + "hunter" + "2"
    assert "hunter" not in repr(find_secrets(text))


def test_nothing_is_logged_and_no_network_is_used(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the detector opened a socket")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    with caplog.at_level(logging.DEBUG):
        for template, secret in SECRETS.values():
            find_secrets(template.format(secret))
    assert not caplog.records


HOSTILE: dict[str, str] = {
    "sk runs": "sk-" * 33_000,
    "jwt runs": "eyJ" * 33_000,
    "jwt dots": "eyJabcdefgh." * 8_000,
    "key headers": f"{DASHES}BEGIN PRIVATE KEY{DASHES} " * 3_000,
    "key headers with bodies": f"{DASHES}BEGIN PRIVATE KEY{DASHES} {_alphabet(40)} " * 1_300,
    "dashes": "-" * 100_000,
    "digits": "4" * 100_000,
    "digit groups": "4111 " * 20_000,
    "urls": "://a:" * 20_000,
    "database urls": "redis://u:" * 10_000,
    "npm lines": "//" * 50_000,
    "passwords": (PASS + " for ") * 7_000,
    "assignments": (PASS + "=your") * 7_000,
    "curls": "curl " * 20_000,
    "curl users": "curl -u a " * 10_000,
    "aws": "awskey" * 16_000,
    "otpauth": "otpauth://" * 10_000,
    "bearer": "bearer " * 14_000,
    "one word": "a" * 100_000,
    "mixed word": _alphabet(32) * 3_000,
    "spaces": " " * 100_000,
    "wide": (_wide("pass") + "\u200b") * 20_000,
    "slack": "xoxb-" + "1-" * 50_000,
    "gitlab": "glagent-" * 12_000,
    "dollars": (PASS + "=" + "a{{" * 100 + " ") * 300,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_no_longer_than_its_length(name: str) -> None:
    started = time.process_time()
    find_secrets(HOSTILE[name])
    assert time.process_time() - started < 2.0


def test_a_memory_sized_text_takes_milliseconds() -> None:
    prose = (" ".join(HARMLESS) * 2)[:4_000]
    started = time.process_time()
    for _ in range(10):
        find_secrets(prose)
    assert (time.process_time() - started) / 10 < 0.05


@given(st.text(max_size=300))
@settings(max_examples=150, deadline=None)
def test_any_text_keeps_its_unmatched_parts(text: str) -> None:
    spans = find_secrets(text)
    assert find_secrets(text) == spans
    assert bool(spans) == contains_secret(text)
    position = 0
    for span in spans:
        assert position <= span.start < span.end <= len(text)
        position = span.end
    rest = "".join(
        text[a:b]
        for a, b in zip(
            [0, *(s.end for s in spans)], [*(s.start for s in spans), len(text)], strict=True
        )
    )
    assert mask_secrets(text).replace(MASK, "") == rest.replace(MASK, "")

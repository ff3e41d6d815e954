"""An OpenID Connect issuer on this machine, for tests: it says what a test tells it to."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT = "junior"
CODE = "one-time-code"


def _key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class FakeIssuer:
    """What it publishes, and what its next token says."""

    url: str
    claims: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    published: dict[str, Any] = field(default_factory=dict)
    algorithm: str = "RS256"
    token_status: int = 200
    key: rsa.RSAPrivateKey = field(default_factory=_key)
    signs_with: rsa.RSAPrivateKey | None = None
    challenge: str = ""
    asked: list[str] = field(default_factory=list)

    def read_request(self, location: str) -> dict[str, str]:
        """Take in the address that a browser was sent to; returns its parameters."""
        parts = urlsplit(location)
        assert location.startswith(f"{self.url}/authorize?"), location
        params = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.challenge = params["code_challenge"]
        self.claims.setdefault("nonce", params["nonce"])
        return params

    def settings(self) -> dict[str, Any]:
        """Return how a deployment is configured to use it."""
        return {
            "name": "Example ID",
            "issuer": self.url,
            "client_id": CLIENT,
            "client_secret": "secret",
            "sign_up": False,
        }

    def page(self, location: str) -> str:
        """Return the page on which a person agrees to be signed in there, or does not."""
        self.claims.pop("nonce", None)
        params = self.read_request(f"{self.url}{location}")

        def link(**said: str) -> str:
            address = f"{params['redirect_uri']}?{urlencode(said | {'state': params['state']})}"
            return escape(address)

        return (
            '<!doctype html><html lang="en"><title>Example ID</title>'
            '<link rel="icon" href="data:,">'
            f'<h1>Example ID</h1><a href="{link(code=CODE)}">Continue</a> '
            f'<a href="{link(error="access_denied")}">Refuse</a></html>'
        )

    def id_token(self) -> str:
        """Sign the claims as an issuer would, unless a test changed something."""
        now = int(time.time())
        said = {"iss": self.url, "aud": CLIENT, "sub": "s-1", "iat": now, "exp": now + 60}
        said = {k: v for k, v in (said | self.claims).items() if k not in self.drop}
        key: Any = self.signs_with or self.key
        if not self.algorithm.startswith("RS"):
            key = "a shared secret of sufficient length" if self.algorithm != "none" else None
        return jwt.encode(said, key, algorithm=self.algorithm, headers={"kid": "k1"})

    def answer(self, path: str, body: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Answer one call of the service."""
        self.asked.append(path)
        match path:
            case "/.well-known/openid-configuration":
                return 200, {
                    "issuer": self.url,
                    "authorization_endpoint": f"{self.url}/authorize",
                    "token_endpoint": f"{self.url}/token",
                    "userinfo_endpoint": f"{self.url}/userinfo",
                    "jwks_uri": f"{self.url}/keys",
                } | self.published
            case "/keys":
                public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
                return 200, {"keys": [public | {"kid": "k1", "alg": "RS256", "use": "sig"}]}
            case "/token":
                proof = hashlib.sha256(body.get("code_verifier", "").encode()).digest()
                proven = base64.urlsafe_b64encode(proof).rstrip(b"=").decode() == self.challenge
                if body.get("code") != CODE or not proven or self.token_status != 200:
                    return max(self.token_status, 400), {"error": "invalid_grant"}
                token = {"access_token": "a", "token_type": "Bearer", "id_token": self.id_token()}
                return 200, {k: v for k, v in token.items() if k not in self.drop}
            case "/userinfo":
                return 200, self.userinfo
        return 404, {}


@contextmanager
def issuer() -> Iterator[FakeIssuer]:
    """Run an issuer on a free port of this machine while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def _reply(self, body: dict[str, str]) -> None:
            status, found = fake.answer(urlsplit(self.path).path, body)
            self._send(status, "application/json", json.dumps(found))

        def _send(self, status: int, kind: str, said: str) -> None:
            data = said.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            if self.path.startswith("/authorize?"):
                self._send(200, "text/html; charset=utf-8", fake.page(self.path))
            else:
                self._reply({})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._reply({name: values[0] for name, values in parse_qs(raw).items()})

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake = FakeIssuer(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

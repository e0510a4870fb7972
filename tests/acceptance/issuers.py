"""An issuer of OpenID Connect on loopback, which says of people what a test wants, and badly where it wants that."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.acceptance.night import Night

CLIENT, SECRET = "console", "the-secret-of-the-console"
PUBLISHED = "/.well-known/openid-configuration"
ANYTHING = object()


def a_key(kid: str) -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": kid, "use": "sig"}, auto_kid=False)


@cache
def _first_key() -> RSAKey:
    return a_key("first")


def _packed(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


@dataclass
class Issuer:
    """What it says of whom, and what it was asked."""

    address: str = ""
    key: RSAKey = field(default_factory=_first_key)
    published: list[RSAKey] = field(default_factory=list)
    says: dict[str, Any] = field(default_factory=dict)
    """Claims of the next ID tokens, beside those or in the place of those that belong there."""
    sign: Callable[[Issuer, dict[str, Any]], str] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    answers: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    """What is answered at a path in the place of what belongs there."""
    begun: dict[str, dict[str, str]] = field(default_factory=dict)
    """What was asked with each code that was not shown yet."""
    seen: list[str] = field(default_factory=list)
    """Codes, verifiers and tokens, which belong into no log."""
    paths: list[str] = field(default_factory=list)
    asks: bool = False
    """It shows a page before it sends a browser back, as for a password."""
    silent: bool = False
    """It takes requests and answers none."""
    over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.published = [self.key]

    def forget(self) -> None:
        """Be an issuer again with which nothing is wrong."""
        self.says, self.sign, self.metadata, self.answers = {}, None, {}, {}

    def document(self) -> dict[str, Any]:
        ends = {
            "authorization_endpoint": "/authorize",
            "token_endpoint": "/token",
            "jwks_uri": "/keys",
        }
        found = {"issuer": self.address, **{name: self.address + path for name, path in ends.items()}}
        return found | self.metadata

    def code_for(self, asked: dict[str, str]) -> str:
        code = f"code-{len(self.seen)}-{time.monotonic_ns()}"
        self.begun[code] = asked
        self.seen.append(code)
        return code

    def tokens_for(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        """Exchange a code as RFC 6749 and RFC 7636 say."""
        known = "Basic " + base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if authorization != known and (form.get("client_id"), form.get("client_secret")) != (CLIENT, SECRET):
            return 401, {"error": "invalid_client"}
        asked = self.begun.pop(form.get("code", ""), None)
        verifier = form.get("code_verifier", "")
        challenge = _packed(hashlib.sha256(verifier.encode()).digest())
        if asked is None or asked["code_challenge"] != challenge or asked["redirect_uri"] != form["redirect_uri"]:
            return 400, {"error": "invalid_grant", "error_description": f"{form.get('code')} is not good"}
        text = self.id_token(asked["nonce"])
        self.seen += [verifier, text]
        return 200, {"access_token": "opaque", "token_type": "Bearer", "expires_in": 60, "id_token": text}

    def id_token(self, nonce: str) -> str:
        now = int(time.time())
        claims = {"iss": self.address, "sub": "1", "aud": CLIENT, "nonce": nonce, "iat": now, "exp": now + 300}
        claims = {name: value for name, value in (claims | self.says).items() if value is not ANYTHING}
        return self.sign(self, claims) if self.sign is not None else self.signed(claims)

    def signed(self, claims: dict[str, Any], **header: Any) -> str:
        return jwt.encode({"alg": "RS256", "kid": self.key.kid, **header}, claims, self.key)

    def unsigned(self, claims: dict[str, Any]) -> str:
        parts = ({"alg": "none", "typ": "JWT"}, claims)
        return ".".join(_packed(json.dumps(one).encode()) for one in parts) + "."

    def by_public_key(self, claims: dict[str, Any]) -> str:
        """Sign with what all know, as if it were a secret."""
        parts = ({"alg": "HS256", "typ": "JWT", "kid": self.key.kid}, claims)
        text = ".".join(_packed(json.dumps(one).encode()) for one in parts)
        return f"{text}.{_packed(hmac.digest(self.key.as_pem(private=False), text.encode(), 'sha256'))}"


class _Handler(BaseHTTPRequestHandler):
    issuer: Issuer

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        if self.issuer.silent:
            self.issuer.over.wait(30)
            return
        parts = urlsplit(self.path)
        self.issuer.paths.append(parts.path)
        if parts.path in self.issuer.answers:
            self._send(*self.issuer.answers[parts.path])
        elif parts.path == PUBLISHED:
            self._json(200, self.issuer.document())
        elif parts.path == "/keys":
            self._json(200, {"keys": [one.as_dict(private=False) for one in self.issuer.published]})
        elif parts.path == "/authorize":
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            back = {"code": self.issuer.code_for(asked), "state": asked["state"]}
            address = f"{asked['redirect_uri']}?{urlencode(back)}"
            page = f'<title>Issuer</title><a href="{escape(address)}">Allow</a>'.encode()
            status, headers = (200, {"Content-Type": "text/html"}) if self.issuer.asks else (302, {"Location": address})
            self._send(status, headers, page)
        else:
            self._json(404, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.issuer.paths.append(self.path)
        if self.path in self.issuer.answers:
            self._send(*self.issuer.answers[self.path])
            return
        form = {name: values[0] for name, values in parse_qs(body).items()}
        self._json(*self.issuer.tokens_for(form, self.headers.get("Authorization", "")))

    def _json(self, status: int, found: object) -> None:
        self._send(status, {"Content-Type": "application/json"}, json.dumps(found).encode())

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        with suppress(OSError):  # where the other side has had enough
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)


@contextmanager
def an_issuer() -> Iterator[Issuer]:
    """Serve an issuer."""
    issuer = Issuer()
    handler = type("Handler", (_Handler,), {"issuer": issuer})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        issuer.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield issuer
        finally:
            issuer.over.set()
            server.shutdown()
            thread.join()


def settings(issuer: str) -> str:
    return f"""
[secrets.oidc]
file = "oidc.secret"
[web]
oidc_issuer = "{issuer}"
oidc_client_id = "{CLIENT}"
oidc_client_secret = "{{secret:oidc}}"
oidc_label = "Our company"
"""


def with_issuer(night: Night, issuer: str) -> Night:
    """Let the console of a night go by an issuer."""
    with (night.folder / "batchctl.toml").open("a", encoding="utf-8") as file:
        file.write(settings(issuer))
    (night.folder / "oidc.secret").write_text(f"{SECRET}\n", encoding="utf-8")
    return night

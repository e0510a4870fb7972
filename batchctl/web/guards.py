"""What every answer carries and every request has to obey, whatever page it is for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from batchctl.domain.errors import BatchctlError, Busy, DatabaseRefused, InvalidInput, Refused
from batchctl.domain.operators.logins import RIGHTS, Right
from batchctl.domain.text import unfit, visible
from batchctl.system.concurrency import patience

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SCRIPTS = (
    "script-src 'self' 'nonce-{nonce}'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types htmx"
)
"""What pages may do besides: run the scripts of this console, which htmx acts upon where an element bears the nonce."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
STRICT = {"Strict-Transport-Security": "max-age=31536000"}
"""What is added where browsers come by TLS."""
MOST_BYTES = 64 * 1024
"""How long the body of a form may be."""
MOST_READ = 32 * 1024 * 1024
"""How much of a longer one is read and thrown away: who is cut off while sending never reads the answer."""
PATIENCE = 20
"""How many seconds a body may take to come."""
MOST_FIELDS = 100
MOST_OF_A_PATH = 2000
"""Characters of a page that is gone on to after logging in."""
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class Proxies:
    """The proxies before the console that are believed what they say of a request."""

    peers: frozenset[str] = frozenset()
    """Their addresses."""
    user_header: str = ""

    def user(self, request: Request) -> str | None:
        """Return who asks, where a trusted proxy says it; what any other says counts for nothing."""
        said = request.headers.getlist(self.user_header) if self._comes_from_one(request) else []
        # Where it is there twice, one of them may be what the browser has sent.
        return said[0] or None if len(said) == 1 else None

    def address(self, request: Request) -> str:
        """Return from where a request comes: of a trusted proxy, where that got it from."""
        peer = request.client.host if request.client is not None else "-"
        said = request.headers.getlist("x-forwarded-for") if self._comes_from_one(request) else []
        # What stands before the last comma, or in a line before, the proxy was told itself.
        return said[-1].rpartition(",")[2].strip() or peer if said else peer

    def _comes_from_one(self, request: Request) -> bool:
        return request.client is not None and request.client.host in self.peers


class BadBodyError(Exception):
    """A body that cannot be read, or is no form."""

    def __init__(self, message: str, code: int = 400) -> None:
        """Say what is wrong, and the status of the answer."""
        super().__init__(message)
        self.code = code


class Headers:
    """Adds the headers to every answer, also to those of errors."""

    def __init__(self, app: ASGIApp, *, has_tls: bool) -> None:
        """Stand before an application."""
        self._app = app
        self._headers = HEADERS | (STRICT if has_tls else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add to what is answered."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                added = ((name.lower().encode(), text.encode()) for name, text in self._headers.items())
                message["headers"] = [*message["headers"], *(one for one in added if one[0] not in given)]
            await send(message)

        await self._app(scope, receive, with_headers)


def policy(nonce: str) -> dict[str, str]:
    """Return the header of a page with scripts."""
    return {"Content-Security-Policy": f"{POLICY}; {SCRIPTS.format(nonce=nonce)}"}


def is_meant_for(hosts: frozenset[str], headers: Mapping[str, str]) -> bool:
    """Say whether a request names this console: a page elsewhere can make a name of its own point here."""
    try:
        name = urlsplit(f"//{headers.get('host', '')}").hostname
    except ValueError:
        return False
    return name is not None and name in hosts


def is_own(headers: Mapping[str, str]) -> bool:
    """Say whether a form was sent by a page of this console; a browser that does not tell is refused."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    try:
        return urlsplit(headers.get("origin", "")).netloc == headers["host"] != ""
    except (KeyError, ValueError):
        return False


def own_path(text: str) -> str | None:
    """Return an address within this console as it is; None where a browser would read it as one elsewhere."""
    is_path = text.startswith("/") and not text.startswith("//") and "\\" not in text
    is_plain = text.isascii() and text.isprintable() and " " not in text and len(text) <= MOST_OF_A_PATH
    return text if is_path and is_plain else None


def path_of(request: Request) -> str:
    """Return the address that a request asks for, without its host, as it was sent."""
    path: bytes = request.scope["raw_path"]
    query: bytes = request.scope["query_string"]
    return (path + (b"?" + query if query else b"")).decode("latin-1")


def not_allowed(right: Right, who: str) -> Refused:
    """Return what is said where somebody asks for what takes another role."""
    roles = ", ".join(role for role, rights in RIGHTS.items() if right in rights)
    message = f"This takes the right to {right}, which {who} does not have."
    return Refused(message, next_step=f"batchctl web user list   (who has a role that may: {roles})")


def allowed(request: Request) -> str:
    """Return the methods that an address has; what is only files is only read."""
    ways = (
        way for way in request.app.routes if isinstance(way, Route) and way.matches(request.scope)[0] is not Match.NONE
    )
    found = {method for way in ways for method in way.methods or ()}
    return ", ".join(sorted(found or {"GET", "HEAD"}))


def token_of(headers: Mapping[str, str]) -> str | None:
    """Return the token that a program shows."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme == "Bearer" else None


async def body_of(request: Request, what: str, most: int) -> bytes:
    """Read a body of so many bytes at most; raises `BadBodyError`."""
    body, length = bytearray(), 0
    try:
        async with patience.within(PATIENCE):
            async for part in request.stream():
                length += len(part)
                if length <= most:
                    body += part
                elif length > MOST_READ:
                    break
    except TimeoutError as error:
        raise BadBodyError(f"The {what} took longer than {PATIENCE} s to come: send it again.", 408) from error
    except ClientDisconnect as error:
        # The answer reaches no client.
        raise BadBodyError(f"The {what} ended before it was whole.") from error
    if length > most:
        raise BadBodyError(f"The {what} is longer than {most} bytes.", 413)
    return bytes(body)


async def form_of(request: Request) -> dict[str, str]:
    """Read a form; of a field that stands twice the last one counts. Raises `BadBodyError`."""
    body = await body_of(request, "form", MOST_BYTES)
    try:
        text = body.decode("utf-8")
        found = dict(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS))
    except ValueError as error:
        raise BadBodyError("The body is no form in UTF-8.") from error
    check_texts(found)
    return found


def check_texts(texts: Mapping[str, object]) -> None:
    """Refuse what no database can be asked for."""
    for name, value in texts.items():
        wrong = unfit(name) or (unfit(value) if isinstance(value, str) else None)
        if wrong is not None:
            raise InvalidInput(f"'{visible(name)}' cannot be read: {wrong}.", next_step="correct it")


def check_address(request: Request) -> None:
    """Refuse an address that no database can be asked for: its query, and what its path names."""
    check_texts({**request.query_params, **request.path_params})
    said = Counter(name for name, _ in request.query_params.multi_items())
    twice = next((name for name, many in said.items() if many > 1), None)
    if twice is not None:
        raise InvalidInput(f"The address says '{visible(twice)}' twice.", next_step="say it once")


def for_strangers(error: BatchctlError) -> BatchctlError:
    """Return an error as it is told where no session holds: where the database is, and who locks it, is not said."""
    if isinstance(error, Busy | DatabaseRefused):
        return error.reworded("The control database is away or busy.", "batchctl doctor, where the console runs")
    return error

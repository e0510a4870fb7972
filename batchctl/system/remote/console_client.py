"""Asks a console, from here outwards only: with connections that are kept, and certificates that are verified."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from base64 import b64encode
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from batchctl.domain.text import shorten, visible
from batchctl.system.remote.relay import MOST_BYTES
from batchctl.system.remote.transport import UnreachableError
from batchctl.system.remote.wire import Message, Received

ROOT = "/agents/v1"
"""Where a console has its doors for agents, and for the controllers that ask them."""
CONNECT_SECONDS = 5.0
_SHOWN = 300
_AGAIN = (http.client.RemoteDisconnected, ConnectionError, http.client.CannotSendRequest, ssl.SSLEOFError)
"""What a kept connection ends with that its other end has let go."""


_OTHER_NAME = "write its address with a name that the certificate has"
_MENDS = {9: "set the clock of this host", 10: "have it renewed", 62: _OTHER_NAME, 64: _OTHER_NAME}
"""What to do about a certificate, by what OpenSSL's X509_verify_cert(3) says of it."""


class ConsoleRefusedError(UnreachableError):
    """The console has answered, and does not do what was asked."""

    def __init__(self, message: str, status: int) -> None:
        """Say why, and with which status."""
        super().__init__(message)
        self.status = status


class UntrustedError(UnreachableError):
    """The certificate of the console is not trusted; `mend` says what to do about it."""

    def __init__(self, reason: str, mend: str) -> None:
        """Say why."""
        super().__init__(f"{reason}: {mend}")
        self.reason, self.mend = reason, mend


@dataclass(frozen=True, slots=True)
class ConsoleAddress:
    """Where a console is, and what is shown there."""

    server: str
    token: str = field(repr=False)
    ca_file: str | None = None


class ConsoleClient:
    """Asks one console. Its methods may be called on several threads at once."""

    def __init__(self, console: ConsoleAddress) -> None:
        """Connect to nothing yet."""
        self._console = console
        self._parts = urlsplit(console.server)
        self._host = self._parts.hostname or ""
        self._context = _context_of(console) if self._parts.scheme == "https" else None
        self._idle = deque[http.client.HTTPConnection]()
        self._asking = set[http.client.HTTPConnection]()
        self._is_closed = False

    @property
    def server(self) -> str:
        """Return the address of the console."""
        return self._console.server

    def get(self, path: str, *, within: float) -> Received:
        """Read something; raises `UnreachableError`."""
        return self._ask("GET", path, None, within)

    def post(self, path: str, message: Message, *, within: float) -> Received:
        """Send something, and return the answer; raises `UnreachableError`. It may come there twice."""
        body = json.dumps(message).encode()
        if len(body) > MOST_BYTES:
            reason = f"what is to be sent has {len(body)} bytes, and the console takes {MOST_BYTES} at most"
            raise ConsoleRefusedError(reason, 413)
        return self._ask("POST", path, body, within)

    def close(self) -> None:
        """Let go of the connections that are kept, and of the answers that are waited for."""
        self._is_closed = True
        while self._idle:
            self._idle.pop().close()
        for connection in self._asking.copy():
            with suppress(OSError):
                # Of the socket itself: a shutdown by TLS is no business of another thread than the one that reads.
                socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)

    def _ask(self, method: str, path: str, body: bytes | None, within: float) -> Received:
        try:
            status, text = self._exchange(method, path, body, within)
        except ssl.SSLCertVerificationError as error:
            reason = f"{self._named} shows a certificate that is not trusted here ({error.verify_message})"
            mend = _MENDS.get(error.verify_code, "name the certificate of its issuer as ca_file")
            raise UntrustedError(reason, mend) from error
        except (OSError, http.client.HTTPException) as error:
            shown = visible(shorten(str(error) or type(error).__name__, _SHOWN))
            reason = "does not answer" if isinstance(error, TimeoutError) else f"cannot be reached: {shown}"
            raise UnreachableError(f"the console {self._named} {reason}") from error
        return self._read(status, text)

    def _exchange(self, method: str, path: str, body: bytes | None, within: float) -> tuple[int, bytes]:
        """Send a request; once more with a new connection where a kept one has ended meanwhile."""
        while self._idle:
            connection = self._idle.pop()
            try:
                return self._on(connection, method, path, body, within)
            except _AGAIN:
                continue
        return self._on(self._connected(), method, path, body, within)

    def _on(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None, within: float
    ) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {self._console.token}", "Accept-Encoding": "identity"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        self._asking.add(connection)
        try:
            connection.sock.settimeout(within)
            connection.request(method, ROOT + path, body, headers)
            answer = connection.getresponse()
            text = answer.read(MOST_BYTES + 1)
        except BaseException:
            connection.close()
            raise
        finally:
            self._asking.discard(connection)
        if answer.will_close or len(text) > MOST_BYTES:
            connection.close()
        else:
            self._idle.append(connection)
        return answer.status, text

    def _connected(self) -> http.client.HTTPConnection:
        """Connect, through the proxy that this host is set up with where it has one."""
        if self._is_closed:
            reason = "it is asked no more"
            raise ConnectionError(reason)
        scheme, port = self._parts.scheme, self._parts.port
        # Without TLS only this machine is asked, and no proxy is to see the token.
        proxy = None if scheme == "http" or proxy_bypass(self._host) else getproxies().get(scheme)
        through = None if proxy is None else urlsplit(proxy if "//" in proxy else f"//{proxy}")
        host, at = (self._host, port) if through is None else (through.hostname or "", through.port)
        if self._context is None:
            made = http.client.HTTPConnection(host, at, timeout=CONNECT_SECONDS)
        else:
            made = http.client.HTTPSConnection(host, at, timeout=CONNECT_SECONDS, context=self._context)
        if through is not None:
            made.set_tunnel(self._host, port, _credentials_of(through))
        try:
            made.connect()
            made.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        except BaseException:
            made.close()
            raise
        return made

    def _read(self, status: int, text: bytes) -> Received:
        try:
            found: Any = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if status == http.client.OK and isinstance(found, dict):
            return found
        if isinstance(found, Mapping) and "detail" in found:
            after = f" ({found['next']})" if found.get("next") else ""
            message = visible(shorten(f"{str(found['detail']).rstrip('.')}{after}", _SHOWN))
            raise ConsoleRefusedError(f"the console {self._named} says: {message}", status)
        reason = f"{self._named} answers {status}, and not as a console of this version does"
        raise ConsoleRefusedError(reason, status)

    @property
    def _named(self) -> str:
        return visible(self._parts.netloc)


def _context_of(console: ConsoleAddress) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=console.ca_file)
    except (OSError, ssl.SSLError) as error:
        reason = f"ca_file {visible(str(console.ca_file))} cannot be read as a certificate: {visible(str(error))}"
        raise UnreachableError(reason) from error


def _credentials_of(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    shown = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(shown.encode()).decode()}"}

"""Serves the console until it is told to end."""

from __future__ import annotations

import signal
import ssl
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import uvicorn

from batchctl.app import App
from batchctl.domain.configuring import how_to_install_extra
from batchctl.domain.errors import ConfigurationError, Refused
from batchctl.domain.text import message_of, visible
from batchctl.store.maintenance import schema
from batchctl.system.host import platform
from batchctl.system.host.listening import listen
from batchctl.web import guards
from batchctl.web.connections import BoundedConnection, most_of
from batchctl.web.doors import CodeDoor
from batchctl.web.entrance import IssuerDoor, door_of
from batchctl.web.forms import Forms
from batchctl.web.guards import LOOPBACK
from batchctl.web.site import Console

GRACE = 5
"""Seconds that answers under way have when the console is told to end."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """Shows the address, and each new code, to the person at the terminal."""

    address: Callable[[str], None]
    code: Callable[[str], None]


class EndingServer(uvicorn.Server):
    """Lets live pages and agents go as soon as it is told to end: it would wait for them, and then break them off."""

    def __init__(self, settings: uvicorn.Config, end: Callable[[], None]) -> None:
        """Serve nothing yet."""
        super().__init__(settings)
        self._end = end

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End."""
        self._end()
        super().handle_exit(sig, frame)


@dataclass(frozen=True, slots=True)
class Reach:
    """Where the console is to be reached, and how."""

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None
    behind_tls: bool = False
    """A proxy before it speaks TLS, and it alone reaches the console."""

    @property
    def has_tls(self) -> bool:
        """Say whether browsers come by TLS."""
        return self.certificate is not None or self.behind_tls


def check_reach(reach: Reach, *, knows_people: bool) -> None:
    """Refuse what could be reached from elsewhere without TLS, or without users who can be told apart."""
    if (reach.certificate is None) is not (reach.key is None):
        message = "A certificate and its key go together, and one of them is missing."
        raise Refused(message, next_step="batchctl web --tls-cert FILE --tls-key FILE")
    if reach.host in LOOPBACK:
        return
    where = f"The console would be reached from other machines at {visible(reach.host)}"
    if not knows_people:
        message = f"{where}, and it knows no users."
        raise Refused(message, next_step="batchctl web user add NAME --role admin")
    if not reach.has_tls:
        message = f"{where}, and passwords would go there in the clear."
        port = reach.port or "PORT"
        tunnel = f"--tls-cert and --tls-key, or --behind-tls; or ssh -L {port}:127.0.0.1:{port} THIS_HOST"
        raise Refused(message, next_step=tunnel)


def check_certificate(reach: Reach) -> None:
    """Refuse files that are no certificate and its key, before an address is shown at which no browser gets an answer."""
    if reach.certificate is None or reach.key is None:
        return
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate, key = visible(reach.certificate.name), visible(reach.key.name)
    try:
        # A key that has a password would ask for it at the terminal.
        context.load_cert_chain(reach.certificate, reach.key, password="")
    except ssl.SSLError as error:
        pem = "batchctl web --tls-cert FILE --tls-key FILE, both in PEM and the key without a password"
        if error.reason == "KEY_VALUES_MISMATCH":
            message = f"{key} is not the key of {certificate}."
        elif _holds_certificate(reach.certificate):
            message = f"{key} is no key that can be read: {message_of(error)}"
        else:
            message = f"{certificate} is no certificate: {message_of(error)}"
        raise Refused(message, next_step=pem) from error


def _holds_certificate(path: Path) -> bool:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(path)
    except ssl.SSLError:
        return False
    return True


def issuer_of(app: App, reach: Reach) -> IssuerDoor | None:
    """Return the door of the issuer that the settings name."""
    if app.settings.web.oidc_issuer is None:
        return None
    try:
        from batchctl.web.oidc import opening  # noqa: PLC0415 - what it needs comes with an extra
    except ModuleNotFoundError as error:
        message = f"[web] oidc_issuer needs the module {error.name}, which is not installed."
        raise ConfigurationError(message, next_step=how_to_install_extra("oidc")) from error
    return opening.issuer_entrance(app, "https" if reach.has_tls else "http")


def serve(app: App, reach: Reach, terminal: Terminal) -> None:
    """Answer until SIGINT or SIGTERM."""
    issuer, settings = issuer_of(app, reach), app.settings.web
    # Of this program, whatever is installed while it runs.
    revision = schema.newest_revision()
    knows_people = issuer is not None or door_of(app).has_users()
    check_reach(reach, knows_people=knows_people)
    check_certificate(reach)
    host = reach.host
    with closing(listen(host, reach.port)) as place:
        name = f"[{host}]" if ":" in host else host
        terminal.address(f"http{'' if reach.certificate is None else 's'}://{name}:{place.getsockname()[1]}/")
        door = CodeDoor(
            who=f"{app.ids.user()}@{app.ids.host()}", now=app.clock.now, token=app.ids.token, show=terminal.code
        )
        if not knows_people:
            door.open()
        proxies = guards.Proxies(frozenset(settings.trusted_proxies), settings.user_header)
        names = LOOPBACK | {one.lower() for one in (host, app.ids.host(), *settings.names)}
        console = Console(
            lambda: app.another().unchanged(revision).verified(), door, proxies, Forms(app.ids.token), names, issuer
        )
        BoundedConnection.most = most_of(platform.most_files())
        served = uvicorn.Config(
            console.application(has_tls=reach.has_tls),
            # What a client sends that is no HTTP is no concern of the person at the terminal.
            log_level="error",
            access_log=False,
            server_header=False,
            # What a client says of where it comes from counts only of a trusted proxy: guards.Proxies.
            proxy_headers=False,
            http=BoundedConnection,
            ws="none",
            lifespan="off",
            timeout_graceful_shutdown=GRACE,
            ssl_certfile=reach.certificate,
            ssl_keyfile=reach.key,
        )
        # The server sends the signal on to the handler before its own.
        signal.signal(signal.SIGTERM, lambda _number, _frame: None)
        with suppress(KeyboardInterrupt):
            EndingServer(served, console.end).run(sockets=[place])

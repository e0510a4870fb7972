"""The channels on which people are told of incidents: console, log, SMTP, webhook, and all that apprise knows.

Each ends within its time limit, whatever the other side does; its error messages contain no secret.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import importlib.util
import json
import logging
import os
import smtplib
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from batchctl import config
from batchctl.config import Settings
from batchctl.domain import urls
from batchctl.domain.alerting.alert_text import Notification
from batchctl.domain.errors import BatchctlError, Busy, ConfigurationError
from batchctl.domain.text import did_you_mean, shorten, visible
from batchctl.settings_sections import ChannelSettings
from batchctl.system.masking import masked

SHOWN = 200
"""Characters of an answer that are shown."""
PORTS = {"starttls": 587, "tls": 465, "none": 25}
SECRETS = ("password", "secret")
"""Fields of a channel that may only refer to a secret, not be one; `url` may contain references."""


class AlertChannel:
    """A channel of the configuration, with the values of its secrets: never show or keep it."""

    def __init__(self, settings: Settings, name: str) -> None:
        """Resolve the secrets; raises `ConfigurationError`, which names what is wrong with the channel."""
        self.name = name
        self.secrets: list[str] = []
        self._settings = settings
        self.given: ChannelSettings = _named(settings, name)
        self.directory = settings.directory
        self.password, self.secret = self._referred("password"), self._referred("secret")
        self.url = None if self.given.url is None else urls.with_secrets(self.given.url, self._resolved)
        if self.given.url is not None:
            self.secrets += urls.passwords_in(self.given.url)

    def _referred(self, field: str) -> str | None:
        said = getattr(self.given, field)
        if said is None:
            return None
        name = urls.reference(said)
        if name is None:
            message = f"[alerts.channels.{visible(self.name)}] {field} has to refer to a secret, and not to be one."
            raise ConfigurationError(message, next_step=f'{field} = "{{secret:NAME}}", and a section [secrets.NAME]')
        return self._resolved(name)

    def _resolved(self, name: str) -> str:
        found = config.secret(self._settings, name)
        self.secrets.append(found)
        return found


def _named(settings: Settings, name: str) -> ChannelSettings:
    given = settings.alerts.channels.get(name)
    if given is None:
        known = did_you_mean(name, settings.alerts.channels)
        message = f"There is no channel '{visible(name)}' in the configuration.{visible(known)}"
        raise ConfigurationError(message, next_step=f"add [alerts.channels.{visible(name)}] to {config.FILE_NAME}")
    return given


def send(settings: Settings, name: str, notification: Notification) -> None:
    """Send a notification; raises what kept it from being sent."""
    finding = finding_of(settings, name)
    if finding is not None:
        raise finding
    channel = AlertChannel(settings, name)
    try:
        _KINDS[channel.given.kind].send(channel, notification)
    except Exception as error:  # noqa: BLE001 - libraries raise anything, and may quote secrets
        said = masked(_wording(error, channel), channel.secrets)
        if isinstance(error, BatchctlError):
            raise error.reworded(said, error.next_step) from None
        raise BatchctlError(said) from None


def finding_of(settings: Settings, name: str) -> ConfigurationError | None:
    """Return why a channel cannot work, as far as that can be known without sending anything."""
    try:
        channel = AlertChannel(settings, name)
        kind = _KINDS.get(channel.given.kind)
        if kind is None:
            said = f"kind '{visible(channel.given.kind)}' is none of {', '.join(_KINDS)}.{_meant(channel.given.kind)}"
            raise _wrong(channel, said)
        kind.check(channel)
    except ConfigurationError as error:
        return error
    return None


def _meant(kind: str) -> str:
    said = did_you_mean(kind, _KINDS)
    return said if "Did" in said else ""


def _wrong(channel: AlertChannel, wording: str) -> ConfigurationError:
    message = f"[alerts.channels.{visible(channel.name)}] {wording}"
    return ConfigurationError(message, next_step=f"correct the channel in {config.FILE_NAME}")


def _need(channel: AlertChannel, *fields: str) -> None:
    for field in fields:
        if not getattr(channel.given, field):
            raise _wrong(channel, f"lacks {field}, which a channel of kind {channel.given.kind} needs.")


def _wording(error: Exception, channel: AlertChannel) -> str:
    if isinstance(error, BatchctlError):
        return error.message
    if isinstance(error, TimeoutError):
        return "There was no answer in time."
    if isinstance(error, socket.gaierror):
        host = channel.given.host or urlsplit(channel.url or "").hostname
        name = f" {visible(host)}" if host else ""
        return f"The name of the host{name} cannot be resolved ({error.strerror}); correct it in the channel, or see to DNS."
    reason = " ".join(str(error).split()) or type(error).__name__
    return visible(shorten(f"{type(error).__name__}: {reason}", 2 * SHOWN))


@contextmanager
def _at_most(seconds: float, hang_up: Callable[[], object]) -> Iterator[None]:
    """Hang up once the time is over, even if the other side answers byte by byte."""
    until = time.monotonic() + seconds

    def end() -> None:
        with suppress(Exception):
            hang_up()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except Exception as error:
        if time.monotonic() >= until:
            raise Busy(f"There was no answer within {seconds:g} seconds.") from error
        raise
    finally:
        timer.cancel()


def _cut(made: object) -> None:
    """Cut a connection off, even while a thread waits for it."""
    found = getattr(made, "sock", None)
    if isinstance(found, socket.socket):
        found.shutdown(socket.SHUT_RDWR)


class _Console:
    """Writes to standard error."""

    def check(self, channel: AlertChannel) -> None:
        """Need nothing."""

    def send(self, channel: AlertChannel, notification: Notification) -> None:
        """Write."""
        del channel
        sys.stderr.write(f"{notification.message.title}\n{notification.message.body}\n\n")
        sys.stderr.flush()


class _Log:
    """Writes a line of JSON to the end of a file."""

    def check(self, channel: AlertChannel) -> None:
        """Need a file that may be written."""
        _need(channel, "path")
        path = self._path(channel)
        if not path.parent.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
            raise _wrong(channel, f"path {visible(str(path))} cannot be written.")

    def send(self, channel: AlertChannel, notification: Notification) -> None:
        """Write."""
        line = {"Time": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", **_as_json(notification)}
        with self._path(channel).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def _path(self, channel: AlertChannel) -> Path:
        return channel.directory / (channel.given.path or "")


class _Smtp:
    """Sends a mail."""

    def check(self, channel: AlertChannel) -> None:
        """Need a server, a sender and somebody to send to."""
        _need(channel, "host", "sender", "to")
        if (channel.given.user is None) != (channel.given.password is None):
            raise _wrong(channel, "needs user and password, or neither of them.")
        try:
            self._mail(channel, "test", "test", "test")
        except ValueError as error:
            raise _wrong(channel, f"sender or to is no address: {visible(str(error))}.") from None

    def send(self, channel: AlertChannel, notification: Notification) -> None:
        """Hand the mail to the server."""
        given, context = channel.given, ssl.create_default_context()
        port = given.port or PORTS[given.security]
        mail = self._mail(channel, notification.message.title, notification.message.body, notification.key)
        if notification.html is not None:
            mail.add_alternative(notification.html, subtype="html")
        made = (
            smtplib.SMTP_SSL(timeout=given.timeout, context=context)
            if given.security == "tls"
            else smtplib.SMTP(timeout=given.timeout)
        )
        with _at_most(given.timeout, lambda: _cut(made)):
            # If the constructor connected, nothing could hang up before the first answer.
            vars(made)["_host"] = given.host
            made.connect(given.host or "", port)
            try:
                if given.security == "starttls":
                    made.starttls(context=context)
                if given.user is not None:
                    made.login(given.user, channel.password or "")
                refused = made.send_message(mail)
                if refused:
                    raise BatchctlError(f"The server does not take mail for {', '.join(map(visible, refused))}.")
            finally:
                with suppress(Exception):
                    made.quit()

    def _mail(self, channel: AlertChannel, title: str, body: str, key: str) -> EmailMessage:
        mail = EmailMessage()
        mail["Subject"], mail["From"] = visible(title), channel.given.sender
        mail["To"] = ", ".join(channel.given.to)
        mail["Message-ID"] = f"<{key.encode().hex()}.{channel.name.encode().hex()}@{_domain(channel.given.sender)}>"
        mail["Date"] = datetime.now(UTC)
        mail["Auto-Submitted"] = "auto-generated"
        mail.set_content(body)
        return mail


def _domain(sender: str | None) -> str:
    """Return the host of an address."""
    host = (sender or "").rpartition("@")[2].rstrip(">").strip()
    return host if host.isascii() and host.replace(".", "").replace("-", "").isalnum() else "batchctl.invalid"


class _Webhook:
    """Posts JSON; a receiver with the secret can verify that it comes from here, and when."""

    def check(self, channel: AlertChannel) -> None:
        """Need an address of the web."""
        _need(channel, "url")
        parts = urlsplit(channel.url or "")
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise _wrong(channel, "url has to begin with https:// (or http://) and a host.")

    def send(self, channel: AlertChannel, notification: Notification) -> None:
        """Post; follow no redirect."""
        parts, limit = urlsplit(channel.url or ""), channel.given.timeout
        target = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
        body = json.dumps(_as_json(notification)).encode()
        make = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        made = make(parts.hostname or "", parts.port, timeout=limit)
        with _at_most(limit, lambda: _cut(made)):
            try:
                made.request("POST", target, body, self._headers(channel, notification, body))
                answer = made.getresponse()
                said = answer.read(SHOWN).decode("utf-8", "replace")
            finally:
                made.close()
        if not 200 <= answer.status < 300:
            message = f"The server answered {answer.status}: {visible(said)}"
            if 300 <= answer.status < 400:
                message = f"The server answered {answer.status}, a redirect, which is not followed: name the right url."
            raise BatchctlError(message)

    def _headers(self, channel: AlertChannel, notification: Notification, body: bytes) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "User-Agent": "batchctl", "Idempotency-Key": notification.key}
        if channel.secret is not None:
            at = str(int(time.time()))
            signed = hmac.new(channel.secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
            headers |= {"X-Batchctl-Timestamp": at, "X-Batchctl-Signature": f"sha256={signed}"}
        return headers


class _Apprise:
    """Leaves it to apprise, which knows many services."""

    def check(self, channel: AlertChannel) -> None:
        """Need the package and an address that it knows."""
        _need(channel, "url")
        if importlib.util.find_spec("apprise") is None:
            raise _wrong(channel, "needs apprise: pip install 'batchctl[alerts]'.")
        self._service(channel)

    def send(self, channel: AlertChannel, notification: Notification) -> None:
        """Let apprise send it, as text: a service that shows markup gets it escaped."""
        service, message = self._service(channel), notification.message
        if not service.notify(body=message.body, title=visible(message.title), body_format="text"):
            raise BatchctlError("apprise could not deliver it; it does not say why.")

    def _service(self, channel: AlertChannel) -> Any:
        """Return the service. What apprise would log may hold the address with its secrets."""
        import apprise  # noqa: PLC0415 - an extra, and slow to import

        logging.getLogger("apprise").disabled = True
        service = apprise.Apprise()
        if not service.add(channel.url or ""):
            raise _wrong(channel, "url is none that apprise knows, or lacks what its service needs.")
        return service


_KINDS: dict[str, _Console | _Log | _Smtp | _Webhook | _Apprise] = {
    "console": _Console(),
    "log": _Log(),
    "smtp": _Smtp(),
    "webhook": _Webhook(),
    "apprise": _Apprise(),
}


def _as_json(notification: Notification) -> dict[str, str | int]:
    title, body = notification.message.title, notification.message.body
    return {
        "AlertDelivery_id": notification.number,
        "Incident_id": notification.incident_id,
        "Kind": notification.kind.value,
        "Title": title,
        "Body": body,
        "text": f"{title}\n{body}",
    }

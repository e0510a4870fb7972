"""Real servers, good and bad: a message arrives whole, and whatever a server does, sending ends in time and tells no secret."""

from __future__ import annotations

import hashlib
import hmac
import json
import sys
import threading
import time
from collections.abc import Iterator
from email import message_from_bytes, policy
from pathlib import Path

import pytest

from batchctl import config
from batchctl.domain.alerting.alert_text import Message, Notification
from batchctl.domain.errors import BatchctlError, ConfigurationError
from batchctl.domain.status import DeliveryKind
from batchctl.system import alert_sinks
from tests.receivers import MailServer, WebServer

BODY = "it broke\n\nWhat to do: batchctl rerun 1 --reason ...\n.\nnaïve"
HOSTILE = "[ERROR] a\r\nBcc: evil@example.com\r\n\r\nbody"


def a_letter(title: str = "[ERROR] Load: it broke") -> Notification:
    return Notification(
        origin="db", number=42, incident_id=7, kind=DeliveryKind.ALERT, message=Message(title=title, body=BODY)
    )


def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, channel: str) -> config.Settings:
    """Read settings with one channel, and a secret."""
    monkeypatch.setenv("OF_THE_TEST", "s3cr3t&value")
    file = tmp_path / "batchctl.toml"
    file.write_text(f'[secrets.token]\nenv = "OF_THE_TEST"\n[alerts.channels.it]\n{channel}', encoding="utf-8")
    return config.load(str(file))


@pytest.fixture
def mail_server() -> Iterator[MailServer]:
    with MailServer() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.released.set()
        server.shutdown()


def smtp(server: MailServer, more: str = "") -> str:
    return (
        f'kind = "smtp"\nhost = "127.0.0.1"\nport = {server.server_address[1]}\nsecurity = "none"\n'
        f'sender = "batchctl@example.com"\nto = ["night@example.com", "day@example.com"]\n{more}'
    )


@pytest.mark.parametrize("title", ["[ERROR] Load: it broke", HOSTILE])
def test_a_mail_arrives_whole_and_has_no_other_headers(
    mail_server: MailServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, title: str
) -> None:
    alert_sinks.send(settings(tmp_path, monkeypatch, smtp(mail_server)), "it", a_letter(title))

    mail = message_from_bytes(mail_server.mails[0], policy=policy.default)
    assert mail["Subject"] == title.replace("\r\n", "\\r\\n")
    assert mail["To"] == "night@example.com, day@example.com"
    assert mail["Bcc"] is None
    assert mail["Message-ID"] == f"<{b'batchctl-db-42'.hex()}.{b'it'.hex()}@example.com>"
    assert mail.get_content().replace("\r\n", "\n").rstrip("\n") == BODY


@pytest.mark.parametrize("mood", ["silent", "drips"])
def test_a_mail_server_that_hangs_is_left_in_time(
    mail_server: MailServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mood: str
) -> None:
    mail_server.mood = mood
    began = time.monotonic()
    with pytest.raises(BatchctlError, match="no answer"):
        alert_sinks.send(settings(tmp_path, monkeypatch, smtp(mail_server, "timeout = 1")), "it", a_letter())

    assert time.monotonic() - began < 5


def test_what_a_mail_server_says_is_told(
    mail_server: MailServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail_server.mood = "refuses"
    with pytest.raises(BatchctlError, match="550"):
        alert_sinks.send(settings(tmp_path, monkeypatch, smtp(mail_server)), "it", a_letter())


@pytest.fixture
def web() -> Iterator[WebServer]:
    with WebServer() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.released.set()
        server.shutdown()


def webhook(server: WebServer, more: str = "") -> str:
    return f'kind = "webhook"\nurl = "{server.url}?key={{secret:token}}"\nsecret = "{{secret:token}}"\n{more}'


def test_a_post_is_signed_and_says_all(web: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alert_sinks.send(settings(tmp_path, monkeypatch, webhook(web)), "it", a_letter(HOSTILE))

    ((path, headers, body),) = web.received()
    said = json.loads(body)
    assert path == "/hook?key=s3cr3t%26value"
    assert (said["Incident_id"], said["Kind"], said["Title"], said["Body"]) == (7, "alert", HOSTILE, BODY)
    assert headers["Idempotency-Key"] == "batchctl-db-42"
    signed = hmac.new(b"s3cr3t&value", f"{headers['X-Batchctl-Timestamp']}.".encode() + body, hashlib.sha256)
    assert headers["X-Batchctl-Signature"] == f"sha256={signed.hexdigest()}"


@pytest.mark.parametrize(("mood", "said"), [(500, "answered 500"), (302, "a redirect"), (404, "answered 404")])
def test_an_answer_that_is_no_success_is_none_and_nobody_is_followed(
    web: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mood: int, said: str
) -> None:
    web.mood = mood
    with pytest.raises(BatchctlError, match=said) as caught:
        alert_sinks.send(settings(tmp_path, monkeypatch, webhook(web)), "it", a_letter())

    assert len(web.received()) == 1
    assert "s3cr3t" not in caught.value.in_full
    assert caught.value.in_full.isprintable()


def test_a_web_server_that_hangs_is_left_in_time(
    web: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.mood = 0
    began = time.monotonic()
    with pytest.raises(BatchctlError, match="no answer"):
        alert_sinks.send(settings(tmp_path, monkeypatch, webhook(web, "timeout = 1")), "it", a_letter())

    assert time.monotonic() - began < 5


def test_nobody_there_is_told_without_the_secret(
    web: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = settings(tmp_path, monkeypatch, webhook(web))
    web.server_close()
    with pytest.raises(BatchctlError) as caught:
        alert_sinks.send(given, "it", a_letter())

    assert "s3cr3t" not in caught.value.in_full


def test_a_log_has_a_line_for_each_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = settings(tmp_path, monkeypatch, 'kind = "log"\npath = "alerts.log"')
    alert_sinks.send(given, "it", a_letter())
    alert_sinks.send(given, "it", a_letter(HOSTILE))

    first, second = (tmp_path / "alerts.log").read_text(encoding="utf-8").splitlines()
    assert json.loads(first)["Body"] == BODY
    assert json.loads(second)["Title"] == HOSTILE
    assert second.isascii()


def test_the_console_is_standard_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    alert_sinks.send(settings(tmp_path, monkeypatch, 'kind = "console"'), "it", a_letter())

    out, err = capsys.readouterr()
    assert (out, err) == ("", f"[ERROR] Load: it broke\n{BODY}\n\n")


def test_a_service_that_apprise_knows_gets_it_as_text(
    web: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = settings(tmp_path, monkeypatch, apprise(web))
    assert alert_sinks.finding_of(given, "it") is None
    alert_sinks.send(given, "it", a_letter(HOSTILE))

    ((path, _, body),) = web.received()
    said = json.loads(body)
    assert path == "/hook?key=s3cr3t%26value"
    assert said["message"] == BODY
    assert said["title"] == "[ERROR] a\\r\\nBcc: evil@example.com\\r\\n\\r\\nbody"


def test_what_apprise_cannot_deliver_is_told_without_the_secret(
    web: WebServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    web.mood = 500
    with pytest.raises(BatchctlError, match="apprise could not deliver it") as caught:
        alert_sinks.send(settings(tmp_path, monkeypatch, apprise(web)), "it", a_letter())

    assert "s3cr3t" not in "".join((caught.value.in_full, caplog.text, *capfd.readouterr()))


def test_who_lacks_apprise_is_told_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    finding = alert_sinks.finding_of(settings(tmp_path, monkeypatch, 'kind = "apprise"\nurl = "json://h"'), "it")

    assert finding is not None
    assert "needs apprise: pip install 'batchctl[alerts]'" in finding.message


def apprise(server: WebServer) -> str:
    return f'kind = "apprise"\nurl = "{server.url.replace("http", "json", 1)}?-key={{secret:token}}"\n'


@pytest.mark.parametrize(
    ("channel", "said"),
    [
        ('kind = "webhok"', "kind 'webhok' is none of console, log, smtp, webhook, apprise. Did you mean 'webhook'?"),
        ('kind = "smtp"\nhost = "h"', "lacks sender"),
        ('kind = "smtp"\nhost = "h"\nsender = "a@b"\nto = ["c@d"]\nuser = "u"', "needs user and password"),
        ('kind = "smtp"\nhost = "h"\nsender = "a@b\\r\\nBcc: x@y"\nto = ["c@d"]', "is no address"),
        ('kind = "webhook"', "lacks url"),
        ('kind = "webhook"\nurl = "file:///etc/passwd"', "url has to begin with https://"),
        ('kind = "webhook"\nurl = "http://h/"\nsecret = "written out"', "secret has to refer to a secret"),
        ('kind = "webhook"\nurl = "http://h/{secret:tokn}"', "Secret 'tokn' is not in the configuration"),
        ('kind = "log"\npath = "nowhere/alerts.log"', "cannot be written"),
        ('kind = "apprise"', "lacks url"),
        ('kind = "apprise"\nurl = "jsn://h/{secret:token}"', "url is none that apprise knows"),
    ],
)
def test_what_cannot_work_is_said_without_sending_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, channel: str, said: str
) -> None:
    given = settings(tmp_path, monkeypatch, channel)
    finding = alert_sinks.finding_of(given, "it")

    assert finding is not None
    assert said in finding.message
    assert "written out" not in finding.in_full
    with pytest.raises(ConfigurationError):
        alert_sinks.send(given, "it", a_letter())


def test_what_can_work_is_no_problem(web: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert alert_sinks.finding_of(settings(tmp_path, monkeypatch, webhook(web)), "it") is None

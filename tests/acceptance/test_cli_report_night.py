"""The report of a night from outside: what failed and who mended it, what stands open, as text, JSON and a page."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from batchctl.system.clock import SystemClock
from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import HOSTILE, Night, a_control
from tests.control_databases import KINDS
from tests.receivers import MailServer

WIDE = {"COLUMNS": "250", "PYTHONIOENCODING": "utf-8"}
MARKUP = "<script>alert(1)</script><img src=//evil.example/x onerror=x>\"'&"
ROWS = "sh -c \"echo 'batchctl-rows: 5'\""


def an_hour_ago() -> str:
    return f"{SystemClock().now() - timedelta(hours=1):%Y-%m-%d %H:%M}"


@pytest.fixture(params=KINDS)
def night(request: pytest.FixtureRequest, tmp_path: Path, run_batchctl: RunBatchctl) -> Night:
    made = Night(a_control(request.param, request, tmp_path / "night"), run_batchctl)
    made.batch("Good", "true", "true")
    made.batch("Mended", f"test -e {made.folder}/there")
    made.batch(HOSTILE + MARKUP, "false", Entity="Bad")
    made.batch("Counted", ROWS)
    made.sql("UPDATE ProcessControl SET RowsMin = '10', OnRows = 'warn' WHERE Data1 = ?", ROWS)
    return made


def pass_the_night(night: Night) -> None:
    """Let two batches go well, one fail and be mended, and one fail."""
    for entity in ("Good", "Good", "Mended", "Bad", "Counted"):
        night.arrive(entity, f"/in/{MARKUP}.csv")
    assert night("run", "--until-idle=0.2").returncode == 1
    (night.folder / "there").touch()
    ((mended,),) = night.sql(
        "SELECT BatchControl_id FROM BatchControl WHERE ProcessBatch_id ="
        " (SELECT ProcessBatch_id FROM ProcessBatch WHERE ProcessBatchName = 'Mended')"
    )
    assert night("rerun", str(mended), "--reason", f"the file is there {MARKUP}").returncode == 0
    assert night("run", "--until-idle=0.2").returncode == 0


class Page(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_what_failed_who_mended_it_and_what_stands_open(night: Night) -> None:
    pass_the_night(night)
    ((failed,),) = night.sql("SELECT BatchControl_id FROM BatchControl WHERE Status = 'failed'")

    found: dict[str, Any] = night.json("report", "night", "--since", an_hour_ago())
    shown = night("report", "night", "--since", an_hour_ago(), env=WIDE)

    said = "4 instances complete, 1 failed and mended, 2 stand open"
    assert found["Verdict"].endswith(said)
    assert shown.stdout.splitlines()[0] == found["Verdict"]
    assert (found["Open"][0]["What"], found["Open"][0]["BatchControl_id"]) == ("failed", failed)
    assert found["Open"][0]["Next"] == f"batchctl rerun {failed} --reason ..."
    assert f"batchctl rerun {failed} --reason ..." in shown.stdout
    assert [one["Subject"] for one in found["Open"] if one["What"] == "incident"] == ["Counted"]
    assert [(one["Outcome"], one["Action"]) for one in found["Failed"]] == [("stands", None), ("mended", "rerun")]
    assert [(one["Action"], one["ProcessBatchName"]) for one in found["Acts"]] == [("rerun", "Mended")]
    assert found["Acts"][0]["Reason"] == f"the file is there {MARKUP}"
    assert [(one["RowsAffected"], one["Unusual"]) for one in found["Rows"]] == [(5, True)]
    assert "10 or more" in found["Rows"][0]["Expected"]
    ran = {one["ProcessBatchName"]: (one["Complete"], one["Mended"], one["Failed"]) for one in found["Ran"]}
    assert ran == {"Good": (2, 0, 0), "Mended": (1, 1, 0), HOSTILE + MARKUP: (0, 0, 1), "Counted": (1, 0, 0)}
    assert "\x1b" not in shown.stdout
    assert "\u202e" not in shown.stdout


def test_a_page_that_needs_nothing_else(night: Night) -> None:
    pass_the_night(night)
    file = night.folder / "night.html"

    assert night("report", "night", "--since", an_hour_ago(), "--html", str(file)).returncode == 0
    source = file.read_text(encoding="utf-8")
    page = Page(source)

    assert not {"script", "img", "link", "iframe", "object", "form"} & {*page.tags}
    assert not {"src", "href", "style", "onerror"} & {name for name, _ in page.attributes}
    assert "url(" not in source
    assert "@import" not in source
    assert any(MARKUP in each for each in page.text)
    assert "\x1b" not in source
    assert "\u202e" not in source
    assert [each.name for each in night.folder.iterdir() if each.name.endswith(".part")] == []


def test_a_night_in_which_nothing_was_done(night: Night) -> None:
    found: dict[str, Any] = night.json("report", "night", "--since", an_hour_ago())

    assert found["Verdict"].endswith("0 instances complete, nothing stands open")
    assert night("report", "night").returncode == 0
    assert night("report", "night", "--csv").stdout.startswith("List,")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--since", "25:00"), 2, "--since: '25:00' is neither a time of day, such as 18:00, nor a time in UTC"),
        (("--since", "9999-12-31"), 2, "is still to come"),
        (("--html", "/nowhere/night.html"), 1, "'/nowhere/night.html' cannot be written: No such file or directory."),
    ],
)
def test_what_cannot_be_is_said(night: Night, words: tuple[str, ...], code: int, said: str) -> None:
    done = night("report", "night", *words)

    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert "Next: " in done.stderr


def test_a_file_that_cannot_be_written_stays_as_it_was(night: Night) -> None:
    file = night.folder / "night.html"
    file.mkdir()

    assert night("report", "night", "--html", str(file)).returncode == 1
    assert file.is_dir()


@pytest.fixture
def post() -> Iterator[MailServer]:
    with MailServer() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.released.set()
        server.shutdown()


SECRET = "hunter2-is-secret"


def with_mail(night: Night, server: MailServer, more: str = "") -> None:
    port = server.server_address[1]
    (night.folder / "batchctl.toml").write_text(
        f'database_url = "{night.database.url}"\nstate_directory = "{night.folder / "state"}"\npoll_interval = 0.2\n'
        f'heartbeat_interval = 0.2\n{more}\n[secrets.hidden]\nenv = "HIDDEN"\n'
        f'[alerts.channels.mail]\nkind = "smtp"\nhost = "127.0.0.1"\nport = {port}\nsecurity = "none"\n'
        'sender = "b@example.org"\nto = ["team@example.org"]\nleast = "error"\non = "escalation"\n',
        encoding="utf-8",
    )
    night.environment = {"HIDDEN": SECRET}


def parts_of(mail: bytes) -> tuple[EmailMessage, str, str]:
    """Return a mail, its text and its page."""
    made = message_from_bytes(mail, policy=policy.default)
    assert isinstance(made, EmailMessage)
    assert made.get_content_type() == "multipart/alternative"
    text, page = made.iter_parts()
    assert (text.get_content_type(), page.get_content_type()) == ("text/plain", "text/html")
    return made, str(text.get_content()), str(page.get_content())


def test_a_mail_has_text_and_a_page_and_no_secret(night: Night, post: MailServer) -> None:
    pass_the_night(night)
    with_mail(night, post)
    night.sql("UPDATE BatchProcessHistory SET Message = ? WHERE Status = 'failed'", f"{HOSTILE} {MARKUP} {SECRET}")

    done = night("report", "night", "--since", an_hour_ago(), "--mail", "mail")

    assert (done.returncode, done.stderr) == (0, "The report was sent through mail.\n")
    (sent,) = post.mails
    mail, text, source = parts_of(sent)
    assert str(mail["Subject"]).endswith("4 instances complete, 1 failed and mended, 2 stand open")
    assert text.splitlines()[0] == mail["Subject"]
    assert "batchctl rerun" in text
    assert SECRET.encode() not in sent
    assert SECRET not in text + source
    assert "***" in text
    assert "\x1b" not in text + source
    page = Page(source)
    assert not {"script", "img", "link"} & {*page.tags}
    assert any(MARKUP in each for each in page.text)


def test_what_keeps_a_mail_from_going_out_is_said(night: Night, post: MailServer) -> None:
    with_mail(night, post)
    unknown = night("report", "night", "--mail", "mial")
    assert (unknown.returncode, "There is no channel 'mial'. Did you mean 'mail'?" in unknown.stderr) == (3, True)

    post.mood = "refuses"
    refused = night("report", "night", "--mail", "mail")
    assert refused.returncode == 1
    assert "The report could not be sent through mail: " in refused.stderr
    assert "Next: batchctl alert test mail" in refused.stderr


REPORT = '[report]\nnight = "{}"\nsince = "18:00"\nchannels = ["mail"]\n'


def test_the_leader_sends_it_once_a_day_by_itself(night: Night, post: MailServer) -> None:
    pass_the_night(night)
    due = SystemClock().now() - timedelta(minutes=30)
    with_mail(night, post, REPORT.format(f"{due:%H:%M}"))
    night.sql("UPDATE BatchControl SET Status = 'paused' WHERE Status = 'failed'")

    assert night("run", "--once").returncode == 0
    assert night("run", "--once").returncode == 0

    (sent,) = post.mails
    mail, text, _ = parts_of(sent)
    assert f" to {due:%H:%M}): " in str(mail["Subject"])
    assert f"It was due at {due:%Y-%m-%d %H:%M} UTC" in text
    assert "batchctl resume" in text
    acts = night.json("audit", "--action", "report sent")
    assert [one["Target"] for one in acts] == [f"Report:night {due:%Y-%m-%d}:mail"]
    assert night("audit", "seal").returncode == 0
    assert night("audit", "verify").returncode == 0
    assert night("fsck").returncode == 0


def test_it_is_tried_again_where_the_server_was_away(night: Night, post: MailServer) -> None:
    with_mail(night, post, REPORT.format("00:00"))
    post.mood = "refuses"

    failed = night("run", "--once")
    assert "report.trouble" in failed.stderr + failed.stdout
    (entry,) = night.json("audit", "--action", "report failed")
    assert "SMTPRecipientsRefused" in entry["Reason"]

    post.mood = ""
    night("run", "--once")
    assert post.mails == []
    assert night.json("audit", "--action", "report sent") == []


@pytest.mark.parametrize(
    ("section", "code", "said"),
    [
        ('[report]\nnight = "06:30"\nchannels = ["mial"]\n', 6, "There is no channel 'mial'"),
        (
            '[report]\nnight = "6.30"\nchannels = ["mail"]\n',
            2,
            "report.night: '6.30' is no time of day: write it as HH:MM",
        ),
        ('[report]\nsince = "evening"\n', 2, "report.since: 'evening' is no time of day"),
        ('[report]\nnight = "06:30"\n', 2, "report: night and channels go together"),
        ('[report]\nnihgt = "06:30"\n', 2, "report.nihgt: there is no such setting. Did you mean 'night'?"),
    ],
)
def test_check_says_what_is_wrong_in_the_section(
    night: Night, post: MailServer, section: str, code: int, said: str
) -> None:
    with_mail(night, post, section)

    found = night("check", env={"COLUMNS": "250"})

    assert (found.returncode, said in found.stdout + found.stderr) == (code, True), found.stdout + found.stderr

"""Who else of this host gets at the files of an installation: what is made is private, what is not is named."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from batchctl import app, config
from batchctl.control_database import upgrade_database
from batchctl.domain.outcomes import HealthFinding, Result
from batchctl.operations import privacy
from batchctl.operations.definitions import checking
from batchctl.system.commands import journal
from batchctl.system.host import permissions
from batchctl.system.host.permissions import others_at

if sys.platform == "win32":
    pytest.skip("permissions are mode bits on POSIX alone", allow_module_level=True)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter: those that pytest makes are closed far above."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        os.chmod(made, 0o755)
        yield Path(made)


@pytest.fixture(autouse=True)
def _usual_mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def settings_in(folder: Path, text: str = "") -> config.Settings:
    path = folder / "batchctl.toml"
    path.write_text(f'state_directory = "state"\n{text}', encoding="utf-8")
    return config.load(str(path))


def findings(settings: config.Settings) -> dict[str, HealthFinding]:
    return dict(privacy.findings(settings))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_database_and_its_companions_are_made_for_their_owner_alone(open_folder: Path) -> None:
    settings = settings_in(open_folder)
    upgrade_database(str(settings.file))
    with sqlite3.connect(open_folder / "batchctl.db") as hand:
        hand.execute("PRAGMA journal_mode = WAL")
    hand.close()
    opened = app.App(settings)
    with opened.transactions.read():
        made = {path.name: mode(path) for path in open_folder.glob("batchctl.db*")}

    assert made == {"batchctl.db": 0o600, "batchctl.db-wal": 0o600, "batchctl.db-shm": 0o600}
    assert {mode(path) for path in open_folder.glob("batchctl.db*")} == {0o600}
    assert findings(settings)["database_url"].result is Result.OK
    assert list(checking.of_settings(settings)) == []


def test_an_upgrade_leaves_a_database_the_rights_it_has(open_folder: Path) -> None:
    settings = settings_in(open_folder)
    upgrade_database(str(settings.file))
    (open_folder / "batchctl.db").chmod(0o640)
    upgrade_database(str(settings.file))

    assert mode(open_folder / "batchctl.db") == 0o640


def test_the_state_directory_is_made_private_with_all_above_it(open_folder: Path) -> None:
    journal.prepare(open_folder / "state" / "database" / "controller", "controller")

    made = [
        open_folder / "state",
        open_folder / "state" / "database",
        open_folder / "state" / "database" / "controller",
    ]
    assert [mode(each) for each in made] == [0o700] * 3
    assert mode(open_folder) == 0o755


def test_whatever_every_user_gets_at_is_a_warning_with_what_to_type(open_folder: Path) -> None:
    settings = settings_in(open_folder, '[secrets.wh]\nfile = "wh.txt"\n[secrets.other]\nfile = "none.txt"\n')
    upgrade_database(str(settings.file))
    (open_folder / "batchctl.db").chmod(0o644)
    (open_folder / "batchctl.db-wal").touch(0o644)
    (open_folder / "wh.txt").touch(0o666)
    (open_folder / "wh.txt").chmod(0o666)
    (open_folder / "state").mkdir(0o755)
    found = findings(settings)
    database, log = open_folder / "batchctl.db", open_folder / "batchctl.db-wal"

    assert found == {
        "database_url": HealthFinding(
            "privacy",
            Result.WARN,
            f"Every user of this host may read {database} and {log}.",
            f"chmod 600 {database}*",
        ),
        "this host": HealthFinding(
            "privacy",
            Result.WARN,
            f"Every user of this host may read {open_folder / 'state'}.",
            f"chmod 700 {open_folder / 'state'}",
        ),
        "settings": HealthFinding(
            "privacy",
            Result.OK,
            f"Every user of this host may read {settings.file}, and no password stands there.",
        ),
        "secrets.wh": HealthFinding(
            "privacy",
            Result.WARN,
            f"Every user of this host may read and change {open_folder / 'wh.txt'}.",
            f"chmod 600 {open_folder / 'wh.txt'}",
        ),
    }
    assert [one.row for one in checking.of_settings(settings)] == ["database_url", "this host", "secrets.wh"]
    assert {one.remedy for one in checking.of_settings(settings)} == {
        one.next_step for one in found.values() if one.result is Result.WARN
    }


@pytest.mark.parametrize(
    ("bits", "text", "rights"),
    [
        (0o644, '[connections.w]\nurl = "postgresql://u:literal@127.0.0.1/d"\n', "read"),
        (0o646, "", "read and change"),
        (0o602, "", "change"),
    ],
)
def test_settings_that_hold_a_password_or_that_anybody_may_change_are_a_warning(
    open_folder: Path, bits: int, text: str, rights: str
) -> None:
    settings = settings_in(open_folder, text)
    assert settings.file is not None
    settings.file.chmod(bits)
    reading = findings(settings)["settings"]

    assert (reading.result, reading.message) == (
        Result.WARN,
        f"Every user of this host may {rights} {settings.file}.",
    )


def test_a_file_in_a_folder_that_everybody_may_write_to_can_be_replaced_unless_that_is_sticky(
    open_folder: Path,
) -> None:
    path = open_folder / "batchctl.toml"
    path.touch(0o600)
    open_folder.chmod(0o777)
    assert others_at(path).everybody == "change"

    open_folder.chmod(0o1777)
    assert others_at(path).everybody == ""


def test_what_lies_in_a_closed_folder_nobody_gets_at(open_folder: Path) -> None:
    (open_folder / "closed").mkdir(0o700)
    path = open_folder / "closed" / "batchctl.toml"
    path.touch(0o666)

    assert others_at(path).everybody == ""
    assert others_at(open_folder / "none") == permissions.NO_OTHERS


def test_a_group_that_was_let_in_is_named_and_no_warning(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permissions, "_others_in", lambda group, owner: {"anna"})
    monkeypatch.setattr(permissions, "_group_name", lambda group: "etl")
    settings = settings_in(open_folder)
    assert settings.file is not None
    settings.file.chmod(0o640)

    said = f"The group etl may read {settings.file}, besides its owner."
    assert findings(settings)["settings"] == HealthFinding("privacy", Result.OK, said)


def test_a_group_of_the_owner_alone_is_nobody_else(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permissions, "_others_in", lambda group, owner: set())
    settings = settings_in(open_folder)
    assert settings.file is not None
    settings.file.chmod(0o660)

    assert findings(settings)["settings"].message == f"No other user gets at {settings.file}, as far as its mode says."

"""A copy of a control database knows that it is one, and runs nothing until a person adopts it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from batchctl import app, config
from batchctl.cli.main import run
from batchctl.control_database import upgrade_database
from batchctl.domain.errors import Refused
from batchctl.node import Node
from batchctl.operations import copies
from batchctl.operations.copies import is_same
from batchctl.operations.operators.acts import Actor
from batchctl.store import identity
from tests.control_databases import ControlDatabase, PostgresControl, SqliteControl

Copy = Callable[[], ControlDatabase]


@pytest.fixture
def copied(control_database: ControlDatabase, tmp_path: Path) -> Copy:
    """Return what copies the database, while nobody has it open."""

    def copy() -> ControlDatabase:
        folder = tmp_path / "copy"
        folder.mkdir()
        if isinstance(control_database, PostgresControl):
            server = control_database.server
            return PostgresControl(server, folder, server.new_database(control_database.name))
        made = SqliteControl(folder)
        for file in control_database.directory.glob("batchctl.db*"):
            shutil.copy(file, folder / file.name)
        return made

    return copy


def opened(database: ControlDatabase) -> app.App:
    """Open a database with a configuration beside it."""
    file = database.directory / "batchctl.toml"
    file.write_text(f'database_url = "{database.url}"\nstate_directory = "state"\n', encoding="utf-8")
    return app.App(config.load(str(file)))


def worked_on(database: ControlDatabase) -> str:
    """Let a controller work on a database once; return its name."""
    worker = opened(database)
    Node(worker).run(once=True)
    name = worker.database_id
    worker.close()
    return name


def adopted(copy: app.App, *, apart: bool = False, dry_run: bool = False) -> copies.Adopted:
    """Adopt a copy."""
    actor = Actor(transactions=copy.transactions, clock=copy.clock, user="anna", host="desk", dry_run=dry_run)
    return copies.adopt(actor, reason=None if dry_run else "moved", apart=apart)


def name_of(one: app.App) -> str:
    """Return what tells a database from all others."""
    with one.transactions.read() as connection:
        return identity.database_id(connection)


def test_status_and_why_say_that_it_is_a_copy_and_name_no_command_that_refuses(
    control_database: ControlDatabase, copied: Copy, capsys: pytest.CaptureFixture[str]
) -> None:
    worked_on(control_database)
    hand = control_database.hand()
    hand.sql("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('Load')")
    hand.sql("INSERT INTO FileProcess (Entity) VALUES ('Load')")
    hand.close()
    copy = copied()
    # As it stands in a copy that was made while a controller ran.
    hand = copy.hand()
    hand.sql("UPDATE Controller SET Status = 'running', Heartbeat = '2100-01-01 00:00:00.000'")
    hand.close()
    opened(copy).close()

    def told(*args: str) -> str:
        assert run(["--config", str(copy.directory / "batchctl.toml"), *args]) in (0, 1)
        return " ".join(capsys.readouterr().out.split())

    adopt = "batchctl db adopt --reason"
    seen = told("status")
    assert "This control database is a copy of" in seen
    assert "no controller is running" in seen
    assert f"Next: {adopt}" in seen
    assert json.loads(told("status", "--json"))["Copy"].startswith("This control database is a copy of")
    gates = {gate["Gate"]: gate for gate in json.loads(told("why", "file:1", "--json"))["Gates"]}
    assert gates["controller"]["Blocked"].startswith("This control database is a copy of")
    assert all(gates[name]["Clear"].startswith(adopt) for name in ("created", "controller"))


def test_a_copy_made_before_anything_ever_ran_knows_that_it_is_one(tmp_path: Path) -> None:
    """Both would do all the work that waits in it."""
    made, copy = SqliteControl(tmp_path / "made"), SqliteControl(tmp_path / "copy")
    for database in (made, copy):
        database.directory.mkdir()
    file = made.directory / "batchctl.toml"
    file.write_text('state_directory = "state"\n', encoding="utf-8")
    upgrade_database(str(file))
    shutil.copy(made.directory / "batchctl.db", copy.directory / "batchctl.db")

    worked_on(made)
    with pytest.raises(Refused, match="is a copy of") as refused:
        worked_on(copy)
    log = f"{copy.directory / 'batchctl.db'}-wal"
    assert refused.value.message.endswith(
        f" If {log} of an earlier file lay here when it was copied, remove that log and copy the file once more."
    )


def test_nothing_runs_on_a_copy_until_somebody_adopts_it(control_database: ControlDatabase, copied: Copy) -> None:
    name = worked_on(control_database)
    copy = opened(copied())
    works: list[Callable[[], object]] = [lambda: Node(copy).run(once=True), Node(copy).process]
    for work in works:
        with pytest.raises(Refused, match="is a copy of"):
            work()
    with pytest.raises(Refused, match="is a copy of") as refused:
        Node(copy).create()
    assert "batchctl db adopt --reason" in (refused.value.next_step or "")
    assert adopted(copy, dry_run=True).original is not None
    with pytest.raises(Refused):
        Node(copy).create()
    done = adopted(copy)
    Node(copy).run(once=True)
    copy.close()

    hand = control_database.hand()
    assert hand.sql("SELECT count(*) FROM AuditLog WHERE Action = 'adopt'") == [(0,)], (
        "of the copy, not of the original"
    )
    hand.close()
    assert done.database_id == name
    assert worked_on(control_database) == name


def test_a_copy_that_is_to_work_apart_gets_a_name_of_its_own(control_database: ControlDatabase, copied: Copy) -> None:
    name = worked_on(control_database)
    copy = opened(copied())
    done = adopted(copy, apart=True)
    with copy.transactions.read() as connection:
        ((before, after),) = connection.exec_driver_sql(
            "SELECT ValuesBefore, ValuesAfter FROM AuditLog WHERE Action = 'adopt'"
        ).all()
    now_called = name_of(copy)
    copy.close()

    assert name not in {done.database_id, ""}
    assert (json.loads(before)["DatabaseId"], json.loads(after)["DatabaseId"]) == (name, now_called)


def test_a_copy_of_what_nobody_has_worked_on_yet_is_nobodys_copy(
    control_database: ControlDatabase, copied: Copy
) -> None:
    del control_database

    assert worked_on(copied())


def test_doctor_says_that_it_is_a_copy(control_database: ControlDatabase, copied: Copy) -> None:
    worked_on(control_database)
    copy = copied()
    opened(copy).close()
    lines = app.examine(str(copy.directory / "batchctl.toml"))

    (found,) = [line for line in lines if line.check == "copy"]
    assert (found.result, "is a copy of" in found.message) == ("FAIL", True)


FILE = {"path": "/db", "inode": 7, "device": 1}


@pytest.mark.parametrize(
    ("here", "same"),
    [
        (FILE, True),
        ({**FILE, "device": 9}, True),
        ({**FILE, "path": "/other"}, True),
        ({**FILE, "inode": 8}, False),
        ({"path": "/other", "inode": 7, "device": 9}, False),
    ],
)
def test_a_file_is_known_by_its_number_on_its_disk_or_at_its_path(here: dict[str, object], same: bool) -> None:
    assert is_same(json.dumps(FILE), json.dumps(here)) is same


def test_a_place_that_somebody_has_overwritten_is_not_this_one() -> None:
    assert not is_same("nonsense", json.dumps(FILE))
    assert not is_same("[1]", json.dumps({"oid": 5, "database": "d"}))


def test_a_backup_in_the_place_of_its_original_is_not_said_to_be_a_copy_of_itself(tmp_path: Path) -> None:
    file = tmp_path / "batchctl.toml"
    file.write_text('state_directory = "state"\n', encoding="utf-8")
    upgrade_database(str(file))
    one = SqliteControl(tmp_path)
    worked_on(one)
    at = tmp_path / "batchctl.db"
    shutil.copy(at, tmp_path / "backup.db")
    (tmp_path / "backup.db").replace(at)

    with pytest.raises(Refused) as refused:
        worked_on(one)
    assert refused.value.message.startswith(f"This control database is a copy of what was {at} before, or was moved")

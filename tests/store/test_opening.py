"""Opening a control database where there is no place for one."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from batchctl.domain.errors import Busy, DatabaseRefused
from batchctl.store import engine
from batchctl.store.definitions import definitions
from batchctl.store.dialects import sqlite
from batchctl.store.maintenance import schema
from batchctl.store.transactions import StoreTransactions


@pytest.mark.parametrize("may_create", [True, False])
def test_a_folder_that_does_not_exist_is_named_and_not_made(tmp_path: Path, may_create: bool) -> None:
    with pytest.raises(DatabaseRefused) as refused:
        engine.open_engine("sqlite:///nowhere/batchctl.db", tmp_path, may_create=may_create)

    assert f"The folder {tmp_path / 'nowhere'} " in refused.value.message
    assert "does not exist" in refused.value.message
    assert str(refused.value.next_step).startswith("create the folder")
    assert list(tmp_path.iterdir()) == []


def as_somebody_else(act: Callable[[], object]) -> object:
    """Do something in a process of its own; where the tests run as root, as a user who may do nothing here."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            answer = act()
        except Exception as error:  # noqa: BLE001 - the child must never go on as a second run of the tests
            answer = f"{type(error).__name__}: {error}"
        os.write(sending, json.dumps(answer).encode())
        os._exit(0)
    os.close(sending)
    with os.fdopen(receiving, "rb") as said:
        answer = json.loads(said.read())
    os.waitpid(child, 0)
    return answer


@pytest.fixture
def foreign() -> Iterator[Path]:
    """A database that others may read, with nobody at work in it. Nobody else may look into the tests' own folders."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        folder.chmod(0o755)
        transactions = StoreTransactions(engine.open_engine("sqlite:///batchctl.db", folder, may_create=True))
        with transactions.read() as connection:
            sqlite.DIALECT.prepare(connection)
        transactions.run(frozenset(), schema.upgrade)
        with transactions.read() as connection:
            connection.exec_driver_sql("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('B')")
        transactions.close()
        yield folder / "batchctl.db"


def journal(file: Path, mode: str) -> None:
    """Set how the file is written to."""
    with closing(sqlite3.connect(file)) as hand:
        hand.execute(f"PRAGMA journal_mode = {mode}")


def read(file: Path) -> list[str]:
    """Read the names of the batches, as `status` does."""
    transactions = StoreTransactions(engine.open_engine(f"sqlite:///{file}", file.parent))
    with transactions.read() as connection:
        return [batch.name for batch in definitions.all_batches(connection)]


def write(file: Path) -> str:
    """Try to switch a batch off."""
    transactions = StoreTransactions(engine.open_engine(f"sqlite:///{file}", file.parent))
    try:
        transactions.run(
            frozenset(), lambda connection: connection.exec_driver_sql("UPDATE ProcessBatch SET Enabled = 0")
        )
    except DatabaseRefused as refused:
        return f"{refused.message} Next: {refused.next_step}"
    return "written"


@pytest.mark.parametrize("mode", ["wal", "truncate"])
@pytest.mark.parametrize("shut", ["file", "folder"])
def test_who_may_only_read_leaves_nothing_beside_the_file(foreign: Path, shut: str, mode: str) -> None:
    journal(foreign, mode)
    before = sorted(foreign.parent.iterdir())
    foreign.chmod(0o444 if shut == "file" else 0o666)
    foreign.parent.chmod(0o777 if shut == "file" else 0o555)
    try:
        assert as_somebody_else(lambda: read(foreign)) == ["B"]
        said = str(as_somebody_else(lambda: write(foreign)))
    finally:
        foreign.parent.chmod(0o755)
        foreign.chmod(0o644)

    culprit = foreign if shut == "file" else foreign.parent
    assert f"{culprit} is not writable. Next: let this user write to {culprit}" in said
    assert sorted(foreign.parent.iterdir()) == before
    assert write(foreign) == "written"


@pytest.mark.parametrize(("mode", "seen"), [("truncate", "locked"), ("wal", ["B"])])
@pytest.mark.full
def test_who_may_only_read_does_not_read_what_is_half_written(foreign: Path, mode: str, seen: object) -> None:
    journal(foreign, mode)
    foreign.chmod(0o644)
    foreign.parent.chmod(0o555)
    try:
        with closing(sqlite3.connect(foreign, isolation_level=None)) as writer:
            writer.execute("BEGIN EXCLUSIVE")
            writer.execute("UPDATE ProcessBatch SET ProcessBatchName = 'half'")
            found = as_somebody_else(lambda: said(foreign))
            writer.execute("ROLLBACK")
    finally:
        foreign.parent.chmod(0o755)

    assert found == seen


def said(file: Path) -> object:
    """Return the names, or that the file is locked."""
    try:
        return read(file)
    except (Busy, DatabaseRefused) as error:
        return "locked" if "locked" in str(error) else str(error)

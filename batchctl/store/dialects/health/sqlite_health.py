"""What `doctor` asks SQLite."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.engine import URL
from sqlalchemy.pool import NullPool

from batchctl.domain.errors import DatabaseRefused
from batchctl.domain.outcomes import HealthFinding, MissingRights, Result
from batchctl.store.dialects.sqlite import waits_for_disk

DRIVERS: tuple[str, ...] = ("sqlite", "sqlite+pysqlite")
INSTALL = "install a Python with sqlite3"

_SYNCHRONOUS = {0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}


@dataclass(frozen=True, slots=True)
class SqliteDurability:
    """What makes commits stay."""

    path: str
    synchronous: int
    waits_for_disk: bool
    """After or during a commit."""
    journal_mode: str
    version: tuple[int, int, int]


def open_target(url: URL, directory: Path) -> Engine:
    """Return an engine for a file, which must exist."""
    if not url.database or url.database == ":memory:":
        raise DatabaseRefused("A database in memory is empty for every step: name a file.")
    path = (directory / url.database).resolve()
    if not path.is_file():
        raise DatabaseRefused(
            f"There is no database file {path}.", next_step="create it with sqlite3, or correct the url"
        )
    mode = "rw" if os.access(path, os.W_OK) else "ro"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(f"{path.as_uri()}?mode={mode}", uri=True)

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    return engine.execution_options(batchctl_file=str(path))


def now(connection: Connection) -> None:
    """Return None: the clock of this host is the database's."""


def blocker(connection: Connection, *, making: bool) -> HealthFinding | None:  # noqa: ARG001 - the protocol's
    """Return None: only writing shows whether the file can be written to."""
    return None


def rights(connection: Connection, needed: Mapping[str, Sequence[str]]) -> list[HealthFinding]:  # noqa: ARG001 - a file's tables are all alike
    """Say whether the file and its folder can be written to."""
    path = _path_of(connection)
    beside = (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm"), path.parent)
    culprit = next((each for each in beside if each.exists() and not os.access(each, os.W_OK)), None)
    if culprit is None:
        return [HealthFinding("rights", Result.OK, "The file and its folder can be read and written.")]
    next_step = f"let this user write to {culprit}, or act as the user who runs the controller"
    return [HealthFinding("rights", Result.FAIL, f"This user cannot write to {culprit}.", next_step)]


def lacking(connection: Connection, wished: Mapping[str, Sequence[str]]) -> list[MissingRights]:  # noqa: ARG001 - a file's tables are all alike
    """Return nothing: a user that may write to the file may do anything to its tables."""
    return []


def target_rights(connection: Connection) -> list[HealthFinding]:
    """Say whether the file is a database, and whether steps can write to it."""
    connection.exec_driver_sql("PRAGMA schema_version")
    (found,) = rights(connection, {})
    if found.result is Result.OK:
        return [found]
    return [HealthFinding("rights", Result.WARN, f"{found.message} Steps can only read.", found.next_step)]


def has_procedure(connection: Connection, name: str) -> bool:  # noqa: ARG001 - the protocol's
    """Return true: a file has no procedures, and the step handler looks for those of the folder."""
    return True


def durability(connection: Connection) -> list[HealthFinding]:
    """Ask and judge."""
    facts = SqliteDurability(
        path=str(_path_of(connection)),
        synchronous=int(connection.exec_driver_sql("PRAGMA synchronous").scalar_one()),
        waits_for_disk=waits_for_disk(connection),
        journal_mode=str(connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()).lower(),
        version=sqlite3.sqlite_version_info,
    )
    return list(judge(facts))


def judge(facts: SqliteDurability) -> Iterator[HealthFinding]:
    """Say of each fact what it means."""
    if facts.waits_for_disk:
        yield HealthFinding("synchronous", Result.OK, "A commit waits for the disk.")
    else:
        word = _SYNCHRONOUS.get(facts.synchronous, str(facts.synchronous))
        said = f"{word}: what was committed may be lost when the power fails."
        yield HealthFinding("synchronous", Result.FAIL, said, "install batchctl again: it waits for the disk by itself")
    yield _journal(facts)


def _journal(facts: SqliteDurability) -> HealthFinding:
    mode, version = facts.journal_mode, ".".join(map(str, facts.version))
    as_file = facts.path.replace("'", "'\\''")
    if mode in {"off", "memory"}:
        said = f"{mode}: a crash in the middle of a write damages the file."
        return HealthFinding("journal mode", Result.FAIL, said, f"sqlite3 '{as_file}' 'PRAGMA journal_mode = WAL'")
    said = f"{mode}, with SQLite {version}."
    if mode == "wal" and not _is_mended(facts.version):
        said += (
            " Before 3.51.3 a commit may damage the file in the moment in which the log is written into it: batchctl keeps the"
            " two apart. Other programs that write megabytes at once should have a newer SQLite."
        )
    return HealthFinding("journal mode", Result.OK, said)


def _is_mended(version: tuple[int, int, int]) -> bool:
    """Say whether a version of SQLite itself keeps commits apart from writing the log into the file."""
    return version >= (3, 51, 3) or (3, 50, 7) <= version < (3, 51, 0) or (3, 44, 6) <= version < (3, 45, 0)


def _path_of(connection: Connection) -> Path:
    return Path(str(connection.exec_driver_sql("PRAGMA database_list").one()[2]))

"""What holds for every test: no setting of the person who runs it, and no deadline a busy machine could miss."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import compiled_once, tiers
from tests.control_databases import KINDS, ControlDatabase, Emptied, PostgresControl, SqliteControl, with_tables
from tests.leftovers import end_supervisors
from tests.postgres import PostgresServer
from tests.quick_folder import quick_folder
from tests.sqlserver import statements, taken
from tests.sqlserver.control import lent

settings.register_profile("full", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("full"), max_examples=25)
settings.load_profile("full")
compiled_once.share()
pytest_plugins = ["tests.acceptance.fixtures", "tests.acceptance.consoles"]
HERE = Path(__file__).parent

SHELLS = () if sys.platform == "win32" else ("bash", "dash", "sqlite3")


def pytest_configure() -> None:
    missing = [shell for shell in SHELLS if shutil.which(shell) is None]
    if missing:
        names = ", ".join(missing)
        raise pytest.UsageError(
            f"the tests paste commands into real shells, and {names} cannot be found; install it"
            f" (on Debian or Ubuntu: apt-get install {' '.join(missing)})"
        )
    if folder := quick_folder():
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", folder)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    # What only the full suite has need not be imported to be left out.
    is_left_out = config.option.markexpr == "not full" and HERE in collection_path.parents
    return (is_left_out and collection_path.relative_to(HERE).as_posix() in tiers.FULL) or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    # Tens of thousands of tests stay to the end: to look through them for garbage took half of collecting, and a tenth of all.
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    modules = {item: item.path.relative_to(HERE).as_posix() for item in items}
    for item, module in modules.items():
        tiers.assign(item, module)
    items.sort(key=lambda item: not tiers.takes_longest(item, modules[item]))


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in list(os.environ):
        if name.startswith("BATCHCTL_"):
            monkeypatch.delenv(name)
    # Where the person who runs the tests keeps what batchctl remembers, no test leaves anything.
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "state"))


@pytest.fixture(autouse=True, scope="session")
def _no_supervisor_stays(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    yield
    end_supervisors(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A running PostgreSQL server; one that cannot run fails the tests that ask for it."""
    server = PostgresServer()
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def prepared(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a database that has the tables and no rows, to make others from."""
    name = postgres.new_database()
    with_tables(PostgresControl(postgres, tmp_path_factory.mktemp("prepared"), name))
    return name


@pytest.fixture(scope="session")
def emptied(postgres: PostgresServer, prepared: str) -> Emptied:
    """Databases with tables and no rows, used again and again: making one takes longer than most tests."""
    return Emptied(postgres, prepared)


@pytest.fixture(params=KINDS)
def control_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ControlDatabase]:
    """A control database with its tables, of every kind in turn."""
    if request.param != "postgresql":
        made = SqliteControl(tmp_path) if request.param == "sqlite" else lent(request, tmp_path)
        with_tables(made)
        yield made
        return
    yield from _lent(request.getfixturevalue("emptied"), tmp_path)


@pytest.fixture(params=KINDS)
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> ControlDatabase:
    """A control database that holds nothing yet, of every kind in turn."""
    if request.param == "sqlite":
        return SqliteControl(tmp_path)
    if request.param == "mssql":
        made = lent(request, tmp_path)
        made.clear()
        return made
    server: PostgresServer = request.getfixturevalue("postgres")
    return PostgresControl(server, tmp_path, server.new_database())


@pytest.fixture
def sqlite_database(tmp_path: Path) -> SqliteControl:
    """A control database on SQLite, for what other kinds cannot hold or do."""
    made = SqliteControl(tmp_path)
    with_tables(made)
    return made


@pytest.fixture
def postgres_database(emptied: Emptied, tmp_path: Path) -> Iterator[PostgresControl]:
    """A control database on PostgreSQL, for what other kinds cannot hold or do."""
    yield from _lent(emptied, tmp_path)


def _lent(databases: Emptied, tmp_path: Path) -> Iterator[PostgresControl]:
    name = databases.lend()
    yield PostgresControl(databases.server, tmp_path, name)
    databases.take_back(name)


@pytest.fixture(autouse=True, scope="session")
def _statements_are_heard() -> Iterator[None]:
    """Keep every statement of the store, as SQL Server would get it, whatever database the tests run on."""
    with statements.recording(taken.SENT.append):
        yield


@pytest.fixture(scope="session")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> taken.Ledger:
    """What no process of this run need look at again."""
    own = tmp_path_factory.getbasetemp()
    path = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "taken_by_sql_server"
    path.touch()
    return taken.Ledger(path)


@pytest.fixture(autouse=True)
def _sql_server_takes_them(ledger: taken.Ledger) -> Iterator[None]:
    yield
    taken.look_at_what_was_sent(ledger)

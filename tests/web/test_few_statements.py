"""How many statements a page costs: they are counted, so that no list asks row by row."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlalchemy import Engine, event

from batchctl.app import App, open_app
from batchctl.web.page import PageAt, PageRequest
from batchctl.web.pages import PAGES
from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import NEEDS_A_FILE, Night, a_file

QUERIES = {
    "/sql": {"list": "Running"},
    "/batch": {"name": "Late"},
    "/schedule": {"name": "nightly 1"},
    "/calendar": {"name": "NL"},
}
PARTS = {"number": "1", "name": "night"}
READS = ("SELECT", "WITH")
MOST = 12
MORE = {
    "/": 64,
    "/instances/{number}": 40,
    "/batches": 16,
    "/batch": 40,
    "/dependencies": 13,
    "/schedules": 17,
    "/schedule": 32,
    "/inbox": 14,
    "/file-processes/{number}": 30,
    "/controllers": 22,
}
"""Pages that explain ask more: every gate looks for itself."""
LINE_BY_LINE = {"/": 180, "/batch": 60}
"""Pages that ask of each schedule and each instance that they explain, of which they show twenty at most."""


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory, run_batchctl: RunBatchctl) -> Night:
    made = Night(a_file(tmp_path_factory.mktemp("counted")), run_batchctl)
    made.batch("Late", "echo loaded", NEEDS_A_FILE)
    made.arrive("Late", "missing.csv")
    assert made("run", "--once").returncode == 1
    made.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL')")
    made.sql("INSERT INTO OperatorRequest (Action, BatchControl_id) VALUES ('pause', 1)")
    schedules(made, 1)
    return made


def schedules(night: Night, *numbers: int) -> None:
    for at in numbers:
        night.sql(
            "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes) VALUES (?, 'Late', 'daily', '02:30')",
            f"nightly {at}",
        )


@pytest.fixture(scope="module")
def asked() -> Iterator[list[str]]:
    """Keep what is asked of any database that is opened from now on."""
    kept: list[str] = []

    def listen(connection: sqlite3.Connection, _: object) -> None:
        connection.set_trace_callback(kept.append)

    event.listen(Engine, "connect", listen)
    yield kept
    event.remove(Engine, "connect", listen)


@pytest.fixture
def app(night: Night, asked: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    monkeypatch.chdir(night.folder)
    with closing(open_app(None)) as made:
        yield made


def counted(app: App, asked: list[str], place: PageAt) -> int:
    wanted = PageRequest(QUERIES.get(place.path, {}), PARTS)
    place.show(app, wanted)
    asked.clear()
    place.show(app, wanted)
    return sum(one.lstrip().upper().startswith(READS) for one in asked)


@pytest.mark.parametrize("place", PAGES, ids=lambda place: place.path)
def test_a_page_asks_little(app: App, asked: list[str], place: PageAt) -> None:
    assert counted(app, asked, place) <= MORE.get(place.path, MOST)


def test_more_to_show_does_not_cost_more_statements(night: Night, app: App, asked: list[str]) -> None:
    before = {place.path: counted(app, asked, place) for place in PAGES}
    for at in range(2, 30):
        night.arrive("Late", f"{at}.csv")
    for name in (f"Batch {at}" for at in range(8)):
        night.batch(name, "true")
    schedules(night, *range(2, 12))
    night.sql("UPDATE FileProcess SET Status = 'ready' WHERE FileProcess_id > 1")
    assert night("create").returncode == 0

    after = {place.path: counted(app, asked, place) for place in PAGES}

    most = {path: LINE_BY_LINE.get(path, many + 3) for path, many in before.items()}
    assert {path: (before[path], many) for path, many in after.items() if many > most[path]} == {}

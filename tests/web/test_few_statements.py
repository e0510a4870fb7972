"""How often a page asks the database: what it asks is counted, so that no list asks row by row.

What a page asks together is one statement of a file, and one round trip to a server.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, event

from batchctl.app import App, open_app
from batchctl.store.dialects.postgresql_pipeline import Pipeline
from batchctl.web.page import PageAt, PageRequest
from batchctl.web.pages import PAGES
from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import NEEDS_A_FILE, Night, a_control
from tests.control_databases import FIRST_TWO

QUERIES = {
    "/sql": {"list": "Running"},
    "/batch": {"name": "Late"},
    "/schedule": {"name": "nightly 1"},
    "/calendar": {"name": "NL"},
}
PARTS = {"number": "1", "name": "night"}
READS = ("SELECT", "WITH")
MOST = 12


@pytest.fixture(scope="module", params=FIRST_TWO)
def night(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, run_batchctl: RunBatchctl) -> Night:
    made = Night(a_control(request.param, request, tmp_path_factory.mktemp("counted")), run_batchctl)
    made.batch("Late", "echo loaded", NEEDS_A_FILE)
    made.arrive("Late", "missing.csv")
    assert made("run", "--once").returncode == 1
    made.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL')")
    made.sql("INSERT INTO OperatorRequest (Action, BatchControl_id) VALUES ('pause', 1)")
    made.sql("DELETE FROM KeptForecast")
    made.sql("INSERT INTO KeptForecast (ProcessBatch_id, MadeOn, NeedsPerson, Nights) VALUES (1, '2025-11-01', 0, 43)")
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
    """Keep each round trip to any database that is opened from now on."""
    kept: list[str] = []

    def listen(connection: Any, _: object) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.set_trace_callback(kept.append)

    def sent(pipeline: Pipeline, waiting: Any) -> Any:
        kept.append("SELECT " + "; ".join(" ".join(each.text.split())[:60] for each in waiting))
        return go(pipeline, waiting)

    def execute(cursor: Any, query: Any, *values: Any, **named: Any) -> Any:
        kept.append(str(query))
        return alone(cursor, query, *values, **named)

    go, alone = Pipeline._go, psycopg.Cursor.execute
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pipeline, "_go", sent)
        patch.setattr(psycopg.Cursor, "execute", execute)
        event.listen(Engine, "connect", listen)
        yield kept
        event.remove(Engine, "connect", listen)


@pytest.fixture
def app(night: Night, asked: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    monkeypatch.chdir(night.folder)
    for name, value in night.environment.items():
        monkeypatch.setenv(name, value)
    with closing(open_app(None)) as made:
        yield made


def counted(app: App, asked: list[str], place: PageAt) -> int:
    wanted = PageRequest(QUERIES.get(place.path, {}), PARTS)
    place.show(app, wanted)
    asked.clear()
    place.show(app, wanted)
    return sum(one.lstrip().upper().startswith(READS) for one in asked)


@pytest.mark.parametrize("place", PAGES, ids=lambda place: place.path)
def test_a_page_asks_little(night: Night, app: App, asked: list[str], place: PageAt) -> None:
    del night
    assert counted(app, asked, place) <= MOST


def test_more_to_show_does_not_cost_more(night: Night, app: App, asked: list[str]) -> None:
    before = {place.path: counted(app, asked, place) for place in PAGES}
    for at in range(2, 30):
        night.arrive("Late", f"{at}.csv")
    for name in (f"Batch {at}" for at in range(8)):
        night.batch(name, "true")
    schedules(night, *range(2, 12))
    night.sql("UPDATE FileProcess SET Status = 'ready' WHERE FileProcess_id > 1")
    assert night("create").returncode == 0

    after = {place.path: counted(app, asked, place) for place in PAGES}

    assert {path: (before[path], many) for path, many in after.items() if many > min(before[path] + 3, MOST)} == {}

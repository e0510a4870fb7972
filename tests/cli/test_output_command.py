"""`batchctl output`: what an attempt has written, so far or in all."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from batchctl.system.clock import SystemClock
from tests.cli.shop import Shop
from tests.control_databases import PostgresControl


@pytest.fixture
def ended(shop: Shop) -> Shop:
    """Return a shop where one instance has run."""
    shop.batch("Night", "printf 'one\\ntwo\\n'")
    shop.arrive("Night")
    assert shop("run", "--once") in {0, 2} or shop("create") == shop("process") == 0
    return shop


def running(shop: Shop) -> None:
    """Let the attempt stand as one under way that has written two parts."""
    shop.sql("UPDATE BatchProcessHistory SET Status = 'running', EndTime = NULL, Output = NULL")
    for number, text in ((1, "so "), (2, "far\x1b[31m\n")):
        shop.sql("INSERT INTO StepOutput (BatchProcessHistory_id, Number, Text) VALUES (1, ?, ?)", number, text)


def end(shop: Shop, text: str) -> None:
    """Let the attempt end."""
    shop.sql("DELETE FROM StepOutput")
    shop.sql("UPDATE BatchProcessHistory SET Status = 'success', EndTime = StartTime, Output = ?", text)


def test_of_an_attempt_that_has_ended_it_is_what_was_recorded(ended: Shop) -> None:
    assert (ended("output", "1"), ended.out) == (0, "one\ntwo\n")
    assert ended.json("output", "1")["Output"] == "one\ntwo\n"
    assert (ended("output", "1", "--follow"), ended.out) == (0, "one\ntwo\n")


def test_of_one_that_runs_it_is_what_was_written_so_far(ended: Shop) -> None:
    running(ended)

    assert (ended("output", "1"), ended.out) == (0, "so far\x1b[31m\n")
    assert "batchctl output 1 --follow" in ended.err
    found = ended.json("output", "1", "--step", "10", "--attempt", "1")
    assert (found["Status"], found["Output"], found["EndTime"]) == ("running", "so far\x1b[31m\n", None)
    assert ended.sql("SELECT LastOutput FROM vRunning") == [("far\x1b[31m\n",)]


def test_to_follow_ends_with_the_attempt(ended: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    running(ended)

    monkeypatch.setattr(SystemClock, "sleep", lambda clock, seconds: end(ended, "all of it"))

    assert (ended("output", "1", "--follow"), ended.out) == (
        0,
        "so far\x1b[31m\n[... it has ended; all that is recorded follows ...]\nall of it",
    )


@pytest.mark.parametrize("words", [("99",), ("1", "--step", "20"), ("1", "--attempt", "7")])
def test_what_is_not_there_is_not_found(ended: Shop, words: tuple[str, ...]) -> None:
    assert ended("output", *words) == 3
    assert "Next: batchctl" in ended.err


def test_to_follow_in_json_is_refused(ended: Shop) -> None:
    assert ended("output", "1", "--follow", "--json") == 2


def go_away(shop: Shop) -> None:
    """Let nothing reach the control database: its server stops, or somebody moves its file."""
    shop.close()
    database = shop.database
    if isinstance(database, PostgresControl):
        with database.server.connect("postgres") as owner:
            owner.execute(f"ALTER DATABASE {database.name} ALLOW_CONNECTIONS false".encode())
            owner.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (database.name,))
    else:
        (file,) = shop.folder.glob("*.db")
        file.rename(shop.folder / "moved")


def come_back(shop: Shop) -> None:
    """Let it be there again."""
    database = shop.database
    if isinstance(database, PostgresControl):
        with database.server.connect("postgres") as owner:
            owner.execute(f"ALTER DATABASE {database.name} ALLOW_CONNECTIONS true".encode())
    else:
        (shop.folder / "moved").rename(shop.folder / Path(database.url).name)


def happens(monkeypatch: pytest.MonkeyPatch, *happenings: Callable[[], object]) -> None:
    """Let these happen one after the other, each while the command waits for a second; then time itself passes."""
    left, passed = list(happenings), 0.0

    def sleep(clock: SystemClock, seconds: float) -> None:
        nonlocal passed
        passed += seconds
        if left:
            left.pop(0)()

    monkeypatch.setattr(SystemClock, "sleep", sleep)
    monkeypatch.setattr(SystemClock, "monotonic", lambda clock: passed)


def test_who_follows_is_told_that_the_database_is_away_and_goes_on_when_it_is_back(
    ended: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    running(ended)
    back = partial(come_back, ended)
    happens(monkeypatch, partial(go_away, ended), lambda: None, back, lambda: end(ended, "so far\x1b[31m\nmore"))

    assert (ended("output", "1", "--follow"), ended.out) == (0, "so far\x1b[31m\nmore")
    assert ended.err.count("Note: still following, although: ") == 1


def test_who_follows_waits_for_no_database_for_ever(ended: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    running(ended)
    happens(monkeypatch, partial(go_away, ended))
    code = ended("output", "1", "--follow")
    come_back(ended)

    assert (code, ended.out) == (4, "so far\x1b[31m\n")
    assert "Note: still following, although: " in ended.err
    assert re.search(r"^Next: .+\nCode: BC\d+$", ended.err, re.MULTILINE)

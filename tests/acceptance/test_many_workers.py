"""How far one PostgreSQL goes: the benchmark counts what was done; see benchmarks/many_workers.py."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from pathlib import Path

import pytest

from benchmarks import many_workers, run
from benchmarks.counting_server import CountingServer
from benchmarks.many_workers import SHORT, Comparison


@pytest.fixture(scope="module")
def server() -> Iterator[CountingServer]:
    made = CountingServer()
    try:
        made.start()
        yield made
    finally:
        made.remove()


@pytest.fixture(scope="module")
def found(server: CountingServer, tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    return many_workers.compared(server, tmp_path_factory.mktemp("many"), SHORT)


def test_each_end_that_controllers_count_is_recorded_once(found: Comparison) -> None:
    working = [one for one in found.all if one.shape.works]
    assert len(working) == len(SHORT.controllers) + 2
    for one in working:
        assert 0 < one.succeeded == one.recorded, one.shape
        assert one.round_trips > 0
    assert found.idle.succeeded == found.idle.recorded == found.idle.claims == found.idle.under_way == 0


def test_rates_are_those_of_the_time_that_counts(server: CountingServer, found: Comparison) -> None:
    rows = server.rows("d1", "SELECT StartTime, EndTime FROM BatchProcessHistory WHERE Status = 'success'")
    for one in (found.alone, *found.together, found.many):
        first, last = one.window
        began, ended = (sum(first <= row[at].replace(tzinfo=UTC).timestamp() < last for row in rows) for at in (0, 1))
        assert one.ends == ended
        # One that was claimed may have been stopped with its controller.
        assert began <= one.claims <= began + one.under_way


def test_no_more_is_under_way_than_there_are_slots(found: Comparison) -> None:
    for one in found.all:
        assert one.under_way <= one.shape.controllers * one.shape.slots
    assert found.many.wanted == 2 * SHORT.many_slots / SHORT.held


def test_the_server_counts_statements_commits_and_locks(found: Comparison) -> None:
    for one in found.all:
        assert one.counted.statements > 0
        assert one.counted.lock_tries >= one.counted.locks >= 0
    # Sessions report their commits to the server's statistics only once in a while.
    assert sum(one.counted.commits for one in found.all) > 0
    assert {"batchcontrol", "batchprocesshistory"} <= found.sizes.keys()


def test_the_server_is_not_in_memory(server: CountingServer) -> None:
    assert server.home.parent == Path("/var/tmp")
    assert server.rows("postgres", "SELECT current_setting('fsync'), current_setting('synchronous_commit')") == [
        ("on", "on")
    ]


def test_all_that_was_measured_is_a_figure(found: Comparison) -> None:
    figures = run.figures_of_many_workers(found)
    assert [figure.name for figure in figures] == [
        "many-workers 2 controllers",
        "many-workers 2 controllers, one batch",
        "many-workers 32 workers",
        "many-workers 2 idle",
    ]
    assert figures[0].rate == round(found.together[0].rate, 1)

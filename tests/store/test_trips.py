"""What goes to PostgreSQL in one round trip."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from batchctl.store.dialects import postgresql
from batchctl.store.dialects.postgresql_pipeline import Pipeline
from tests.postgres import PostgresServer


@pytest.fixture
def raw(postgres: PostgresServer) -> Iterator[Any]:
    """Return a connection as the engine uses it."""
    with postgres.connect(postgres.new_database()) as made:
        made.execute("CREATE TABLE t (n bigint PRIMARY KEY, said text)")
        postgresql._limit_waiting(made)
        yield made


@pytest.fixture
def sent(raw: Any, monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Return something for every round trip."""
    del raw
    found, going = list[None](), Pipeline._go

    def noted(self: Pipeline, *asked: Any) -> Any:
        found.append(None)
        return going(self, *asked)

    monkeypatch.setattr(Pipeline, "_go", noted)
    return found


def test_what_is_asked_goes_out_together_once_an_answer_is_wanted(raw: Any, sent: list[None]) -> None:
    pipeline = raw.batchctl_pipeline
    added = pipeline.ask("INSERT INTO t VALUES (%s, %s) RETURNING n", [2**40, "5 %% % of it"])
    seen = pipeline.ask("SELECT n, said, %s::text FROM t WHERE n = ANY(%s) AND said LIKE '5 %%'", [None, [1, 2**40]])
    assert sent == []
    assert (seen(), added()) == ([(2**40, "5 %% % of it", None)], [(2**40,)])
    assert len(sent) == 1


def test_what_was_asked_goes_out_before_anything_else(raw: Any, sent: list[None]) -> None:
    raw.batchctl_pipeline.ask("INSERT INTO t VALUES (%s)", [1])
    assert raw.execute("SELECT n FROM t").fetchall() == [(1,)]
    assert len(sent) == 1


def test_an_error_is_told_and_nothing_behind_it_is_done(raw: Any) -> None:
    pipeline = raw.batchctl_pipeline
    first = pipeline.ask("INSERT INTO t VALUES (%s)", [1])
    pipeline.ask("INSERT INTO t VALUES (1/%s)", [0])
    last = pipeline.ask("INSERT INTO t VALUES (%s)", [2])
    with pytest.raises(psycopg.errors.DivisionByZero):
        first()
    with pytest.raises(psycopg.errors.InterfaceError, match="an earlier statement failed"):
        last()
    assert pipeline.ask("SELECT n FROM t")() == []


def test_what_the_driver_cannot_send_stops_nothing(raw: Any) -> None:
    pipeline = raw.batchctl_pipeline
    pipeline.begin("BEGIN")
    with pytest.raises(psycopg.ProgrammingError):
        pipeline.ask("INSERT INTO t VALUES (%s)", [1j])
    assert pipeline.ask("SELECT count(*) FROM t")() == [(0,)]
    pipeline.do("ROLLBACK")


def test_a_rollback_leaves_the_server_what_it_has_prepared(raw: Any) -> None:
    pipeline = raw.batchctl_pipeline
    for _ in range(3):
        pipeline.begin("BEGIN")
        assert pipeline.ask("INSERT INTO t VALUES (%s) RETURNING n", [1])() == [(1,)]
        raw.execute("SELECT n FROM t", prepare=True)
        pipeline.do("ROLLBACK")
    assert raw.execute("SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'batchctl%'").fetchone() == (1,)


def test_what_is_larger_than_any_buffer_goes_through(raw: Any) -> None:
    pipeline = raw.batchctl_pipeline
    asked = [pipeline.ask("SELECT %s::text", ["x" * 3_000_000]) for _ in range(8)]
    assert [len(each()[0][0]) for each in asked] == [3_000_000] * 8

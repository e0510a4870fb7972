"""What a look asks of a file goes as one statement, and each answer is that of its own statement."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from weakref import ref

import pytest

from batchctl.store.dialects.sqlite_joined import JoinedStatements
from batchctl.store.one_look import Look

NAMES = "SELECT n FROM t ORDER BY n DESC"
PAIRS = "SELECT n, n * ?, 'x' || n FROM t WHERE n > ? ORDER BY n LIMIT 2"
NONE = "SELECT n FROM t WHERE n > ?"
SUMS = "WITH s AS (SELECT sum(n) AS total FROM t) SELECT total, NULL FROM s"


class Opened(sqlite3.Connection):
    """A connection as the store has it, to which others may point."""


@pytest.fixture
def executed() -> list[str]:
    return []


@pytest.fixture
def file(executed: list[str]) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", factory=Opened)) as made:
        made.execute("CREATE TABLE t (n INTEGER)")
        made.executemany("INSERT INTO t VALUES (?)", [(at,) for at in (2, 1, 3)])
        made.set_trace_callback(executed.append)
        yield made


def ask(joined: JoinedStatements, look: Look) -> list[list[tuple[object, ...]]]:
    asked = [
        joined.ask(NAMES, (), look),
        joined.ask(PAIRS, (10, 1), look),
        joined.ask(NONE, (9,), look),
        joined.ask(SUMS, (), look),
    ]
    return [[tuple(row) for row in each()] for each in asked]


def test_each_answer_is_that_of_its_own_statement_and_all_go_as_one(
    file: sqlite3.Connection, executed: list[str]
) -> None:
    joined = JoinedStatements(file)
    expected = [[(3,), (2,), (1,)], [(2, 20, "x2"), (3, 30, "x3")], [], [(6, None)]]
    assert ask(joined, Look()) == expected
    executed.clear()

    assert ask(joined, Look()) == expected

    assert len(executed) == 1


def test_what_is_never_wanted_is_not_asked_in_the_next_look(file: sqlite3.Connection, executed: list[str]) -> None:
    joined = JoinedStatements(file)
    ask(joined, Look())
    executed.clear()
    look = Look()
    joined.ask(PAIRS, (1, 1), look)
    wanted = joined.ask(NAMES, (), Look())

    assert [tuple(row) for row in wanted()] == [(3,), (2,), (1,)]
    assert executed == [NAMES]


def test_a_statement_that_fails_fails_alone(file: sqlite3.Connection) -> None:
    joined, look = JoinedStatements(file), Look()
    ask(joined, Look())
    file.execute("CREATE TABLE gone (n INTEGER)")
    of_gone = "SELECT n FROM gone"
    assert joined.ask(of_gone, (), look)() == []
    file.execute("DROP TABLE gone")

    look = Look()
    broken, names = joined.ask(of_gone, (), look), joined.ask(NAMES, (), look)

    assert [tuple(row) for row in names()] == [(3,), (2,), (1,)]
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        broken()


def test_a_connection_is_closed_with_the_last_who_has_it() -> None:
    connection = sqlite3.connect(":memory:", factory=Opened)
    waiting = JoinedStatements(connection).ask("SELECT 1", (), Look())
    connection.close()
    gone = ref(connection)
    del connection

    assert gone() is None
    with pytest.raises(sqlite3.ProgrammingError, match="is closed"):
        waiting()

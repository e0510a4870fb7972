"""What one turn of a controller writes: everything in one round trip where the database takes it so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import chain

from sqlalchemy import Connection

from batchctl.domain.rows import BatchInstance, HistoryId
from batchctl.store import history, instances
from batchctl.store.dialects import dialect_of
from batchctl.store.history import Beginning, Ending
from batchctl.store.statements import Compiled, Rows, driver_of
from batchctl.store.transactions import in_doubt

NOT_AS_READ = "22012"
"""What a statement that is a transaction of its own fails with to undo itself: a division by zero, its only one."""

Moves = Sequence[tuple[BatchInstance, BatchInstance]]
"""Instances as they were read, and as they stand now."""


def write(
    connection: Connection,
    moves: Moves,
    endings: Sequence[Ending],
    beginnings: Sequence[Beginning],
    host: str,
    now: datetime,
    *,
    claim: bool = False,
    alone: bool = False,
) -> list[HistoryId] | None:
    """Write moves, or claims, and how attempts ended; then record that attempts begin, and return their ids.

    None when any instance or attempt does not stand any more as it was read: then the whole has to be undone. What is
    written `alone` is one statement and a transaction of its own, which has undone itself then; only of instances that
    go on can all be written so.
    """
    moving = instances.moving(connection, moves, now, claim=claim)
    closing = history.closing(connection, endings, now)
    opening = history.opening(connection, beginnings, host, now)
    if alone:
        return _alone(connection, moving, closing, opening)
    together = connection.dialect.name == "postgresql" and len(moving) + len(closing) + len(opening) > 1
    moved, closed, made = (_together if together else _one_by_one)(connection, moving, closing, opening)
    history.keep_in_doubt(connection, endings)
    if not claim and any(instances.frees(before, after) for before, after in moves):
        dialect_of(connection).tell(connection)
    is_as_read = moved == len(moves) and closed == len(endings)
    return [HistoryId(each) for each in made] if is_as_read else None


def _one_by_one(
    connection: Connection, moving: list[Rows], closing: list[Rows], opening: list[Rows]
) -> tuple[int, int, list[int]]:
    moved = sum(rows.update(connection) for rows in moving)
    closed = sum(rows.update(connection) for rows in closing)
    if moved < _count(moving) or closed < _count(closing):
        return moved, closed, []
    return moved, closed, list(chain.from_iterable(rows.insert(connection) for rows in opening))


def _together(
    connection: Connection, moving: list[Rows], closing: list[Rows], opening: list[Rows]
) -> tuple[int, int, list[int]]:
    whole = _whole(*_statements(moving, closing, opening))
    moved, closed, made = driver_of(connection).execute(whole, _sent(moving, closing, opening)).fetchone()
    return moved, closed, sorted(made)


def _alone(
    connection: Connection, moving: list[Rows], closing: list[Rows], opening: list[Rows]
) -> list[HistoryId] | None:
    dialect = dialect_of(connection)
    whole = _whole(*_statements(moving, closing, opening), dialect.ALONE)
    sent = [*_sent(moving, closing, opening), _count(moving), _count(closing)]
    try:
        _, made = driver_of(connection).execute(whole, sent).fetchone()
    except Exception as error:
        if dialect.is_lost(error):
            raise in_doubt(error) from error
        if getattr(error, "sqlstate", None) == NOT_AS_READ:
            return None
        raise
    return [HistoryId(each) for each in sorted(made)]


def _statements(*parts: list[Rows]) -> Iterator[tuple[Compiled, ...]]:
    return (tuple(rows.statement for rows in part) for part in parts)


def _sent(moving: list[Rows], closing: list[Rows], opening: list[Rows]) -> list[object]:
    sent: list[object] = [rows.as_text() for rows in (*moving, *closing)]
    for rows in opening:
        sent += [rows.as_text(), _count(moving), _count(closing)]
    return sent


def _count(part: list[Rows]) -> int:
    return sum(len(rows.values) for rows in part)


@lru_cache(maxsize=64)
def _whole(
    moving: tuple[Compiled, ...], closing: tuple[Compiled, ...], opening: tuple[Compiled, ...], alone: str | None = None
) -> str:
    """Return one statement that does all of it, and tells how many were moved and closed and which ids were given.

    One that is a transaction of its own fails instead when any was not moved or closed.
    """
    parts = {f"m{at}": f"{one.of_many} RETURNING 1" for at, one in enumerate(moving)}
    parts |= {f"c{at}": f"{one.of_many} RETURNING 1" for at, one in enumerate(closing)}
    moved, closed = (_sum_of([name for name in parts if name.startswith(kind)]) for kind in "mc")
    # An attempt ends before the next one of its instance begins, as a unique index wants it; and nothing begins in vain.
    after = f"WHERE {moved} = %s AND {closed} = %s ORDER BY "
    added = {f"o{at}": str(one.of_many).replace("ORDER BY ", after) for at, one in enumerate(opening)}
    ids = " || ".join(f"ARRAY(TABLE {name})" for name in added) or "ARRAY[]::bigint[]"
    whole = ", ".join(f"{name} AS ({text})" for name, text in (parts | added).items())
    if alone is None:
        return f"WITH {whole} SELECT {moved}, {closed}, {ids}"
    all_stood = f"1 / ({moved} = %s AND {closed} = %s)::integer"
    return f"WITH {whole} SELECT {all_stood}, {ids} FROM {alone}"  # noqa: S608 - all of it is ours


def _sum_of(names: list[str]) -> str:
    return " + ".join(f"(SELECT count(*) FROM {name})" for name in names) or "0"  # noqa: S608 - the names are our own

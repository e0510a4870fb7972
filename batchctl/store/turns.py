"""What one turn of a controller writes: everything in one round trip where the database takes it so."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from itertools import chain

from sqlalchemy import Connection

from batchctl.domain.rows import BatchInstance, HistoryId
from batchctl.store import history, instances
from batchctl.store.history import Beginning, Ending
from batchctl.store.statements import Compiled, Rows, driver_of

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
) -> list[HistoryId] | None:
    """Write moves, or claims, and how attempts ended; then record that attempts begin, and return their ids.

    None when any instance does not stand any more as it was read: then the whole has to be undone.
    """
    moving = instances.moving(connection, moves, now, claim=claim)
    closing = history.closing(connection, endings, now)
    opening = history.opening(connection, beginnings, host, now)
    together = connection.dialect.name == "postgresql" and len(moving) + len(closing) + len(opening) > 1
    moved, made = (_together if together else _one_by_one)(connection, moving, closing, opening)
    history.keep_in_doubt(connection, endings)
    return [HistoryId(each) for each in made] if moved == len(moves) else None


def _one_by_one(
    connection: Connection, moving: list[Rows], closing: list[Rows], opening: list[Rows]
) -> tuple[int, list[int]]:
    moved = sum(rows.update(connection) for rows in moving)
    for rows in closing:
        rows.update(connection)
    return moved, list(chain.from_iterable(rows.insert(connection) for rows in opening))


def _together(
    connection: Connection, moving: list[Rows], closing: list[Rows], opening: list[Rows]
) -> tuple[int, list[int]]:
    whole = _whole(*(tuple(rows.statement for rows in part) for part in (moving, closing, opening)))
    sent = [rows.as_text() for rows in (*moving, *closing, *opening)]
    moved, made = driver_of(connection).execute(whole, sent).fetchone()
    return moved, sorted(made)


@lru_cache(maxsize=64)
def _whole(moving: tuple[Compiled, ...], closing: tuple[Compiled, ...], opening: tuple[Compiled, ...]) -> str:
    """Return one statement that does all of it, and tells how many were moved and which ids were given."""
    parts = {f"m{at}": f"{one.of_many} RETURNING 1" for at, one in enumerate(moving)}
    parts |= {f"c{at}": f"{one.of_many} RETURNING 1" for at, one in enumerate(closing)}
    moved, closed = ([_count(name) for name in parts if name.startswith(kind)] for kind in "mc")
    # An attempt ends before the next one of its instance begins: a unique index sees to that.
    after = f"WHERE {' + '.join(closed) or 0} >= 0 ORDER BY "
    added = {f"o{at}": str(one.of_many).replace("ORDER BY ", after) for at, one in enumerate(opening)}
    ids = [f"ARRAY(TABLE {name})" for name in added]
    whole = ", ".join(f"{name} AS ({text})" for name, text in (parts | added).items())
    return f"WITH {whole} SELECT {' + '.join(moved) or 0}, {' || '.join(ids) or 'ARRAY[]::bigint[]'}"


def _count(name: str) -> str:
    return f"(SELECT count(*) FROM {name})"  # noqa: S608 - the names are our own

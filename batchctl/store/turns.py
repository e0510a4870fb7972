"""What one turn of a controller writes: everything in one round trip where the database takes it so."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from sqlalchemy import Connection

from batchctl.domain.rows import BatchInstance, HistoryId
from batchctl.domain.values import value
from batchctl.store import history, instances
from batchctl.store.dialects import dialect_of
from batchctl.store.history import Beginning, Ending
from batchctl.store.statements import Compiled, PendingAnswer, StatementRows, update_all
from batchctl.store.transactions import NOT_AS_READ, NotAsReadError

Moves = Sequence[tuple[BatchInstance, BatchInstance]]
"""Instances as they were read, and as they stand now."""


Numbers = PendingAnswer[Sequence[HistoryId]]
"""The numbers of attempts that begin, in their order."""


@value
class Turn:
    """Moves, or claims, how attempts ended and which attempts begin, ready to be written."""

    moving: list[StatementRows]
    closing: list[StatementRows]
    opening: list[StatementRows]
    endings: Sequence[Ending]
    frees: bool
    """True when any instance becomes free to be claimed."""


def make(
    connection: Connection,
    moves: Moves,
    endings: Sequence[Ending],
    beginnings: Sequence[Beginning],
    host: str,
    now: datetime,
    *,
    claim: bool = False,
) -> Turn:
    """Prepare a turn, which keeps no other connection from writing."""
    return Turn(
        instances.moving(connection, moves, now, claim=claim),
        history.closing(connection, endings, now),
        history.opening(connection, beginnings, host, now),
        endings,
        not claim and any(instances.frees(before, after) for before, after in moves),
    )


def write(connection: Connection, turn: Turn) -> Numbers:
    """Write a turn: how attempts ended before others begin.

    Raises `NotAsReadError`, or makes the commit raise it, when any instance or attempt does not stand any more as it was
    read: then the whole has to be undone.
    """
    together = connection.dialect.name == "postgresql" and len(turn.moving) + len(turn.closing) + len(turn.opening) > 1
    numbers = (_together if together else _one_by_one)(connection, turn.moving, turn.closing, turn.opening)
    history.keep_in_doubt(connection, turn.endings)
    history.forget_output(connection, turn.endings)
    if turn.frees:
        dialect_of(connection).tell(connection)
    return numbers


def _one_by_one(
    connection: Connection, moving: list[StatementRows], closing: list[StatementRows], opening: list[StatementRows]
) -> Numbers:
    moved, closed = update_all(connection, moving), update_all(connection, closing)
    if moved < _count(moving) or closed < _count(closing):
        raise NotAsReadError
    made = [HistoryId(each) for rows in opening for each in rows.insert(connection)]
    return Numbers(lambda: made)


def _together(
    connection: Connection, moving: list[StatementRows], closing: list[StatementRows], opening: list[StatementRows]
) -> Numbers:
    """Ask for all of it, which may go out as late as with the commit."""
    parts = moving, closing, opening
    are_single = all(len(rows.values) == 1 for part in parts for rows in part)
    whole = _whole(*(tuple(rows.statement for rows in part) for part in parts), are_single=are_single)
    counts = _count(moving), _count(closing)
    sent: list[object] = []
    for part in parts:
        for rows in part:
            sent += rows.values[0] if are_single else [rows.as_text()]
            sent += counts if part is opening else ()
    asked = dialect_of(connection).ask(connection, whole, [*sent, *counts])
    return Numbers(lambda: [HistoryId(each) for each in sorted(asked()[0][1])])


def _count(part: list[StatementRows]) -> int:
    return sum(len(rows.values) for rows in part)


@lru_cache(maxsize=64)
def _whole(
    moving: tuple[Compiled, ...], closing: tuple[Compiled, ...], opening: tuple[Compiled, ...], *, are_single: bool
) -> str:
    """Return one statement that does all of it and returns the new ids; it fails when a row was not met.

    For single rows it is one that costs the server less.
    """
    updates = [
        *((f"m{at}", one) for at, one in enumerate(moving)),
        *((f"c{at}", one) for at, one in enumerate(closing)),
    ]
    parts = {name: f"{one.text if are_single else one.of_many} RETURNING 1" for name, one in updates}
    moved, closed = (_sum_of([name for name in parts if name.startswith(kind)]) for kind in "mc")
    # An attempt ends before the next one of its instance begins, as a unique index wants it; and nothing begins in vain.
    after = f"WHERE {moved} = %s AND {closed} = %s"
    added = {
        f"o{at}": one.selecting(after) if are_single else str(one.of_many).replace("ORDER BY ", f"{after} ORDER BY ")
        for at, one in enumerate(opening)
    }
    ids = " || ".join(f"ARRAY(TABLE {name})" for name in added) or "ARRAY[]::bigint[]"
    whole = ", ".join(f"{name} AS ({text})" for name, text in (parts | added).items())
    # The text is no number, so the conversion fails, and the error shows the text.
    met = f"(CASE WHEN {moved} = %s AND {closed} = %s THEN '1' ELSE '{NOT_AS_READ}' END)::integer"
    return f"WITH {whole} SELECT {met}, {ids}"


def _sum_of(names: list[str]) -> str:
    return " + ".join(f"(SELECT count(*) FROM {name})" for name in names) or "0"  # noqa: S608 - the names are our own

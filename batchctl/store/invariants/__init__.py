"""The laws of the engine as SQL: each statement returns the rows that break one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, case, func, select

from batchctl.store.invariants.invariant import Invariant
from batchctl.store.invariants.of_attempts import OF_ATTEMPTS
from batchctl.store.invariants.of_instances import OF_INSTANCES
from batchctl.store.invariants.of_people import OF_PEOPLE
from batchctl.store.invariants.of_questions import OF_QUESTIONS
from batchctl.store.invariants.of_references import OF_REFERENCES
from batchctl.store.invariants.of_starts import OF_STARTS

_ALL = (*OF_INSTANCES, *OF_ATTEMPTS, *OF_STARTS, *OF_PEOPLE, *OF_QUESTIONS, *OF_REFERENCES)
INVARIANTS = tuple(sorted(_ALL, key=lambda invariant: invariant.code))


def _of(reading: str) -> list[Invariant]:
    return [law for law in INVARIANTS if law.reading == reading]


def _broken_at_all(reading: str) -> Select[Any]:
    """Return the query that says of each law of a reading, by its code, whether any row may break it: 1, or else 0."""
    laws = {law.code: law.broken.whereclause if law.suspicion is None else law.suspicion for law in _of(reading)}
    asked = {code: case((condition, 1), else_=0) for code, condition in laws.items() if condition is not None}
    # SQL Server aggregates no expression that holds a subquery.
    each = select(*(is_broken.label(code) for code, is_broken in asked.items())).subquery("each_row")
    return select(*(func.max(is_broken).label(is_broken.name) for is_broken in each.c))


# A million attempts are long in reading; which of a dozen laws any of them breaks takes reading them once.
READINGS = {reading: _broken_at_all(reading) for reading in sorted({law.reading for law in INVARIANTS} - {""})}


@dataclass(frozen=True, slots=True)
class BrokenLaw:
    """A row that breaks a law."""

    invariant: Invariant
    row_id: int


def broken(connection: Connection, settled: datetime, most: int) -> Iterator[BrokenLaw]:
    """Yield the rows that break a law, at most `most` for each.

    What came in after `settled` may still wait for its instances.
    """
    seen = [connection.execute(reading).mappings().one() for reading in READINGS.values()]
    kept = {code for row in seen for code, is_broken in row.items() if not is_broken}
    for invariant in INVARIANTS:
        if invariant.code in kept:
            continue
        found = connection.execute(invariant.broken.order_by(invariant.key).limit(most), {"settled": settled}).scalars()
        yield from (BrokenLaw(invariant, int(row_id)) for row_id in found)

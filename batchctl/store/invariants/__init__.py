"""The laws of the engine as SQL: each statement returns the rows that break one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Select, literal, or_, select

from batchctl.store.invariants.invariant import Invariant
from batchctl.store.invariants.of_attempts import OF_ATTEMPTS
from batchctl.store.invariants.of_instances import OF_INSTANCES
from batchctl.store.invariants.of_people import OF_PEOPLE
from batchctl.store.invariants.of_references import OF_REFERENCES
from batchctl.store.invariants.of_starts import OF_STARTS

_ALL = (*OF_INSTANCES, *OF_ATTEMPTS, *OF_STARTS, *OF_PEOPLE, *OF_REFERENCES)
INVARIANTS = tuple(sorted(_ALL, key=lambda invariant: invariant.code))


def _any_broken(reading: str) -> Select[int]:
    laws = [law for law in INVARIANTS if law.reading == reading]
    asked = [law.broken.whereclause if law.suspicion is None else law.suspicion for law in laws]
    conditions = [condition for condition in asked if condition is not None]
    return select(literal(1)).where(or_(*conditions)).limit(1)


# A million attempts are long in reading; that none of them breaks any of a dozen laws takes reading them once.
READINGS = {reading: _any_broken(reading) for reading in sorted({law.reading for law in INVARIANTS} - {""})}


@dataclass(frozen=True, slots=True)
class Broken:
    """A row that breaks a law."""

    invariant: Invariant
    row_id: int


def broken(connection: Connection, settled: datetime, most: int) -> Iterator[Broken]:
    """Yield the rows that break a law, at most `most` for each.

    What came in after `settled` may still wait for its instances.
    """
    kept = {reading for reading, any_broken in READINGS.items() if connection.execute(any_broken).first() is None}
    for invariant in INVARIANTS:
        if invariant.reading in kept:
            continue
        found = connection.execute(invariant.broken.limit(most), {"settled": settled}).scalars()
        yield from (Broken(invariant, int(row_id)) for row_id in found)

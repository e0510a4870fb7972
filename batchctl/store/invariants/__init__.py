"""The laws of the engine as SQL: each statement returns the rows that break one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from batchctl.store.invariants.invariant import Invariant
from batchctl.store.invariants.of_attempts import OF_ATTEMPTS
from batchctl.store.invariants.of_instances import OF_INSTANCES
from batchctl.store.invariants.of_people import OF_PEOPLE
from batchctl.store.invariants.of_references import OF_REFERENCES
from batchctl.store.invariants.of_starts import OF_STARTS

_ALL = (*OF_INSTANCES, *OF_ATTEMPTS, *OF_STARTS, *OF_PEOPLE, *OF_REFERENCES)
INVARIANTS = tuple(sorted(_ALL, key=lambda invariant: invariant.code))


@dataclass(frozen=True, slots=True)
class Broken:
    """A row that breaks a law."""

    invariant: Invariant
    row_id: int


def broken(connection: Connection, settled: datetime, most: int) -> Iterator[Broken]:
    """Yield the rows that break a law, at most `most` for each.

    What came in after `settled` may still wait for its instances.
    """
    for invariant in INVARIANTS:
        found = connection.execute(invariant.broken.limit(most), {"settled": settled}).scalars()
        yield from (Broken(invariant, int(row_id)) for row_id in found)

"""The definitions as one controller read them last: read anew when anybody may have changed them."""

from __future__ import annotations

from collections.abc import Mapping

from batchctl.control.served_pools import ServedPools
from batchctl.domain.errors import Busy, DatabaseRefused
from batchctl.domain.rows import BatchDefinition, BatchId
from batchctl.domain.text import in_short
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Change, Clock, Transactions
from batchctl.store import Connection, limits, pool_rows
from batchctl.store.definitions import batch_versions, definitions

LONGEST_UNSEEN = 15.0
"""Seconds after which everything is read anew, although no change is known."""


class KnownDefinitions:
    """What one controller knows of them, and of changes of everything else."""

    def __init__(self, transactions: Transactions, clock: Clock, listener: Listener, serves: ServedPools) -> None:
        """Know nothing yet; what is known of pools stands in `serves`."""
        self._serves = serves
        self._transactions = transactions
        self._clock = clock
        self._listener = listener
        self.batches: Mapping[BatchId, BatchDefinition] = {}
        self.limit: int | None = None
        """How many instances of all batches may be under way at once."""
        self.is_numbered = True
        """False while batches are known whose version is not written down."""
        self.noticed = Change.NOTHING
        """What anybody may have changed since it was last asked."""
        self.noticed_at = 0.0
        self._has_looked = False
        self._looked_at = 0.0

    def look_closely(self) -> None:
        """Read everything anew the next time."""
        self._has_looked = False

    def take_in(self, connection: Connection) -> Change:
        """Return what anybody may have changed since the last time, with the definitions read anew if it is these."""
        now, change = self._clock.monotonic(), self._transactions.changed()
        if not self._has_looked or now - self._looked_at >= LONGEST_UNSEEN:
            # Even if notices fail, no change stays unseen for longer.
            change = Change.ANYTHING
        if not change:
            return change
        self.noticed, self.noticed_at = self.noticed | change, now
        if Change.DEFINITIONS in change:
            self._has_looked, self._looked_at = True, now
            self.batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
            self.is_numbered = all(batch.version is not None for batch in self.batches.values())
            self.limit = limits.overall(connection)
            self._serves.known = pool_rows.known(connection)
        return change

    def number(self) -> None:
        """Write down what the batches are now; what is begun before that writes it down for itself, each time."""
        new = [batch.batch_id for batch in self.batches.values() if batch.version is None]

        def work(connection: Connection) -> dict[BatchId, BatchDefinition]:
            for batch_id in new:
                batch_versions.number(connection, batch_id)
            return {batch.batch_id: batch for batch in definitions.all_batches(connection)}

        self.is_numbered = True
        try:
            self.batches = self._transactions.run(frozenset({Boundary.SCHEDULE}), work)
        except (Busy, DatabaseRefused):
            self.is_numbered = False
            raise
        except Exception as error:  # noqa: BLE001 - steps go on, whatever keeps their version from being written down
            self._listener(Event("controller.trouble", {"Message": in_short(error)}))

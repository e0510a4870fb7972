"""What an attempt has written: so far, or in all once it has ended. Read from the control database alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from batchctl.domain.errors import BatchctlError, Busy, Conflict, DatabaseRefused
from batchctl.domain.live_texts import rest_of
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import HistoryEntry, HistoryId, InstanceId
from batchctl.domain.status import HistoryStatus
from batchctl.operations import inspection, shown_columns
from batchctl.operations.waiting import Patience
from batchctl.ports import Transactions
from batchctl.store import history, step_outputs

PAUSE = 1.0
"""Seconds between two looks at what an attempt has written."""
GIVEN_UP = 300.0
"""Seconds for which a database that fails is waited for."""
_SEEN = 8192
"""How many characters shown last are remembered."""


@dataclass(frozen=True, slots=True)
class AttemptOutput:
    """What an attempt has written, as far as it is known now."""

    entry: HistoryEntry
    text: str
    last: int
    """The number of the last part that is known of a running one."""

    @property
    def is_running(self) -> bool:
        """Say whether more may come."""
        return self.entry.status is HistoryStatus.RUNNING


def of_instance(
    transactions: Transactions, instance_id: InstanceId, seq: int | None = None, attempt: int | None = None
) -> AttemptOutput:
    """Return the output of an instance's last attempt, or of its last at one step, or of one by its AttemptNo."""
    entry = inspection.attempt_of(transactions, instance_id, seq, attempt)
    return _read(transactions, entry.history_id, 0) or AttemptOutput(entry, entry.output or "", 0)


@dataclass(slots=True)
class Following:
    """Shows what an attempt writes until it has ended.

    A database that fails meanwhile is waited for, as `wait` does, but not for ever; `failure` hears of it once.
    """

    transactions: Transactions
    patience: Patience
    failure: Callable[[str], None]
    _failing_since: float | None = None

    def texts(self, begun: AttemptOutput) -> Iterator[str]:
        """Yield what is known of an attempt, and then what it writes."""
        yield begun.text
        found: AttemptOutput | None = begun
        shown = begun.text[-_SEEN:]
        while found is not None and found.is_running:
            self.patience.sleep(PAUSE)
            found = self._next(found)
            if found is not None:
                new = found.text if found.is_running else rest_of(found.text, shown)
                shown = (shown + new)[-_SEEN:]
                yield new

    def _next(self, found: AttemptOutput) -> AttemptOutput | None:
        try:
            following = _read(self.transactions, found.entry.history_id, found.last)
        except (Busy, Conflict, DatabaseRefused) as error:
            if not self._is_patient(error):
                raise
            return replace(found, text="")
        self._failing_since = None
        return following

    def _is_patient(self, error: BatchctlError) -> bool:
        now = self.patience.monotonic()
        if self._failing_since is None:
            self._failing_since = now
            self.failure(error.message)
        return now - self._failing_since < GIVEN_UP


def _read(transactions: Transactions, history_id: HistoryId, after: int) -> AttemptOutput | None:
    """Return what followed a part, or all once it has ended; None when the attempt is not there any more."""
    with transactions.read() as connection:
        transactions.changed()  # This refuses a file that was moved away: it can be read still, and says nothing new.
        # In this order: what ends in between has left no parts, and is read again.
        parts = step_outputs.since(connection, history_id, after)
        entry = history.load(connection, history_id)
    if entry is None:
        return None
    if entry.status is not HistoryStatus.RUNNING:
        return AttemptOutput(entry, entry.output or "", 0)
    if not parts:
        return AttemptOutput(entry, "", after)
    gap = "\n[... more than is kept was written meanwhile ...]\n" if parts[0].number > after + 1 else ""
    return AttemptOutput(entry, gap + "".join(part.text for part in parts), parts[-1].number)


def as_json(found: AttemptOutput) -> dict[str, JsonValue]:
    """Return the attempt for programs, with what it has written under the name of its column."""
    return {**shown_columns.of(found.entry), "Output": found.text}

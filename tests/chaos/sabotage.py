"""Engines broken on purpose: what the rig must find, to be believed when it finds nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _forget_on_lost() -> None:
    """A lost step is ready again, whatever its OnLost says."""
    from batchctl.domain import moves, status  # noqa: PLC0415 - only the broken process is to be broken

    def _after_lost(instance: Any, batch: Any, end: Any, now: Any) -> moves.Move:
        del batch, end
        return moves._standing(instance, status.InstanceVerb.RETRY_AT, next_run_time=now)

    _break(moves, _after_lost)


def _believe_nothing_ran() -> None:
    """Whatever a dead worker has left counts as never started."""
    from batchctl.ports import Trace  # noqa: PLC0415 - as above
    from batchctl.system.runner import ThreadStepRunner  # noqa: PLC0415 - as above

    def examine(*_: Any) -> Trace:
        return Trace.NEVER_RAN

    _break(ThreadStepRunner, examine)


def _forget_commits() -> None:
    """Now and then what begins a step is not committed, and the step begins all the same."""
    from batchctl.ports import Boundary  # noqa: PLC0415 - as above
    from batchctl.store.transactions import StoreTransactions  # noqa: PLC0415 - as above

    committing, times = StoreTransactions.run, 0

    def run(self: Any, boundaries: frozenset[Boundary], work: Callable[[Any], Any], *, nowait: bool = False) -> Any:
        def undone(connection: Any) -> Any:
            nonlocal times
            result = work(connection)
            times += Boundary.CLAIM in boundaries
            if times % 5 == 4 and Boundary.CLAIM in boundaries:
                connection.exec_driver_sql("SELECT 1")  # with which everything that was asked goes out
                self._dialect.rollback(connection)
                self._dialect.begin_write(connection)
            return result

        return committing(self, boundaries, undone, nowait=nowait)

    _break(StoreTransactions, run)


def _claim_without_lock() -> None:
    """Nobody minds that another worker claims from the same batch at this moment."""
    from batchctl.store import limits  # noqa: PLC0415 - as above

    def lock(*_: Any) -> bool:
        return True

    _break(limits, lock)


def _break(owner: Any, broken: Callable[..., Any]) -> None:
    setattr(owner, broken.__name__, broken)


KINDS: dict[str, Callable[[], None]] = {
    "forgets-on-lost": _forget_on_lost,
    "believes-nothing-ran": _believe_nothing_ran,
    "forgets-commits": _forget_commits,
    "claims-without-lock": _claim_without_lock,
}

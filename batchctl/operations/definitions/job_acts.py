"""What people do to jobs: run one now, outside its times; stop the run that is under way."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from batchctl.domain.errors import Refused, StatusChanged
from batchctl.domain.rows import BatchDefinition, BatchId, BatchInstance, IntakeId
from batchctl.domain.status import InstanceStatus
from batchctl.domain.text import fitting, typed, visible
from batchctl.operations.definitions.reconciler import JobPlugins
from batchctl.operations.definitions.roster import batch_of, failure_of
from batchctl.operations.intervene import Intervention, Operator, batch_target
from batchctl.operations.operators.acts import checked_reason
from batchctl.ports import Boundary
from batchctl.store import Connection, instances
from batchctl.store.definitions import definitions
from batchctl.store.intake import intake

_PAGE = 500
_STANDS = {
    InstanceStatus.FAILED: "failed",
    InstanceStatus.HELD: "held",
    InstanceStatus.RETRY: "to be tried again",
    InstanceStatus.PAUSED: "paused",
    InstanceStatus.READY: "waiting",
}
"""In words how runs stand that are open and do not run; what needs a person comes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A run that was asked for, or would be."""

    intake_id: IntakeId | None
    """None in a dry run."""
    batch: BatchDefinition
    also: tuple[str, ...]
    """Other batches that take the same entity, and are started with it."""
    failure: str | None = None
    """What keeps the job from being loaded here; on another node it may run."""


@dataclass(frozen=True, slots=True)
class Foreman:
    """Runs and stops jobs for a person."""

    operator: Operator
    plugins: JobPlugins

    def run(self, name: str, *, reason: str | None = None) -> Started:
        """Ask for one run now; its schedules go on as if nothing had happened."""
        reason = checked_reason(reason)

        def start(connection: Connection) -> Started:
            taken = self._taken(connection, name)
            if self.operator.dry_run:
                return taken
            source = fitting(f"job run by {self.operator.who}{f': {reason}' if reason else ''}")
            intake_id = intake.add(connection, entity=taken.batch.entity, source=source)
            target = batch_target(taken.batch.name)
            self.operator.note(connection, "run", target, reason, {}, {"FileProcess_id": intake_id})
            return replace(taken, intake_id=intake_id)

        return self.operator.act(start, Boundary.INTAKE)

    def cancel(self, name: str, *, reason: str) -> tuple[Intervention, ...]:
        """Stop what is under way of a job, whichever controller runs it."""
        every = self._open(name)
        running = [one for one in every if one.status.is_claimed]
        if not running:
            raise _nothing_runs(name, every)
        return tuple(self.operator.cancel(one.instance_id, reason=reason) for one in running)

    def cancel_failed(self, name: str, *, reason: str) -> tuple[Intervention, ...]:
        """Give up every run of a job that has failed; one that somebody runs again meanwhile goes on."""
        failed = [one for one in self._open(name) if one.status is InstanceStatus.FAILED]
        if not failed:
            said = f"No run of job '{visible(name)}' has failed and is still open."
            raise Refused(said, next_step=f"batchctl job history {typed(name)}")
        done = list[Intervention]()
        for one in failed:
            with suppress(StatusChanged):
                done.append(self.operator.cancel(one.instance_id, reason=reason))
        return tuple(done)

    def _open(self, name: str) -> list[BatchInstance]:
        """Return the open instances of a job's batch, in order of creation."""
        with self.operator.transactions.read() as connection:
            batch_id, found = BatchId(batch_of(connection, self.plugins, name).row_id), list[BatchInstance]()
            while page := instances.open_of(connection, batch_id, found[-1].instance_id if found else 0, _PAGE):
                found += page
            return found

    def _taken(self, connection: Connection, name: str) -> Started:
        found = batch_of(connection, self.plugins, name)
        every = definitions.all_batches(connection)
        batch = next((one for one in every if one.batch_id == found.row_id), None)
        if batch is None:
            message = f"The rows of batch {visible(name)} hold nonsense, so it does not run."
            raise Refused(message, next_step="batchctl check")
        also = tuple(one.name for one in every if one.entity == batch.entity and one.name != batch.name)
        return Started(intake_id=None, batch=batch, also=also, failure=failure_of(self.plugins, found))


def _nothing_runs(name: str, every: Sequence[BatchInstance]) -> Refused:
    """Say that nothing of a job is running, and what of it is open all the same."""
    said = f"Nothing of job '{visible(name)}' is running"
    counted = [(words, [one for one in every if one.status is status]) for status, words in _STANDS.items()]
    standing = [f"{len(found)} {words}" for words, found in counted if found]
    if not standing:
        return Refused(f"{said}.", next_step=f"batchctl job history {typed(name)}")
    first = next(found for _, found in counted if found)[0]
    next_step = f"batchctl cancel {first.instance_id} --reason ..."
    if first.status is InstanceStatus.FAILED:
        next_step += f"   (all that have failed: batchctl job cancel {typed(name)} --failed --reason ...)"
    return Refused(f"{said}; {', '.join(standing)}.", next_step=next_step)

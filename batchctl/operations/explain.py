"""Why does it not run? Every gate of an instance, a batch, an intake row, a schedule or a trigger, from the code that decides."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from batchctl import misread
from batchctl.domain import gates
from batchctl.domain.alerting.incident_causes import kept_from_work
from batchctl.domain.dependencies.waits import Wait
from batchctl.domain.earliest import Earliest, earliest
from batchctl.domain.errors import BatchctlError, InvalidInput, next_step_in
from batchctl.domain.gates import Ends, Gate
from batchctl.domain.intake.corrected_files import CorrectedFile
from batchctl.domain.locked_rows import LEAD, is_of_locks, names_of
from batchctl.domain.operators.agents_seen import silence
from batchctl.domain.operators.carried_specs import carried
from batchctl.domain.operators.pools import PoolsInUse, to_test
from batchctl.domain.rows import (
    MOST_TRIES,
    BatchDefinition,
    BatchId,
    BatchInstance,
    ControllerRow,
    HistoryEntry,
    InstanceId,
    IntakeId,
    IntakeRow,
    imagined,
)
from batchctl.domain.status import FINAL, STOPPED, DependencyMode, InstanceStatus, IntakeStatus
from batchctl.domain.text import nearest, typed, visible
from batchctl.domain.unreadable import UnreadableRow
from batchctl.operations import copies, files_taken_again, remedies, shown_columns, unknown
from batchctl.operations.column_lists import ColumnList
from batchctl.operations.intake import file_correction, trial
from batchctl.operations.presence import Presence, last_sign
from batchctl.operations.scheduling.timetable import Timetable, starters_of
from batchctl.operations.standing import PAGE, WaitingLine, for_any
from batchctl.ports import Clock, Transactions
from batchctl.store import (
    Connection,
    controllers,
    history,
    instances,
    leading,
    limits,
    pool_rows,
    reports,
    unreadable_columns,
)
from batchctl.store.definitions import definitions
from batchctl.store.dependencies import dependencies
from batchctl.store.intake import data_triggers, intake
from batchctl.store.intake.file_watches import TakenFile
from batchctl.store.one_look import ask_ahead, one_look
from batchctl.store.scheduling import calendars, schedule_rows
from batchctl.store.tables import batch_control

if TYPE_CHECKING:
    from batchctl.operations.intake.trial import Bench
    from batchctl.operations.scheduling.schedule_trial import ScheduleBench

MOST_WAITS = 20
UNREADABLE = "unreadable"
"""How a batch stands whose rows cannot be read."""
_BY_ITSELF = "batchctl run --once   (a running controller starts it by itself)"

KINDS = ("batch", "file", "schedule", "trigger")
_NUMBER = re.compile(r"\d{1,18}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What a thing is, how it stands, and each gate it has to pass."""

    subject: str
    status: str
    gates: tuple[Gate, ...]
    notes: tuple[str, ...] = ()

    @property
    def earliest(self) -> Earliest:
        """Return when it may start at the earliest."""
        return earliest(self.gates)

    @property
    def blocking(self) -> tuple[Gate, ...]:
        """Return the gates that hold it back."""
        return tuple(gate for gate in self.gates if gate.blocked is not None)

    def columns(self) -> shown_columns.Columns:
        """Return it for programs."""
        return {
            "Subject": self.subject,
            "Status": self.status,
            "Gates": GATES.as_json(self.gates),
            "MayStart": not self.blocking,
            "EarliestStart": shown_columns.moment(self.earliest.at),
            "Earliest": str(self.earliest),
            "Notes": list(self.notes),
        }


GATES = ColumnList[Gate](
    "Gates",
    {
        "Gate": lambda gate: gate.name,
        "Passed": lambda gate: gate.blocked is None,
        "Blocked": lambda gate: gate.blocked,
        "Row": lambda gate: gate.row,
        "Clear": lambda gate: gate.clear,
        "Until": lambda gate: gate.until,
    },
)


AHEAD = (*definitions.AHEAD, leading.LEADER, pool_rows.CONTROLLERS, instances.CLAIMED, limits.LIMIT)
"""What is asked whatever is explained, so that it goes to the database at once."""
AHEAD_OF_BATCH = (*AHEAD, reports.COUNT_NEW, calendars.CALENDARS, calendars.DAYS, schedule_rows.SCHEDULES)


class Benches(NamedTuple):
    """Try out what a schedule or a trigger would start now."""

    schedules: Callable[[], ScheduleBench]
    triggers: Callable[[], Bench]


def why(
    transactions: Transactions,
    clock: Clock,
    presence: Presence,
    ref: str,
    timetable: Timetable | None = None,
    benches: Benches | None = None,
) -> Explanation:
    """Explain `42` (a BatchControl id), `batch:NAME`, `file:17` (a FileProcess id), `schedule:NAME` or `trigger:NAME`.

    `timetable` says which schedules start a batch; schedules and triggers are tried out on `benches`.
    """
    kind, colon, name = ref.partition(":")
    if benches is not None and kind == "schedule":
        return _of_schedule(transactions, clock, presence, benches.schedules, name)
    if benches is not None and kind == "trigger":
        return _of_trigger(transactions, clock, presence, benches.triggers, name)
    with one_look(), transactions.read() as connection:
        ask_ahead(connection, *((each, {}) for each in (AHEAD_OF_BATCH if kind == "batch" else AHEAD)))
        batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
        now = clock.now()
        match kind:
            case "batch" if colon:
                found = _of_batch(connection, batches, now, presence, name)
                starters = (
                    [] if timetable is None or found.status == UNREADABLE else starters_of(connection, timetable, name)
                )
                found = replace(found, notes=(*found.notes, *starters))
            case "file" if _NUMBER.match(name):
                found = _of_intake(connection, batches, now, presence, IntakeId(int(name)))
            case _ if _NUMBER.match(ref):
                found = _of_instance(connection, batches, now, presence, InstanceId(int(ref)))
            case _:
                raise _no_reference(connection, ref, batches.values())
        return replace(found, gates=tuple(for_any(connection, gate) for gate in found.gates))


def _no_reference(connection: Connection, ref: str, batches: Iterable[BatchDefinition]) -> InvalidInput:
    """Say what references look like, and which may have been meant: a name without its kind, or a kind that is misspelt."""
    kind, colon, name = ref.partition(":")
    known = {
        "batch": [batch.name for batch in batches],
        "schedule": [schedule.name for schedule in schedule_rows.everything(connection)[0]],
        "trigger": [trigger.name for trigger in data_triggers.everything(connection)[0]],
    }
    meant = nearest(kind, KINDS) if colon else None
    near = None if meant is None or (meant == "file" and not _NUMBER.match(name)) else f"{meant}:{name}"
    for its_kind, names in known.items():
        if near is None and (found := nearest(ref, names)) is not None:
            near = f"{its_kind}:{found}"
    said = f"'{visible(ref)}' is neither a BatchControl id such as 42, nor batch:NAME, file:17, schedule:NAME or trigger:NAME."
    hint = "" if near is None else f" Did you mean '{visible(near)}'?"
    return InvalidInput(said + hint, next_step="batchctl status" if near is None else f"batchctl why {typed(near)}")


def _of_schedule(
    transactions: Transactions, clock: Clock, presence: Presence, bench: Callable[[], ScheduleBench], name: str
) -> Explanation:
    tried = bench().try_out(name)
    with one_look(), transactions.read() as connection:
        ask_ahead(connection, (leading.LEADER, {}), (pool_rows.CONTROLLERS, {}))
        fires = replace(_controller(connection, clock.now(), "fires schedules", presence.firing), ends=Ends.CONTROLLER)
    return Explanation(
        subject=f"schedule {visible(name)} for entity '{visible(tried.schedule.entity)}'",
        status="enabled" if tried.schedule.enabled else "disabled",
        gates=(*tried.gates, fires),
        notes=((f"It is due {tried.words}.",) if tried.words else ()) + tried.notes,
    )


def _of_trigger(
    transactions: Transactions, clock: Clock, presence: Presence, bench: Callable[[], Bench], name: str
) -> Explanation:
    trigger, takers, unreadable = trial.named(transactions, name)
    notes: tuple[str, ...] = ()
    try:
        tried = bench().try_out(name)
        found: Sequence[Gate] = tried.gates
        notes = tried.notes
    except BatchctlError as error:
        broken = Gate("rows", error.message, error.next_step, f"DataTrigger {trigger.row_id}")
        found = (*trial.gates_of(trigger, takers, unreadable), broken)
    with transactions.read() as connection:
        looks = _controller(connection, clock.now(), "is running", presence.living)
    return Explanation(
        subject=f"trigger {visible(name)} for entity '{visible(trigger.entity)}'",
        status="enabled" if trigger.enabled else "disabled",
        gates=(*found, looks),
        notes=notes,
    )


def _of_instance(
    connection: Connection,
    batches: Mapping[BatchId, BatchDefinition],
    now: datetime,
    presence: Presence,
    instance_id: InstanceId,
) -> Explanation:
    instance = instances.load(connection, instance_id)
    if instance is None:
        raise unknown.instance(connection, instance_id)
    batch = batches.get(instance.batch_id)
    if batch is None:
        gates_of_it = (_no_batch(connection, instance),)
        return Explanation(subject=f"BatchControl {instance_id}", status=instance.status, gates=gates_of_it)
    line = WaitingLine(connection, batches, now, presence.living(connection, now))
    found = (*_past_dependencies(batch), *line.gates_of(instance))
    last = history.last_entry(connection, instance_id)
    about = names_of(instance, batch)
    return Explanation(
        subject=f"BatchControl {instance_id} of batch {visible(batch.name)}",
        status=instance.status,
        gates=found if instance.status in FINAL else (*found, _is_there(connection, presence, now, about)),
        notes=(
            *_about_next_step(instance, batch, last),
            *_about_agent(instance, last, line.pools),
            *_corrected(file_correction.of_instance(connection, instance)),
            *(() if instance.status in FINAL else _misread(connection, batch, now, found)),
        ),
    )


def _corrected(*found: CorrectedFile | None) -> Iterator[str]:
    for one in found:
        if one is not None:
            yield f"{one.wording}: {one.clear}"


def _no_batch(connection: Connection, instance: BatchInstance) -> Gate:
    """Say that the batch of an instance is not there, or what of it cannot be read."""
    broken = [row for row in definitions.read(connection).unreadable if row.batch_id == instance.batch_id]
    for row in (*broken, unreadable_columns.of_number(connection, batch_control, instance.instance_id)):
        if row is not None:
            return _unreadable(row)
    raise unknown.instance(connection, instance.instance_id)


def _unreadable(row: UnreadableRow) -> Gate:
    return Gate(name="definition", blocked=row.message, clear=row.mend, row=row.place)


def _about_next_step(instance: BatchInstance, batch: BatchDefinition, last: HistoryEntry | None) -> Iterable[str]:
    step = batch.step_after(instance.last_seq)
    if step is not None and instance.status not in FINAL:
        which = "" if last is None or last.seq != step.seq else _next_attempt(instance, last)
        yield f"Its next step is {step.seq} '{visible(step.name)}'{which}."
    if instance.failures_behind is not None:
        which = f"batchctl show {instance.instance_id}"
        yield f"{instance.failures_behind.capitalize()} before that, and OnStepFailure let it go on: {which}"
    if instance.status is InstanceStatus.RETRY and last is not None and last.message:
        yield f"Its last attempt: {visible(last.message)}"


def _about_agent(instance: BatchInstance, last: HistoryEntry | None, pools: PoolsInUse | None) -> Iterable[str]:
    """Say which agent carries what is under way, and whether it is heard."""
    found = carried(last.command_spec) if last is not None and instance.status is InstanceStatus.RUNNING else None
    if found is None:
        return
    silent = None if pools is None else silence(found.agent, pools.agents.get(found.pool, ()))
    lost = "" if silent is None else f", and is not heard ({silent}): the step is lost once its lease is over"
    yield f"Agent {visible(found.agent)} of pool {visible(found.pool)} carries it{lost}. Next: {to_test(found.pool)}"


def _next_attempt(instance: BatchInstance, last: HistoryEntry) -> str:
    """Say which attempt follows on a failure, of how many."""
    if instance.status is not InstanceStatus.RETRY or last.attempts is None:
        return ""
    return f", attempt {last.attempt_no + 1} of {last.attempts}"


def _of_batch(
    connection: Connection, batches: Mapping[BatchId, BatchDefinition], now: datetime, presence: Presence, name: str
) -> Explanation:
    batch = next((batch for batch in batches.values() if batch.name == name), None)
    if batch is None:
        for row in definitions.read(connection).unreadable:
            if row.batch == name:
                return Explanation(subject=f"batch {visible(name)}", status=UNREADABLE, gates=(_unreadable(row),))
        raise unknown.batch(connection, batches.values(), name)
    subject, status = f"batch {visible(batch.name)}", "enabled" if batch.enabled else "disabled"
    line = WaitingLine(connection, batches, now, presence.living(connection, now))
    head = next(iter(instances.open_of(connection, batch.batch_id, 0, PAGE)), None)
    about = [f"batch {batch.name}", *([] if head is None else [f"BatchControl {head.instance_id}"])]
    there, *leads = _whoever_creates(connection, presence, now, about)
    leads = leads if reports.count_new(connection).get(batch.batch_id) else []
    if head is None:
        found = (*_dependencies(connection, batch, batches, now), *line.gates_of(imagined(batch)), there, *leads)
        notes = [f"No instance of it is open. It takes entity '{visible(batch.entity)}'."]
    else:
        found = (*_past_dependencies(batch), *line.gates_of(head), there)
        notes = [f"The gates are those of its first open instance, BatchControl {head.instance_id} ({head.status})."]
        waits = _waits_of(connection, batch, batches, now)
        notes += [f"Its next one waits {_for_key(wait.cycle_key)}: {wait.reason}." for wait in waits]
        notes += [f"Its next one waits: {gate.blocked}." for gate in leads]
    found = (_asked(batch, now), *found)
    notes += _misread(connection, batch, now, found)
    return Explanation(subject=subject, status=status, gates=found, notes=tuple(notes))


def _misread(connection: Connection, batch: BatchDefinition, now: datetime, announced: Iterable[Gate]) -> Iterator[str]:
    """Yield what cannot be meant so, or is not installed, and stands in none of the gates."""
    blocked = {gate.blocked for gate in announced}
    for one in misread.of_batch(connection, batch, (), now):
        if visible(one.message) not in blocked:
            yield f"{visible(one.message).rstrip('.')}. {visible(one.next_step or '')}"


def _waits_of(
    connection: Connection, batch: BatchDefinition, batches: Mapping[BatchId, BatchDefinition], now: datetime
) -> Sequence[Wait]:
    return dependencies.waits(connection, batches, MOST_WAITS, now, of=batch.batch_id) if batch.dependencies else ()


def _past_dependencies(batch: BatchDefinition) -> tuple[Gate, ...]:
    """Return the gate of dependencies as passed: the instance is there, so it waits for no other batch any more."""
    return (Gate(name="dependency"),) if batch.dependencies else ()


def _for_key(cycle_key: str | None) -> str:
    return "without CycleKey" if cycle_key is None else f"for {visible(cycle_key)}"


def _dependencies(
    connection: Connection, batch: BatchDefinition, batches: Mapping[BatchId, BatchDefinition], now: datetime
) -> Iterator[Gate]:
    """Yield what a batch waits for so that it can be started."""
    if not batch.dependencies:
        return
    row = f"BatchDependency {', '.join(str(one.row_id) for one in batch.dependencies)}"
    if batch.is_in_cycle:
        message = "it depends on itself, by way of others or at once, so no completion starts it"
        yield Gate(name="dependency", blocked=message, clear="batchctl check", row=row)
        return
    waits = dependencies.waits(connection, batches, MOST_WAITS, now, of=batch.batch_id)
    of = {one.depends_on for one in batch.dependencies}
    failed = [one for one in instances.standing_failures(connection) if one.batch_id in of and one.status in STOPPED]
    if batch.dependency_mode is DependencyMode.ANY and {one.batch_id for one in failed} != of:
        failed = []  # another one may complete
    for wait in waits:
        blocked = f"{_for_key(wait.cycle_key)}, since {wait.since:%Y-%m-%d %H:%M} UTC: {wait.reason}"
        clear = wait.next_step or _BY_ITSELF
        upstream = [one.instance_id for one in wait.lacking if one.instance_id is not None]
        ends = Ends.HOLDER if wait.lacking else Ends.CONTROLLER
        ends = Ends.ACT if {one.instance_id for one in failed} & {*upstream} else ends
        lacks = f"BatchControl {', '.join(map(str, upstream))}" if upstream else row
        yield Gate("dependency", blocked, clear, lacks, ends)
    if not waits:
        names = [visible(batches[one.depends_on].name) for one in batch.dependencies if one.depends_on in batches]
        which = (" and " if batch.dependency_mode is DependencyMode.ALL else " or ").join(names)
        verb = "completes" if len(names) == 1 else "complete"
        blocked = f"no completion waits for it: it starts when {which} {verb} for the same CycleKey"
        if failed:
            first = failed[0]
            stands = f"BatchControl {first.instance_id} of {visible(batches[first.batch_id].name)} is {first.status}"
            clear = f"batchctl why {first.instance_id}"
            yield Gate("dependency", f"{blocked}; {stands}", clear, f"BatchControl {first.instance_id}")
        else:
            yield Gate("dependency", blocked, f"batchctl graph {typed(batch.name)}", row, Ends.HOLDER)


def _of_intake(
    connection: Connection,
    batches: Mapping[BatchId, BatchDefinition],
    now: datetime,
    presence: Presence,
    intake_id: IntakeId,
) -> Explanation:
    row = intake.load(connection, intake_id)
    if row is None:
        raise unknown.intake_row(connection, intake_id)
    (row,) = intake.with_corrections(connection, [row])
    takers = [batch for batch in batches.values() if batch.entity == row.entity]
    made = reports.instances_of_intake(connection, intake_id)
    without = [batch for batch in takers if batch.batch_id not in {instance.batch_id for instance in made}]
    broken = definitions.read(connection).unreadable_of(row.entity)
    repeats = dict(_repeats(connection, row, without) if row.status is IntakeStatus.READY else ())
    awaited = [batch for batch in without if batch not in repeats]
    open_ones = {instance.batch_id for instance in made if instance.status not in FINAL}
    unfinished = open_ones | {batch.batch_id for batch in awaited}
    again = files_taken_again.find(connection, [row]).get(row.intake_id)
    listed = ", ".join(f"{instance.instance_id} ({instance.status})" for instance in made)
    notes = [f"Its instances: BatchControl {listed}." if made else "No instance has been made of it."]
    if takers:
        notes.append(f"Its entity is taken by: {', '.join(visible(batch.name) for batch in takers)}.")
    notes += _corrected(*file_correction.of_intake(connection, intake_id))
    about = [f"FileProcess {intake_id}", *(f"batch {batch.name}" for batch in takers)]
    return Explanation(
        subject=f"FileProcess {intake_id} of entity '{visible(row.entity)}'",
        status=row.status,
        gates=(
            *_intake_status(row, takers, awaited, again),
            *(_entity(row, takers, batches, again) if takers or not broken else ()),
            *map(_unreadable, broken),
            *_created(row, awaited, repeats, _to_create(connection, presence, now)),
            *(_open(batches, unfinished, now) if row.status in _CONCERN_A_CONTROLLER else ()),
            _instances(WaitingLine(connection, batches, now, presence.living(connection, now)), made),
            *(_whoever_creates(connection, presence, now, about) if row.status in _CONCERN_A_CONTROLLER else ()),
        ),
        notes=tuple(notes),
    )


def _repeats(
    connection: Connection, row: IntakeRow, without: Iterable[BatchDefinition]
) -> Iterator[tuple[BatchDefinition, IntakeId]]:
    """Yield the batches that make no instance of a row, because to them it is a duplicate, and of which row."""
    for batch in without:
        first = intake.first_with_same_data(connection, row, batch.batch_id) if batch.duplicate_check else None
        if first is not None:
            yield batch, first


def _created(
    row: IntakeRow,
    awaited: Sequence[BatchDefinition],
    repeats: Mapping[BatchDefinition, IntakeId],
    to_create: str | None,
) -> Iterator[Gate]:
    for batch, first in repeats.items():
        blocked = f"batch {visible(batch.name)} makes no instance of it: same Data as FileProcess {first}"
        clear = f"batchctl inbox resend {row.intake_id} --reason ...   (if it is to run there all the same)"
        yield Gate("created", blocked, clear, f"FileProcess {first}")
    if awaited and row.status is IntakeStatus.READY:
        names = ", ".join(visible(batch.name) for batch in awaited)
        blocked = f"batch {names} has no instance of it yet"
        missing = _populator(awaited)
        if row.tries >= MOST_TRIES:
            yield Gate("created", blocked, remedies.to_ask_again(row, awaited), f"FileProcess {row.intake_id}")
        elif missing.blocked is not None:
            yield Gate("created", blocked, missing.clear, f"FileProcess {row.intake_id}")
        else:
            yield Gate("created", blocked, to_create, f"FileProcess {row.intake_id}", Ends.CONTROLLER)
    elif not repeats:
        yield Gate(name="created")


def _to_create(connection: Connection, presence: Presence, now: datetime) -> str | None:
    """Return what makes instances where a controller is to: what keeps those that are there from it comes first."""
    there = _is_there(connection, presence, now)
    is_kept = there.blocked is not None and (copies.refused_on(connection) or presence.living(connection, now))
    return there.clear if is_kept else "batchctl create"


def _open(batches: Mapping[BatchId, BatchDefinition], unfinished: Collection[BatchId], now: datetime) -> Iterator[Gate]:
    """Say which of the batches that have something to do for a row are disabled or frozen."""
    concerned = [batch for batch in batches.values() if batch.batch_id in unfinished]
    for name, found in (
        ("enabled", map(gates.enabled, concerned)),
        ("freeze", (gates.frozen(batch, now) for batch in concerned)),
    ):
        yield from [gate for gate in found if gate.blocked is not None] or [Gate(name=name)]


def _instances(line: WaitingLine, made: Sequence[BatchInstance]) -> Gate:
    """Say which instances wait for a person, or else for anything but a place; the row is complete only when all are."""
    stuck = [instance for instance in made if instance.status in _WAIT_FOR_A_PERSON]
    if stuck:
        listed = ", ".join(f"BatchControl {instance.instance_id} is {instance.status}" for instance in stuck)
        rows = f"BatchControl {', '.join(str(instance.instance_id) for instance in stuck)}"
        return Gate("instances", listed, f"batchctl why {stuck[0].instance_id}", rows)
    for instance in made:
        if instance.status in _WAIT_IN_LINE and instance.batch_id in line.batches:
            for gate in line.gates_of(instance):
                if gate.blocked is not None and gate.name not in _MESSAGE_OF_BATCHES:
                    said, clear = (
                        f"BatchControl {instance.instance_id}: {gate.blocked}",
                        f"batchctl why {instance.instance_id}",
                    )
                    return Gate("instances", said, clear, gate.row, gate.ends, gate.until)
    return Gate(name="instances")


_WAIT_FOR_A_PERSON = STOPPED | {InstanceStatus.PAUSED}
_WAIT_IN_LINE = {InstanceStatus.READY, InstanceStatus.RETRY}
_MESSAGE_OF_BATCHES = {"enabled", "freeze"}
_CONCERN_A_CONTROLLER = {IntakeStatus.READY, IntakeStatus.PAUSED}


def _intake_status(
    row: IntakeRow, takers: list[BatchDefinition], awaited: Sequence[BatchDefinition], again: TakenFile | None
) -> Iterator[Gate]:
    """Yield the gate of its status, and that of what was made of it."""
    said, clear = visible(row.message or "no reason was given"), remedies.to_take_in(row, takers, again)
    block = partial(Gate, clear=clear, row=f"FileProcess {row.intake_id}")
    match row.status:
        case IntakeStatus.COMPLETE:
            resend = f"batchctl inbox resend {row.intake_id} --reason ...   (to run all of it once more)"
            yield from (block(name="status", blocked="it is complete", clear=resend), Gate(name="populator"))
        case IntakeStatus.READY:
            yield Gate(name="status")
            if row.tries >= MOST_TRIES:
                clear = remedies.to_ask_again(row, takers)
                yield Gate("populator", remedies.unanswered(row), clear, f"FileProcess {row.intake_id}")
            else:
                yield _populator(awaited)
        case IntakeStatus.PAUSED:
            paused = f"paused: {said}" if row.message else remedies.PAUSED
            yield from (block(name="status", blocked=paused), Gate(name="populator"))
        case IntakeStatus.REJECTED if not (row.message or "").startswith(remedies.REJECTED_BY):
            yield from (Gate(name="status"), block(name="populator", blocked=f"{row.status}: {said}"))
        case IntakeStatus.REJECTED | IntakeStatus.DUPLICATE:
            yield from (block(name="status", blocked=f"{row.status}: {said}"), Gate(name="populator"))


def _populator(batches: Iterable[BatchDefinition]) -> Gate:
    """Return the gate of the populators of some batches: the first that is blocked, if one is."""
    found = map(gates.populator, batches)
    return next((gate for gate in found if gate.blocked is not None), Gate(name="populator"))


def _asked(batch: BatchDefinition, now: datetime) -> Gate:
    """Return the gate of a batch's populator and of its PopulatorArgs."""
    gate = gates.populator(batch)
    for finding in misread.of_populator(batch, now) if gate.blocked is None else ():
        return Gate("populator", visible(finding.message), finding.next_step, f"ProcessBatch {batch.batch_id}")
    return gate


def _entity(
    row: IntakeRow, takers: list[BatchDefinition], batches: Mapping[BatchId, BatchDefinition], again: TakenFile | None
) -> Iterator[Gate]:
    if takers:
        yield Gate(name="entity")
        return
    blocked, clear = remedies.untaken(row, tuple(batches.values()))
    if row.status is IntakeStatus.REJECTED:
        # The gate of its status stands beside this one and names the same remedy.
        clear = remedies.to_take_in(row, takers, again)
    yield Gate(name="entity", blocked=blocked, clear=clear, row=f"FileProcess {row.intake_id}")


def _whoever_creates(
    connection: Connection, presence: Presence, now: datetime, about: Collection[str]
) -> Iterator[Gate]:
    """Yield the gate of the controllers, and that of the one that leads, where others are there and none does."""
    there = _is_there(connection, presence, now, about)
    yield there
    lead = leading.load(connection)
    if there.blocked is None and lead.leads(now) is None:
        last = (
            ""
            if lead.controller is None
            else f"; {visible(lead.controller)} did, until {lead.until:%Y-%m-%d %H:%M:%S} UTC"
        )
        locked = gates.locks(presence.living(connection, now), [LEAD])
        if locked.blocked is not None:
            yield locked
            return
        blocked = f"no controller leads, so that nothing new becomes an instance{last}"
        yield Gate("leader", blocked, "batchctl run   (batchctl doctor says what ails)", "Leader 1", Ends.CONTROLLER)


def _is_there(connection: Connection, presence: Presence, now: datetime, about: Collection[str] = ()) -> Gate:
    return _controller(connection, now, "is running", presence.living, about)


def _at_work(living: Sequence[ControllerRow], about: Collection[str]) -> Gate:
    """Return the gate of controllers that live: passed as long as one of them is kept from nothing.

    Locks on rows that are not in `about` do not block it.
    """
    locked = gates.locks(living, about)
    if locked.blocked is not None:
        return locked
    first = living[0]
    if first.failure is None or any(row.failure is None or is_of_locks(row.failure) for row in living):
        return Gate(name="controller")
    return Gate(
        name="controller",
        blocked=kept_from_work(f"controller {visible(first.name)}", first.failure),
        clear=next_step_in(first.failure) or "batchctl doctor",
        row=f"Controller {first.row_id}",
    )


def _controller(
    connection: Connection,
    now: datetime,
    does: str,
    found: Callable[[Any, datetime], Sequence[ControllerRow]],
    about: Collection[str] = (),
) -> Gate:
    """Return the gate of the controllers that `found` finds; if there are none, with the last sign of life of any."""
    refused = copies.refused_on(connection)
    if refused is not None:
        return Gate(name="controller", blocked=refused.message, clear=refused.next_step, row="Leader 1")
    if living := found(connection, now):
        return _at_work(living, about)
    last = max(controllers.everyone(connection), key=lambda row: row.heartbeat, default=None)
    sign = last_sign(connection)
    return Gate(
        name="controller",
        blocked=f"no controller {does}{f'; {sign}' if sign else ''}",
        clear="batchctl run   (or, for one pass: batchctl run --once)",
        row=None if last is None else f"Controller {last.row_id}",
    )

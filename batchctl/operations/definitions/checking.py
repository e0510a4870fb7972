"""Everything wrong with the definitions, all at once: the read model behind `check`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from batchctl.config import Settings
from batchctl.domain.alerting.expectations import unfit_columns
from batchctl.domain.definitions import sql_jobs
from batchctl.domain.definitions.reconciling import has_left, owner_in
from batchctl.domain.definitions.step_rules import rule_findings
from batchctl.domain.dependencies import graph
from batchctl.domain.operators.freezes import tag_finding
from batchctl.domain.outcomes import CORRECT_THE_ROWS, Finding, JobSignature, Result, RowFinding, StepContext
from batchctl.domain.rows import BatchDefinition, Freeze, Step
from batchctl.domain.text import is_invisible, typed, unfit, visible
from batchctl.domain.unreadable import UnreadableRow
from batchctl.operations import privacy, task_connections
from batchctl.operations.alerting import alert_channels
from batchctl.operations.column_lists import ColumnList, record
from batchctl.operations.definitions import variable_keeper
from batchctl.operations.definitions.agent_findings import agent_findings
from batchctl.operations.definitions.job_findings import job_findings, to_settle
from batchctl.operations.definitions.plugin_checks import CORRECT_THE_PLUGIN, AskedPlugins, PluginChecks
from batchctl.operations.definitions.pool_findings import differing_kinds, never_served, pool_findings
from batchctl.operations.definitions.reconciler import JobPlugins
from batchctl.operations.intake import watches
from batchctl.operations.intake.trial import trigger_findings
from batchctl.operations.operators import confirming, freezing
from batchctl.operations.scheduling.time_findings import time_findings
from batchctl.operations.scheduling.timetable import Timetable
from batchctl.ports import AskHandler, Folders, Transactions, ask_straight
from batchctl.store import Connection, identity, limits, pool_rows, reports, sql_job_rows, unknown_settings
from batchctl.store.alerting import evidence
from batchctl.store.definitions import definitions
from batchctl.store.intake import data_triggers, file_watches
from batchctl.store.maintenance import examination, purging
from batchctl.store.operators import freeze_rows
from batchctl.store.scheduling import calendars
from batchctl.store.unreadable_columns import RESTORE

FINDINGS = ColumnList[RowFinding](
    "Findings",
    {**record(RowFinding), "Column": lambda one: one.column or None},
    {"table": "Table", "row": lambda one: one.row or None, "column": "Column", "what is wrong": "Message"},
)
ORPHANS_SHOWN = 20
_WITHOUT = {
    "ProcessBatch_id": "the row starts nothing",
    "DependsOnBatch_id": "it never completes, so the batch that depends on it waits for ever",
}


def check(
    transactions: Transactions,
    plugins: AskedPlugins,
    context: StepContext,
    folders: Folders | None = None,
    timetable: Timetable | None = None,
    jobs: JobPlugins | None = None,
    *,
    ask: AskHandler = ask_straight,
    kinds: Mapping[str, str] | None = None,
    at_length: bool = False,
) -> tuple[RowFinding, ...]:
    """Return every finding; a plugin that breaks while it checks, or that is asked and does not answer, becomes one too.

    With `folders` it is asked, too, what hosts have: whether folders can be listed, and whether pools were ever served.
    Schedules and calendars are looked at by a `timetable`, which knows the time; the rows of `jobs` are compared with
    their code, and those of pools with the `kinds` that the settings give them. SQL Server is asked which rows break a
    constraint `at_length` only.
    """
    with transactions.read() as connection:
        defined = definitions.read(connection)
        strange, constraint_findings = reports.constraint_findings(connection, at_length=at_length)
        lost_name = identity.lost_name(connection)
        settings = [*unknown_settings.read(connection), *purging.rules(connection).findings]
        orphans = reports.orphans(connection, ORPHANS_SHOWN)
        limit = limits.overall_as_written(connection), limits.overall(connection)
        idle_needs = limits.idle_needs(connection)
        idle_dependencies = reports.idle_dependencies(connection, ORPHANS_SHOWN)
        triggers, unreadable_triggers = data_triggers.everything(connection)
        now = None if timetable is None else timetable.clock.now()
        standing = [freeze for freeze in freeze_rows.standing(connection) if now is None or freeze.holds(now)]
        tags = definitions.tags_as_written(connection)
        left_behind = sql_job_rows.left_behind(connection, sql_jobs.ORIGIN)
        of_jobs = () if jobs is None else tuple(job_findings(connection, jobs))
        watched, unreadable = file_watches.everyone(connection), file_watches.unreadable(connection)
        expectations = evidence.expected(connection)
        calendar_names = calendars.names(connection)
        asking = [one for one in defined.batches if one.populating_procedure and not (one.populator_args or "").strip()]
        lacking = [finding for one in asking if (finding := lacks_procedure(connection, one))]
        of_variables = list(variable_keeper.findings(connection, context.read_text))
        tasks = list(task_connections.findings(connection, defined.batches, context.connections))
        of_questions = list(confirming.unanswerable(connection, defined.batches))
        pools, unreadable_pools = pool_rows.in_use(connection, ()), pool_rows.unreadable(connection)
        timed = [] if timetable is None else list(time_findings(connection, timetable, defined.batches, triggers))
    broken = {} if jobs is None else jobs.failed_modules()
    remedies = {one.message: one.next_step for one in broken.values()}
    found = [
        RowFinding("(plugin)", "", "", wrong, remedies.get(wrong) or CORRECT_THE_PLUGIN) for wrong in plugins.findings()
    ]
    # What follows from a module that cannot be loaded is no finding of its own: its jobs may take anything.
    unseen = {batch.name: JobSignature() for batch in defined.batches if owner_in(batch.origin) in broken}
    # Nor is that a job has left the code, once its batch is disabled.
    unseen |= {one.name: JobSignature() for one in defined.batches if has_left(one.origin) and not one.enabled}
    context = replace(context, jobs={**unseen, **context.jobs})
    checks = PluginChecks(plugins, context, ask)
    found += lacking
    found += [_of_nonsense(row, "its batch does not run") for row in defined.unreadable]
    found += [_of_nonsense(row, "it starts nothing") for row in (*unreadable_triggers, *unreadable)]
    found += [RowFinding("(database)", "", "", visible(violation)) for violation in constraint_findings]
    if lost_name is not None:
        wrong = Finding("Value", lost_name.message, lost_name.next_step)
        found += _rows("Setting", identity.DATABASE_ID, [wrong])
    if limit[0] is not None and limit[1] == 0:
        wrong = Finding("Value", f"It says '{visible(limit[0])}', so nothing starts.")
        found += _rows("Setting", limits.MAX_CONCURRENT, [wrong])
    found += [RowFinding("Setting", visible(one.name), one.column, one.message) for one in settings]
    for batch in defined.batches:
        found += _rows("ProcessBatch", visible(batch.name), _of_batch(batch, checks))
        found += _of_needs(batch)
        # Of a job that was removed the steps are history: nothing carries them out any more.
        for step in () if batch.batch_id in left_behind else batch.steps:
            row = f"{visible(batch.name)}, step {step.seq} '{visible(step.name)}'"
            found += _rows("ProcessControl", row, _of_step(batch, step, checks, jobs))
            found += _rows("ProcessControl", row, agent_findings(batch, step, pools.known, context))
    for row, wrong in of_questions:
        found += _rows("ProcessControl", row, [wrong])
    for expected in expectations:
        unfit_ones = (Finding(column, said) for column, said in unfit_columns(expected, calendar_names))
        found += _rows("ProcessBatch", visible(expected.name), unfit_ones)
    found += pool_findings(defined.batches, pools.known)
    found += differing_kinds(pools.known, kinds or {})
    found += () if folders is None else never_served(defined.batches, pools)
    found += [_of_nonsense(row, "nothing begins in it") for row in unreadable_pools]
    found += _near_alike(defined.batches)
    found += _cycles(defined.batches)
    found += _of_dependents(defined.batches)
    for trigger in triggers:
        wrong_ones = trigger_findings(trigger, defined.batches, context.connections, defined.unreadable)
        found += _rows("DataTrigger", visible(trigger.name), wrong_ones)
    for kind, row, wrong in timed:
        found += _rows(kind, row, [wrong])
    for watch in watched:
        texts = _texts({"WatchName": watch.name, "Entity": watch.entity}, {})
        found += _rows("FileWatch", visible(watch.name), texts)
    found += _of_tags(tags)
    found += _of_freezes(standing, defined.batches)
    for watch, wrong in watches.findings(watched, defined, Path(context.directory), folders):
        found += _rows("FileWatch", visible(watch.name), [wrong])
    for table, row, wrong in of_jobs:
        found += _rows(table, visible(row), [wrong])
    found += of_variables
    for step in defined.steps_without_batch:
        wrong = Finding("ProcessBatch_id", f"ProcessBatch {step.batch_id} does not exist: the step never runs.")
        found += _rows("ProcessControl", f"step {step.seq} '{visible(step.name)}'", [wrong])
    for row_id, table, missing in idle_needs:
        wrong = Finding(f"{table}_id", f"{table} {missing} does not exist: the row limits nothing.")
        found += _rows("BatchResource", str(row_id), [wrong])
    for row_id, column, missing in idle_dependencies:
        wrong = Finding(column, f"ProcessBatch {missing} does not exist: {_WITHOUT[column]}.")
        found += _rows("BatchDependency", str(row_id), [wrong])
    for instance_id, wrong in tasks:
        found += _rows("BatchControl", str(instance_id), [wrong])
    for orphan in orphans:
        table, missing = ("ProcessBatch", orphan.batch_id) if orphan.lacks_batch else ("FileProcess", orphan.intake_id)
        message = f"{table} {missing} does not exist: the instance never runs."
        wrong = Finding(f"{table}_id", message, RESTORE.format(id=orphan.instance_id))
        found += _rows("BatchControl", str(orphan.instance_id), [wrong])
    named = {(one.table, one.row, one.column) for one in found}
    found += [_of_nonsense(row, "nothing goes by it") for row in strange if named.isdisjoint(_names(row))]
    return tuple(found)


def of_settings(settings: Settings) -> Iterator[RowFinding]:
    """Yield the channels that cannot work, or are none, and the files that every user gets at."""
    channels = (*alert_channels.findings(settings), *alert_channels.report_findings(settings))
    for target, reading in (*channels, *privacy.findings(settings)):
        if reading.result is not Result.OK:
            wrong = Finding("", reading.message, reading.next_step)
            yield from _rows("(configuration)", visible(target), [wrong])


def _rows(table: str, row: str, found: Iterable[Finding]) -> Iterator[RowFinding]:
    """Yield findings with the row that they are about."""
    for one in found:
        yield RowFinding(table, row, one.column, one.message, one.remedy or CORRECT_THE_ROWS)


def _names(row: UnreadableRow) -> set[tuple[str, str, str]]:
    """Return how a finding may name a row and its column."""
    return {(row.table, str(row.row_id), row.column), (row.table, visible(row.name), row.column)}


def _of_nonsense(row: UnreadableRow, so: str) -> RowFinding:
    message = f"The row holds nonsense, so {so}: {visible(row.wording)}."
    return RowFinding(row.table, str(row.row_id), row.column, message, row.mend)


def _of_batch(batch: BatchDefinition, checks: PluginChecks) -> Iterator[Finding]:
    if not batch.steps:
        yield Finding("", "It has no steps, so its instances wait for ever. Insert rows into ProcessControl.")
    texts = {"ProcessBatchName": batch.name, "Entity": batch.entity, "Populator": batch.populator}
    yield from _texts(texts, {"PopulatorArgs": batch.populator_args, "Description": batch.description})
    yield from checks.of_batch(batch)


def _of_tags(tags: Sequence[tuple[str, str]]) -> Iterator[RowFinding]:
    for name, written in tags:
        wrong = tag_finding(written)
        if wrong is not None:
            message = f"'{visible(written)}' cannot be meant so: {wrong}. Tags are names between commas."
            yield RowFinding("ProcessBatch", visible(name), "Tags", message)


def _of_freezes(standing: Sequence[Freeze], batches: Sequence[BatchDefinition]) -> Iterator[RowFinding]:
    """Yield what was frozen and is not there: then nothing is."""
    for freeze in standing:
        if (said := freezing.freezes_nothing(freeze, batches)) is not None:
            column = "Tag" if freeze.batch is None else "ProcessBatchName"
            yield RowFinding(
                "BatchFreeze", str(freeze.freeze_id), column, said, f"batchctl thaw {freeze.freeze_id} --reason ..."
            )


def _of_needs(batch: BatchDefinition) -> Iterator[RowFinding]:
    """Yield the resources of which a batch needs more than there is: its instances would wait for ever."""
    for need in batch.needs:
        if need.units > need.capacity:
            row = f"{visible(batch.name)}, {visible(need.name)}"
            message = f"It needs {need.units} units, and the resource has {need.capacity}: its instances never start."
            yield RowFinding("BatchResource", row, "Units", message)


def lacks_procedure(connection: Connection, batch: BatchDefinition) -> RowFinding | None:
    """Ask the database that the populator `procedure` asks for a batch whether it has the procedure."""
    name = batch.populating_procedure or ""
    if examination.has_populating_procedure(connection, name):
        return None
    message = f"There is no procedure {visible(name)} that fills its instances: every row would be rejected."
    return RowFinding(
        "ProcessBatch", visible(batch.name), "Populator", message, "make the procedure, or correct the row"
    )


def _of_step(batch: BatchDefinition, step: Step, checks: PluginChecks, jobs: JobPlugins | None) -> Iterator[Finding]:
    yield from _texts({"ProcessName": step.name}, {f"Data{at}": value for at, value in enumerate(step.data, start=1)})
    if step.alarm_duration and step.max_duration and step.alarm_duration > step.max_duration:
        yield Finding("AlarmDuration", "It is longer than MaxDuration: the step is stopped before the alarm.")
    if step.expected_duration and step.max_duration and step.expected_duration > step.max_duration:
        yield Finding("ExpectedDuration", "It is longer than MaxDuration: the step is stopped before it can end.")
    yield from rule_findings(batch, step)
    is_unknown = step.data[0] == batch.name and batch.name not in checks.context.jobs
    owner = owner_in(batch.origin) if is_unknown else None
    of_job = None if owner is None or jobs is None else to_settle(owner, jobs)
    for wrong in checks.of_step(step):
        yield replace(wrong, remedy=of_job) if wrong.column == "Data1" and not wrong.remedy else wrong


def _texts(names: dict[str, str], values: dict[str, str | None]) -> Iterator[Finding]:
    """Yield the columns whose text cannot be read, typed or stored."""
    for column, name in names.items():
        if any(is_invisible(character) for character in name):
            yield Finding(column, f"It holds an invisible character: {visible(name)}")
        elif name != name.strip():
            yield Finding(column, f"It begins or ends with a blank: '{visible(name)}'")
    for column, value in values.items():
        if value is not None and (failure := unfit(value)) is not None:
            yield Finding(column, f"It cannot be used: {failure}.")


def _near_alike(batches: Iterable[BatchDefinition]) -> Iterator[RowFinding]:
    """Yield entities that differ from an earlier one only in letter case or blanks."""
    seen: dict[str, str] = {}
    for batch in batches:
        folded = "".join(batch.entity.split()).casefold()
        first = seen.setdefault(folded, batch.entity)
        if first != batch.entity:
            message = (
                f"Entity '{visible(batch.entity)}' is nearly '{visible(first)}' of another batch, but not the same."
            )
            yield RowFinding("ProcessBatch", visible(batch.name), "Entity", message)


def _cycles(batches: Sequence[BatchDefinition]) -> Iterator[RowFinding]:
    """Yield what waits for itself, by way of others or not."""
    for cycle in graph.cycles(batches):
        first, *others = [visible(name) for name in cycle.names]
        if not others:
            message = "It depends on itself, so no dependency ever starts it."
        else:
            way = ", ".join(f"{one} for {other}" for one, other in pairwise((*others, first)))
            message = f"{first} waits for {others[0]}, {way}: no dependency ever starts any of them."
            message += " They wait for each other in many more ways." if cycle.stands_for_more else ""
        yield RowFinding("BatchDependency", first, "DependsOnBatch_id", message)


def _of_dependents(batches: Sequence[BatchDefinition]) -> Iterator[RowFinding]:
    """Yield what keeps a batch from being started by what it depends on, and what would be started with it."""
    known = {batch.batch_id: batch for batch in batches}
    takers: dict[str, list[str]] = {}
    for batch in batches:
        takers.setdefault(batch.entity, []).append(batch.name)
    for batch in batches:
        name = visible(batch.name)
        if batch.dependencies and len(takers[batch.entity]) > 1:
            others = ", ".join(visible(other) for other in takers[batch.entity] if other != batch.name)
            message = f"Its entity '{visible(batch.entity)}' is taken by {others} too, started whenever this one is."
            yield RowFinding("ProcessBatch", name, "Entity", f"It starts when other batches are complete. {message}")
        for dependency in batch.dependencies:
            other = known.get(dependency.depends_on)
            if other is not None and not other.enabled and batch.enabled:
                message = (
                    f"{visible(other.name)} is disabled: while it is, it completes nothing that {name} could wait for."
                )
                remedy = f"batchctl enable {typed(other.name)} --reason ..."
                yield RowFinding(
                    "BatchDependency", f"{name}, {visible(other.name)}", "DependsOnBatch_id", message, remedy
                )

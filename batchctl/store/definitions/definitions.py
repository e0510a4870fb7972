"""`ProcessBatch`, `ProcessControl`, `BatchDependency` and what freezes them: what the batches are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, update

from batchctl.domain.dependencies import graph
from batchctl.domain.operators.freezes import scope_of
from batchctl.domain.rows import BatchDefinition, BatchId, Dependency, Freeze, Need, Step, tags_of
from batchctl.domain.status import ProcessingMode
from batchctl.domain.unreadable import UnreadableRow
from batchctl.store import controllers, limits
from batchctl.store.definitions import batch_versions, variable_rows
from batchctl.store.one_look import ask_ahead, once, one_look
from batchctl.store.operators import freeze_rows
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowSelect
from batchctl.store.tables import batch_dependency, process_batch, process_control
from batchctl.store.unreadable_columns import NONSENSE, unreadable

_b, _d, _p = process_batch.c, batch_dependency.c, process_control.c
_definition = Reader(BatchDefinition, process_batch)
_dependency = Reader(Dependency, batch_dependency)
_step = Reader(Step, process_control)

_BATCHES = RowSelect(select(process_batch).order_by(_b.Seq, func.coalesce(_b.Priority, 0).desc(), _b.ProcessBatch_id))
_DEPENDENCIES = RowSelect(select(batch_dependency).order_by(_d.ProcessBatch_id, _d.BatchDependency_id))
_TAGS = select(_b.ProcessBatchName, _b.Tags).where(_b.Tags.is_not(None)).order_by(_b.ProcessBatch_id)
_STEPS = RowSelect(select(process_control).order_by(_p.ProcessBatch_id, _p.ProcessControlSeq))
AHEAD = (
    batch_versions.NEWEST,
    limits.NEEDS,
    _DEPENDENCIES,
    freeze_rows.STANDING,
    controllers.PLUGINS,
    variable_rows.VALUES,
    _STEPS,
    _BATCHES,
)
"""All that definitions are read of."""
_ENABLE = (
    update(process_batch)
    .where(_b.ProcessBatch_id == bindparam("batch_id"), _b.Enabled != bindparam("enabled"))
    .values(Enabled=bindparam("enabled"), z_updated=bindparam("now"))
)
_SET_MODE = (
    update(process_batch)
    .where(_b.ProcessBatch_id == bindparam("batch_id"))
    .values(ProcessingMode=bindparam("mode"), z_updated=bindparam("now"))
)


@dataclass(frozen=True, slots=True)
class Definitions:
    """What the definition tables hold: the batches, and what of them cannot be read."""

    batches: tuple[BatchDefinition, ...]
    steps_without_batch: tuple[Step, ...]
    unreadable: tuple[UnreadableRow, ...]

    def unreadable_of(self, entity: str) -> tuple[UnreadableRow, ...]:
        """Return what cannot be read of the batches that take an entity."""
        return tuple(row for row in self.unreadable if row.entity == entity)


def read(connection: Connection) -> Definitions:
    """Return everything defined, batches by Seq and Priority; a batch with a row that cannot be read is left out whole."""
    return once(_read, connection)


def _read(connection: Connection) -> Definitions:
    with one_look():
        ask_ahead(connection, *((each, {}) for each in AHEAD))
        return _defined(connection)


def _defined(connection: Connection) -> Definitions:
    steps: dict[int, list[Step]] = {}
    rows: dict[int, list[Any]] = {}
    versions = batch_versions.newest(connection)
    broken: dict[int, UnreadableRow] = {}
    needs, dependencies = limits.needs(connection, broken), _dependencies(connection, broken)
    standing, plugins = freeze_rows.standing(connection), controllers.plugins(connection)
    variables = variable_rows.values(connection)
    for row in _STEPS(connection):
        rows.setdefault(row.ProcessBatch_id, []).append(row)
        try:
            steps.setdefault(row.ProcessBatch_id, []).append(_step(row))
        except NONSENSE as error:
            broken[row.ProcessBatch_id] = unreadable(connection, process_control, row, error)
    batches: list[BatchDefinition] = []
    for row in _BATCHES(connection):
        try:
            batch_id = row.ProcessBatch_id
            its_steps, its_needs = tuple(steps.pop(batch_id, ())), tuple(needs.get(batch_id, ()))
            batch = _batch(row, its_steps, its_needs, tuple(dependencies.get(batch_id, ())), standing)
            version = _version(row, rows.get(batch_id, ()), versions.get(batch_id))
            missing = () if plugins is None else plugins.missing_for(batch)
            batch = replace(batch, version=version, missing_plugins=missing, variables=variables)
        except NONSENSE as error:
            broken[row.ProcessBatch_id] = unreadable(connection, process_batch, row, error)
        else:
            if batch.batch_id in broken:
                broken[batch.batch_id] = replace(broken[batch.batch_id], batch=batch.name, entity=batch.entity)
            else:
                batches.append(batch)
    orphans = tuple(step for left in steps.values() for step in left)
    return Definitions(_connected(batches), orphans, tuple(broken.values()))


def all_batches(connection: Connection) -> tuple[BatchDefinition, ...]:
    """Return every batch with its steps, by Seq."""
    return read(connection).batches


def tags_as_written(connection: Connection) -> list[tuple[str, str]]:
    """Return what stands in Tags, with the names of the batches."""
    return [(name, tags) for name, tags in connection.execute(_TAGS)]


def set_enabled(connection: Connection, batch_id: BatchId, now: object, *, enabled: bool) -> bool:
    """Switch a batch on or off; false when it is so already."""
    return connection.execute(_ENABLE, {"batch_id": batch_id, "enabled": int(enabled), "now": now}).rowcount == 1


def set_mode(connection: Connection, batch_id: BatchId, mode: ProcessingMode | None, now: object) -> None:
    """Say what may start a batch."""
    written = None if mode is None else mode.value
    connection.execute(_SET_MODE, {"batch_id": batch_id, "mode": written, "now": now})


def _dependencies(connection: Connection, broken: dict[int, UnreadableRow]) -> dict[int, list[Dependency]]:
    found: dict[int, list[Dependency]] = {}
    for row in _DEPENDENCIES(connection):
        try:
            found.setdefault(row.ProcessBatch_id, []).append(_dependency(row))
        except NONSENSE as error:
            broken[row.ProcessBatch_id] = unreadable(connection, batch_dependency, row, error)
    return found


def _connected(batches: list[BatchDefinition]) -> tuple[BatchDefinition, ...]:
    """Return the same batches, each knowing which of them depend on it."""
    dependents: dict[BatchId, list[BatchId]] = {}
    for batch in batches:
        for dependency in batch.dependencies:
            dependents.setdefault(dependency.depends_on, []).append(batch.batch_id)
    if not dependents:
        return tuple(batches)
    cycles = graph.in_cycle(batches)
    return tuple(
        replace(
            batch,
            dependents=tuple(dict.fromkeys(dependents.get(batch.batch_id, ()))),
            is_in_cycle=batch.batch_id in cycles,
        )
        for batch in batches
    )


def _batch(
    row: Any,
    steps: tuple[Step, ...],
    needs: tuple[Need, ...],
    dependencies: tuple[Dependency, ...],
    standing: Sequence[Freeze],
) -> BatchDefinition:
    name, tags = row.ProcessBatchName, tags_of(row.Tags)
    return _definition(
        row,
        entity=name if row.Entity is None else row.Entity,
        retry_wait=_retry_wait(row),
        freezes=tuple(freeze for freeze in standing if scope_of(freeze).covers(name, tags)),
        steps=steps,
        needs=needs,
        dependencies=dependencies,
    )


def _version(row: Any, steps: Iterable[Any], newest: tuple[int, str] | None) -> int | None:
    """Return the number of a batch's newest version, if the batch still matches it."""
    if newest is None:
        return None
    number, known = newest
    return number if batch_versions.fingerprint(batch_versions.content_of(row, steps)) == known else None


def _retry_wait(row: Any) -> timedelta:
    if row.RetryWaitSecs is None:
        return timedelta(minutes=row.RetryWaitMins)
    return timedelta(seconds=row.RetryWaitSecs)


ENTITY = func.coalesce(_b.Entity, _b.ProcessBatchName)
"""The entity a batch takes, as an SQL expression."""

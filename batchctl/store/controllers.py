"""`Controller`: the controllers of the database, and the signs of life that others watch."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import (
    Connection,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    inspect,
    null,
    or_,
    select,
    text,
    union,
    update,
)

from batchctl.domain.commands import Identity
from batchctl.domain.errors import Conflict
from batchctl.domain.plugins import SEPARATOR, Plugins
from batchctl.domain.rows import ControllerRow, HistoryId, InstanceId, Step
from batchctl.domain.status import ControllerStatus
from batchctl.domain.text import NAME_LIMIT, storable
from batchctl.store import pool_rows
from batchctl.store.columns import readable
from batchctl.store.conditions import one_of
from batchctl.store.dialects import dialect_of
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert, RowSelect, RowUpdate
from batchctl.store.tables import (
    CLAIMED_INSTANCE,
    LIVE_ENTRY,
    batch_control,
    batch_process_history,
    controller,
    controller_pool,
    leader,
)

_k, _c, _h = controller.c, batch_control.c, batch_process_history.c
controller_row = Reader(ControllerRow)

_ADD = RowInsert(controller)
_BEAT = RowUpdate(controller, _k.ControllerName == bindparam("called"))
_LOAD = RowSelect(select(controller).where(_k.ControllerName == bindparam("called")))
_AS_FIRST_MADE = select(*(null().label(column.name) if column.info.get("added") else column for column in _k)).order_by(
    _k.Controller_id
)
_LEADS = and_(_k.Status == ControllerStatus.RUNNING.value, exists().where(leader.c.ControllerName == _k.ControllerName))
PLUGINS = RowSelect(
    select(_k.ProcessTypes, _k.Populators, _k.Jobs, _k.LeftOut, case((_LEADS, 1), else_=0).label("Leads")).where(
        or_(
            _k.Status == ControllerStatus.RUNNING.value,
            _k.Controller_id == select(func.max(_k.Controller_id)).scalar_subquery(),
        )
    )
)
_PLUGINS_OF_RUNNING = select(_k.ControllerName, _k.ProcessTypes, _k.Jobs).where(
    _k.Status == ControllerStatus.RUNNING.value
)
_CLAIMS = exists().where(_c.ClaimedBy == _k.ControllerName, one_of("BatchControl.Status", CLAIMED_INSTANCE))
_BEGAN = exists().where(_h.ClaimedBy == _k.ControllerName, text(f"BatchProcessHistory.{LIVE_ENTRY}"))
_OWNERS = RowSelect(
    union(
        select(_c.ClaimedBy).where(one_of("BatchControl.Status", CLAIMED_INSTANCE)),
        select(_h.ClaimedBy).where(text(f"BatchProcessHistory.{LIVE_ENTRY}")),
    )
)
_CLAIMED_BY = RowSelect(
    select(_c.BatchControl_id).where(
        _c.ClaimedBy == bindparam("called"), one_of("BatchControl.Status", CLAIMED_INSTANCE)
    )
)
_BEGUN_BY = RowSelect(
    select(_h.BatchProcessHistory_id).where(
        _h.ClaimedBy == bindparam("called"), text(f"BatchProcessHistory.{LIVE_ENTRY}")
    )
)
_RUNNING = RowSelect(select(controller).where(_k.Status == ControllerStatus.RUNNING.value))
_LOST = select(_k.ControllerName).where(_k.Status == ControllerStatus.LOST.value)
_SET_STATUS = (
    update(controller)
    .where(_k.ControllerName == bindparam("called"))
    .values(Status=bindparam("status"), z_updated=bindparam("now"))
)
_OLD = and_(_k.Status != ControllerStatus.RUNNING.value, _k.Heartbeat < bindparam("before"), ~_CLAIMS, ~_BEGAN)
_FORGET_POOLS = delete(controller_pool).where(controller_pool.c.Controller_id.in_(select(_k.Controller_id).where(_OLD)))
_FORGET = delete(controller).where(_OLD)


def add(
    connection: Connection,
    *,
    name: str,
    host: str,
    process: Identity,
    slots: int,
    version: str,
    orphan_timeout: timedelta,
    scheduler_zone: str | None,
    left_out: str | None,
    plugins: Plugins | None,
    pools: Collection[str],
    agents: Mapping[str, str],
    seq: int,
    now: datetime,
) -> None:
    """Enter a controller, with the pools that it serves and what it knows of their agents, before it claims anything."""
    values = {
        "ControllerName": name,
        "Host": host[:NAME_LIMIT],
        "Pid": process.pid,
        "PidStart": process.pid_start,
        "BootId": process.boot_id,
        "Slots": slots,
        "HeartbeatSeq": seq,
        "Heartbeat": now,
        "AppVersion": version,
        "OrphanTimeoutSecs": math.ceil(orphan_timeout.total_seconds()),
        "SchedulerZone": scheduler_zone,
        "LeftOut": left_out,
        **({} if plugins is None else {called: _listed(names) for called, names in _names(plugins).items()}),
    }
    number = _ADD(connection, {column: value for column, value in values.items() if value is not None})
    pool_rows.serve(connection, number, pools, agents, now)


def plugins(connection: Connection) -> Plugins | None:
    """Return what at least one of the controllers that run has, or the one that began last; None where that is unknown.

    The populators are those of the leader: no other controller asks one.
    """
    rows = PLUGINS(connection)
    if not rows or any(row.ProcessTypes is None for row in rows):
        return None
    return Plugins(
        process_types=_of_any(row.ProcessTypes for row in rows),
        populators=_of_any(row.Populators for row in [row for row in rows if row.Leads] or rows),
        jobs=_of_any(row.Jobs for row in rows),
        left_out="; ".join(dict.fromkeys(str(row.LeftOut).removesuffix(".") for row in rows if row.LeftOut)) or None,
    )


def others_can_begin(connection: Connection, step: Step, but: Collection[str]) -> bool:
    """Say whether a controller that runs, and is not in `but`, has what carries a step out."""
    rows = [row for row in connection.execute(_PLUGINS_OF_RUNNING) if row.ControllerName not in but]
    return any(
        row.ProcessTypes is not None
        and Plugins(process_types=_read(row.ProcessTypes), populators=frozenset(), jobs=_read(row.Jobs)).can_begin(step)
        for row in rows
    )


def _of_any(listed: Iterable[str | None]) -> frozenset[str]:
    return frozenset().union(*map(_read, listed))


def _names(plugins: Plugins) -> dict[str, frozenset[str]]:
    return {"ProcessTypes": plugins.process_types, "Populators": plugins.populators, "Jobs": plugins.jobs}


def _listed(names: Iterable[str]) -> str:
    return SEPARATOR.join(sorted(name for name in names if SEPARATOR not in name))


def _read(listed: str | None) -> frozenset[str]:
    return frozenset((listed or "").split(SEPARATOR)) - {""}


def beat(connection: Connection, name: str, seq: int, now: datetime, failure: str | None) -> bool:
    """Write a controller's sign of life, and what keeps it from its work, if anything; false when its row is gone."""
    signs = {"HeartbeatSeq": seq, "Heartbeat": now, "Status": ControllerStatus.RUNNING.value, "z_updated": now}
    return _BEAT(connection, {**signs, "Trouble": None if failure is None else storable(failure)}, called=name)


def lost(connection: Connection) -> Sequence[str]:
    """Name the controllers that the others have written off."""
    return connection.execute(_LOST).scalars().all()


def load(connection: Connection, name: str) -> ControllerRow | None:
    """Return one controller."""
    return next(iter(readable(_LOAD(connection, called=name), controller_row)), None)


def load_locked(connection: Connection, row: ControllerRow) -> ControllerRow | None:
    """Return a controller, locked until the end of the transaction; raise `Conflict` while another has locked it."""
    free = dialect_of(connection).lock_rows(connection, "Controller", [row.row_id])()
    found = load(connection, row.name)
    if found is not None and found.row_id == row.row_id and row.row_id not in free:
        message = f"the row of controller {row.name} is locked"
        raise Conflict(message)
    return found


def owners(connection: Connection) -> set[str | None]:
    """Return the names, as they stand, of those that have claimed something or begun a step that has not ended."""
    return {owner for (owner,) in _OWNERS(connection)}


def open_of(connection: Connection, name: str) -> tuple[set[InstanceId], set[HistoryId]]:
    """Return the instances that one controller has claimed, and the attempts begun by it that have not ended."""
    claimed, begun = _CLAIMED_BY(connection, called=name), _BEGUN_BY(connection, called=name)
    return {InstanceId(at) for (at,) in claimed}, {HistoryId(at) for (at,) in begun}


def watched(connection: Connection, owners: Iterable[str | None]) -> dict[str, ControllerRow]:
    """Return by name the controllers that have not ended, and those of the owners that are entered."""
    found = {row.name: row for row in running(connection)}
    for name in owners:
        if name is not None and name not in found and (row := load(connection, name)) is not None:
            found[name] = row
    return found


def running(connection: Connection) -> Sequence[ControllerRow]:
    """Return the controllers that have not ended."""
    return readable(_RUNNING(connection), controller_row)


def are_listed(connection: Connection) -> bool:
    """Say whether a database that may be of an older version has the table."""
    return controller.name.lower() in {name.lower() for name in inspect(connection).get_table_names()}


def everyone(connection: Connection) -> Sequence[ControllerRow]:
    """Return all controllers in order of their start."""
    return readable(pool_rows.CONTROLLERS(connection), controller_row)


def everyone_of_any_version(connection: Connection) -> Sequence[ControllerRow]:
    """Return all controllers with the columns that every version of the table has."""
    return readable(connection.execute(_AS_FIRST_MADE), controller_row)


def set_status(connection: Connection, name: str, status: ControllerStatus, now: datetime) -> None:
    """Write that a controller has ended, or was found dead."""
    connection.execute(_SET_STATUS, {"called": name, "status": status.value, "now": now})


def forget(connection: Connection, before: datetime) -> None:
    """Remove controllers that ended before a moment and have left neither claims nor open attempts."""
    for statement in (_FORGET_POOLS, _FORGET):
        connection.execute(statement, {"before": before})

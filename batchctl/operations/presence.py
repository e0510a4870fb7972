"""Which controllers work on the database, as far as their rows and this host tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from batchctl.domain.errors import Busy
from batchctl.domain.liveness import Rhythm
from batchctl.domain.operators.pools import wording
from batchctl.domain.records import Kept
from batchctl.domain.rows import ControllerRow
from batchctl.domain.status import ControllerStatus
from batchctl.domain.text import visible
from batchctl.operations import copies
from batchctl.operations.column_lists import Alarming, ColumnList, StatusWord, record
from batchctl.ports import Clock, Transactions
from batchctl.store import Connection, controllers, instances, pool_rows

BEATS = 5
"""How many signs of life a controller may be late before it is not taken for present any more."""


@dataclass(frozen=True, slots=True)
class Presence:
    """Looks for controllers. `is_gone` says of one whether this host can prove that it is dead."""

    rhythm: Rhythm
    is_gone: Callable[[ControllerRow], bool]

    def living(self, connection: Connection, now: datetime) -> Sequence[ControllerRow]:
        """Return the controllers that have given a sign of life lately, in order of their start; on a copy they are elsewhere."""
        if copies.original_of(connection) is not None:
            return []
        return self._running(controllers.everyone(connection), now)

    def firing(self, connection: Connection, now: datetime) -> Sequence[ControllerRow]:
        """Return those of them that start what schedules say."""
        return [row for row in self.living(connection, now) if row.scheduler_zone is not None]

    def living_of_any_version(self, connection: Connection, now: datetime) -> Sequence[ControllerRow]:
        """Return the same in a database that may be of an older version; none if it does not list controllers yet."""
        if not controllers.are_listed(connection):
            return ()
        return self._running(controllers.everyone_of_any_version(connection), now)

    def state(self, row: ControllerRow, now: datetime) -> str:
        """Name how a controller stands: `running`, `silent`, `dead`, or as it was left: `stopped`, `lost`."""
        if row.status is not ControllerStatus.RUNNING:
            return row.status.value
        if self.is_gone(row):
            return "dead"
        return "running" if now - row.heartbeat < BEATS * self.rhythm.heartbeat_interval else "silent"

    def _running(self, rows: Sequence[ControllerRow], now: datetime) -> Sequence[ControllerRow]:
        return [row for row in rows if self.state(row, now) == "running"]


def last_sign(connection: Connection) -> str | None:
    """Say which controller gave the last sign of life, and when; and of one that has not ended, who may keep it from another."""
    last = max(controllers.everyone(connection), key=lambda row: row.heartbeat, default=None)
    if last is None:
        return None
    said = f"the last sign of life is of {last.heartbeat:%Y-%m-%d %H:%M:%S} UTC, by {visible(last.name)}"
    holder = instances.holder(connection) if last.status is ControllerStatus.RUNNING else None
    return said if holder is None else f"{said}; where it lives, a lock may keep it from the next: {holder}"


def check_nobody_works(connection: Connection, presence: Presence, now: datetime) -> None:
    """Refuse what must not be done beneath a controller: it goes on as if everything were as it was at its start."""
    living = presence.living_of_any_version(connection, now)
    who = [_who(row) for row in living]
    if who:
        message = f"The control database is in use, and must not be while it is upgraded: controller {', '.join(who)}."
        later = f"{int((BEATS * presence.rhythm.heartbeat_interval).total_seconds())} s"
        next_step = (
            f"stop it there (Ctrl-C or SIGTERM; one that was killed is over after {later}), then: batchctl db upgrade"
        )
        raise Busy(message, next_step=next_step)


def _who(row: ControllerRow) -> str:
    process = "" if row.pid is None else f", process {row.pid}"
    return f"{visible(row.name)} (host {visible(row.host)}{process})"


@dataclass(frozen=True, slots=True)
class Present:
    """A controller, how it stands, and how many instances it has claimed."""

    row: ControllerRow
    state: str
    claims: int
    leads: Annotated[bool, Kept()]
    pools: tuple[str, ...]
    """Those that it serves."""
    drained: str | None
    """Why nothing new begins on its host; None where it may."""


CONTROLLERS = ColumnList[Present](
    "Controllers",
    record(Present),
    {
        "name": "ControllerName",
        "state": lambda one: StatusWord(one.state),
        "": lambda one: "leader" if one.leads else "",
        "host": "Host",
        "process#": "Pid",
        "slots#": "Slots",
        "claims#": "Claims",
        "pools": lambda one: ", ".join(one.pools),
        "drained": lambda one: Alarming("drained") if one.drained else "",
        "started (UTC)": "z_inserted",
        "last sign of life (UTC)": "Heartbeat",
    },
)


def everyone(transactions: Transactions, clock: Clock, presence: Presence, leader: str | None) -> tuple[Present, ...]:
    """Return the controllers of the last days in order of their start."""
    with transactions.read() as connection:
        now = clock.now()
        claims = Counter(instance.claimed_by for instance in instances.claimed(connection))
        rows = controllers.everyone(connection)
        served, known = pool_rows.served(connection, rows), pool_rows.known(connection)
    return tuple(
        Present(
            row,
            presence.state(row, now),
            claims[row.name],
            leader == row.name,
            served[row.row_id],
            None if (drain := known.drain_of_host(row.host)) is None else wording(drain),
        )
        for row in rows
    )

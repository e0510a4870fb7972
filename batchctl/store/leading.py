"""`Leader`: the one row that says which controller leads, until when, and with which fence it writes."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, bindparam, select, update

from batchctl.domain.leader import HIGHEST_FENCE, NO_LEAD, Lead
from batchctl.domain.unreadable import UnreadableRow
from batchctl.store.columns import readable
from batchctl.store.record_reading import Reader
from batchctl.store.statements import PendingAnswer, RowInsert, RowSelect, RowUpdate
from batchctl.store.tables import leader
from batchctl.store.unreadable_columns import ask_unfit, unfit

_l = leader.c
_lead = Reader(Lead)
_THE_ROW = _l.Leader_id == 1
_MAKE = RowInsert(leader)
LEADER = RowSelect(select(leader).where(_THE_ROW))
# A controller that takes the lead waits for what is being written under the fence before.
_FENCE = RowSelect(select(_l.Fence).where(_THE_ROW).with_for_update(read=True))
_TAKE = (
    update(leader)
    .where(_THE_ROW, _l.Fence == bindparam("found"))
    .values(
        ControllerName=bindparam("controller"),
        Fence=bindparam("fence"),
        LeaseUntil=bindparam("until"),
        z_updated=bindparam("now"),
    )
)
_LEADS = RowUpdate(leader, _THE_ROW, _l.Fence == bindparam("found"), _l.ControllerName == bindparam("controller"))
_SETTLE = update(leader).where(_THE_ROW).values(Place=bindparam("place"), z_updated=bindparam("now"))


def load(connection: Connection) -> Lead:
    """Return which controller leads, or led last; none where somebody has deleted the row."""
    return next(iter(readable(LEADER(connection), _lead)), NO_LEAD)


def unreadable(connection: Connection) -> list[UnreadableRow]:
    """Return the row, where it cannot be read: then no controller leads."""
    return unfit(connection, leader)


def ask_unreadable(connection: Connection) -> None:
    """Ask ahead for it."""
    ask_unfit(connection, leader)


def load_or_make(connection: Connection) -> Lead:
    """Return which controller leads, or led last; make the row first where it is gone."""
    if not LEADER(connection):
        _MAKE(connection, {"Leader_id": 1, "Fence": NO_LEAD.fence})
    return load(connection)


def take(connection: Connection, found: Lead, controller: str, until: datetime, now: datetime) -> int | None:
    """Take the lead as it was found; return the new fence, or None when another was faster."""
    fence = found.fence % HIGHEST_FENCE + 1
    values = {"found": found.fence, "fence": fence, "controller": controller, "until": until, "now": now}
    return fence if connection.execute(_TAKE, values).rowcount == 1 else None


def keep(connection: Connection, controller: str, fence: int, until: datetime, now: datetime) -> bool:
    """Lead for longer; false when another has taken the lead."""
    return _LEADS(connection, {"LeaseUntil": until, "z_updated": now}, found=fence, controller=controller)


def leave(connection: Connection, controller: str, fence: int, now: datetime) -> None:
    """Let another lead at once."""
    left = {"ControllerName": None, "LeaseUntil": now, "z_updated": now}
    _LEADS(connection, left, found=fence, controller=controller)


def ask_fence(connection: Connection) -> PendingAnswer[int | None]:
    """Ask for the fence, which no other connection can change until the end of the transaction."""
    asked = _FENCE.ask(connection)
    return PendingAnswer(lambda: next((int(fence) for (fence,) in asked()), None))


def settle(connection: Connection, place: str, now: datetime) -> None:
    """Write where the database is that may be worked on."""
    connection.execute(_SETTLE, {"place": place, "now": now})

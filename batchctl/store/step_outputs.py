"""`StepOutput`: what attempts under way have written so far; nothing is left of one whose end is recorded."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, delete, func, insert, select

from batchctl.domain.rows import HistoryId
from batchctl.domain.values import value
from batchctl.store.tables import step_output

_o = step_output.c
_OF = _o.BatchProcessHistory_id == bindparam("history_id")
_LAST = select(func.max(_o.Number)).where(_OF)
_ADD = insert(step_output)
_DROP = delete(step_output).where(_OF, _o.Number < bindparam("first"))
_FORGET = delete(step_output).where(_o.BatchProcessHistory_id.in_(bindparam("history_ids", expanding=True)))
_SINCE = select(_o.Number, _o.Text).where(_OF, _o.Number > bindparam("after")).order_by(_o.Number)


@value
class WrittenPart:
    """A part of what an attempt has written; the parts of one attempt are numbered."""

    number: int
    text: str


def last_number(connection: Connection, history_id: HistoryId) -> int:
    """Return the number of the last part of an attempt; 0 without any."""
    return connection.execute(_LAST, {"history_id": history_id}).scalar() or 0


def add(connection: Connection, history_id: HistoryId, part: WrittenPart, first: int) -> None:
    """Add a part, and delete those before the first that is kept."""
    values = {"BatchProcessHistory_id": history_id, "Number": part.number, "Text": part.text}
    connection.execute(_ADD, values)
    connection.execute(_DROP, {"history_id": history_id, "first": first})


def forget(connection: Connection, history_ids: Sequence[HistoryId]) -> None:
    """Delete what attempts have written: they have ended, and their rows say it in full."""
    if history_ids:
        connection.execute(_FORGET, {"history_ids": list(history_ids)})


def since(connection: Connection, history_id: HistoryId, after: int) -> list[WrittenPart]:
    """Return the parts of an attempt that follow one, in their order."""
    found = connection.execute(_SINCE, {"history_id": history_id, "after": after})
    return [WrittenPart(number, text) for number, text in found]

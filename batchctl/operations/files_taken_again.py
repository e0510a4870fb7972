"""Files that are no work and that their watch has taken again since, renamed or changed in place: none is loaded twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from batchctl.domain.errors import Refused
from batchctl.domain.rows import IntakeId, IntakeRow
from batchctl.domain.status import IntakeStatus
from batchctl.domain.text import NAME_LIMIT, shorten, visible
from batchctl.store import Connection
from batchctl.store.intake import file_watches
from batchctl.store.intake.file_watches import TakenFile

_NO_WORK = {IntakeStatus.REJECTED, IntakeStatus.DUPLICATE, IntakeStatus.PAUSED}


def find(connection: Connection, rows: Iterable[IntakeRow]) -> Mapping[IntakeId, TakenFile]:
    """Return, by row, the file of each given row that is no work and whose file a watch has taken since."""
    return file_watches.taken_again(connection, [row for row in rows if row.status in _NO_WORK])


def wording(again: TakenFile) -> str:
    """Say as what a file was taken again."""
    return f"taken again as FileProcess {again.intake_id}, as {shorten(visible(again.path), NAME_LIMIT)}"


def to_close(row: IntakeRow, why: str) -> str:
    """Return what to do so that nothing comes of a row; a duplicate is closed as it is."""
    if row.status is IntakeStatus.DUPLICATE:
        return f"nothing   ({why})"
    return f"batchctl inbox reject {row.intake_id} --reason ...   ({why})"


def check(connection: Connection, row: IntakeRow) -> None:
    """Refuse to make work of a row that is none, whose file a watch has taken since."""
    again = find(connection, [row]).get(row.intake_id)
    if again is not None:
        message = f"FileProcess {row.intake_id} is of the file that was {wording(again)}: it would be loaded twice."
        close = to_close(row, "nothing more is to come of it")
        raise Refused(message, next_step=close)

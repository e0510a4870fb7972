"""A watched file that was rejected because of its name, and was taken again under another: it is not loaded twice."""

from __future__ import annotations

from typing import Any

from batchctl.domain.errors import Refused
from batchctl.domain.rows import IntakeRow
from batchctl.domain.status import IntakeStatus
from batchctl.domain.text import shorten, visible
from batchctl.store import file_watches

NAME_LIMIT = 200


def check(connection: Any, row: IntakeRow) -> None:
    """Refuse to make work of a rejected row whose file a watch has taken since under the name that it has now."""
    if row.status is not IntakeStatus.REJECTED:
        return
    again = file_watches.taken_again(connection, row.intake_id, row.file_name)
    if again is None:
        return
    at, name = row.intake_id, shorten(visible(again.path), NAME_LIMIT)
    again_as = f"taken again as FileProcess {again.intake_id}, as {name}"
    message = f"FileProcess {at} is of the file that was {again_as}: it would be loaded twice."
    raise Refused(message, next_step=f"batchctl inbox reject {at} --reason ...   (nothing more is to come of it)")

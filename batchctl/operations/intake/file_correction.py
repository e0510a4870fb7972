"""Watched files that were corrected in place and that no step has read since, for every command that shows an instance."""

from __future__ import annotations

from batchctl.domain.intake.corrected_files import GOING_ON, CorrectedFile
from batchctl.domain.rows import BatchInstance, IntakeId
from batchctl.domain.status import FINAL
from batchctl.operations import shown_columns
from batchctl.operations.shown_columns import Columns
from batchctl.store import Connection, history, reports
from batchctl.store.intake import file_watches, intake


def of_instance(connection: Connection, instance: BatchInstance) -> CorrectedFile | None:
    """Return the file of an instance if it was corrected, and the instance has read it neither since nor is about to."""
    if instance.status not in GOING_ON and instance.status not in FINAL:
        return None
    taken = file_watches.taken_as(connection, instance.intake_id)
    if taken is None:
        return None
    row = intake.load(connection, instance.intake_id)
    # One that never began has read nothing; its file was taken before its row was there.
    began = history.last_begun(connection, instance.instance_id) or (None if row is None else row.inserted_at)
    if began is None or taken.at <= began:
        return None
    others = reports.instances_of_intake(connection, instance.intake_id)
    is_sent_whole = all(one.status in FINAL for one in others if one.instance_id != instance.instance_id)
    return CorrectedFile(instance, taken.path, taken.at, is_sent_whole)


def of_intake(connection: Connection, intake_id: IntakeId) -> list[CorrectedFile]:
    """Return the corrected file of a row, once for each instance that has not read it."""
    made = reports.instances_of_intake(connection, intake_id)
    return [found for one in made if (found := of_instance(connection, one)) is not None]


def shown(found: CorrectedFile | None) -> Columns | None:
    """Return it for programs."""
    if found is None:
        return None
    return {
        "FilePath": found.path,
        "CorrectedTime": shown_columns.moment(found.corrected_at),
        "Message": found.wording,
        "Next": found.clear,
    }

"""What has started work without a person, or was kept from it."""

from __future__ import annotations

from sqlalchemy import (
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    UniqueConstraint,
)

from batchctl.domain import status
from batchctl.store.columns import (
    UtcTime,
    name,
    reference,
    text_column,
    word,
)
from batchctl.store.conditions import differing
from batchctl.store.tables.making import (
    check,
    column,
    flag,
    index,
    key,
    required,
    stamp,
    table,
    words,
)
from batchctl.store.tables.some_rows import (
    BACKFILLING,
    FIRED,
)

scheduler_log = table(
    "SchedulerLog",
    key("SchedulerLog_id"),
    stamp("EventTime"),
    required("EventType", word()),
    required("Source", name()),
    column("Entity", name()),
    column("ProcessBatch_id", reference()),
    column("FileProcess_id", reference()),
    column("BatchControl_id", reference()),
    column("Message", text_column()),
    column("RowsQueued", reference()),
    column("DurationMs", reference()),
    check("Source", "Source <> ''"),
    words("EventType", status.SchedulerEvent),
    Index("IX_SchedulerLog_Entity", "Entity", "SchedulerLog_id"),
    index("IX_SchedulerLog_Fired", "FileProcess_id", where=FIRED),
)

file_watch_seen = table(
    "FileWatchSeen",
    key("FileWatchSeen_id"),
    required("FileWatch_id", reference(), None, ForeignKey("FileWatch.FileWatch_id")),
    # No database can index the path itself, which may be of any length.
    required("PathKey", name(64)),
    required("FilePath", text_column()),
    required("FileSize", reference()),
    required("ModifiedNs", reference()),
    column("FileNumber", name(50)),
    column("FileProcess_id", reference(), ForeignKey("FileProcess.FileProcess_id")),
    column("MissingSince", UtcTime()),
    stamp("z_inserted"),
    stamp("z_updated"),
    UniqueConstraint("FileWatch_id", "PathKey"),
    Index("IX_FileWatchSeen_Intake", "FileProcess_id"),
)

schedule_backfill = table(
    "ScheduleBackfill",
    key("ScheduleBackfill_id"),
    required("Schedule_id", reference(), None, ForeignKey("Schedule.Schedule_id")),
    required("Status", word(), "'running'"),
    required("FromTime", UtcTime()),
    required("UntilTime", UtcTime()),
    required("MostOpen", Integer(), "1"),
    required("Missed", SmallInteger(), "0"),
    column("DoneUntil", UtcTime()),
    required("Fired", reference(), "0"),
    required("Actor", name()),
    column("Reason", text_column()),
    stamp("z_inserted"),
    stamp("z_updated"),
    check("UntilTime", "FromTime <= UntilTime"),
    check("MostOpen", "MostOpen BETWEEN 1 AND 1000"),
    flag("Missed"),
    words("Status", status.BackfillStatus),
    index("IX_ScheduleBackfill_Running", "ScheduleBackfill_id", where=BACKFILLING),
)

schedule_fire = table(
    "ScheduleFire",
    key("ScheduleFire_id"),
    required("Schedule_id", reference(), None, ForeignKey("Schedule.Schedule_id")),
    required("FireKey", name(100)),
    required("Outcome", word()),
    required("DueTime", UtcTime()),
    column("DueUntil", UtcTime()),
    required("Instants", Integer(), "1"),
    column("Reason", text_column()),
    column("FileProcess_id", reference(), ForeignKey("FileProcess.FileProcess_id")),
    column("ScheduleBackfill_id", reference(), ForeignKey("ScheduleBackfill.ScheduleBackfill_id")),
    column("ZoneRules", name(50)),
    stamp("z_inserted"),
    # Each due time is decided once, whatever the clocks do and however many controllers there are.
    UniqueConstraint("Schedule_id", "FireKey"),
    check("FireKey", "FireKey <> ''"),
    check("Instants", "Instants >= 1"),
    check(
        "FileProcess_id",
        differing(
            "(Outcome = 'fired' AND FileProcess_id IS NOT NULL) OR (Outcome <> 'fired' AND FileProcess_id IS NULL)",
            "(FileProcess_id IS NOT NULL) = (Outcome = 'fired')",
        ),
    ),
    words("Outcome", status.FireOutcome),
    Index("IX_ScheduleFire_Due", "Schedule_id", "DueTime"),
    Index("IX_ScheduleFire_FileProcess", "FileProcess_id"),
)

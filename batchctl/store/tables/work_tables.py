"""Work: the rows that ask for it, the instances, their attempts, and the controllers that carry them out."""

from __future__ import annotations

from sqlalchemy import (
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    UniqueConstraint,
    and_,
    text,
)

from batchctl.domain import status
from batchctl.domain.leader import HIGHEST_FENCE
from batchctl.domain.rows import HIGHEST_SEQ
from batchctl.store.columns import (
    UtcTime,
    name,
    reference,
    text_column,
    word,
)
from batchctl.store.conditions import one_of, unreadable
from batchctl.store.tables.making import (
    check,
    column,
    data_columns,
    index,
    key,
    required,
    stamp,
    table,
    words,
    written_words,
)
from batchctl.store.tables.some_rows import (
    AT_ONCE,
    AWAITED_FORECAST,
    AWAITING_INTAKE,
    BEGUN,
    CLAIMED_INSTANCE,
    ENDED_OR_LIVE,
    HAS_DATA,
    IN_LINE_INSTANCE,
    INBOX_INTAKE,
    KEPT_FORECAST,
    LATER,
    LIVE_ENTRY,
    NEWEST_FORECAST,
    OVER_INSTANCE,
    PAUSED_INSTANCE,
    READY_INTAKE,
    STANDING_INSTANCE,
    WAITING_COMPLETION,
    WAITING_INSTANCE,
)

_OFTEN = {"often": True}
"""Each write of such a table is to be cheap."""


def _waits(when: str) -> ColumnElement[bool]:
    return and_(one_of("Status", WAITING_INSTANCE), text(when))


file_process = table(
    "FileProcess",
    key("FileProcess_id"),
    required("Entity", name()),
    column("FileName", text_column()),
    required("Status", word(), "'ready'"),
    column("Data", text_column()),
    column("CycleKey", name()),
    column("Source", name()),
    column("PopulatorTries", Integer()),
    column("Message", text_column()),
    stamp("z_inserted"),
    stamp("z_updated"),
    written_words("Status", status.IntakeStatus, "success"),
    check("Entity", "Entity <> ''"),
    index("IX_FileProcess_Ready", "FileProcess_id", where=READY_INTAKE),
    index("IX_FileProcess_Inbox", "FileProcess_id", where=one_of("Status", INBOX_INTAKE)),
    index("IX_FileProcess_Awaiting", "FileProcess_id", where=AWAITING_INTAKE),
    # Data may be longer than the entry of an ordered index can be, except on SQLite.
    index("IX_FileProcess_Duplicate", "Entity", "Data", where=HAS_DATA).ddl_if(dialect="sqlite"),
    index("IX_FileProcess_Duplicate", "Data", where=HAS_DATA, using="hash").ddl_if(dialect="postgresql"),
    # On SQL Server revision 0036 makes it, of Entity and a computed column that is in no other database.
    info=_OFTEN,
)

batch_control = table(
    "BatchControl",
    key("BatchControl_id"),
    required("ProcessBatch_id", reference(), None, ForeignKey("ProcessBatch.ProcessBatch_id")),
    required("FileProcess_id", reference(), None, ForeignKey("FileProcess.FileProcess_id")),
    required("PrevProcessControlSeq", Integer(), "0"),
    column("DefVersion", Integer()),
    required("Status", word(), "'ready'"),
    required("RetryCount", Integer(), "0"),
    required("NextRunTime", UtcTime(), "'1900-01-01 00:00:00.000'"),
    column("CycleKey", name()),
    *data_columns(),
    required("ClaimToken", reference(), "0"),
    column("ClaimedBy", name()),
    column("NextPool", name(50)),
    column("BegunTime", UtcTime()),
    required("LostCount", Integer(), "0"),
    column("StepsFailed", Integer()),
    stamp("z_inserted"),
    stamp("z_updated"),
    UniqueConstraint("FileProcess_id", "ProcessBatch_id"),
    written_words("Status", status.InstanceStatus, "success"),
    check("PrevProcessControlSeq", f"PrevProcessControlSeq BETWEEN 0 AND {HIGHEST_SEQ}"),
    check("RetryCount", "RetryCount >= 0"),
    check("LostCount", "LostCount >= 0"),
    check("StepsFailed", "StepsFailed >= 0"),
    check("NextRunTime", "NextRunTime >= '0001-01-01' AND NextRunTime < '10000-01-01'", only_on="postgresql"),
    index("IX_BatchControl_InLine", "ProcessBatch_id", "BatchControl_id", where=one_of("Status", IN_LINE_INSTANCE)),
    index("IX_BatchControl_AtOnce", "ProcessBatch_id", "BatchControl_id", where=_waits(AT_ONCE)),
    index("IX_BatchControl_Deferred", "ProcessBatch_id", "NextRunTime", where=_waits(LATER)),
    index("IX_BatchControl_Paused", "ProcessBatch_id", "BatchControl_id", where=one_of("Status", PAUSED_INSTANCE)),
    index("IX_BatchControl_Claimed", "ProcessBatch_id", where=one_of("Status", CLAIMED_INSTANCE)),
    index("IX_BatchControl_Standing", "BatchControl_id", where=one_of("Status", STANDING_INSTANCE)),
    index("IX_BatchControl_Due", "NextRunTime", where=_waits(LATER)),
    index("IX_BatchControl_Begun", "ProcessBatch_id", "BegunTime", where=BEGUN),
    Index("IX_BatchControl_Cycle", "ProcessBatch_id", "CycleKey", "BatchControl_id"),
    index(
        "IX_BatchControl_Over",
        *("ProcessBatch_id", "Status", "BatchControl_id"),
        where=one_of("Status", OVER_INSTANCE),
    ),
    info=_OFTEN,
)

batch_process_history = table(
    "BatchProcessHistory",
    key("BatchProcessHistory_id"),
    required("BatchControl_id", reference(), None, ForeignKey("BatchControl.BatchControl_id")),
    required("ProcessBatch_id", reference(), None, ForeignKey("ProcessBatch.ProcessBatch_id")),
    required("ProcessControlSeq", Integer()),
    required("ProcessName", name()),
    required("ProcessType", name(50)),
    column("DefVersion", Integer()),
    required("AttemptNo", Integer(), "1"),
    required("ClaimToken", reference(), "0"),
    column("ClaimedBy", name()),
    required("Cause", word(), "'auto'"),
    required("Status", word(), "'running'"),
    required("CommandText", text_column()),
    required("CommandSpec", text_column(), "'{}'"),
    stamp("StartTime"),
    column("EndTime", UtcTime()),
    column("ReturnCode", reference()),
    column("ErrorCode", name(50)),
    column("ErrorLine", Integer()),
    column("Message", text_column()),
    column("Output", text_column()),
    column("RowsAffected", reference()),
    column("Host", name()),
    column("Pid", reference()),
    column("PidStart", name(50)),
    column("BootId", name(50)),
    column("DbSession", name()),
    column("Spawned", UtcTime()),
    column("RetryCountAfter", Integer()),
    column("NextRunTimeAfter", UtcTime()),
    stamp("z_inserted"),
    stamp("z_updated"),
    UniqueConstraint("BatchControl_id", "ProcessControlSeq", "AttemptNo"),
    words("Cause", status.Cause, often=True),
    words("Status", status.HistoryStatus, often=True),
    check("EndTime", ENDED_OR_LIVE),
    index("UX_BatchProcessHistory_Live", "BatchControl_id", where=LIVE_ENTRY, unique=True),
    info=_OFTEN,
)

GONE_BY = {
    batch_control: ("Status", "PrevProcessControlSeq"),
    file_process: ("Status",),
    batch_process_history: ("Status", "Cause"),
}
"""The columns of a row of work that have to be as their constraints say, or the row is unreadable."""
UNREADABLE = {
    batch_control: unreadable(batch_control, status.InstanceStatus, GONE_BY[batch_control], ["NextRunTime"]),
    file_process: unreadable(file_process, status.IntakeStatus, GONE_BY[file_process]),
    batch_process_history: unreadable(batch_process_history, status.HistoryStatus, GONE_BY[batch_process_history]),
}
"""The unreadable rows of work: each table has an index of them, which is mostly empty."""
for _of_work, _where in UNREADABLE.items():
    index(f"IX_{_of_work.name}_Unreadable", *_of_work.primary_key, where=_where)

step_output = table(
    "StepOutput",
    key("StepOutput_id"),
    required("BatchProcessHistory_id", reference(), None, ForeignKey("BatchProcessHistory.BatchProcessHistory_id")),
    required("Number", Integer()),
    required("Text", text_column()),
    stamp("z_inserted"),
    UniqueConstraint("BatchProcessHistory_id", "Number"),
    check("Number", "Number >= 1"),
    info=_OFTEN,
)

duration_history = table(
    "DurationHistory",
    key("DurationHistory_id"),
    required("ProcessBatch_id", reference(), None, ForeignKey("ProcessBatch.ProcessBatch_id")),
    required("ProcessControlSeq", Integer()),
    required("Day", name(10)),
    required("UpToMs", reference()),
    required("Runs", reference()),
    required("TotalMs", reference()),
    required("MinMs", reference()),
    required("MaxMs", reference()),
    stamp("z_inserted"),
    stamp("z_updated"),
    UniqueConstraint("ProcessBatch_id", "ProcessControlSeq", "Day", "UpToMs"),
    check("Runs", "Runs >= 1"),
    check("MinMs", "MinMs BETWEEN 0 AND MaxMs"),
)

kept_forecast = table(
    "KeptForecast",
    key("KeptForecast_id"),
    required("ProcessBatch_id", reference(), None, ForeignKey("ProcessBatch.ProcessBatch_id")),
    column("CycleKey", name()),
    required("MadeOn", UtcTime()),
    # Without one it is the newest of its batch, which the next one replaces.
    column("KeptFor", UtcTime()),
    column("P50", UtcTime()),
    column("P90", UtcTime()),
    column("FinishBy", UtcTime()),
    column("Chance", Integer()),
    required("NeedsPerson", Integer()),
    required("Nights", Integer()),
    column("Decides", text_column()),
    column("Helps", text_column()),
    column("ReadyOn", UtcTime()),
    stamp("z_inserted"),
    stamp("z_updated"),
    check("Chance", "Chance BETWEEN 0 AND 100"),
    check("NeedsPerson", "NeedsPerson BETWEEN 0 AND 100"),
    check("Nights", "Nights >= 0"),
    index("UX_KeptForecast_Newest", "ProcessBatch_id", where=NEWEST_FORECAST, unique=True),
    index("UX_KeptForecast_Kept", "ProcessBatch_id", "KeptFor", where=KEPT_FORECAST, unique=True),
    index("IX_KeptForecast_Awaited", "KeptForecast_id", where=AWAITED_FORECAST),
)

batch_completion = table(
    "BatchCompletion",
    key("BatchCompletion_id"),
    required("ProcessBatch_id", reference(), None, ForeignKey("ProcessBatch.ProcessBatch_id")),
    required("DependsOnBatch_id", reference(), None, ForeignKey("ProcessBatch.ProcessBatch_id")),
    required("BatchControl_id", reference(), None, ForeignKey("BatchControl.BatchControl_id")),
    column("CycleKey", name()),
    column("FileProcess_id", reference(), ForeignKey("FileProcess.FileProcess_id")),
    column("Overdue", UtcTime()),
    stamp("z_inserted"),
    stamp("z_updated"),
    # Each completion is used once for each batch that depends on it.
    UniqueConstraint("ProcessBatch_id", "BatchControl_id"),
    index(
        "IX_BatchCompletion_Waiting",
        *("ProcessBatch_id", "CycleKey", "DependsOnBatch_id", "BatchCompletion_id"),
        where=WAITING_COMPLETION,
    ),
    Index("IX_BatchCompletion_Instance", "BatchControl_id"),
    Index("IX_BatchCompletion_Started", "FileProcess_id"),
)

controller = table(
    "Controller",
    key("Controller_id"),
    required("ControllerName", name()),
    required("Status", word(), "'running'"),
    required("Host", name()),
    column("Pid", reference()),
    column("PidStart", name(50)),
    column("BootId", name(50)),
    required("Slots", Integer(), "1"),
    required("HeartbeatSeq", reference(), "0"),
    stamp("Heartbeat"),
    column("AppVersion", name(50)),
    column("OrphanTimeoutSecs", Integer()),
    column("SchedulerZone", name()),
    column("LeftOut", text_column()),
    column("ProcessTypes", text_column()),
    column("Populators", text_column()),
    column("Jobs", text_column()),
    column("Trouble", text_column()),
    stamp("z_inserted"),
    stamp("z_updated"),
    UniqueConstraint("ControllerName"),
    check("ControllerName", "ControllerName <> ''"),
    words("Status", status.ControllerStatus),
    check("Slots", "Slots >= 0"),
)

controller_pool = table(
    "ControllerPool",
    key("ControllerPool_id"),
    required("Controller_id", reference(), None, ForeignKey("Controller.Controller_id")),
    required("PoolName", name(50)),
    column("Agents", text_column()),
    stamp("z_inserted"),
    UniqueConstraint("Controller_id", "PoolName"),
    check("PoolName", "PoolName <> ''"),
)

leader = table(
    "Leader",
    key("Leader_id"),
    column("ControllerName", name()),
    required("Fence", reference(), "0"),
    required("LeaseUntil", UtcTime(), "'1900-01-01 00:00:00.000'"),
    column("Place", text_column()),
    stamp("z_inserted"),
    stamp("z_updated"),
    check("Leader_id", "Leader_id = 1"),
    check("Fence", f"Fence BETWEEN 0 AND {HIGHEST_FENCE}"),
)

named_lock = table(
    "NamedLock",
    key("NamedLock_id"),
    stamp("z_inserted"),
    stamp("z_updated"),
)
"""Rows to lock, on PostgreSQL, in the place of a name: any role that may connect can take locks of the server's own."""

"""The statements that show in an SQL client what a list of the console shows."""

from __future__ import annotations

from collections.abc import Mapping

_INBOX = ("SELECT * FROM vInbox ORDER BY FileProcess_id DESC;",)
STATEMENTS: Mapping[str, tuple[str, ...]] = {
    "Running": ("SELECT * FROM vRunning ORDER BY StartTime;",),
    "Failed, held, to be tried again": (
        "SELECT * FROM vFailed ORDER BY BatchControl_id;",
        "SELECT * FROM vWaiting WHERE Status = 'retry' ORDER BY BatchControl_id;",
    ),
    "Waiting": ("SELECT * FROM vWaiting WHERE Status IN ('ready', 'paused') ORDER BY BatchControl_id;",),
    "Waiting for others": ("SELECT * FROM vWaiting WHERE Status = 'dependency' ORDER BY ProcessBatchName;",),
    "Waiting for a person": ("SELECT * FROM Confirmation WHERE Answer IS NULL ORDER BY Confirmation_id;",),
    "Late": ("SELECT * FROM vLate ORDER BY LateSeconds DESC;",),
    "Completed last": (
        "SELECT ProcessBatchName, LastComplete_id, LastCompleteTime FROM vStatus ORDER BY LastCompleteTime DESC;",
    ),
    "Due next": ("SELECT * FROM vSchedule ORDER BY NextRunTime;",),
    "Disabled batches with open instances": ("SELECT * FROM vStatus WHERE Status = 'disabled' ORDER BY Seq;",),
    "Rows that nothing came of": _INBOX,
    "Rows that are not work": _INBOX,
    "Instances": ("SELECT * FROM BatchControl ORDER BY BatchControl_id DESC;",),
    "Batches": ("SELECT * FROM vStatus ORDER BY Seq;",),
    "24 hours": ("SELECT * FROM vHistory ORDER BY BatchProcessHistory_id DESC;",),
    "Schedules": ("SELECT * FROM vSchedule ORDER BY ScheduleName;",),
    "Calendars": ("SELECT * FROM Calendar ORDER BY CalendarName;",),
    "Days": ("SELECT * FROM CalendarDay ORDER BY CalendarDate;",),
    "Incidents": ("SELECT * FROM Incident WHERE ResolvedTime IS NULL ORDER BY Incident_id DESC;",),
    "Acts": ("SELECT * FROM AuditLog ORDER BY AuditLog_id DESC;",),
    "Notes": ("SELECT * FROM Note ORDER BY Note_id DESC;",),
    "Controllers": ("SELECT * FROM Controller ORDER BY Controller_id DESC;",),
    "Pools": ("SELECT * FROM vPools ORDER BY PoolName;",),
}
"""By the title of the list."""

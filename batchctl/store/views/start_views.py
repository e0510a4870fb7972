"""What starts work: schedules, and the rows of the inbox that nothing has been made of."""

from __future__ import annotations

from batchctl.store.views.shared_parts import GRACE
from batchctl.store.views.spoken import Spoken


def schedule(s: Spoken) -> str:
    """Return the schedules, when they are due and what became of the last time."""

    def part(before: str, column: str) -> str:
        return f"CASE WHEN {column} IS NULL THEN '' ELSE {s.joined(before, column)} END"

    words = s.joined(
        s.word("e.ScheduleType"),
        "CASE WHEN e.IntervalMinutes IS NULL THEN '' ELSE "
        + s.joined("', every '", "e.IntervalMinutes", "' minutes'")
        + " END",
        *(part("', '", f"e.{column}") for column in ("RunDays", "RunDaysOfMonth", "WeekOfMonth", "RunMonths")),
        *(part("' at '", f"e.{column}") for column in ("RunTimes", "RunAt", "Cron")),
        part("', between '", "e.BetweenTimes"),
        part("', calendar '", "e.CalendarName"),
    )
    enabling = s.joined(
        "'UPDATE Schedule SET Enabled = '",
        "CASE WHEN e.Enabled = 1 THEN '0' ELSE '1' END",
        "' WHERE ScheduleName = '",
        s.quoted("e.ScheduleName"),
        "';'",
    )
    return f"""
SELECT e.Schedule_id, e.ScheduleName, e.Entity,
       CASE WHEN e.Enabled <> 1 THEN 'disabled' WHEN e.NextRunTime IS NULL THEN 'not due'
            WHEN e.NextRunTime < {s.ago(GRACE)} THEN 'overdue' ELSE 'enabled' END AS Status,
       {words} AS Timing, e.TimeZone, {s.twin("e.NextRunTime", "NextRunTime")},
       {s.word("l.Outcome")} AS LastOutcome, {s.twin("l.DueTime", "LastDueTime")}, l.Reason AS LastReason,
       l.FileProcess_id AS LastFileProcess_id, e.Description, {enabling} AS NextSql
FROM {s.of}Schedule e
LEFT JOIN {s.of}ScheduleFire l ON l.ScheduleFire_id = (
    SELECT MAX(g.ScheduleFire_id) FROM {s.of}ScheduleFire g WHERE g.Schedule_id = e.Schedule_id)"""


def inbox(s: Spoken) -> str:
    """Return the FileProcess rows that nothing has been made of, and why."""
    target = s.joined("'FileProcess:'", "f.FileProcess_id")
    again = s.joined(
        "'UPDATE FileProcess SET Status = ''ready'', Message = NULL WHERE FileProcess_id = '", "f.FileProcess_id", "';'"
    )
    accept = s.joined(
        "'INSERT INTO AuditLog (Actor, Host, Action, Target, Reason) VALUES (''...'', ''sql'', ''accept'', '''",
        *(target, "''', ''...''); '"),
        again,
    )
    register = s.joined("'INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('", s.quoted("f.Entity"), "');'")
    columns = "f.FileProcess_id, f.Entity, f.FileName, f.Data, f.CycleKey, f.Source"
    taken = f"EXISTS (SELECT 1 FROM {s.of}ProcessBatch b WHERE COALESCE(b.Entity, b.ProcessBatchName) = f.Entity)"
    made = f"EXISTS (SELECT 1 FROM {s.of}BatchControl c WHERE c.FileProcess_id = f.FileProcess_id)"
    return f"""
SELECT {columns}, {s.word("f.Status")} AS Status,
       CASE WHEN f.Message IS NOT NULL THEN f.Message WHEN f.Status = 'paused' THEN 'somebody inserted or set it as paused'
            ELSE 'no reason was given' END AS Reason,
       {s.twin("f.z_inserted", "Arrived")}, CASE WHEN f.Status = 'duplicate' THEN {accept} ELSE {again} END AS NextSql
FROM {s.of}FileProcess f WHERE {s.among("f.Status", "paused", "rejected", "duplicate")}
UNION ALL
SELECT {columns}, CASE WHEN {taken} THEN 'new' ELSE 'untaken' END,
       CASE WHEN {taken} THEN 'no controller has looked at it yet'
            ELSE {s.joined("'no batch takes entity '''", "f.Entity", "''''")} END,
       {s.twin("f.z_inserted", "Arrived")}, CASE WHEN {taken} THEN 'SELECT * FROM Controller;' ELSE {register} END
FROM {s.of}FileProcess f WHERE f.Status = 'ready' AND NOT {made}"""

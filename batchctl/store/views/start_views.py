"""What starts work: schedules, and the rows of the inbox that nothing has been made of."""

from __future__ import annotations

from batchctl.domain.dead_ends import BY_A_PERSON, CORRECTED
from batchctl.domain.rows import MOST_TRIES
from batchctl.store.views.shared_parts import GRACE, locked, not_installed, to_end, unfit
from batchctl.store.views.view_dialect import ViewDialect

_COLUMN = """CASE WHEN t.SearchedIn = 'data' OR (f.FileName IS NULL AND f.Data IS NOT NULL) THEN 'Data'
                 WHEN t.SearchedIn = 'entity' THEN 'Entity' ELSE 'FileName' END"""
"""Which column of a row its populators go by, as far as a view can tell."""


def schedule(s: ViewDialect) -> str:
    """Return the schedules, when they are due and what became of the last time."""

    def part(before: str, column: str, *after: str) -> str:
        return s.if_given(column, before, column, *after)

    words = s.joined(
        s.word("e.ScheduleType"),
        part("', every '", "e.IntervalMinutes", "' minutes'"),
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

    no_calendar = "e.CalendarName IS NOT NULL AND k.Calendar_id IS NULL"
    named = s.joined(
        "'UPDATE Schedule SET CalendarName = ... WHERE ScheduleName = '", s.quoted("e.ScheduleName"), "';'"
    )
    source = s.joined("'schedule '", "e.ScheduleName")

    def many(*words: str) -> str:
        return f"COUNT(CASE WHEN {s.among('c.Status', *words)} THEN 1 END)"

    came = (
        "CASE WHEN p.Status <> 'ready' AND p.Status <> 'complete' THEN "
        + s.word("p.Status")
        + " WHEN q.Failed > 0 THEN 'failed' WHEN q.Cancelled > 0 THEN 'cancelled' WHEN q.Instances = q.Complete THEN 'complete'"
        " WHEN q.Running > 0 THEN 'running' ELSE 'waits' END"
    )
    return f"""
WITH Newest AS (
SELECT g.Schedule_id, MAX(g.ScheduleFire_id) AS ScheduleFire_id, MAX(g.Ran_id) AS Ran_id
FROM (SELECT f.Schedule_id, f.ScheduleFire_id,
             CASE WHEN EXISTS (SELECT 1 FROM {s.of}BatchProcessHistory h JOIN {s.of}BatchControl c
                               ON c.BatchControl_id = h.BatchControl_id WHERE c.FileProcess_id = f.FileProcess_id)
                  THEN f.FileProcess_id END AS Ran_id
      FROM {s.of}ScheduleFire f) g
GROUP BY g.Schedule_id
), Came AS (
SELECT c.FileProcess_id, COUNT(*) AS Instances, {many("complete")} AS Complete, {many("failed", "held")} AS Failed,
       {many("cancelled")} AS Cancelled, {many("running", "pausing", "cancelling")} AS Running,
       MIN(c.StartTime) AS StartTime
FROM (SELECT x.FileProcess_id, x.Status,
             (SELECT MIN(h.StartTime) FROM {s.of}BatchProcessHistory h WHERE h.BatchControl_id = x.BatchControl_id) AS StartTime
      FROM {s.of}BatchControl x) c
WHERE c.FileProcess_id IN (SELECT n.Ran_id FROM Newest n UNION SELECT g.FileProcess_id FROM Newest n
                           JOIN {s.of}ScheduleFire g ON g.ScheduleFire_id = n.ScheduleFire_id)
GROUP BY c.FileProcess_id
)
SELECT e.Schedule_id, e.ScheduleName, e.Entity,
       CASE WHEN x.Row_id IS NOT NULL THEN 'unreadable' WHEN e.Enabled <> 1 THEN 'disabled' WHEN {no_calendar} THEN 'unreadable'
            WHEN t.Incident_id IS NOT NULL THEN 'starts nothing' WHEN e.NextRunTime IS NULL THEN 'not due'
            WHEN e.NextRunTime < {s.ago(GRACE)} THEN 'overdue' ELSE 'enabled' END AS Status,
       {words} AS Timing, e.TimeZone, {s.twin("e.NextRunTime", "NextRunTime")},
       CASE WHEN l.Outcome = 'fired' THEN {came} ELSE {s.word("l.Outcome")} END AS LastOutcome,
       {s.twin("l.DueTime", "LastDueTime")}, l.Reason AS LastReason,
       l.FileProcess_id AS LastFileProcess_id, e.Description,
       CASE WHEN x.Row_id IS NOT NULL THEN x.NextSql WHEN e.Enabled = 1 AND {no_calendar} THEN {named}
            WHEN e.Enabled = 1 AND t.Incident_id IS NOT NULL THEN {s.look("Incident", "Incident_id", "t.Incident_id")}
            ELSE {enabling} END AS NextSql,
       {s.twin("r.StartTime", "LastRunOn")},
       CASE WHEN r.Failed > 0 OR r.Cancelled > 0 THEN 0 WHEN r.Instances = r.Complete THEN 1 END AS LastRunOK
FROM {s.of}Schedule e
LEFT JOIN {s.of}Calendar k ON k.CalendarName = e.CalendarName
LEFT JOIN {s.of}vUnreadable x ON x.TableName = 'Schedule' AND x.Row_id = e.Schedule_id
LEFT JOIN Newest n ON n.Schedule_id = e.Schedule_id
LEFT JOIN {s.of}ScheduleFire l ON l.ScheduleFire_id = n.ScheduleFire_id
LEFT JOIN {s.of}FileProcess p ON p.FileProcess_id = l.FileProcess_id
LEFT JOIN Came q ON q.FileProcess_id = l.FileProcess_id
LEFT JOIN Came r ON r.FileProcess_id = n.Ran_id
LEFT JOIN {s.of}Incident t ON t.Incident_id = (SELECT MIN(i.Incident_id) FROM {s.of}Incident i
    WHERE i.ResolvedTime IS NULL AND i.Kind = 'not_starting' AND i.Subject = {source})"""


def sql_job(s: ViewDialect) -> str:
    """Return the jobs that are one piece of SQL, and how each ran last; a row inserted here is a job."""

    def bare(column: str) -> str:
        return f"replace(replace({column}, '{{{{', '{{'), '}}}}', '}}')"

    is_repeatable = f"CASE WHEN {s.word('e.ScheduleType')} = 'once' THEN 0 ELSE 1 END"
    look = s.look("vHistory", "ProcessBatchName", s.quoted("b.ProcessBatchName"))
    # What a job needs, too: its trigger says so better than the server.
    return f"""
SELECT {s.left_out("e.Schedule_id", "0")} AS Schedule_id, {s.left_out("e.ScheduleName", "''")} AS JobName,
       {bare("p.Data1")} AS ConnectionName, {bare("p.Data2")} AS ScheduledSql,
       COALESCE(e.RunAt, {s.joined("e.StartDate", "' '", "e.RunTimes")}) AS FirstRunOn,
       {s.left_out(is_repeatable, "-1")} AS IsRepeatable, {s.left_out("e.Enabled", "-1")} AS IsEnabled, e.TimeZone,
       {s.twin("e.NextRunTime", "NextRunTime")}, {s.twin("h.StartTime", "LastRunOn")},
       CASE WHEN h.Status = 'success' THEN 1 WHEN h.Status <> 'running' THEN 0 END AS LastRunOK,
       h.Message AS ErrorMessage, h.ErrorCode, h.ErrorLine, h.BatchControl_id,
       {s.left_out(look, "''")} AS NextSql
FROM {s.of}Schedule e
JOIN {s.of}ProcessBatch b ON COALESCE(b.Entity, b.ProcessBatchName) = e.Entity
JOIN {s.of}ProcessControl p ON p.ProcessBatch_id = b.ProcessBatch_id AND p.ProcessControlSeq = 10
LEFT JOIN {s.of}BatchProcessHistory h ON h.BatchProcessHistory_id = (
    SELECT MAX(g.BatchProcessHistory_id) FROM {s.of}BatchProcessHistory g
    JOIN {s.of}BatchControl c ON c.BatchControl_id = g.BatchControl_id WHERE c.ProcessBatch_id = b.ProcessBatch_id)
WHERE e.Origin = 'sql' AND b.Origin = 'sql'"""


def inbox(s: ViewDialect) -> str:
    """Return the FileProcess rows that nothing has been made of, and why."""
    target = s.joined("'FileProcess:'", "f.FileProcess_id")
    again = s.joined(
        "'UPDATE FileProcess SET Status = ''ready'', Message = NULL WHERE FileProcess_id = '", "f.FileProcess_id", "';'"
    )
    retry, reject = (
        s.joined(
            f"'INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''{act}'', ''{{\"file\": '",
            *("f.FileProcess_id", "'}'', ''...'');'"),
        )
        for act in ("retry", "reject")
    )
    accept = s.joined(
        "'INSERT INTO AuditLog (Actor, Host, Action, Target, Reason) VALUES (..., ''sql'', ''accept'', '''",
        *(target, "''', ...); '"),
        again,
    )
    ask = s.joined("'UPDATE FileProcess SET PopulatorTries = NULL WHERE FileProcess_id = '", "f.FileProcess_id", "';'")
    entity = "COALESCE(b.Entity, b.ProcessBatchName)"
    alike = f"{s.word(s.bare(entity))} = {s.word(s.bare('f.Entity'))}"
    # What a person has to fill in is no text: run as it stands, the statement is refused.
    meant = f"COALESCE((SELECT MIN({s.quoted(entity)}) FROM {s.of}ProcessBatch b WHERE {alike}), '...')"
    ending = ("' WHERE FileProcess_id = '", "f.FileProcess_id", "';'")
    meant = s.joined("'Entity = '", meant)
    correct = s.joined("'UPDATE FileProcess SET '", meant, *ending)
    # Its watch takes a renamed file of itself: who corrected the row too would load it twice.
    rename = s.joined("'/* rename the file, which its watch takes then */ '", reject)
    filled_in = s.joined(_COLUMN, "' = ...'")
    wrong = f"CASE WHEN t.Entity IS NULL THEN {meant} ELSE {filled_in} END"
    corrected = s.joined("'UPDATE FileProcess SET '", wrong, *ending, "' '", retry)
    was_corrected = f"""EXISTS (SELECT 1 FROM {s.of}AuditLog a WHERE a.Target = {target} AND a.Action = 'row update'
                 AND a.z_inserted >= f.z_updated AND a.ValuesAfter NOT LIKE '{{"Status":%')"""
    untaken = s.joined("'no batch takes entity '''", "f.Entity", "''': correct it, or register a batch that takes it'")
    reason = "COALESCE(f.Message, 'no reason was given')"
    taken_again = s.joined("'its file was taken again as FileProcess '", "g.Again_id", "': '", reason)
    look_again = s.look("FileProcess", "FileProcess_id", "g.Again_id")
    answer = s.joined("'it waits for a person: '", reason)
    made = f"EXISTS (SELECT 1 FROM {s.of}BatchControl c WHERE c.FileProcess_id = f.FileProcess_id)"
    columns = ("FileProcess_id", "Entity", "FileName", "Data", "CycleKey", "Source")
    ready = f"{s.of}FileProcess c CROSS JOIN Locks t WHERE c.Status = 'ready'"
    locks = locked(s, "FileProcess_id", ready, [("FileProcess", "c.FileProcess_id")])
    of_row, shown = (", ".join(f"{at}.{column}" for column in columns) for at in "fq")
    return f"""
WITH {unfit(s)}, {not_installed(s)}, {_again(s)}, {locks}, Takers AS (
SELECT COALESCE(b.Entity, b.ProcessBatchName) AS Entity, MIN(x.ProcessBatch_id) AS Unfit_id, MIN(y.ProcessBatch_id) AS Lacking_id,
       COUNT(CASE WHEN b.Populator = 'procedure' THEN 1 END) AS Asks,
       MIN(CASE WHEN b.Populator = 'pattern' AND b.PopulatorArgs IS NOT NULL THEN {s.word("b.PopulatorOn")} END) AS SearchedIn
FROM {s.of}ProcessBatch b
LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Missing y ON y.ProcessBatch_id = b.ProcessBatch_id AND y.ProcessControlSeq = -1
GROUP BY COALESCE(b.Entity, b.ProcessBatchName)
)
SELECT {shown}, q.Status, q.Reason, {s.twin("q.Arrived", "Arrived")}, q.NextSql
FROM (
SELECT {of_row}, f.z_inserted AS Arrived, {s.word("f.Status")} AS Status,
       CASE WHEN g.Again_id IS NOT NULL THEN {taken_again}
            WHEN f.Message IS NOT NULL AND f.Status = 'rejected' AND {was_corrected}
                 THEN {s.joined("f.Message", f"'{CORRECTED}'")}
            WHEN f.Message IS NULL AND f.Status = 'paused' THEN 'somebody inserted or set it as paused'
            ELSE {reason} END AS Reason,
       CASE WHEN g.Again_id IS NOT NULL THEN {look_again}
            WHEN f.Status = 'duplicate' THEN {accept}
            WHEN f.Status <> 'rejected' OR f.Message LIKE '{BY_A_PERSON}%' OR {was_corrected}
                 OR (t.Entity IS NOT NULL AND (f.Message IS NULL OR t.Asks > 0)) THEN {retry}
            WHEN t.Entity IS NOT NULL AND f.Source LIKE 'watch %' AND {_COLUMN} = 'FileName' THEN {rename}
            ELSE {corrected} END AS NextSql
FROM {s.of}FileProcess f LEFT JOIN Again g ON g.FileProcess_id = f.FileProcess_id LEFT JOIN Takers t ON t.Entity = f.Entity
WHERE {s.among("f.Status", "paused", "rejected", "duplicate")}
UNION ALL
SELECT {of_row}, f.z_inserted, CASE WHEN t.Entity IS NULL THEN 'untaken' ELSE 'new' END,
       COALESCE(x.Reason, y.Reason, CASE WHEN t.Entity IS NULL THEN {untaken}
            WHEN f.PopulatorTries >= {MOST_TRIES} THEN {answer}
            WHEN h.Reason IS NOT NULL THEN h.Reason
            WHEN f.PopulatorTries IS NOT NULL THEN 'its populator has not answered yet'
            ELSE 'no controller has looked at it yet' END),
       COALESCE(x.NextSql, y.NextSql, CASE WHEN t.Entity IS NULL THEN {correct}
            WHEN f.PopulatorTries >= {MOST_TRIES} THEN {ask}
            WHEN h.Reason IS NOT NULL THEN {to_end(s, "h")} ELSE 'SELECT * FROM Controller;' END)
FROM {s.of}FileProcess f
LEFT JOIN Takers t ON t.Entity = f.Entity
LEFT JOIN Unfit x ON x.ProcessBatch_id = t.Unfit_id
LEFT JOIN Missing y ON y.ProcessBatch_id = t.Lacking_id AND y.ProcessControlSeq = -1
LEFT JOIN Locked h ON h.FileProcess_id = f.FileProcess_id AND h.Nth = 1
WHERE f.Status = 'ready' AND NOT {made}
UNION ALL
SELECT {of_row}, f.z_inserted, 'unreadable', w.Reason, w.NextSql
FROM {s.of}vUnreadable w JOIN {s.of}FileProcess f ON f.FileProcess_id = w.Row_id WHERE w.TableName = 'FileProcess'
) q"""


def _again(s: ViewDialect) -> str:
    """Return of rejected rows the one as which their watch has taken the file again, renamed or changed in place."""
    same = "o.FileNumber = n.FileNumber AND o.FileSize = n.FileSize AND o.ModifiedNs = n.ModifiedNs"
    return f"""Again AS (
SELECT f.FileProcess_id, MAX(n.FileProcess_id) AS Again_id
FROM {s.of}FileProcess f JOIN {s.of}FileWatch w ON f.Source = {s.joined("'watch '", "w.WatchName")}
JOIN {s.of}FileWatchSeen n ON n.FileWatch_id = w.FileWatch_id AND n.FileProcess_id > f.FileProcess_id
JOIN {s.of}FileProcess l ON l.FileProcess_id = n.FileProcess_id
LEFT JOIN {s.of}FileWatchSeen o ON o.FileWatch_id = n.FileWatch_id AND o.FileProcess_id = f.FileProcess_id
WHERE {s.among("f.Status", "paused", "rejected", "duplicate")} AND (l.FileName = f.FileName OR ({same})) GROUP BY f.FileProcess_id
)"""

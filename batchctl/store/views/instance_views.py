"""Where each batch stands, and what has failed, runs, is late or has run."""

from __future__ import annotations

from batchctl.domain.rows import DEFAULT_POOL
from batchctl.store.views.shared_parts import CLAIMED, GRACE, IN_LINE, OVER, lacking, not_installed, unfit
from batchctl.store.views.view_dialect import ViewDialect


def status(s: ViewDialect) -> str:
    """Return where each batch stands."""

    def many(word: str, *words: str) -> str:
        return f"COUNT(CASE WHEN {s.among('Status', word, *words)} THEN 1 END)"

    name = "b.ProcessBatchName"
    counts = ", ".join(
        f"COALESCE(n.{one}, 0) AS {one}" for one in ("Ready", "Running", "Retry", "Failed", "Held", "Paused")
    )
    counted = f"SELECT ProcessBatch_id, Status FROM {s.of}BatchControl WHERE"
    look = s.joined(
        *(
            "'SELECT * FROM '",
            (
                "CASE WHEN n.Failed + n.Held > 0 THEN 'vFailed' WHEN n.Running > 0 THEN 'vRunning'"
                " WHEN n.Retry + n.Ready + n.Paused > 0 OR a.ProcessBatch_id IS NOT NULL THEN 'vWaiting' ELSE 'vHistory' END"
            ),
        ),
        *("' WHERE ProcessBatchName = '", s.quoted(name), "';'"),
    )
    return f"""
WITH {unfit(s)}, {not_installed(s)}, Counted AS (
SELECT ProcessBatch_id, {many("ready")} AS Ready, {many(*CLAIMED)} AS Running, {many("retry")} AS Retry,
       {many("failed")} AS Failed, {many("held")} AS Held, {many("paused")} AS Paused
FROM ({counted} {s.among("Status", *IN_LINE)}
      UNION ALL {counted} {s.among("Status", *CLAIMED)} UNION ALL {counted} {s.among("Status", "paused")}) c
GROUP BY ProcessBatch_id
)
SELECT b.ProcessBatch_id, {name}, COALESCE(b.Entity, {name}) AS Entity,
       CASE WHEN x.ProcessBatch_id IS NOT NULL THEN 'unreadable' WHEN b.Enabled <> 1 THEN 'disabled'
            WHEN z.BatchFreeze_id IS NOT NULL THEN 'frozen' WHEN y.ProcessBatch_id IS NOT NULL THEN 'unreadable'
            WHEN n.Failed > 0 THEN 'failed' WHEN n.Held > 0 THEN 'held' WHEN n.Running > 0 THEN 'running'
            WHEN n.Retry > 0 THEN 'retry' WHEN n.Ready > 0 THEN 'waits' WHEN n.Paused > 0 THEN 'paused'
            WHEN a.ProcessBatch_id IS NOT NULL THEN 'waits' WHEN t.Incident_id IS NOT NULL THEN 'unreadable'
            ELSE 'idle' END AS Status,
       {counts},
       c.BatchControl_id AS LastComplete_id, {s.twin("c.z_updated", "LastCompleteTime")},
       b.Seq, b.Description,
       CASE WHEN x.ProcessBatch_id IS NOT NULL THEN x.NextSql WHEN b.Enabled <> 1 THEN {s.act_on_batch("enable", name)}
            WHEN z.BatchFreeze_id IS NOT NULL THEN z.NextSql WHEN y.ProcessBatch_id IS NOT NULL THEN y.NextSql
            WHEN t.Incident_id IS NOT NULL AND n.ProcessBatch_id IS NULL AND a.ProcessBatch_id IS NULL
                 THEN {s.look("Incident", "Incident_id", "t.Incident_id")}
            ELSE {look} END AS NextSql, c.StepsFailed AS LastStepsFailed,
       {_last_note(s, "ProcessBatch_id", "b")} AS LastNote
FROM {s.of}ProcessBatch b
LEFT JOIN Counted n ON n.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Missing y ON y.ProcessBatch_id = b.ProcessBatch_id AND y.ProcessControlSeq = (
    SELECT MIN(v.ProcessControlSeq) FROM Missing v WHERE v.ProcessBatch_id = b.ProcessBatch_id)
LEFT JOIN {s.of}vFrozen z ON z.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN (SELECT DISTINCT ProcessBatch_id FROM {s.of}BatchCompletion WHERE FileProcess_id IS NULL) a
    ON a.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN {s.of}BatchControl c ON c.BatchControl_id = (SELECT MAX(d.BatchControl_id) FROM {s.of}BatchControl d
    WHERE d.ProcessBatch_id = b.ProcessBatch_id AND d.Status = 'complete' AND {s.among("d.Status", *OVER)})
LEFT JOIN {s.of}Incident t ON t.Incident_id = (SELECT MIN(i.Incident_id) FROM {s.of}Incident i
    WHERE i.ResolvedTime IS NULL AND i.Kind = 'unreadable' AND i.ProcessBatch_id = b.ProcessBatch_id)"""


def _last_note(s: ViewDialect, key: str, of: str) -> str:
    """Return the newest note about a row."""
    newest = f"SELECT MAX(m.Note_id) FROM {s.of}Note m WHERE m.{key} = {of}.{key}"
    return f"(SELECT o.Text FROM {s.of}Note o WHERE o.Note_id = ({newest}))"


def failed(s: ViewDialect) -> str:
    """Return what has failed or is held, and the attempt it failed with."""
    return f"""
SELECT c.BatchControl_id, b.ProcessBatchName, {s.word("c.Status")} AS Status, c.CycleKey, f.Entity, f.FileName,
       h.ProcessControlSeq, h.ProcessName, h.ProcessType, h.AttemptNo, {s.word("h.Status")} AS AttemptStatus, h.ReturnCode,
       h.Message AS ErrorText, h.Output, h.CommandText, {s.twin("h.StartTime", "StartTime")}, {s.twin("h.EndTime", "EndTime")},
       {s.seconds("h.StartTime", "h.EndTime")} AS DurationSeconds, h.ClaimedBy, h.Host, c.FileProcess_id,
       {s.act("rerun", "c.BatchControl_id")} AS RerunSql, {s.act("skip", "c.BatchControl_id")} AS SkipSql,
       {s.act("cancel", "c.BatchControl_id")} AS CancelSql, h.ErrorCode, h.ErrorLine,
       {_last_note(s, "BatchControl_id", "c")} AS LastNote
FROM {s.of}BatchControl c
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN {s.of}FileProcess f ON f.FileProcess_id = c.FileProcess_id
LEFT JOIN {s.of}BatchProcessHistory h ON h.BatchProcessHistory_id = (
    SELECT MAX(g.BatchProcessHistory_id) FROM {s.of}BatchProcessHistory g WHERE g.BatchControl_id = c.BatchControl_id)
WHERE {s.among("c.Status", "retry", "failed", "held")} AND (c.Status = 'failed' OR c.Status = 'held')"""


def running(s: ViewDialect) -> str:
    """Return what runs, and how long it may."""
    runs = s.seconds("h.StartTime", s.now)
    return f"""
SELECT c.BatchControl_id, b.ProcessBatchName, {s.word("c.Status")} AS Status, c.CycleKey, f.Entity, f.FileName,
       h.ProcessControlSeq, h.ProcessName, h.ProcessType, h.AttemptNo, {s.twin("h.StartTime", "StartTime")},
       {runs} AS RunningSeconds, p.ExpectedDuration, p.AlarmDuration, p.MaxDuration,
       CASE WHEN {s.later("h.StartTime", "p.AlarmDuration")} <= {s.now} THEN 'late'
            WHEN {s.later("h.StartTime", "p.ExpectedDuration")} < {s.now} THEN 'longer than expected'
            WHEN p.AlarmDuration IS NOT NULL OR p.ExpectedDuration IS NOT NULL THEN 'in time' END AS Timing,
       h.ClaimedBy, h.Host, h.Pid, h.DbSession, h.CommandText, c.FileProcess_id,
       {s.act("pause", "c.BatchControl_id")} AS PauseSql, {s.act("cancel", "c.BatchControl_id")} AS CancelSql,
       COALESCE(c.NextPool, '{DEFAULT_POOL}') AS PoolName,
       o.Text AS LastOutput
FROM {s.of}BatchProcessHistory h
JOIN {s.of}BatchControl c ON c.BatchControl_id = h.BatchControl_id
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN {s.of}FileProcess f ON f.FileProcess_id = c.FileProcess_id
LEFT JOIN {s.of}ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq
LEFT JOIN {s.of}StepOutput o ON o.BatchProcessHistory_id = h.BatchProcessHistory_id AND o.Number = (
    SELECT MAX(n.Number) FROM {s.of}StepOutput n WHERE n.BatchProcessHistory_id = h.BatchProcessHistory_id)
WHERE h.Status = 'running'"""


def late(s: ViewDialect) -> str:
    """Return what should have happened by now: of steps, instances, schedules and upstreams."""
    alarm = "COALESCE(p.AlarmDuration, p.ExpectedDuration)"
    ends, now = s.later("h.StartTime", alarm), s.now
    overdue = s.later("w.Since", "60 * w.DeadlineMins")
    missed = (
        f"CASE {s.word('i.Kind')} WHEN 'not_arrived' THEN 'arrival' WHEN 'not_started' THEN 'start' ELSE 'finish' END"
    )
    waits = s.look("vWaiting", "ProcessBatchName", s.quoted("b.ProcessBatchName"))
    return f"""
WITH {lacking(s)}
SELECT l.What, l.Name, l.ProcessBatchName, l.BatchControl_id, {s.twin("l.ExpectedTime", "ExpectedTime")},
       {s.seconds("l.ExpectedTime", now)} AS LateSeconds, l.Reason, l.NextSql
FROM (
SELECT 'step' AS What, {s.joined("b.ProcessBatchName", "', step '", "h.ProcessControlSeq", "' '", "h.ProcessName")} AS Name,
       b.ProcessBatchName, c.BatchControl_id, {ends} AS ExpectedTime,
       {s.joined("'it runs longer than '", alarm, "' seconds'")} AS Reason,
       {s.look("vRunning", "BatchControl_id", "c.BatchControl_id")} AS NextSql
FROM {s.of}BatchProcessHistory h
JOIN {s.of}BatchControl c ON c.BatchControl_id = h.BatchControl_id
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN {s.of}ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq
WHERE h.Status = 'running' AND {ends} <= {now}
UNION ALL
SELECT 'instance', {s.joined("b.ProcessBatchName", "' '", "COALESCE(c.CycleKey, '')")}, b.ProcessBatchName, c.BatchControl_id,
       c.NextRunTime, 'its NextRunTime is over, and it has not started',
       {s.look("vWaiting", "BatchControl_id", "c.BatchControl_id")}
FROM {s.of}BatchControl c
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE {s.among("c.Status", "ready", "retry")} AND c.NextRunTime > '1900-01-01 00:00:00.000' AND c.NextRunTime < {s.ago(GRACE)}
UNION ALL
SELECT 'schedule', ScheduleName, NULL, NULL, NextRunTime, 'its due time is over, and no controller has decided it',
       'SELECT * FROM Controller;'
FROM {s.of}Schedule WHERE Enabled = 1 AND NextRunTime < {s.ago(GRACE)}
UNION ALL
SELECT 'dependency', {s.joined("b.ProcessBatchName", "' waits for '", "d.ProcessBatchName")}, b.ProcessBatchName, NULL,
       {overdue}, 'it waits for longer than DeadlineMins', {waits}
FROM Lacking w
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = w.ProcessBatch_id
JOIN {s.of}ProcessBatch d ON d.ProcessBatch_id = w.DependsOnBatch_id
WHERE {overdue} < {now}
UNION ALL
SELECT {missed}, i.Subject, i.Subject, NULL, i.OpenedTime, i.Message,
       {s.look("vStatus", "ProcessBatchName", s.quoted("i.Subject"))}
FROM {s.of}Incident i
WHERE i.ResolvedTime IS NULL AND {s.among("i.Kind", "not_arrived", "not_started", "not_finished")}
) l"""


def history(s: ViewDialect) -> str:
    """Return every attempt, with what it ran."""
    again = s.joined(
        "'INSERT INTO OperatorRequest (Action, BatchControl_id, Arguments, Reason) VALUES (''rerun'', '",
        *("h.BatchControl_id", "', ''{\"from\": '", "h.ProcessControlSeq", "'}'', ''...'');'"),
    )
    return f"""
SELECT h.BatchProcessHistory_id, h.BatchControl_id, b.ProcessBatchName, c.CycleKey, f.Entity, f.FileName, h.ProcessControlSeq,
       h.ProcessName, h.ProcessType, h.AttemptNo, {s.word("h.Cause")} AS Cause, {s.word("h.Status")} AS Status,
       {s.twin("h.StartTime", "StartTime")}, {s.twin("h.EndTime", "EndTime")},
       {s.seconds("h.StartTime", "h.EndTime")} AS DurationSeconds, h.ReturnCode, h.RowsAffected, h.Message AS ErrorText, h.Output,
       h.CommandText, h.ClaimedBy, h.Host, h.Pid, h.DbSession, c.FileProcess_id,
       {again} AS RerunSql, h.ErrorCode, h.ErrorLine, c.StepsFailed
FROM {s.of}BatchProcessHistory h
LEFT JOIN {s.of}BatchControl c ON c.BatchControl_id = h.BatchControl_id
LEFT JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = h.ProcessBatch_id
LEFT JOIN {s.of}FileProcess f ON f.FileProcess_id = c.FileProcess_id"""

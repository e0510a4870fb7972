"""Where each batch stands, and what has failed, runs, is late or has run."""

from __future__ import annotations

from batchctl.store.views.shared_parts import CLAIMED, GRACE, IN_LINE, OVER, frozen, missing_plugins, unfit
from batchctl.store.views.spoken import Spoken


def status(s: Spoken) -> str:
    """Return where each batch stands."""

    def many(word: str, *words: str) -> str:
        return f"SUM(CASE WHEN {s.among('c.Status', word, *words)} THEN 1 ELSE 0 END)"

    name = "b.ProcessBatchName"
    for_others = f"""EXISTS (SELECT 1 FROM {s.of}BatchCompletion u
                 WHERE u.ProcessBatch_id = b.ProcessBatch_id AND u.FileProcess_id IS NULL)"""
    return f"""
WITH {frozen(s)}, {unfit(s)}, {missing_plugins(s)}, Counted AS (
SELECT c.ProcessBatch_id, {many("ready")} AS Ready, {many("running", "pausing", "cancelling")} AS Running,
       {many("retry")} AS Retry, {many("failed")} AS Failed, {many("held")} AS Held, {many("paused")} AS Paused
FROM (SELECT ProcessBatch_id, Status FROM {s.of}BatchControl WHERE {s.among("Status", *IN_LINE)}
      UNION ALL SELECT ProcessBatch_id, Status FROM {s.of}BatchControl WHERE {s.among("Status", *CLAIMED)}
      UNION ALL SELECT ProcessBatch_id, Status FROM {s.of}BatchControl WHERE {s.among("Status", "paused")}) c
GROUP BY c.ProcessBatch_id
), Newest AS (
SELECT b.ProcessBatch_id, (SELECT MAX(c.BatchControl_id) FROM {s.of}BatchControl c
    WHERE c.ProcessBatch_id = b.ProcessBatch_id AND c.Status = 'complete' AND {s.among("c.Status", *OVER)}) AS Complete_id
FROM {s.of}ProcessBatch b
)
SELECT b.ProcessBatch_id, {name}, COALESCE(b.Entity, {name}) AS Entity,
       CASE WHEN x.ProcessBatch_id IS NOT NULL THEN 'unreadable'
            WHEN b.Enabled <> 1 THEN 'disabled' WHEN z.BatchFreeze_id IS NOT NULL THEN 'frozen'
            WHEN y.ProcessBatch_id IS NOT NULL THEN 'unreadable'
            WHEN n.Failed > 0 THEN 'failed' WHEN n.Held > 0 THEN 'held' WHEN n.Running > 0 THEN 'running'
            WHEN n.Retry > 0 THEN 'retry' WHEN n.Ready > 0 THEN 'waits' WHEN n.Paused > 0 THEN 'paused'
            WHEN {for_others} THEN 'waits' WHEN t.Incident_id IS NOT NULL THEN 'unreadable' ELSE 'idle' END AS Status,
       COALESCE(n.Ready, 0) AS Ready, COALESCE(n.Running, 0) AS Running, COALESCE(n.Retry, 0) AS Retry,
       COALESCE(n.Failed, 0) AS Failed, COALESCE(n.Held, 0) AS Held, COALESCE(n.Paused, 0) AS Paused,
       c.BatchControl_id AS LastComplete_id, {s.twin("c.z_updated", "LastCompleteTime")},
       b.Seq, b.Description,
       CASE WHEN x.ProcessBatch_id IS NOT NULL THEN x.Mend WHEN b.Enabled <> 1 THEN {s.act_on_batch("enable", name)}
            WHEN z.BatchFreeze_id IS NOT NULL THEN {s.thaw("z.BatchFreeze_id")}
            WHEN y.ProcessBatch_id IS NOT NULL THEN y.Mend
            WHEN n.Failed + n.Held > 0 THEN {s.look("vFailed", "ProcessBatchName", s.quoted(name))}
            WHEN n.Running > 0 THEN {s.look("vRunning", "ProcessBatchName", s.quoted(name))}
            WHEN n.Retry + n.Ready + n.Paused > 0 OR {for_others} THEN {s.look("vWaiting", "ProcessBatchName", s.quoted(name))}
            WHEN t.Incident_id IS NOT NULL THEN {s.look("Incident", "Incident_id", "t.Incident_id")}
            ELSE {s.look("vHistory", "ProcessBatchName", s.quoted(name))} END AS NextSql
FROM {s.of}ProcessBatch b
LEFT JOIN Counted n ON n.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Missing y ON y.ProcessBatch_id = b.ProcessBatch_id AND y.ProcessControlSeq = (
    SELECT MIN(v.ProcessControlSeq) FROM Missing v WHERE v.ProcessBatch_id = b.ProcessBatch_id)
LEFT JOIN Frozen fz ON fz.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN {s.of}BatchFreeze z ON z.BatchFreeze_id = fz.BatchFreeze_id
LEFT JOIN Newest w ON w.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN {s.of}BatchControl c ON c.BatchControl_id = w.Complete_id
LEFT JOIN {s.of}Incident t ON t.Incident_id = (SELECT MIN(i.Incident_id) FROM {s.of}Incident i
    WHERE i.ResolvedTime IS NULL AND i.Kind = 'unreadable' AND i.ProcessBatch_id = b.ProcessBatch_id)"""


def failed(s: Spoken) -> str:
    """Return what has failed or is held, and the attempt it failed with."""
    return f"""
SELECT c.BatchControl_id, b.ProcessBatchName, {s.word("c.Status")} AS Status, c.CycleKey, f.Entity, f.FileName,
       h.ProcessControlSeq, h.ProcessName, h.ProcessType, h.AttemptNo, {s.word("h.Status")} AS AttemptStatus, h.ReturnCode,
       h.Message AS ErrorText, h.Output, h.CommandText, {s.twin("h.StartTime", "StartTime")}, {s.twin("h.EndTime", "EndTime")},
       {s.seconds("h.StartTime", "h.EndTime")} AS DurationSeconds, h.ClaimedBy, h.Host, c.FileProcess_id,
       {s.act("rerun", "c.BatchControl_id")} AS RerunSql, {s.act("skip", "c.BatchControl_id")} AS SkipSql,
       {s.act("cancel", "c.BatchControl_id")} AS CancelSql, h.ErrorCode, h.ErrorLine
FROM {s.of}BatchControl c
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN {s.of}FileProcess f ON f.FileProcess_id = c.FileProcess_id
LEFT JOIN {s.of}BatchProcessHistory h ON h.BatchProcessHistory_id = (
    SELECT MAX(g.BatchProcessHistory_id) FROM {s.of}BatchProcessHistory g WHERE g.BatchControl_id = c.BatchControl_id)
WHERE {s.among("c.Status", "retry", "failed", "held")} AND (c.Status = 'failed' OR c.Status = 'held')"""


def running(s: Spoken) -> str:
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
       {s.act("pause", "c.BatchControl_id")} AS PauseSql, {s.act("cancel", "c.BatchControl_id")} AS CancelSql
FROM {s.of}BatchProcessHistory h
JOIN {s.of}BatchControl c ON c.BatchControl_id = h.BatchControl_id
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN {s.of}FileProcess f ON f.FileProcess_id = c.FileProcess_id
LEFT JOIN {s.of}ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq
WHERE h.Status = 'running'"""


def late(s: Spoken) -> str:
    """Return what should have happened by now: of steps, instances, schedules and upstreams."""
    alarm = "COALESCE(p.AlarmDuration, p.ExpectedDuration)"
    ends, now = s.later("h.StartTime", alarm), s.now

    def shown(at: str) -> str:
        return f"{s.twin(at, 'ExpectedTime')}, {s.seconds(at, now)} AS LateSeconds"

    overdue = s.later("w.Since", "60 * w.DeadlineMins")
    missed = (
        f"CASE {s.word('i.Kind')} WHEN 'not_arrived' THEN 'arrival' WHEN 'not_started' THEN 'start' ELSE 'finish' END"
    )
    return f"""
SELECT 'step' AS What, {s.joined("b.ProcessBatchName", "', step '", "h.ProcessControlSeq", "' '", "h.ProcessName")} AS Name,
       b.ProcessBatchName, c.BatchControl_id, {shown(ends)},
       {s.joined("'it runs longer than '", alarm, "' seconds'")} AS Reason,
       {s.look("vRunning", "BatchControl_id", "c.BatchControl_id")} AS NextSql
FROM {s.of}BatchProcessHistory h
JOIN {s.of}BatchControl c ON c.BatchControl_id = h.BatchControl_id
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN {s.of}ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq
WHERE h.Status = 'running' AND {ends} <= {now}
UNION ALL
SELECT 'instance', {s.joined("b.ProcessBatchName", "' '", "COALESCE(c.CycleKey, '')")},
       b.ProcessBatchName, c.BatchControl_id, {shown("c.NextRunTime")},
       'its NextRunTime is over, and it has not started', {s.look("vWaiting", "BatchControl_id", "c.BatchControl_id")}
FROM {s.of}BatchControl c
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE {s.among("c.Status", "ready", "retry")} AND c.NextRunTime > '1900-01-01 00:00:00.000' AND c.NextRunTime < {s.ago(GRACE)}
UNION ALL
SELECT 'schedule', e.ScheduleName, NULL, NULL, {shown("e.NextRunTime")},
       'its due time is over, and no controller has decided it', 'SELECT * FROM Controller;'
FROM {s.of}Schedule e WHERE e.Enabled = 1 AND e.NextRunTime < {s.ago(GRACE)}
UNION ALL
SELECT 'dependency', {s.joined("b.ProcessBatchName", "' waits for '", "d.ProcessBatchName")}, b.ProcessBatchName, NULL,
       {shown(overdue)}, 'it waits for longer than DeadlineMins',
       {s.look("vWaiting", "ProcessBatchName", s.quoted("b.ProcessBatchName"))}
FROM (SELECT y.ProcessBatch_id, y.DependsOnBatch_id, y.DeadlineMins, v.CycleKey, v.Since
      FROM (SELECT ProcessBatch_id, CycleKey, MIN(z_inserted) AS Since FROM {s.of}BatchCompletion WHERE FileProcess_id IS NULL
            GROUP BY ProcessBatch_id, CycleKey) v
      JOIN {s.of}BatchDependency y ON y.ProcessBatch_id = v.ProcessBatch_id
      WHERE NOT EXISTS (SELECT 1 FROM {s.of}BatchCompletion x WHERE x.FileProcess_id IS NULL
          AND x.ProcessBatch_id = v.ProcessBatch_id AND x.DependsOnBatch_id = y.DependsOnBatch_id
          AND (x.CycleKey = v.CycleKey OR (x.CycleKey IS NULL AND v.CycleKey IS NULL)))) w
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = w.ProcessBatch_id
JOIN {s.of}ProcessBatch d ON d.ProcessBatch_id = w.DependsOnBatch_id
WHERE {overdue} < {now}
UNION ALL
SELECT {missed}, i.Subject, i.Subject, NULL, {shown("i.OpenedTime")}, i.Message,
       {s.look("vStatus", "ProcessBatchName", s.quoted("i.Subject"))}
FROM {s.of}Incident i
WHERE i.ResolvedTime IS NULL AND {s.among("i.Kind", "not_arrived", "not_started", "not_finished")}"""


def history(s: Spoken) -> str:
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
       {again} AS RerunSql, h.ErrorCode, h.ErrorLine
FROM {s.of}BatchProcessHistory h
LEFT JOIN {s.of}BatchControl c ON c.BatchControl_id = h.BatchControl_id
LEFT JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = h.ProcessBatch_id
LEFT JOIN {s.of}FileProcess f ON f.FileProcess_id = c.FileProcess_id"""

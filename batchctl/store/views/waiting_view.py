"""What waits, and for what: the first gate that `why` would name, as far as statements alone can tell."""

from __future__ import annotations

from batchctl.domain.alerting.incidents import key_of
from batchctl.domain.dependencies.waits import TOO_EARLY, USED_BEFORE
from batchctl.domain.rows import HIGHEST_SEQ, MOST_TRIES
from batchctl.domain.status import IncidentKind
from batchctl.store.tables import OPEN_INSTANCE
from batchctl.store.views.pool_view import pool_of
from batchctl.store.views.shared_parts import (
    CLAIMED,
    IN_LINE,
    lacking,
    locked,
    locked_name,
    not_installed,
    same_key,
    to_end,
    unfit,
    unfit_work,
)
from batchctl.store.views.view_dialect import ViewDialect

_STANDS = (
    ("ready", "has not begun yet"),
    ("running", "is running"),
    ("retry", "has failed and waits for its retry"),
    ("failed", "has failed"),
    ("held", "is held: a person decides"),
    ("pausing", "is running, and paused then"),
    ("paused", "is paused"),
    ("cancelling", "is being cancelled"),
    ("cancelled", "was cancelled"),
)
"""What is said of the newest instance of a batch that another one waits for."""
_MISREAD = key_of(IncidentKind.UNREADABLE, "ProcessBatch")
"""How the keys of incidents begin that are about a column of a batch."""


def waiting(s: ViewDialect) -> str:
    """Return the instances that wait, the FileProcess rows to be that wait for other batches or a populator, and whose would."""
    columns = "BatchControl_id ProcessBatchName Status CycleKey Entity FileName Since Reason NotBeforeTime FileProcess_id NextSql"
    shown = {
        one: s.twin(f"q.{one}", one) if one in ("Since", "NotBeforeTime") else f"q.{one}" for one in columns.split()
    }
    return f"""
WITH {unfit(s)}, {not_installed(s)}, {unfit_work(s, "BatchControl")}, {_limits(s)}), {_line(s)}), {lacking(s)}, {_locks(s)}
SELECT {", ".join(shown.values())}
FROM (
{_instances(s)}
UNION ALL
{_unreadable(s)}
UNION ALL
{_dependencies(s)}
UNION ALL
{_populators(s)}
UNION ALL
{_definitions(s)}
) q"""


def _instances(s: ViewDialect) -> str:
    """Return the instances that wait, and for what."""
    return f"""SELECT c.BatchControl_id, b.ProcessBatchName, c.Status, c.CycleKey, f.Entity, f.FileName, c.z_updated AS Since,
       {_reason(s)} AS Reason,
       CASE WHEN w.ColumnName = 'NextRunTime' THEN NULL
            WHEN c.NextRunTime > l.Now THEN c.NextRunTime
            WHEN z.BatchFreeze_id IS NULL AND b.Enabled = 1 THEN {s.later("p.Oldest", "60")}
            ELSE z.UntilTime END AS NotBeforeTime,
       c.FileProcess_id,
       {_next(s)} AS NextSql
FROM Instances c
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN {s.of}FileProcess f ON f.FileProcess_id = c.FileProcess_id
CROSS JOIN Total l
LEFT JOIN {s.of}vFrozen z ON z.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN {s.of}Confirmation j ON j.BatchControl_id = c.BatchControl_id AND j.Answer IS NULL AND c.Status = 'paused'
LEFT JOIN {s.of}BatchControl a ON a.BatchControl_id = c.Ahead_id
LEFT JOIN {s.of}BatchControl t ON t.BatchControl_id = c.Stop_id
LEFT JOIN Unfit x ON x.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN UnfitWork w ON w.Row_id = c.BatchControl_id
LEFT JOIN Missing y ON y.ProcessBatch_id = c.ProcessBatch_id AND y.ProcessControlSeq = (
    SELECT MIN(v.ProcessControlSeq) FROM Missing v
    WHERE v.ProcessBatch_id = c.ProcessBatch_id AND v.ProcessControlSeq > c.PrevProcessControlSeq)
LEFT JOIN {s.of}ProcessControl e ON e.ProcessBatch_id = c.ProcessBatch_id AND e.ProcessControlSeq = (
    SELECT MIN(v.ProcessControlSeq) FROM {s.of}ProcessControl v
    WHERE v.ProcessBatch_id = c.ProcessBatch_id AND v.ProcessControlSeq > c.PrevProcessControlSeq)
LEFT JOIN {s.of}vPools o ON o.PoolName = {pool_of(s, "e", "b")}
LEFT JOIN Unmet m ON m.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN Paced p ON p.ProcessBatch_id = c.ProcessBatch_id AND c.Status <> 'paused' AND c.PrevProcessControlSeq < p.FirstSeq
LEFT JOIN {s.of}BatchResource u ON u.ProcessBatch_id = m.ProcessBatch_id AND u.Resource_id = m.Resource_id
LEFT JOIN {s.of}Resource r ON r.Resource_id = m.Resource_id
LEFT JOIN Locked h ON h.BatchControl_id = c.BatchControl_id AND h.Nth = 1"""


def _unreadable(s: ViewDialect) -> str:
    """Return the instances whose Status cannot be read, and those whose FileProcess row is gone."""
    gone = s.joined(
        *("'BatchControl '", "c.BatchControl_id", "' cannot be read: FileProcess '", "c.FileProcess_id", "' is gone'")
    )
    entity = s.quoted("COALESCE(b.Entity, b.ProcessBatchName)")
    begin, end = s.beside_a_number("FileProcess")
    insert = "'INSERT INTO FileProcess (FileProcess_id, Entity) VALUES ('"
    put_back = s.joined(begin, insert, "c.FileProcess_id", "', '", entity, "');'", end)
    return f"""SELECT c.BatchControl_id, b.ProcessBatchName, 'unreadable', c.CycleKey, f.Entity, f.FileName, c.z_updated,
       w.Reason, NULL, c.FileProcess_id, w.NextSql
FROM UnfitWork w
JOIN {s.of}BatchControl c ON c.BatchControl_id = w.Row_id
LEFT JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN {s.of}FileProcess f ON f.FileProcess_id = c.FileProcess_id
WHERE w.ColumnName = 'Status'
UNION ALL
SELECT c.BatchControl_id, b.ProcessBatchName, 'unreadable', c.CycleKey, b.Entity, NULL, c.z_updated,
       {gone}, NULL, c.FileProcess_id, {put_back}
FROM {s.of}BatchControl c
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE {s.among("c.Status", *OPEN_INSTANCE)}
AND NOT EXISTS (SELECT 1 FROM {s.of}FileProcess f WHERE f.FileProcess_id = c.FileProcess_id)"""


def _limits(s: ViewDialect) -> str:
    """Return what is under way, of each batch a resource that lacks it, and the batches of which none may be begun now."""
    return f"""Claimed AS (
SELECT ProcessBatch_id, COUNT(*) AS HowMany FROM {s.of}BatchControl WHERE {s.among("Status", *CLAIMED)} GROUP BY ProcessBatch_id
), Total AS (
SELECT (SELECT COALESCE(SUM(HowMany), 0) FROM Claimed) AS HowMany,
       ({s.limit}) AS Most,
       {s.now} AS Now
), Held AS (
SELECT n.Resource_id, SUM(k.HowMany * CAST(n.Units AS bigint)) AS Units, MAX(n.Exclusive) AS Exclusive
FROM {s.of}BatchResource n JOIN Claimed k ON k.ProcessBatch_id = n.ProcessBatch_id GROUP BY n.Resource_id
), Unmet AS (
SELECT n.ProcessBatch_id, MIN(n.Resource_id) AS Resource_id
FROM {s.of}BatchResource n JOIN {s.of}Resource r ON r.Resource_id = n.Resource_id
LEFT JOIN Held h ON h.Resource_id = n.Resource_id
WHERE n.Units > r.Units OR h.Exclusive = 1 OR (n.Exclusive = 1 AND h.Units > 0)
   OR r.Units - COALESCE(h.Units, 0) < n.Units
GROUP BY n.ProcessBatch_id
), Paced AS (
SELECT c.ProcessBatch_id, COUNT(*) AS Begun, MIN(c.BegunTime) AS Oldest,
       (SELECT MIN(g.ProcessControlSeq) FROM {s.of}ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id) AS FirstSeq
FROM {s.of}BatchControl c JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE b.MaxPerMinute IS NOT NULL AND c.BegunTime IS NOT NULL AND c.BegunTime > {s.ago(60)}
GROUP BY c.ProcessBatch_id, b.MaxPerMinute HAVING COUNT(*) >= b.MaxPerMinute
"""


def _line(s: ViewDialect) -> str:
    """Return the instances in their lines: how many of the batch start before each, what is ahead of it, what stops all."""
    now = s.now
    before = "OVER (PARTITION BY c.ProcessBatch_id ORDER BY c.BatchControl_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    return f"""Stopping AS (
SELECT MIN(CASE WHEN c.Status = 'retry' THEN NULL ELSE c.BatchControl_id END) AS ByPerson,
       MIN(CASE WHEN c.Status = 'retry' THEN c.BatchControl_id END) AS ByRetry
FROM {s.of}BatchControl c JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE {s.among("c.Status", "retry", "failed", "held")} AND {s.word("b.OnFailure")} = 'stop_all'
), Stood AS (
SELECT c.BatchControl_id, c.ProcessBatch_id, c.FileProcess_id, c.CycleKey, {s.word("c.Status")} AS Status, c.NextRunTime,
       c.PrevProcessControlSeq, c.z_updated, COALESCE(k.HowMany, 0) AS Started, b.MaxConcurrent,
       {s.word("b.OnFailure")} AS OnFailure,
       CASE WHEN c.Status = 'retry' AND {s.word("b.OnFailure")} = 'stop_all' THEN
            CASE WHEN t.ByRetry < c.BatchControl_id AND (t.ByPerson IS NULL OR t.ByRetry < t.ByPerson) THEN t.ByRetry
                 ELSE t.ByPerson END
            WHEN t.ByRetry < t.ByPerson OR t.ByPerson IS NULL THEN t.ByRetry ELSE t.ByPerson END AS Stop_id
FROM {s.of}BatchControl c JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id CROSS JOIN Stopping t
LEFT JOIN Claimed k ON k.ProcessBatch_id = c.ProcessBatch_id
WHERE {s.among("c.Status", *IN_LINE)}
), Line AS (
SELECT c.*, c.Started + COUNT(CASE WHEN c.NextRunTime <= {now} AND (c.Status = 'ready' OR c.Status = 'retry')
                                   AND c.Stop_id IS NULL THEN 1 END) {before} AS Taken
FROM Stood c
), Ordered AS (
SELECT c.*, MIN(CASE WHEN c.OnFailure <> 'continue' AND (c.Status = 'failed' OR c.Status = 'held' OR c.NextRunTime > {now}
                          OR (c.Status = 'retry' AND c.Taken >= c.MaxConcurrent))
                     THEN c.BatchControl_id END) {before} AS Ahead_id
FROM Line c
), Instances AS (
SELECT BatchControl_id, ProcessBatch_id, FileProcess_id, CycleKey, Status, NextRunTime, PrevProcessControlSeq, z_updated,
       Started, Taken, Ahead_id, Stop_id FROM Ordered WHERE Status = 'ready' OR Status = 'retry'
UNION ALL
SELECT BatchControl_id, ProcessBatch_id, FileProcess_id, CycleKey, {s.word("Status")}, NextRunTime, PrevProcessControlSeq,
       z_updated, NULL, NULL, NULL, NULL FROM {s.of}BatchControl WHERE {s.among("Status", "paused")}
"""


def _locks(s: ViewDialect) -> str:
    """Return the instances whose rows somebody keeps locked, or those of their batches."""
    names = (
        *(("BatchControl", "c.BatchControl_id"), ("batch", locked_name("b.ProcessBatchName"))),
        ("FileProcess", "c.FileProcess_id"),
    )
    waiting = f"Instances c JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id CROSS JOIN Locks t"
    return locked(s, "BatchControl_id", waiting, names)


def _reason(s: ViewDialect) -> str:
    """Return why an instance waits: the first of its gates that blocks."""
    most = "b.MaxConcurrent"
    missing = s.joined("'it needs '", "u.Units", "' units of '", "r.ResourceName", "', and there are '", "r.Units")
    whole = s.joined("'it needs all of '", "r.ResourceName", "', and instances under way hold it'")
    some = s.joined(
        *("'it needs '", "u.Units", "' of the '", "r.Units", "' units of '", "r.ResourceName"),
        "', and instances under way hold it'",
    )
    ahead = s.joined(
        *("'BatchControl '", "a.BatchControl_id", "' of the same batch is '", s.word("a.Status")),
        *("' (OnFailure '", s.word("b.OnFailure"), "')'"),
    )
    stopper = s.joined(
        *("'BatchControl '", "t.BatchControl_id", "' is '", s.word("t.Status"), "' and its batch stops everything'")
    )
    started = s.joined(most, "' of batch '", "b.ProcessBatchName", "' are started before it'")
    paced = s.joined(
        *("'MaxPerMinute of batch '", "b.ProcessBatchName", "' is '", "b.MaxPerMinute", "', and '", "p.Begun"),
        "CASE WHEN p.Begun = 1 THEN ' instance of it was' ELSE ' instances of it were' END",
        "' begun within 60 seconds'",
    )
    no_step = _at_no_step(
        s, "'BatchControl '", "c.BatchControl_id", "' cannot be read: PrevProcessControlSeq holds nonsense'"
    )
    full = s.joined("l.HowMany", "' instances are under way, and Setting MaxConcurrent is '", "l.Most")
    asks = s.joined("'it asks '", "COALESCE(j.Who, 'anyone who may act')", "': '", "j.Question")
    return f"""COALESCE(CASE WHEN j.Confirmation_id IS NOT NULL THEN {asks}
            WHEN c.Status = 'paused' THEN 'somebody paused it' END, x.Reason,
            CASE WHEN b.Enabled <> 1 THEN {s.joined("'batch '", "b.ProcessBatchName", "' is disabled'")} END, z.Reason, y.Reason,
            CASE WHEN NOT EXISTS (SELECT 1 FROM {s.of}ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id)
                 THEN {s.joined("'batch '", "b.ProcessBatchName", "' has no steps'")} END, w.Reason,
            CASE {no_step}WHEN c.NextRunTime > l.Now THEN {s.joined("'it waits until '", s.wording("c.NextRunTime"))}
            WHEN a.BatchControl_id IS NOT NULL THEN {ahead}
            WHEN t.BatchControl_id IS NOT NULL THEN {stopper} END, h.Reason, o.Reason,
            CASE WHEN c.Started >= {most} THEN {started}
            WHEN p.Begun IS NOT NULL THEN {paced}
            WHEN l.Most = 0 THEN 'Setting MaxConcurrent is 0, or no number: nothing starts'
            WHEN l.HowMany >= l.Most THEN {full}
            WHEN u.Units > r.Units THEN {missing}
            WHEN u.Exclusive = 1 THEN {whole}
            WHEN u.Resource_id IS NOT NULL THEN {some}
            WHEN c.Taken >= {most} AND l.Most IS NULL AND b.MaxPerMinute IS NULL AND NOT EXISTS (
                 SELECT 1 FROM {s.of}BatchResource v WHERE v.ProcessBatch_id = c.ProcessBatch_id) THEN {started}
            WHEN c.Taken >= {most} THEN {s.joined("'others of batch '", "b.ProcessBatchName", "' start before it'")}
            ELSE 'nothing holds it back' END)"""


def _at_no_step(s: ViewDialect, *wording: str) -> str:
    """Say something of an instance whose last step is none; on SQLite it is among those that nothing can go by."""
    if s.dialect == "sqlite":
        return ""
    return f"WHEN c.PrevProcessControlSeq NOT BETWEEN 0 AND {HIGHEST_SEQ} THEN {s.joined(*wording)}\n            "


def _next(s: ViewDialect) -> str:
    """Return the statement to run next."""
    add_step = s.joined(
        "'INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1) VALUES ('",
        "b.ProcessBatch_id",
        "', 10, ..., ..., ...);'",
    )
    last_step = _at_no_step(
        s, "'UPDATE BatchControl SET PrevProcessControlSeq = ... WHERE BatchControl_id = '", "c.BatchControl_id", "';'"
    )
    more = s.joined("'UPDATE ProcessBatch SET MaxPerMinute = ... WHERE ProcessBatch_id = '", "c.ProcessBatch_id", "';'")
    ahead = _looked_at(s, "a", "WHEN a.Status = 'failed' OR a.Status = 'held' THEN 'vFailed'", "vWaiting")
    stopper = _looked_at(s, "t", "WHEN t.Status = 'retry' THEN 'vWaiting'", "vFailed")
    return f"""COALESCE(CASE WHEN j.Confirmation_id IS NOT NULL THEN {s.act("confirm", "c.BatchControl_id")}
            WHEN c.Status = 'paused' THEN {s.act("resume", "c.BatchControl_id")} END, x.NextSql,
            CASE WHEN b.Enabled <> 1 THEN {s.act_on_batch("enable", "b.ProcessBatchName")} END, z.NextSql, y.NextSql,
            CASE WHEN NOT EXISTS (SELECT 1 FROM {s.of}ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id)
                 THEN {add_step} END, w.NextSql,
            CASE {last_step}WHEN c.NextRunTime > l.Now THEN {s.act("rerun", "c.BatchControl_id")}
            WHEN a.BatchControl_id IS NOT NULL THEN {ahead}
            WHEN t.BatchControl_id IS NOT NULL THEN {stopper}
            WHEN h.Reason IS NOT NULL THEN {to_end(s, "h")}
            WHEN o.Reason IS NOT NULL THEN o.NextSql
            WHEN p.Begun IS NOT NULL AND c.Started < b.MaxConcurrent THEN {more}
            ELSE 'SELECT * FROM vRunning;' END)"""


def _looked_at(s: ViewDialect, at: str, cases: str, view: str) -> str:
    """Write the statement that shows an instance in the view that tells of it."""
    return s.joined(
        *(
            "'SELECT * FROM '",
            f"CASE {cases} ELSE '{view}' END",
            "' WHERE BatchControl_id = '",
            f"{at}.BatchControl_id",
            "';'",
        )
    )


def _dependencies(s: ViewDialect) -> str:
    """Return what waits for an upstream, and how that stands."""
    stands = " ".join(f"WHEN '{word}' THEN '{said}'" for word, said in _STANDS)
    offered = "u.ProcessBatch_id = w.ProcessBatch_id AND u.BatchControl_id = x.BatchControl_id"
    complete = f"""CASE WHEN EXISTS (SELECT 1 FROM {s.of}BatchCompletion u WHERE {offered}) THEN '{USED_BEFORE}'
            ELSE '{TOO_EARLY}' END"""
    newest = s.joined(
        *("'(BatchControl '", "x.BatchControl_id", "') '"),
        f"CASE {s.word('x.Status')} {stands} WHEN 'complete' THEN {complete} END",
    )
    frozen_too = s.joined("', and '", "z.Scope", "' is frozen'")
    stood = s.joined(
        *("d.ProcessBatchName", "' '"),
        f"CASE WHEN x.BatchControl_id IS NULL THEN 'has no instance for this CycleKey yet' ELSE {newest} END",
        "CASE WHEN d.Enabled <> 1 THEN ', and the batch is disabled'"
        f" WHEN z.BatchFreeze_id IS NOT NULL THEN {frozen_too} ELSE '' END",
    )
    return f"""SELECT NULL, b.ProcessBatchName, 'dependency', w.CycleKey, COALESCE(b.Entity, b.ProcessBatchName), NULL,
       w.Since, COALESCE(p.Reason, q.Reason, {stood}), NULL, NULL, COALESCE(p.NextSql, q.NextSql,
       CASE WHEN x.Status = 'failed' OR x.Status = 'held' THEN {s.look("vFailed", "BatchControl_id", "x.BatchControl_id")}
            WHEN x.Status = 'cancelled' THEN {s.act("rerun", "x.BatchControl_id")}
            WHEN d.Enabled <> 1 THEN {s.act_on_batch("enable", "d.ProcessBatchName")}
            WHEN z.BatchFreeze_id IS NOT NULL THEN z.NextSql
            {_upstream(s)} END)
FROM Lacking w
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = w.ProcessBatch_id
JOIN {s.of}ProcessBatch d ON d.ProcessBatch_id = w.DependsOnBatch_id
LEFT JOIN {s.of}BatchControl x ON x.BatchControl_id = (SELECT MAX(o.BatchControl_id) FROM {s.of}BatchControl o
    WHERE o.ProcessBatch_id = w.DependsOnBatch_id AND {same_key(s, "o")})
LEFT JOIN Unfit p ON p.ProcessBatch_id = w.ProcessBatch_id
LEFT JOIN Unfit q ON q.ProcessBatch_id = w.DependsOnBatch_id
LEFT JOIN {s.of}vFrozen z ON z.ProcessBatch_id = w.DependsOnBatch_id"""


def _upstream(s: ViewDialect) -> str:
    """Return the statements that go on from an upstream which nothing but its own work keeps; those that ask for it by hand."""
    entity = s.quoted("COALESCE(d.Entity, d.ProcessBatchName)")
    key = s.quoted_or_null("w.CycleKey")
    begin = "'INSERT INTO FileProcess (Entity, CycleKey, FileName) VALUES ('"
    asked = s.joined(begin, entity, "', '", key, "', ...);'")
    where = "WHEN x.Status = 'ready' OR x.Status = 'retry' THEN 'vWaiting' WHEN x.Status = 'complete' THEN 'vHistory'"
    return f"""WHEN x.Status = 'paused' THEN {s.act("resume", "x.BatchControl_id")}
            WHEN x.BatchControl_id IS NOT NULL THEN {_looked_at(s, "x", where, "vRunning")}
            WHEN EXISTS (SELECT 1 FROM Lacking o WHERE o.ProcessBatch_id = w.DependsOnBatch_id)
                 THEN {s.look("vWaiting", "ProcessBatchName", s.quoted("d.ProcessBatchName"))}
            ELSE {asked}"""


def _populators(s: ViewDialect) -> str:
    """Return of each row of which a populator's answer is awaited the batches that lack their instance."""
    gives_up = f"f.PopulatorTries >= {MOST_TRIES}"
    answer = s.joined("'it waits for a person: '", "COALESCE(f.Message, 'no reason was given')")
    missing = s.joined("'batch '", "b.ProcessBatchName", "' has no instance of it yet'")
    again = s.joined(
        "'UPDATE FileProcess SET PopulatorTries = NULL WHERE FileProcess_id = '", "f.FileProcess_id", "';'"
    )
    taken = "c.FileProcess_id = {0}.FileProcess_id AND c.ProcessBatch_id = b.ProcessBatch_id"
    target = s.joined("'FileProcess:'", "f.FileProcess_id")
    # SQL Server finds the rows by a hash, for no index there holds a text of any length.
    alike = "g.DataHash = f.DataHash AND g.Data = f.Data" if s.dialect == "mssql" else "g.Data = f.Data"
    # To such a batch it is a duplicate, unless a person has accepted it.
    repeats = f"""b.DuplicateCheck = 1 AND EXISTS (SELECT 1 FROM {s.of}FileProcess g
        WHERE g.Entity = f.Entity AND {alike} AND g.FileProcess_id <> f.FileProcess_id
        AND ((g.FileProcess_id < f.FileProcess_id AND {s.among("g.Status", "ready", "paused")}) OR EXISTS (
            SELECT 1 FROM {s.of}BatchControl c WHERE {taken.format("g")})))
    AND NOT EXISTS (SELECT 1 FROM {s.of}AuditLog a WHERE a.Target = {target} AND a.Action = 'accept')"""
    return f"""SELECT NULL, b.ProcessBatchName, 'populator', f.CycleKey, f.Entity, f.FileName,
       f.z_inserted, COALESCE(x.Reason, y.Reason, CASE WHEN {gives_up} THEN {answer} ELSE {missing} END), NULL,
       f.FileProcess_id, COALESCE(x.NextSql, y.NextSql, CASE WHEN {gives_up} THEN {again} ELSE 'SELECT * FROM Controller;' END)
FROM {s.of}FileProcess f
JOIN {s.of}ProcessBatch b ON COALESCE(b.Entity, b.ProcessBatchName) = f.Entity
LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Missing y ON y.ProcessBatch_id = b.ProcessBatch_id AND y.ProcessControlSeq = -1
WHERE f.PopulatorTries IS NOT NULL AND f.Status = 'ready'
AND NOT EXISTS (SELECT 1 FROM {s.of}BatchControl c WHERE {taken.format("f")})
AND NOT ({repeats})"""


def _definitions(s: ViewDialect) -> str:
    """Return the batches of which new rows would wait, or be rejected: of what the batch says nothing can be made."""
    # PostgreSQL lets no column of a view lose its length, which NULL has not.
    key, no_row = ("NULL", "") if s.dialect == "sqlite" else ("f.CycleKey", f"LEFT JOIN {s.of}FileProcess f ON 1 = 0\n")
    return f"""SELECT NULL, b.ProcessBatchName, 'definition', {key}, COALESCE(b.Entity, b.ProcessBatchName), NULL,
       q.Since, q.Reason, NULL, NULL, q.NextSql
FROM {s.of}ProcessBatch b
JOIN (SELECT y.ProcessBatch_id, d.z_updated AS Since, y.Reason, y.NextSql
      FROM Missing y JOIN {s.of}ProcessBatch d ON d.ProcessBatch_id = y.ProcessBatch_id WHERE y.ProcessControlSeq = -1
      UNION ALL SELECT i.ProcessBatch_id, i.OpenedTime, i.Message, i.NextStep FROM {s.of}Incident i
      WHERE i.ResolvedTime IS NULL AND i.Kind = 'unreadable' AND i.IncidentKey LIKE '{_MISREAD} %') q
   ON q.ProcessBatch_id = b.ProcessBatch_id
{no_row}LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id
WHERE b.Enabled = 1 AND x.ProcessBatch_id IS NULL"""

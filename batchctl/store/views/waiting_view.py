"""What waits, and for what: the first gate that `why` would name, as far as statements alone can tell."""

from __future__ import annotations

from batchctl.domain.incidents import key_of
from batchctl.domain.rows import HIGHEST_SEQ, MOST_TRIES
from batchctl.domain.status import IncidentKind
from batchctl.domain.waits import TOO_EARLY, USED_BEFORE
from batchctl.store.tables import OPEN_INSTANCE, batch_control
from batchctl.store.views.shared_parts import (
    CLAIMED,
    IN_LINE,
    frozen,
    locked,
    missing_plugins,
    to_end,
    told_name,
    unfit,
    unfit_work,
    unread,
)
from batchctl.store.views.spoken import Spoken

_MENDS = {
    "Status": "''held''",
    "PrevProcessControlSeq": "...",
    "NextRunTime": "''1900-01-01 00:00:00.000''",
}
"""What is written into an instance that nothing can go by: a person decides, or it waits no longer."""
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


def waiting(s: Spoken) -> str:
    """Return the instances that wait, the FileProcess rows to be that wait for other batches or a populator, and whose would."""
    now = s.now
    return f"""
WITH {frozen(s)}, {unfit(s)}, {missing_plugins(s)},
{unfit_work(s, batch_control, _MENDS)}, {_limits(s)}), {_line(s)}), {_lacking(s)}), {_locks(s)}
SELECT c.BatchControl_id, b.ProcessBatchName, c.Status, c.CycleKey, f.Entity, f.FileName, {s.twin("c.z_updated", "Since")},
       {_reason(s)} AS Reason,
       CASE WHEN w.ColumnName = 'NextRunTime' THEN NULL
            WHEN c.NextRunTime > {now} THEN c.NextRunTime WHEN z.UntilTime > {now} THEN z.UntilTime END AS NotBeforeTime,
       CASE WHEN w.ColumnName = 'NextRunTime' THEN NULL WHEN c.NextRunTime > {now} THEN {s.local("c.NextRunTime")}
            WHEN z.UntilTime > {now} THEN {s.local("z.UntilTime")} END AS NotBeforeTimeLocal,
       c.FileProcess_id,
       {_next(s)} AS NextSql
FROM Instances c
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN {s.of}FileProcess f ON f.FileProcess_id = c.FileProcess_id
CROSS JOIN Total l
LEFT JOIN Frozen fz ON fz.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN {s.of}BatchFreeze z ON z.BatchFreeze_id = fz.BatchFreeze_id
LEFT JOIN {s.of}BatchControl a ON a.BatchControl_id = c.Ahead_id
LEFT JOIN {s.of}BatchControl t ON t.BatchControl_id = c.Stop_id
LEFT JOIN Unfit x ON x.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN UnfitWork w ON w.BatchControl_id = c.BatchControl_id
LEFT JOIN {s.of}BatchControl i ON i.BatchControl_id = c.BatchControl_id
LEFT JOIN Missing y ON y.ProcessBatch_id = c.ProcessBatch_id AND y.ProcessControlSeq = (
    SELECT MIN(v.ProcessControlSeq) FROM Missing v
    WHERE v.ProcessBatch_id = c.ProcessBatch_id AND v.ProcessControlSeq > i.PrevProcessControlSeq)
LEFT JOIN Unmet m ON m.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN {s.of}BatchResource u ON u.ProcessBatch_id = m.ProcessBatch_id AND u.Resource_id = m.Resource_id
LEFT JOIN {s.of}Resource r ON r.Resource_id = m.Resource_id
LEFT JOIN Locked h ON h.BatchControl_id = c.BatchControl_id AND h.Nth = 1
UNION ALL
{_unreadable(s)}
UNION ALL
{_dependencies(s)}
UNION ALL
{_populators(s)}
UNION ALL
{_definitions(s)}"""


def _unreadable(s: Spoken) -> str:
    """Return the instances of which nobody knows how they stand, and those whose FileProcess row is gone."""
    gone = s.joined(
        *("'BatchControl '", "c.BatchControl_id", "' cannot be read: FileProcess '", "c.FileProcess_id", "' is gone'")
    )
    entity = s.quoted("COALESCE(b.Entity, b.ProcessBatchName)")
    begin, end = s.around_a_number("FileProcess")
    insert = "'INSERT INTO FileProcess (FileProcess_id, Entity) VALUES ('"
    put_back = s.joined(begin, insert, "c.FileProcess_id", "', '", entity, "');'", end)
    return f"""SELECT c.BatchControl_id, b.ProcessBatchName, 'unreadable', c.CycleKey, f.Entity, f.FileName,
       {s.twin("c.z_updated", "Since")}, w.Reason, NULL, NULL, c.FileProcess_id, w.Mend
FROM UnfitWork w
JOIN {s.of}BatchControl c ON c.BatchControl_id = w.BatchControl_id
LEFT JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN {s.of}FileProcess f ON f.FileProcess_id = c.FileProcess_id
WHERE w.ColumnName = 'Status'
UNION ALL
SELECT c.BatchControl_id, b.ProcessBatchName, 'unreadable', c.CycleKey, b.Entity, NULL,
       {s.twin("c.z_updated", "Since")}, {gone}, NULL, NULL, c.FileProcess_id, {put_back}
FROM {s.of}BatchControl c
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE {s.among("c.Status", *OPEN_INSTANCE)}
AND NOT EXISTS (SELECT 1 FROM {s.of}FileProcess f WHERE f.FileProcess_id = c.FileProcess_id)"""


def _limits(s: Spoken) -> str:
    """Return what is under way, and of each batch a resource that lacks it."""
    return f"""Claimed AS (
SELECT ProcessBatch_id, COUNT(*) AS HowMany FROM {s.of}BatchControl WHERE {s.among("Status", *CLAIMED)} GROUP BY ProcessBatch_id
), Total AS (
SELECT (SELECT COALESCE(SUM(HowMany), 0) FROM Claimed) AS HowMany,
       (SELECT {s.limit} FROM {s.of}Setting WHERE Name = 'MaxConcurrent') AS Most
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
"""


def _line(s: Spoken) -> str:
    """Return the instances in their lines: how many of the batch start before each, what is ahead of it, what stops all."""
    now = s.now
    due = f"c.NextRunTime <= {now} AND (c.Status = 'ready' OR c.Status = 'retry')"
    before = "OVER (PARTITION BY c.ProcessBatch_id ORDER BY c.BatchControl_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    return f"""Stopping AS (
SELECT MIN(CASE WHEN c.Status = 'retry' THEN NULL ELSE c.BatchControl_id END) AS ByPerson,
       MIN(CASE WHEN c.Status = 'retry' THEN c.BatchControl_id END) AS ByRetry
FROM {s.of}BatchControl c JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE {s.among("c.Status", "retry", "failed", "held")} AND {s.word("b.OnFailure")} = 'stop_all'
), Stood AS (
SELECT c.BatchControl_id, c.ProcessBatch_id, c.FileProcess_id, c.CycleKey, {s.word("c.Status")} AS Status, c.NextRunTime,
       c.z_updated,
       CASE WHEN c.Status = 'retry' AND {s.word("b.OnFailure")} = 'stop_all' THEN
            CASE WHEN t.ByRetry < c.BatchControl_id AND (t.ByPerson IS NULL OR t.ByRetry < t.ByPerson) THEN t.ByRetry
                 ELSE t.ByPerson END
            WHEN t.ByRetry < t.ByPerson OR t.ByPerson IS NULL THEN t.ByRetry ELSE t.ByPerson END AS Stop_id
FROM {s.of}BatchControl c JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id CROSS JOIN Stopping t
WHERE {s.among("c.Status", *IN_LINE)}
), Line AS (
SELECT c.*, SUM(CASE WHEN {due} AND c.Stop_id IS NULL THEN 1 ELSE 0 END) {before} AS Earlier FROM Stood c
), Ordered AS (
SELECT c.*, COALESCE(k.HowMany, 0) AS Started, COALESCE(k.HowMany, 0) + COALESCE(c.Earlier, 0) AS Taken,
       MIN(CASE WHEN {s.word("b.OnFailure")} <> 'continue' AND (c.Status = 'failed' OR c.Status = 'held' OR c.NextRunTime > {now}
                     OR (c.Status = 'retry' AND COALESCE(k.HowMany, 0) + COALESCE(c.Earlier, 0) >= b.MaxConcurrent))
                THEN c.BatchControl_id END) {before} AS Ahead_id
FROM Line c JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN Claimed k ON k.ProcessBatch_id = c.ProcessBatch_id
), Instances AS (
SELECT c.BatchControl_id, c.ProcessBatch_id, c.FileProcess_id, c.CycleKey, c.Status, c.NextRunTime, c.z_updated, c.Started,
       c.Taken, c.Ahead_id, c.Stop_id FROM Ordered c WHERE c.Status = 'ready' OR c.Status = 'retry'
UNION ALL
SELECT p.BatchControl_id, p.ProcessBatch_id, p.FileProcess_id, p.CycleKey, {s.word("p.Status")}, p.NextRunTime, p.z_updated,
       NULL, NULL, NULL, NULL FROM {s.of}BatchControl p WHERE {s.among("p.Status", "paused")}
"""


def _locks(s: Spoken) -> str:
    """Return the instances whose rows somebody keeps locked, or those of their batches."""
    names = (
        *(("BatchControl", "c.BatchControl_id"), ("batch", told_name("b.ProcessBatchName"))),
        ("FileProcess", "c.FileProcess_id"),
    )
    waiting = f"Instances c JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id CROSS JOIN Told t"
    return locked(s, "BatchControl_id", waiting, names)


def _reason(s: Spoken) -> str:
    """Return why an instance waits: the first of its gates that blocks."""
    now, most = s.now, "b.MaxConcurrent"
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
    no_step = s.joined(
        "'BatchControl '", "c.BatchControl_id", "' cannot be read: PrevProcessControlSeq holds nonsense'"
    )
    full = s.joined("l.HowMany", "' instances are under way, and Setting MaxConcurrent is '", "l.Most")
    return f"""CASE WHEN c.Status = 'paused' THEN 'somebody paused it'
            WHEN x.ProcessBatch_id IS NOT NULL THEN {unread(s, "x")}
            WHEN b.Enabled <> 1 THEN {s.joined("'batch '", "b.ProcessBatchName", "' is disabled'")}
            WHEN z.BatchFreeze_id IS NOT NULL THEN {_freeze(s)}
            WHEN y.ProcessBatch_id IS NOT NULL THEN y.Reason
            WHEN NOT EXISTS (SELECT 1 FROM {s.of}ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id)
                 THEN {s.joined("'batch '", "b.ProcessBatchName", "' has no steps'")}
            WHEN w.BatchControl_id IS NOT NULL THEN w.Reason
            WHEN i.PrevProcessControlSeq NOT BETWEEN 0 AND {HIGHEST_SEQ} THEN {no_step}
            WHEN c.NextRunTime > {now} THEN {s.joined("'it waits until '", s.said("c.NextRunTime"))}
            WHEN a.BatchControl_id IS NOT NULL THEN {ahead}
            WHEN t.BatchControl_id IS NOT NULL THEN {stopper}
            WHEN h.Reason IS NOT NULL THEN h.Reason
            WHEN c.Started >= {most} THEN {started}
            WHEN l.Most = 0 THEN 'Setting MaxConcurrent is 0, or no number: nothing starts'
            WHEN l.HowMany >= l.Most THEN {full}
            WHEN u.Units > r.Units THEN {missing}
            WHEN u.Exclusive = 1 THEN {whole}
            WHEN u.Resource_id IS NOT NULL THEN {some}
            WHEN c.Taken >= {most} AND l.Most IS NULL AND NOT EXISTS (
                 SELECT 1 FROM {s.of}BatchResource v WHERE v.ProcessBatch_id = c.ProcessBatch_id) THEN {started}
            WHEN c.Taken >= {most} THEN {s.joined("'others of batch '", "b.ProcessBatchName", "' start before it'")}
            ELSE 'nothing holds it back' END"""


def _freeze(s: Spoken) -> str:
    """Return what a freeze says of itself."""
    ending = s.joined("'until '", s.said("z.UntilTime"))
    until = f"CASE WHEN z.UntilTime IS NULL THEN 'until somebody thaws it' ELSE {ending} END"
    return s.joined(
        _scope(s),
        "' is frozen since '",
        s.said("z.z_inserted"),
        "', '",
        until,
        "', by '",
        "z.Actor",
        "': '",
        "z.Reason",
    )


def _scope(s: Spoken) -> str:
    """Return what a freeze holds."""
    return (
        "CASE WHEN z.Tag IS NOT NULL THEN "
        + s.joined("'every batch with tag '''", "z.Tag", "''''")
        + " WHEN z.ProcessBatchName IS NULL THEN 'everything' ELSE "
        + s.joined("'batch '", "z.ProcessBatchName")
        + " END"
    )


def _next(s: Spoken) -> str:
    """Return the statement to run next."""
    add_step = s.joined(
        "'INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1) VALUES ('",
        "b.ProcessBatch_id",
        "', 10, ..., ..., ...);'",
    )
    last_step = s.joined(
        "'UPDATE BatchControl SET PrevProcessControlSeq = ... WHERE BatchControl_id = '", "c.BatchControl_id", "';'"
    )
    return f"""CASE WHEN c.Status = 'paused' THEN {s.act("resume", "c.BatchControl_id")}
            WHEN x.ProcessBatch_id IS NOT NULL THEN x.Mend
            WHEN b.Enabled <> 1 THEN {s.act_on_batch("enable", "b.ProcessBatchName")}
            WHEN z.BatchFreeze_id IS NOT NULL THEN {s.thaw("z.BatchFreeze_id")}
            WHEN y.ProcessBatch_id IS NOT NULL THEN y.Mend
            WHEN NOT EXISTS (SELECT 1 FROM {s.of}ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id) THEN {add_step}
            WHEN w.BatchControl_id IS NOT NULL THEN w.Mend
            WHEN i.PrevProcessControlSeq NOT BETWEEN 0 AND {HIGHEST_SEQ} THEN {last_step}
            WHEN c.NextRunTime > {s.now} THEN {s.act("rerun", "c.BatchControl_id")}
            WHEN a.Status = 'failed' OR a.Status = 'held' THEN {s.look("vFailed", "BatchControl_id", "a.BatchControl_id")}
            WHEN a.BatchControl_id IS NOT NULL THEN {s.look("vWaiting", "BatchControl_id", "a.BatchControl_id")}
            WHEN t.Status = 'retry' THEN {s.look("vWaiting", "BatchControl_id", "t.BatchControl_id")}
            WHEN t.BatchControl_id IS NOT NULL THEN {s.look("vFailed", "BatchControl_id", "t.BatchControl_id")}
            WHEN h.Reason IS NOT NULL THEN {to_end(s, "h")}
            ELSE 'SELECT * FROM vRunning;' END"""


def _lacking(s: Spoken) -> str:
    """Return the upstreams that have not completed of those that have begun to be waited for, by CycleKey."""
    same_key = "(x.CycleKey = w.CycleKey OR (x.CycleKey IS NULL AND w.CycleKey IS NULL))"
    return f"""Lacking AS (
SELECT w.ProcessBatch_id, w.CycleKey, w.Since, y.DependsOnBatch_id, y.DeadlineMins,
       (SELECT MAX(x.BatchControl_id) FROM {s.of}BatchControl x
        WHERE x.ProcessBatch_id = y.DependsOnBatch_id AND {same_key}) AS Newest_id
FROM (SELECT ProcessBatch_id, CycleKey, MIN(z_inserted) AS Since FROM {s.of}BatchCompletion WHERE FileProcess_id IS NULL
      GROUP BY ProcessBatch_id, CycleKey) w
JOIN {s.of}BatchDependency y ON y.ProcessBatch_id = w.ProcessBatch_id
WHERE NOT EXISTS (SELECT 1 FROM {s.of}BatchCompletion x WHERE x.FileProcess_id IS NULL
    AND x.ProcessBatch_id = w.ProcessBatch_id AND {same_key} AND x.DependsOnBatch_id = y.DependsOnBatch_id)
"""


def _dependencies(s: Spoken) -> str:
    """Return what waits for an upstream, and how that stands."""
    stands = " ".join(f"WHEN '{word}' THEN '{said}'" for word, said in _STANDS)
    offered = "u.ProcessBatch_id = w.ProcessBatch_id AND u.BatchControl_id = x.BatchControl_id"
    complete = f"""CASE WHEN EXISTS (SELECT 1 FROM {s.of}BatchCompletion u WHERE {offered}) THEN '{USED_BEFORE}'
            ELSE '{TOO_EARLY}' END"""
    newest = s.joined(
        *("'(BatchControl '", "x.BatchControl_id", "') '"),
        f"CASE {s.word('x.Status')} {stands} WHEN 'complete' THEN {complete} END",
    )
    frozen_too = s.joined("', and '", _scope(s), "' is frozen'")
    lacks = s.joined(
        *("d.ProcessBatchName", "' '"),
        f"CASE WHEN x.BatchControl_id IS NULL THEN 'has no instance for this CycleKey yet' ELSE {newest} END",
        "CASE WHEN d.Enabled <> 1 THEN ', and the batch is disabled'"
        f" WHEN z.BatchFreeze_id IS NOT NULL THEN {frozen_too} ELSE '' END",
    )
    return f"""SELECT NULL, b.ProcessBatchName, 'dependency', w.CycleKey, COALESCE(b.Entity, b.ProcessBatchName), NULL,
       {s.twin("w.Since", "Since")}, CASE WHEN p.ProcessBatch_id IS NOT NULL THEN {unread(s, "p")}
            WHEN q.ProcessBatch_id IS NOT NULL THEN {unread(s, "q")} ELSE {lacks} END, NULL, NULL, NULL,
       CASE WHEN p.ProcessBatch_id IS NOT NULL THEN p.Mend WHEN q.ProcessBatch_id IS NOT NULL THEN q.Mend
            WHEN x.Status = 'failed' OR x.Status = 'held' THEN {s.look("vFailed", "BatchControl_id", "x.BatchControl_id")}
            WHEN x.Status = 'cancelled' THEN {s.act("rerun", "x.BatchControl_id")}
            WHEN d.Enabled <> 1 THEN {s.act_on_batch("enable", "d.ProcessBatchName")}
            WHEN z.BatchFreeze_id IS NOT NULL THEN {s.thaw("z.BatchFreeze_id")}
            {_upstream(s)} END
FROM Lacking w
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = w.ProcessBatch_id
JOIN {s.of}ProcessBatch d ON d.ProcessBatch_id = w.DependsOnBatch_id
LEFT JOIN {s.of}BatchControl x ON x.BatchControl_id = w.Newest_id
LEFT JOIN Unfit p ON p.ProcessBatch_id = w.ProcessBatch_id
LEFT JOIN Unfit q ON q.ProcessBatch_id = w.DependsOnBatch_id
LEFT JOIN Frozen fz ON fz.ProcessBatch_id = w.DependsOnBatch_id
LEFT JOIN {s.of}BatchFreeze z ON z.BatchFreeze_id = fz.BatchFreeze_id"""


def _upstream(s: Spoken) -> str:
    """Return the statements that go on from an upstream which nothing but its own work keeps; those that ask for it by hand."""
    entity = s.quoted("COALESCE(d.Entity, d.ProcessBatchName)")
    key = f"CASE WHEN w.CycleKey IS NULL THEN 'NULL' ELSE {s.quoted('w.CycleKey')} END"
    begin = "'INSERT INTO FileProcess (Entity, CycleKey, FileName) VALUES ('"
    asked = s.joined(begin, entity, "', '", key, "', ...);'")
    return f"""WHEN x.Status = 'ready' OR x.Status = 'retry' THEN {s.look("vWaiting", "BatchControl_id", "x.BatchControl_id")}
            WHEN x.Status = 'paused' THEN {s.act("resume", "x.BatchControl_id")}
            WHEN x.Status = 'complete' THEN {s.look("vHistory", "BatchControl_id", "x.BatchControl_id")}
            WHEN x.BatchControl_id IS NOT NULL THEN {s.look("vRunning", "BatchControl_id", "x.BatchControl_id")}
            WHEN EXISTS (SELECT 1 FROM Lacking o WHERE o.ProcessBatch_id = w.DependsOnBatch_id)
                 THEN {s.look("vWaiting", "ProcessBatchName", s.quoted("d.ProcessBatchName"))}
            ELSE {asked}"""


def _populators(s: Spoken) -> str:
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
       {s.twin("f.z_inserted", "Since")}, CASE WHEN x.ProcessBatch_id IS NOT NULL THEN {unread(s, "x")}
            WHEN y.ProcessBatch_id IS NOT NULL THEN y.Reason
            WHEN {gives_up} THEN {answer} ELSE {missing} END, NULL, NULL, f.FileProcess_id,
       CASE WHEN x.ProcessBatch_id IS NOT NULL THEN x.Mend WHEN y.ProcessBatch_id IS NOT NULL THEN y.Mend
            WHEN {gives_up} THEN {again} ELSE 'SELECT * FROM Controller;' END
FROM {s.of}FileProcess f
JOIN {s.of}ProcessBatch b ON COALESCE(b.Entity, b.ProcessBatchName) = f.Entity
LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Missing y ON y.ProcessBatch_id = b.ProcessBatch_id AND y.ProcessControlSeq = -1
WHERE f.PopulatorTries IS NOT NULL AND f.Status = 'ready'
AND NOT EXISTS (SELECT 1 FROM {s.of}BatchControl c WHERE {taken.format("f")})
AND NOT ({repeats})"""


def _definitions(s: Spoken) -> str:
    """Return the batches of which new rows would wait, or be rejected: of what the batch says nothing can be made."""
    # PostgreSQL lets no column of a view lose its length, which NULL has not.
    return f"""SELECT NULL, b.ProcessBatchName, 'definition', f.CycleKey, COALESCE(b.Entity, b.ProcessBatchName), NULL,
       {s.twin("q.Since", "Since")}, q.Reason, NULL, NULL, NULL, q.Mend
FROM {s.of}ProcessBatch b
JOIN (SELECT y.ProcessBatch_id, d.z_updated AS Since, y.Reason, y.Mend
      FROM Missing y JOIN {s.of}ProcessBatch d ON d.ProcessBatch_id = y.ProcessBatch_id WHERE y.ProcessControlSeq = -1
      UNION ALL SELECT i.ProcessBatch_id, i.OpenedTime, i.Message, i.NextStep FROM {s.of}Incident i
      WHERE i.ResolvedTime IS NULL AND i.Kind = 'unreadable' AND i.IncidentKey LIKE '{_MISREAD} %') q
   ON q.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN {s.of}FileProcess f ON 1 = 0
LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id
WHERE b.Enabled = 1 AND x.ProcessBatch_id IS NULL"""

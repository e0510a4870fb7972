"""What others keep locked on PostgreSQL, and who."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, text

from batchctl.domain.text import visible

_HOLDERS = """
SELECT l.pid, a.application_name AS program, a.usename AS user_name, a.state,
       to_char(a.xact_start AT TIME ZONE 'UTC', 'HH24:MI:SS') AS since, {} AS is_proven
FROM pg_locks l JOIN pg_class c ON c.oid = l.relation AND c.relnamespace = current_schema()::regnamespace
LEFT JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.granted AND l.pid <> pg_backend_pid() AND c.relkind = 'r'
AND l.mode IN ('RowShareLock', 'RowExclusiveLock', 'ShareUpdateExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock',
               'ExclusiveLock', 'AccessExclusiveLock')
ORDER BY is_proven DESC, a.xact_start NULLS LAST LIMIT 1
"""
_OF_A_TABLE = text(_HOLDERS.format("(l.mode = 'AccessExclusiveLock')"))
"""Finds a session that has locked a whole table, even against readers; the query itself reads no table."""
_OF_AN_INSTANCE = text(
    _HOLDERS.format("""EXISTS (
           SELECT 1 FROM pg_locks t WHERE t.pid = l.pid AND t.granted AND t.locktype = 'transactionid' AND t.transactionid IN (
                   SELECT c.xmax FROM BatchControl c WHERE c.BatchControl_id = :instance_id
                   UNION ALL SELECT f.xmax FROM FileProcess f JOIN BatchControl c ON c.FileProcess_id = f.FileProcess_id
                   WHERE c.BatchControl_id = :instance_id
                   UNION ALL SELECT b.xmax FROM ProcessBatch b JOIN BatchControl c ON c.ProcessBatch_id = b.ProcessBatch_id
                   WHERE c.BatchControl_id = :instance_id
                   UNION ALL SELECT h.xmax FROM BatchProcessHistory h
                   WHERE h.BatchControl_id = :instance_id AND h.Status = 'running'))""")
)
"""A row that several have locked does not say by whom."""
_LOCKED_INSTANCES = """
WITH c AS (SELECT BatchControl_id, FileProcess_id, ProcessBatch_id FROM BatchControl WHERE BatchControl_id = ANY(%(ids)s)),
free AS (SELECT BatchControl_id FROM BatchControl WHERE BatchControl_id = ANY(%(ids)s) FOR NO KEY UPDATE SKIP LOCKED),
free_intake AS (
    SELECT FileProcess_id FROM FileProcess
    WHERE FileProcess_id IN (SELECT FileProcess_id FROM c) FOR NO KEY UPDATE SKIP LOCKED
),
free_batch AS (
    SELECT ProcessBatch_id FROM ProcessBatch
    WHERE ProcessBatch_id IN (SELECT ProcessBatch_id FROM c) FOR KEY SHARE SKIP LOCKED
),
free_entry AS (
    SELECT BatchProcessHistory_id FROM BatchProcessHistory
    WHERE BatchControl_id = ANY(%(ids)s) AND Status = 'running' FOR NO KEY UPDATE SKIP LOCKED
)
SELECT BatchControl_id FROM c WHERE BatchControl_id NOT IN (SELECT BatchControl_id FROM free)
OR EXISTS (SELECT 1 FROM FileProcess f WHERE f.FileProcess_id = c.FileProcess_id
           AND f.FileProcess_id NOT IN (SELECT FileProcess_id FROM free_intake))
OR EXISTS (SELECT 1 FROM ProcessBatch b WHERE b.ProcessBatch_id = c.ProcessBatch_id
           AND b.ProcessBatch_id NOT IN (SELECT ProcessBatch_id FROM free_batch))
OR EXISTS (SELECT 1 FROM BatchProcessHistory h WHERE h.BatchControl_id = c.BatchControl_id AND h.Status = 'running'
           AND h.BatchProcessHistory_id NOT IN (SELECT BatchProcessHistory_id FROM free_entry))
"""
"""A row that somebody has deleted is not locked by anybody."""
_LOCKED_INTAKE = """
WITH free AS (SELECT 1 FROM FileProcess WHERE FileProcess_id = %(id)s FOR NO KEY UPDATE SKIP LOCKED),
free_batch AS (SELECT ProcessBatch_id FROM ProcessBatch WHERE ProcessBatch_id = ANY(%(batches)s) FOR KEY SHARE SKIP LOCKED)
SELECT 1 FROM FileProcess WHERE FileProcess_id = %(id)s AND NOT EXISTS (SELECT 1 FROM free)
UNION ALL
SELECT 1 FROM ProcessBatch
WHERE ProcessBatch_id = ANY(%(batches)s) AND ProcessBatch_id NOT IN (SELECT ProcessBatch_id FROM free_batch)
"""
NAMES = 64
"""How many rows of NamedLock stand for names."""
_MISSING_NAMES = text(
    "SELECT slot FROM generate_series(1, :names) AS slot"
    " WHERE NOT EXISTS (SELECT 1 FROM NamedLock WHERE NamedLock_id = slot) ORDER BY slot"
)


def blocker(connection: Connection, instance_id: int | None = None) -> tuple[str, str] | None:
    """Name the session that has locked a whole table, or an instance's rows, or else the one that has kept locks longest."""
    found = connection.execute(_OF_A_TABLE).first()
    if instance_id is not None and found is not None and not found.is_proven:
        found = connection.execute(_OF_AN_INSTANCE, {"instance_id": instance_id}).first()
    if found is None:
        return None
    known = [found.program, found.user_name and f"user {found.user_name}", found.state]
    known += [found.since and f"transaction open since {found.since} UTC"]
    said = visible(", ".join(str(part) for part in known if part))
    known_as = f"session {found.pid}{f' ({said})' if said else ''}"
    who = known_as if found.is_proven else f"{known_as}, as far as can be seen: it has kept locks longest"
    return who, f"SELECT pg_terminate_backend({found.pid})"


def locked_instances(connection: Connection, instance_ids: Sequence[int]) -> Collection[int]:
    """Lock the rows of instances and of their intake, unless with nowait; return those that others have locked."""
    if _raw(connection).batchctl_nowait:
        return ()
    return {row[0] for row in _raw(connection).execute(_LOCKED_INSTANCES, {"ids": list(instance_ids)})}


def missing_names(connection: Connection) -> Mapping[int, str]:
    """Return which rows that stand for names somebody has deleted, and what makes each anew."""
    slots = connection.execute(_MISSING_NAMES, {"names": NAMES}).scalars()
    return {int(slot): f"INSERT INTO NamedLock (NamedLock_id) VALUES ({slot});" for slot in slots}  # noqa: S608 - for a person to read


def look_for_locks(connection: Connection) -> None:
    """Look for the locks of others in this transaction, nowait or not."""
    _raw(connection).batchctl_nowait = False


def is_locked_intake(connection: Connection, intake_id: int, batch_ids: Sequence[int]) -> bool:
    """Lock a FileProcess row and its batches, or say that another has; with nowait a later statement raises instead."""
    if _raw(connection).batchctl_nowait:
        return False
    wanted = {"id": intake_id, "batches": list(batch_ids)}
    return _raw(connection).execute(_LOCKED_INTAKE, wanted).fetchone() is not None


def _raw(connection: Connection) -> Any:
    return connection.connection.dbapi_connection

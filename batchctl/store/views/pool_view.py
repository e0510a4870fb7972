"""Where steps may run: each pool, who serves it, and why nothing begins in it."""

from __future__ import annotations

from batchctl.domain.rows import DEFAULT_POOL
from batchctl.store.views.shared_parts import CLAIMED
from batchctl.store.views.view_dialect import ViewDialect


def pool_of(s: ViewDialect, step: str, batch: str) -> str:
    """Return the pool of a step, as the engine reads the columns of its row and of its batch's."""
    own, its = (f"NULLIF({s.bare(s.word(f'{one}.Pool'))}, '')" for one in (step, batch))
    return f"COALESCE({own}, {its}, '{DEFAULT_POOL}')"


def pools(s: ViewDialect) -> str:
    """Return the pools that there are, that steps name, or that a controller serves or has served."""
    serves = "v.PoolName = n.PoolName"
    drained_by = f"SELECT MIN(d.Drain_id) FROM {s.of}Drain d WHERE d.UndrainedTime IS NULL AND"
    last = s.joined("' (the last was on '", "t.LastHost", "', '", s.wording("t.LastServed"), "')'")
    unserved = s.joined(
        *("'no controller serves pool '", "t.PoolName"),
        f"CASE WHEN t.LastHost IS NULL THEN ' (and none ever did)' ELSE {last} END",
    )
    # Where no controller runs at all, that is no matter of pools.
    is_held = "t.Serving = 0 AND h.Drain_id IS NOT NULL"
    is_unserved = f"t.Serving = 0 AND (t.PoolName <> '{DEFAULT_POOL}' OR t.Running > 0)"
    drain = s.joined("'pool '", "t.PoolName", "' is drained by '", "d.Actor", "': '", "d.Reason")
    of_host = s.joined(
        *(
            "'pool '",
            "t.PoolName",
            "' is served only by drained hosts: '",
            "h.Host",
            "' by '",
            "h.Actor",
            "': '",
            "h.Reason",
        )
    )
    disabled = s.joined("'pool '", "t.PoolName", "' is disabled'")
    full = s.joined("t.Claimed", "' instances have a step of pool '", "t.PoolName", "' under way, its MaxConcurrent'")
    undrain, undrain_host = (_undrain(s, "pool", "t.PoolName"), _undrain(s, "host", "h.Host"))
    enable = s.joined("'UPDATE Pool SET Enabled = 1 WHERE PoolName = '", s.quoted("t.PoolName"), "';'")
    return f"""
WITH Serves AS (
SELECT k.Host, k.Status, k.Heartbeat, COALESCE(p.PoolName, '{DEFAULT_POOL}') AS PoolName,
       ({drained_by} {s.word("d.Host")} = {s.word("k.Host")}) AS Drain_id
FROM {s.of}Controller k LEFT JOIN {s.of}ControllerPool p ON p.Controller_id = k.Controller_id
), Named AS (
SELECT '{DEFAULT_POOL}' AS PoolName
UNION SELECT PoolName FROM {s.of}Pool
UNION SELECT PoolName FROM {s.of}ControllerPool
UNION SELECT {pool_of(s, "g", "b")} FROM {s.of}ProcessControl g
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = g.ProcessBatch_id
), Standing AS (
SELECT n.PoolName,
       (SELECT COUNT(*) FROM {s.of}Controller k WHERE k.Status = 'running') AS Running,
       (SELECT COUNT(*) FROM Serves v WHERE {serves} AND v.Status = 'running' AND v.Drain_id IS NULL) AS Serving,
       (SELECT MIN(v.Drain_id) FROM Serves v WHERE {serves} AND v.Status = 'running') AS HostDrain_id,
       (SELECT COUNT(*) FROM {s.of}BatchControl c WHERE {s.among("c.Status", *CLAIMED)}
        AND COALESCE(c.NextPool, '{DEFAULT_POOL}') = n.PoolName) AS Claimed,
       (SELECT MAX(v.Heartbeat) FROM Serves v WHERE {serves}) AS LastServed,
       (SELECT MAX(v.Host) FROM Serves v WHERE {serves}
        AND v.Heartbeat = (SELECT MAX(o.Heartbeat) FROM Serves o WHERE o.PoolName = n.PoolName)) AS LastHost,
       ({drained_by} {s.word("d.PoolName")} = n.PoolName) AS Drain_id
FROM Named n
)
SELECT t.PoolName, p.MaxConcurrent, COALESCE(p.Enabled, 1) AS Enabled, t.Claimed, t.Serving, t.LastHost,
       {s.twin("t.LastServed", "LastServed")},
       CASE WHEN d.Drain_id IS NOT NULL THEN {drain}
            WHEN p.Enabled <> 1 THEN {disabled}
            WHEN {is_held} THEN {of_host}
            WHEN {is_unserved} THEN {unserved}
            WHEN t.Claimed >= p.MaxConcurrent THEN {full} END AS Reason,
       CASE WHEN d.Drain_id IS NOT NULL THEN {undrain}
            WHEN p.Enabled <> 1 THEN {enable}
            WHEN {is_held} THEN {undrain_host}
            WHEN {is_unserved} THEN 'SELECT * FROM Controller;'
            ELSE 'SELECT * FROM vRunning;' END AS NextSql,
       p.Description
FROM Standing t
LEFT JOIN {s.of}Pool p ON p.PoolName = t.PoolName
LEFT JOIN {s.of}Drain d ON d.Drain_id = t.Drain_id
LEFT JOIN {s.of}Drain h ON h.Drain_id = t.HostDrain_id"""


def _undrain(s: ViewDialect, place: str, named: str) -> str:
    """Return the text of the statement that ends a drain."""
    argument = s.joined(f"""'{{"{place}": "'""", named, """'"}'""")
    insert = "'INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''undrain'', '"
    return s.joined(insert, s.quoted(argument), "', ...);'")

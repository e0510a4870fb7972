"""The conditions of those rows that an index is about, named after what they have in common."""

from __future__ import annotations

from batchctl.store.conditions import differing

OPEN_INSTANCE = ("ready", "running", "retry", "failed", "held", "pausing", "paused", "cancelling")
CLAIMED_INSTANCE = ("running", "pausing", "cancelling")
STANDING_INSTANCE = ("retry", "failed", "held")
WAITING_INSTANCE = ("ready", "retry")
IN_LINE_INSTANCE = ("ready", "retry", "failed", "held")
"""What may start, or may keep others of its batch from starting."""
PAUSED_INSTANCE = ("paused",)
OVER_INSTANCE = ("complete", "cancelled")
LATER = "NextRunTime > '1900-01-01 00:00:00.000'"
AT_ONCE = "NextRunTime <= '1900-01-01 00:00:00.000'"
READY_INTAKE = "Status = 'ready'"
AWAITING_INTAKE = "PopulatorTries IS NOT NULL"
INBOX_INTAKE = ("paused", "rejected", "duplicate")
"""Rows that become no work unless a person acts."""
HAS_DATA = "Data IS NOT NULL"
LIVE_ENTRY = "Status = 'running'"
WAITING_COMPLETION = "FileProcess_id IS NULL"
FIRED = "EventType = 'fired'"
ARMED = "Enabled = 1"
BACKFILLING = "Status = 'running'"
REQUESTED = "Status = 'requested'"
STANDING_DRAIN = "UndrainedTime IS NULL"
BEGUN = "BegunTime IS NOT NULL"
OPEN_CONFIRMATION = "Answer IS NULL"
NEWEST_FORECAST = "KeptFor IS NULL"
KEPT_FORECAST = "KeptFor IS NOT NULL"
AWAITED_FORECAST = "ReadyOn IS NULL AND KeptFor IS NOT NULL"
STANDING_FREEZE = "ThawedTime IS NULL"
STANDING_INCIDENT = "ResolvedTime IS NULL"
OWED_RECOVERY = "ResolvedTime IS NOT NULL AND RecoveryTime IS NULL"
TO_SEND = "Status = 'waiting'"
ENDED_OR_LIVE = differing(
    "(lower(Status) IN ('running', 'asked') AND EndTime IS NULL)"
    " OR (lower(Status) NOT IN ('running', 'asked') AND EndTime IS NOT NULL)",
    "(Status = 'running' OR Status = 'asked') = (EndTime IS NULL)",
)

"""Incidents and problems for tests: what is not said is as usual."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from batchctl.domain.alerting.incidents import Incident, IncidentSign
from batchctl.domain.rows import BatchId, IncidentId, InstanceId
from batchctl.domain.status import IncidentKind, IncidentStatus, Severity

NOW = datetime(2026, 11, 22, 3, 0, tzinfo=UTC)


def a_problem(**given: Any) -> IncidentSign:
    """Return the problem of an instance that has failed."""
    plain = IncidentSign(
        kind=IncidentKind.FAILED,
        about=(1, 10, "it broke"),
        subject="Load",
        message="BatchControl 42 has failed at step 10: it broke",
        since=NOW,
        batch_id=BatchId(1),
        seq=10,
        instance_id=InstanceId(42),
        evidence=5,
    )
    return replace(plain, **given)


def an_incident(**given: Any) -> Incident:
    """Return the incident of it."""
    plain = Incident(
        incident_id=IncidentId(7),
        kind=IncidentKind.FAILED,
        key="failed 1 10 it broke",
        severity=Severity.ERROR,
        status=IncidentStatus.OPEN,
        subject="Load",
        message="BatchControl 42 has failed at step 10: it broke",
        detail=None,
        next_step=None,
        batch_id=BatchId(1),
        seq=10,
        instance_id=InstanceId(42),
        evidence=5,
        occurrences=1,
        opened_at=NOW,
        last_seen=NOW,
    )
    return replace(plain, **given)

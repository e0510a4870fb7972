"""When people are told of incidents: the part of the configuration that decides anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from batchctl.domain.alerting.alerts import Audience
from batchctl.domain.alerting.incident_causes import Norms
from batchctl.domain.alerting.incidents import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRules:
    """What decides which people are told of what, and when."""

    policy: Policy = field(default_factory=Policy)
    norms: Norms = field(default_factory=Norms)
    channels: Sequence[Audience] = ()
    zone: str = "UTC"
    """The time zone by whose clocks work is expected."""
    no_worker_after: timedelta = timedelta(minutes=10)
    lease: timedelta = timedelta(seconds=30)
    """For how long there may be no leader."""
    learns_arrivals: bool = True
    arrival_margin: timedelta = timedelta(minutes=30)

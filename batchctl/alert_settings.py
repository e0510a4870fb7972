"""Which people are told of what, and when, as the configuration says."""

from __future__ import annotations

from datetime import timedelta

from batchctl import config
from batchctl.domain.alerting.alerts import AlertRules, Audience
from batchctl.domain.alerting.incident_causes import Norms
from batchctl.domain.alerting.incidents import Policy
from batchctl.domain.leader import lease_of
from batchctl.domain.maintenance.lengths import length_of
from batchctl.domain.scheduling.column_text import time_of_day
from batchctl.domain.status import Severity


def alert_rules_of(settings: config.Settings) -> AlertRules:
    """Return the rules: when people are told of what."""
    said = settings.alerts
    channels = [
        Audience(name=name, only_escalations=channel.on == "escalation", least=Severity(channel.least))
        for name, channel in said.channels.items()
    ]
    return AlertRules(
        lease=lease_of(timedelta(seconds=settings.heartbeat_interval)),
        unserved_after=timedelta(seconds=settings.orphan_timeout),
        policy=Policy(
            repeat=_length(said.repeat),
            repeat_warnings=_length(said.repeat_warnings),
            escalate_after=said.escalate_after,
            digest_over=said.digest_over,
            digest_window=_length(said.digest_window),
        ),
        norms=Norms(failures=said.failures, runs=said.runs, slow=said.slow, short=said.short, samples=said.samples),
        channels=channels,
        zone=settings.business_time_zone,
        no_worker_after=_length(said.no_worker_after),
        learns_arrivals=said.learn_arrivals,
        arrival_margin=_length(said.arrival_margin),
        forecast_interval=_length(said.forecast_interval),
        forecast_hours=[time_of_day(each) for each in said.forecast_hours],
    )


def _length(written: str) -> timedelta:
    # The settings have refused what is no length of time.
    return length_of(written) or timedelta(0)

"""What forecasts show to be wrong: a batch that will probably be late, and forecasts that are not to be relied on."""

from __future__ import annotations

from datetime import datetime

from batchctl.domain.alerting.incidents import IncidentSign
from batchctl.domain.dependencies.forecast_record import KeptForecast
from batchctl.domain.rows import BatchId
from batchctl.domain.scheduling.wall_clock import clock_of, naive
from batchctl.domain.status import IncidentKind, Severity
from batchctl.domain.text import typed, visible


def at_risk(one: KeptForecast, name: str, zone: str) -> IncidentSign:
    """Return the sign of a batch that will probably not be ready by FinishBy."""
    clock, by = clock_of(zone), one.finish_by or one.made_on
    shown = clock.shown(naive(by))
    said = [f"the chance is {one.chance} %"]
    if one.median is None and not one.needs_person:
        said.append("when it is ready is not known: a step on the way has run longer than ever before")
    elif one.median is None:
        said.append(f"in {one.needs_person} % of the nights it needs a person")
    else:
        said.append(f"in every second night it is ready by {clock.shown(naive(one.median)):%H:%M on %a %Y-%m-%d}")
    if one.decides is not None:
        said.append(f"what decides: {one.decides}")
    said.append("nothing that was tried helps" if one.helps is None else f"what would help: {one.helps}")
    of_key = "" if one.cycle_key is None else f" for {visible(one.cycle_key)}"
    return IncidentSign(
        kind=IncidentKind.AT_RISK,
        about=(one.batch_id, f"{naive(by):%Y-%m-%dT%H:%M}", one.cycle_key or ""),
        subject=name,
        message=(
            f"Batch {visible(name)}{of_key} will probably not be ready by {shown:%H:%M} {zone} on {shown:%a %Y-%m-%d}:"
            f" {'; '.join(said)}"
        ),
        since=one.made_on,
        next_step=f"batchctl forecast {typed(name)} --by {shown:%H:%M}",
        batch_id=one.batch_id,
    )


def misses(batch_id: BatchId, name: str, many: int, covered: int, now: datetime) -> IncidentSign:
    """Return the sign that forecasts of a batch are not to be relied on."""
    return IncidentSign(
        kind=IncidentKind.FORECAST_MISSES,
        about=(batch_id,),
        subject=name,
        message=(
            f"Forecasts of batch {visible(name)} are not to be relied on: of the last {many} of which it is known what came,"
            f" p90 was kept by {covered} ({covered / many:.0%}), where nine of ten should"
        ),
        severity=Severity.WARNING,
        since=now,
        detail=(
            "What to look at: whether steps take longer than they did (batchctl report durations), work that comes at other"
            " times or more than once a day, people who act on it each night, and controllers that are away."
        ),
        next_step=f"batchctl forecast {typed(name)} --check",
        batch_id=batch_id,
    )

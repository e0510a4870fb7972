"""A forecast in words: when something will be ready, what decides, and what is not known."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from batchctl.operations.dependencies.forecasting import BatchForecast


def when(one: BatchForecast) -> str:
    """Say by when it is ready, and how often not without a person."""
    parts = [f"ready by {_at(one.median)} (p50)"] if one.median is not None else []
    parts += [f"{_at(one.nearly)} (p90)"] if one.nearly is not None else []
    if one.failing:
        parts.append(f"needs a person in {one.failing:.0%} of the nights")
    return ", ".join(parts) or "when it is ready is not known"


def because(one: BatchForecast) -> Iterator[str]:
    """Yield from how many nights that is known, what decides, and what is not known."""
    yield f"{one.replays} nights replayed from what is known of {one.nights}."
    if one.is_idle:
        yield "No controller works now, and it is supposed that one begins at once: batchctl run"
    yield from (
        f"BatchControl {each.instance_id} is {each.status}, and keeps it from being ready." for each in one.standing
    )
    if one.decides:
        yield "What decides, and in which share of the nights:"
    yield from (f"  {each.wording}" for each in one.decides)
    yield from (f"Not known: {text}" for text in one.not_known)


def _at(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"

"""Making a failing schedule small: events are taken away, and the world made simpler, as long as it breaks the same law."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.sim.playing import play
from tests.sim.script import Event, Fault, Script

MOST_PLAYS = 600
"""How often a schedule is played to make it smaller."""


def smallest(script: Script, law: str) -> Script:
    """Return a smaller schedule that breaks the same law."""
    left = MOST_PLAYS
    shrunk = True
    while shrunk:
        shrunk = False
        for candidate in _smaller(script):
            if left <= 0:
                return script
            left -= 1
            if play(candidate).law == law:
                script, shrunk = candidate, True
                break
    return script


def _smaller(script: Script) -> Iterator[Script]:
    """Yield schedules that are a little smaller: large pieces are taken away first."""
    events = script.events
    size = max(len(events) // 2, 1)
    while size >= 1 and events:
        for begin in range(0, len(events), size):
            yield script.with_events(events[:begin] + events[begin + size :])
        size //= 2
    for at, event in enumerate(events):
        for simpler in _simpler(event):
            yield script.with_events((*events[:at], simpler, *events[at + 1 :]))
    options = script.options
    for changes in ({"luck": 0}, {"slots": 1}, {"ahead": (0.0,) * len(options.ahead)}):
        if any(getattr(options, name) != value for name, value in changes.items()):
            yield replace(script, options=replace(options, **changes))
    for at, batch in enumerate(options.batches):
        if len(batch.steps) > 1:
            fewer = replace(batch, steps=batch.steps[:-1])
            yield replace(
                script, options=replace(options, batches=(*options.batches[:at], fewer, *options.batches[at + 1 :]))
            )


def _simpler(event: Event) -> Iterator[Event]:
    if isinstance(event, Fault):
        for at in range(len(event.meanwhile)):
            yield replace(event, meanwhile=event.meanwhile[:at] + event.meanwhile[at + 1 :])

"""Events: a stable name and the ids of the rows it is about, one line each, for people or for programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TypeAlias

from batchctl.domain.values import value

EventValue: TypeAlias = str | int | float | bool | None


class Level(StrEnum):
    """How much an event concerns the person on call."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


_ERRORS = {
    "alert.trouble",
    "backfill.error",
    "controller.trouble",
    "dependency.trouble",
    "instance.failed",
    "instance.held",
    "intake.rejected",
    "job.trouble",
    "log.trouble",
    "report.trouble",
    "retention.trouble",
    "schedule.error",
    "step.alarm",
    "step.lost",
    "trigger.error",
    "watch.rejected",
    "watch.trouble",
    "watch.unreachable",
}
_WARNINGS = {
    "incident.opened",
    "batch.locked",
    "calendar.ending",
    "controller.deposed",
    "controller.fenced",
    "controller.locked",
    "controller.lost",
    "controller.superseded",
    "controller.waiting",
    "dependency.overdue",
    "instance.locked",
    "instance.parked",
    "instance.retry",
    "intake.duplicate",
    "intake.hung",
    "intake.locked",
    "intake.untaken",
    "job.refused",
    "job.unknown",
    "request.refused",
    "step.ended_late",
    "step.fenced",
    "step.unclear",
    "watch.corrected",
    "watch.locked",
}
_FINE = {"success", "skipped", "cancelled", "asked"}


@value
class Event:
    """Something that happened. `name` is stable, `fields` carry column names and values."""

    name: str
    fields: Mapping[str, EventValue] = field(default_factory=dict)

    @property
    def level(self) -> Level:
        """Return how grave it is; a step that ended is as grave as its end."""
        if self.name == "step.ended" and self.fields.get("Status") not in _FINE:
            return Level.ERROR
        if self.name in _ERRORS:
            return Level.ERROR
        return Level.WARNING if self.name in _WARNINGS else Level.INFO

    def __str__(self) -> str:
        """Write the event as `name Column=value ...`, values with spaces or quotes as JSON strings, nothing invisible."""
        return " ".join([self.name, *(f"{key}={_shown(value)}" for key, value in self.fields.items())])


Listener = Callable[[Event], None]


def silent(event: Event) -> None:
    """Ignore the event."""


def to_all(*listeners: Listener) -> Listener:
    """Return what passes an event to several listeners, one after the other."""

    def tell(event: Event) -> None:
        for listener in listeners:
            listener(event)

    return tell


class LineFormat(StrEnum):
    """What an event looks like as a line."""

    TEXT = "text"
    JSON = "json"


def line(form: LineFormat, at: datetime, controller: str, event: Event) -> str:
    """Write an event as one line without its end.

    Text is the time in UTC, the name, and `Column=value`. JSON is one object in plain ASCII, with `Time`, `Level`, `Event` and
    `Controller` (which process logs it) before the columns.
    """
    if form is LineFormat.TEXT:
        return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ} {event}"
    time = at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    about = {"Time": time, "Level": event.level.value, "Event": event.name, "Controller": controller}
    return json.dumps({**about, **event.fields}, ensure_ascii=True)


def _shown(value: EventValue) -> str:
    text = str(value)
    plain = text.isprintable() and " " not in text and '"' not in text and text != ""
    return text if plain else json.dumps(text, ensure_ascii=not text.isprintable())

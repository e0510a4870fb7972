"""Events: a stable name and the ids of the rows it is about, one line each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TypeAlias

from batchctl.domain.values import value

EventValue: TypeAlias = str | int | float | bool | None


@value
class Event:
    """Something that happened. `name` is stable, `fields` carry column names and values."""

    name: str
    fields: Mapping[str, EventValue] = field(default_factory=dict)

    def __str__(self) -> str:
        """Write the event as `name Column=value ...`, values with spaces or quotes as JSON strings, nothing invisible."""
        return " ".join([self.name, *(f"{key}={_shown(value)}" for key, value in self.fields.items())])


Listener = Callable[[Event], None]


def silent(event: Event) -> None:
    """Listen to nothing."""


def _shown(value: EventValue) -> str:
    text = str(value)
    plain = text.isprintable() and " " not in text and '"' not in text and text != ""
    return text if plain else json.dumps(text, ensure_ascii=not text.isprintable())

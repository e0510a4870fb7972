"""What stands in the CommandSpec of a step that an agent carries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from batchctl.domain.errors import StepRefused
from batchctl.domain.records import JsonValue

MARK = "batchctl.agent"
"""The key of CommandSpec under which it says which agent carries a step."""


@dataclass(frozen=True, slots=True)
class CarriedSpec:
    """What a CommandSpec says of a step that an agent carries."""

    pool: str
    agent: str
    carried_type: str
    goes_on_alone: bool
    spec: dict[str, JsonValue]


def carried_spec(spec: Any) -> CarriedSpec | None:
    """Read a CommandSpec; None of a step that no agent carries. Raises `StepRefused` where it cannot be read."""
    where = spec.get(MARK) if isinstance(spec, Mapping) else None
    if where is None:
        return None
    try:
        names = str(where["pool"]), str(where["agent"]), str(where["type"])
        return CarriedSpec(*names, bool(where["alone"]), dict(spec["spec"]))
    except (KeyError, TypeError, ValueError):
        message = "its CommandSpec does not say which agent carries it"
        raise StepRefused(message) from None


def carried(command_spec: str) -> CarriedSpec | None:
    """Read a CommandSpec as its row has it; None where no agent carries the step, or it cannot be read."""
    try:
        return carried_spec(json.loads(command_spec))
    except (json.JSONDecodeError, StepRefused):
        return None

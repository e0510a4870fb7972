"""What controller and plugin process say to each other: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any

from batchctl.domain.rows import BatchDefinition, Dependency, Freeze, IntakeRow, MissingPlugin, Need, Step
from batchctl.domain.status import DependencyMode, IntakeStatus, OnFailure, OnLost, ProcessingMode


def line_of(message: Mapping[str, Any]) -> bytes:
    """Write a message."""
    return json.dumps(message, default=_plain).encode("ascii") + b"\n"


def message_of(line: bytes) -> dict[str, Any]:
    """Read a message; raises `ValueError` for anything else."""
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError(line)
    return message


def fields_of(row: IntakeRow | BatchDefinition | Step | Need | Dependency | Freeze | MissingPlugin) -> dict[str, Any]:
    """Take a row apart, to be put together again by `intake_row` or `batch_definition`."""
    return {field.name: getattr(row, field.name) for field in fields(row)}


def intake_row(message: Mapping[str, Any]) -> IntakeRow:
    """Put an intake row together."""
    changed = {
        "status": IntakeStatus(message["status"]),
        "inserted_at": datetime.fromisoformat(message["inserted_at"]),
    }
    return IntakeRow(**{**message, **changed})


def batch_definition(message: Mapping[str, Any]) -> BatchDefinition:
    """Put a batch definition with its steps together."""
    changed = {
        "retry_wait": timedelta(seconds=message["retry_wait"]),
        "on_failure": OnFailure(message["on_failure"]),
        "dependency_mode": DependencyMode(message["dependency_mode"]),
        "mode": None if message["mode"] is None else ProcessingMode(message["mode"]),
        "steps": tuple(_step(step) for step in message["steps"]),
        "needs": tuple(Need(**need) for need in message["needs"]),
        "dependencies": tuple(_dependency(dependency) for dependency in message["dependencies"]),
        "dependents": tuple(message["dependents"]),
        "tags": tuple(message["tags"]),
        "missing_plugins": tuple(MissingPlugin(**missing) for missing in message["missing_plugins"]),
        "freezes": tuple(_freeze(freeze) for freeze in message["freezes"]),
    }
    return BatchDefinition(**{**message, **changed})


def _step(message: Mapping[str, Any]) -> Step:
    durations = {
        name: None if message[name] is None else timedelta(seconds=message[name])
        for name in ("expected_duration", "alarm_duration", "max_duration")
    }
    changed = {"on_lost": OnLost(message["on_lost"]), "data": tuple(message["data"])}
    return Step(**{**message, **durations, **changed})


def _dependency(message: Mapping[str, Any]) -> Dependency:
    return Dependency(**{**message, "deadline": timedelta(seconds=message["deadline"])})


def _freeze(message: Mapping[str, Any]) -> Freeze:
    times = {
        name: None if message[name] is None else datetime.fromisoformat(message[name])
        for name in ("since", "until", "thawed_at")
    }
    return Freeze(**{**message, **times})


def _plain(value: object) -> object:
    match value:
        case datetime():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Step() | Need() | Dependency() | Freeze() | MissingPlugin():
            return fields_of(value)
        case _:
            raise TypeError(type(value).__name__)

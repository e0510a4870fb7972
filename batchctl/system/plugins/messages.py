"""The messages between controller and plugin process: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from batchctl.domain.rows import BatchDefinition, Dependency, Freeze, IntakeRow, MissingPlugin, Need, Step


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
    row: IntakeRow = _put_together(IntakeRow, message)
    return row


def batch_definition(message: Mapping[str, Any]) -> BatchDefinition:
    """Put a batch definition with its steps together."""
    batch: BatchDefinition = _put_together(BatchDefinition, message)
    return batch


_kinds = cache(get_type_hints)


def _put_together(kind: Any, value: Any) -> Any:
    """Make of what a message says a value of a type."""
    if value is None:
        return None
    if get_origin(kind) in {Union, UnionType}:
        (kind,) = (each for each in get_args(kind) if each is not NoneType)
    if get_origin(kind) is tuple:
        return tuple(_put_together(get_args(kind)[0], each) for each in value)
    if isinstance(kind, type) and is_dataclass(kind):
        kinds = _kinds(kind)
        return kind(**{name: _put_together(kinds[name], each) for name, each in value.items()})
    if kind is datetime:
        return datetime.fromisoformat(value)
    if kind is timedelta:
        return timedelta(seconds=value)
    return kind(value) if isinstance(kind, type) and issubclass(kind, Enum) else value


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

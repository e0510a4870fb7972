"""How the values are made that come and go with every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

Value = TypeVar("Value")


@dataclass_transform(frozen_default=True)
def value(cls: type[Value]) -> type[Value]:
    """Make a dataclass that is not to be changed, which only the type checker enforces.

    Freezing it at run time would treble the cost of making one, and a step needs twenty.
    """
    return dataclass(slots=True)(cls)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def named_value(cls: type[Value]) -> type[Value]:
    """Make such a dataclass for more fields than can be told apart by their order."""
    return dataclass(slots=True, kw_only=True)(cls)

"""How the values are made that come and go with every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

Value = TypeVar("Value")


@dataclass_transform(frozen_default=True)
def value(cls: type[Value]) -> type[Value]:
    """Make a dataclass that nobody may change, which only the type checker sees to.

    Freezing it at run time would treble the cost of making one, and a step needs ten.
    """
    return dataclass(slots=True)(cls)

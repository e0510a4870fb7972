"""Values at the borders cannot change under the reader's hands."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Iterable

from pydantic import BaseModel

from tests.house.source import module_names

BORDERS = ("batchctl.domain", "batchctl.plugin_api", "batchctl.ports", "batchctl.config")


def border_classes() -> list[type]:
    modules = [importlib.import_module(name) for name in module_names() if name.startswith(BORDERS)]
    members = [(module, member) for module in modules for member in vars(module).values()]
    return [member for module, member in members if isinstance(member, type) and member.__module__ == module.__name__]


def loose(classes: Iterable[type]) -> list[str]:
    """The dataclasses and settings among the classes that could be changed after they were made."""
    found = []
    for cls in classes:
        if issubclass(cls, BaseModel):
            if not cls.model_config.get("frozen"):
                found.append(f"{cls.__name__} is not frozen")
        elif dataclasses.is_dataclass(cls) and not issubclass(cls, BaseException):
            frozen = cls.__dataclass_params__.frozen  # type: ignore[attr-defined]  # the only way to ask; typeshed hides it
            if not frozen and not inspect.getsource(cls).startswith(("@value\n", "@named_value\n")):
                found.append(f"{cls.__name__} is not frozen")
            if "__slots__" not in vars(cls):
                found.append(f"{cls.__name__} has no slots")
    return found


def test_every_value_at_a_border_is_frozen_and_slotted() -> None:
    classes = border_classes()

    assert any(dataclasses.is_dataclass(cls) for cls in classes)
    assert loose(classes) == []


def test_a_value_that_could_change_is_noticed() -> None:
    @dataclasses.dataclass
    class Open:
        number: int

    @dataclasses.dataclass(frozen=True)
    class Wide:
        number: int

    @dataclasses.dataclass(frozen=True, slots=True)
    class Tight:
        number: int

    class Settings(BaseModel):
        number: int

    assert loose([Open, Wide, Tight, Settings]) == [
        "Open is not frozen",
        "Open has no slots",
        "Wide has no slots",
        "Settings is not frozen",
    ]

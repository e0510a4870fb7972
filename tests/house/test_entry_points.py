"""A step handler is one class in one file, registered under the ProcessType it serves."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Iterable, Mapping

from tests.house.source import ROOT


def declared() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points: dict[str, str] = project["entry-points"]["batchctl.step_handlers"]
    return points


def handler_modules() -> set[str]:
    files = (ROOT / "step_handlers").glob("*.py")
    return {f"step_handlers.{file.stem}" for file in files if not file.stem.startswith("_")}


def findings(points: Mapping[str, str], modules: Iterable[str]) -> list[str]:
    """What differs between files, entry points and the process types of the classes."""
    found = [
        f"{module} has no entry point" for module in sorted(set(modules) - {p.split(":")[0] for p in points.values()})
    ]
    for name, target in points.items():
        module, _, class_name = target.partition(":")
        handler = getattr(importlib.import_module(module), class_name)
        if handler.process_type != name:
            found.append(f"{target} serves {handler.process_type!r} and is registered as {name!r}")
    return found


def test_every_handler_is_registered_under_the_process_type_it_serves() -> None:
    assert findings(declared(), handler_modules()) == []


def test_a_file_without_entry_point_and_a_wrong_name_are_noticed() -> None:
    assert findings({"ftp": "step_handlers.sql:Sql"}, ["step_handlers.sql", "step_handlers.ftp"]) == [
        "step_handlers.ftp has no entry point",
        "step_handlers.sql:Sql serves 'sql' and is registered as 'ftp'",
    ]

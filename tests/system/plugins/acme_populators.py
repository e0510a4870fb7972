"""Populators that behave and populators that do not."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from typing import Any

from batchctl.plugin_api import NO_DATA, BatchDefinition, CannotPopulate, Finding, IntakeRow, Populated


class Echo:
    name = "echo"

    def check(self, batch: BatchDefinition) -> Sequence[Finding]:
        return ()

    def populate(self, row: IntakeRow, batch: BatchDefinition) -> Populated:
        steps = ",".join(f"{step.seq}:{step.name}" for step in batch.steps)
        return Populated(data=(row.file_name, row.data, batch.name, steps, None, None), cycle_key="2026-11")


class Odd:
    """Does what PopulatorArgs says."""

    name = "odd"

    def check(self, batch: BatchDefinition) -> Sequence[Finding]:
        return ()

    def populate(self, row: IntakeRow, batch: BatchDefinition) -> Any:
        what = batch.populator_args
        answers: dict[str | None, Any] = {
            "dict": {"Data1": "x"},
            "nothing": None,
            "seven": Populated(data=(*NO_DATA, None)),  # type: ignore[arg-type]  # that is the point
            "list": Populated(data=["x"] * 6),  # type: ignore[arg-type]  # that is the point
            "number": Populated(data=(1, None, None, None, None, None)),  # type: ignore[arg-type]  # that is the point
            "nul": Populated(data=("a\x00b", None, None, None, None, None)),
            "surrogate": Populated(cycle_key="\udcff"),
            "big": Populated(data=("x" * 10_000_000, None, None, None, None, None)),
        }
        match what:
            case "refuse":
                raise CannotPopulate("no such cycle")
            case "raise":
                raise KeyError("Data1")
            case "exit":
                sys.exit(4)
            case "die":
                os._exit(5)
            case "hang":
                return threading.Event().wait()
            case "print":
                print("chatter")
                return Populated(data=("fine", None, None, None, None, None))
            case _:
                return answers[what]


POPULATORS = (Echo, Odd)

"""A populator: fills an instance from an order that stands as JSON in `FileProcess.Data`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import ClassVar

from batchctl.plugin_api import BatchDefinition, CannotPopulate, Finding, IntakeRow, Populated, Populator


class Orders:
    """Data1 is the file of the order, Data2 its customer; the CycleKey is its day."""

    name: ClassVar[str] = "orders"

    def check(self, batch: BatchDefinition) -> Sequence[Finding]:
        """Take no PopulatorArgs."""
        return [Finding("PopulatorArgs", "it is not used; leave it empty")] if batch.populator_args else []

    def populate(self, row: IntakeRow, batch: BatchDefinition) -> Populated:
        """Read the order; what cannot be read rejects this row, with the reason on it."""
        try:
            order = json.loads(row.data or "")
            values = (str(order["file"]), str(order["customer"]), None, None, None, None)
            return Populated(data=values, cycle_key=str(order["day"]))
        except (ValueError, KeyError, TypeError) as error:
            raise CannotPopulate(f"Data is no order for batch {batch.name}: {error!r}") from None


POPULATORS: list[type[Populator]] = [Orders]

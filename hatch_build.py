"""Ship migrations/, examples/ and docs/ inside the wheel, never into an editable install."""

from __future__ import annotations

from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ShipData(BuildHookInterface[BuilderConfig]):
    """Place the folders that stand beside the package where the installed package looks for them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the folders to a real wheel; in an editable install the checkout itself is read."""
        if version == "standard":
            build_data["force_include"]["migrations"] = "batchctl/migrations"
            build_data["force_include"]["examples"] = "batchctl/examples"
            build_data["force_include"]["docs"] = "batchctl/docs"

"""The command line, called in this process, on a control database of either kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from batchctl.cli import main
from tests.control_databases import ControlDatabase
from tests.hand import Hand


class Shop:
    """Settings, and what a command has printed."""

    def __init__(self, database: ControlDatabase, capture: pytest.CaptureFixture[str]) -> None:
        self.database, self.folder, self.out, self.err = database, database.directory, "", ""
        self._capture = capture
        self._hand: Hand | None = None
        self.settings()

    def settings(self, text: str = "") -> None:
        """Write the settings."""
        path = self.folder / "batchctl.toml"
        path.write_text(f'database_url = "{self.database.url}"\nstate_directory = "state"\n{text}', encoding="utf-8")

    def __call__(self, *words: str) -> int:
        """Type a command; return its exit code."""
        self._capture.readouterr()
        code = main.run(["--config", str(self.folder / "batchctl.toml"), *words])
        self.out, self.err = self._capture.readouterr()
        return code

    def json(self, *words: str) -> Any:
        """Type a reading command and return what it prints as JSON."""
        assert self(*words, "--json") == 0, self.err
        return json.loads(self.out)

    def hand(self) -> Hand:
        """A person's SQL client."""
        return self.database.hand()

    def by_hand(self, act: Callable[[Hand], object]) -> None:
        """Do something in SQL."""
        hand = self.hand()
        try:
            act(hand)
        finally:
            hand.close()

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Do one statement in SQL, all of them on one connection: to open one takes longer than most statements."""
        if self._hand is None:
            self._hand = self.hand()
        return self._hand.sql(statement, *values)

    @property
    def refused(self) -> type[Exception]:
        """What that client raises when the database refuses a statement."""
        self.sql("SELECT 1")
        assert self._hand is not None
        return self._hand.Refused

    def close(self) -> None:
        """Close that connection; the next statement opens another."""
        if self._hand is not None:
            self._hand.close()
            self._hand = None

    def batch(self, name: str, command: str = "true", **columns: object) -> None:
        """Register a batch of one step."""
        given = {"ProcessBatchName": name, **columns}
        marks = ", ".join("?" for _ in given)
        self.sql(f"INSERT INTO ProcessBatch ({', '.join(given)}) VALUES ({marks})", *given.values())
        self.sql(
            "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
            " SELECT ProcessBatch_id, 10, 'load', 'os_command', ? FROM ProcessBatch WHERE ProcessBatchName = ?",
            command,
            name,
        )

    def arrive(self, entity: str, **columns: object) -> None:
        """Insert a FileProcess row."""
        given = {"Entity": entity, **columns}
        marks = ", ".join("?" for _ in given)
        self.sql(f"INSERT INTO FileProcess ({', '.join(given)}) VALUES ({marks})", *given.values())

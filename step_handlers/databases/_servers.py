"""What the databases that are servers have in common: a session for one step, which can be stopped from outside."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from batchctl.plugin_api import Connection, Execution, StepOutcome, StepRequest
from step_handlers.databases._database import Argument, Database, WrittenStep
from step_handlers.databases._results import Results

LOCK_SECONDS = 5
"""How long a step waits for a session that still carries out its instance."""
CANCEL_AGAIN_SECONDS = 0.5
"""A request to cancel that comes between two statements is lost, so it is repeated until the step has ended."""


@dataclass(slots=True)
class ServerSession(ABC):
    """One step's session with a server."""

    opened: Any
    """What the driver returns."""
    connection: Connection
    execution: Execution
    results: Results = field(init=False)
    ended: SimpleQueue[None] = field(init=False, default_factory=SimpleQueue)

    def __post_init__(self) -> None:
        """Begin without results."""
        self.results = Results(self.execution)

    @abstractmethod
    def carry_out(self, spec: Mapping[str, Any]) -> StepOutcome:
        """Carry out a spec and say how it ended."""

    @abstractmethod
    def cancel(self) -> bool:
        """Ask the server once to stop what runs, or by force when it must end; false when nothing is left to stop."""

    def stop(self) -> None:
        """Cancel what runs, again and again, until the step has ended."""
        while self.cancel():
            with suppress(Empty):
                self.ended.get(timeout=CANCEL_AGAIN_SECONDS)
                return

    def close(self) -> None:
        """Say that the step has ended, and close the session."""
        self.ended.put(None)
        self.opened.close()


class ServerDatabase(Database):
    """A kind of database that is a server, and has stored procedures itself."""

    @abstractmethod
    def call_finding(self, name: str) -> str | None:
        """Return why a text is no procedure name."""

    @abstractmethod
    def call(
        self, request: StepRequest, connection: Connection, name: str, arguments: Sequence[Argument]
    ) -> WrittenStep:
        """Write a call for the database's shell, and the spec; raises `ConnectionRefused`."""

    @abstractmethod
    def new_session(self, connection: Connection, execution: Execution) -> ServerSession:
        """Open a session for a step; raises `ConnectionRefused`, also where the driver is missing."""

    def run(self, connection: Connection, spec: Mapping[str, Any], execution: Execution) -> StepOutcome:
        """Carry out a spec in a session of its own."""
        with closing(self.new_session(connection, execution)) as session:
            execution.on_stop(session.stop)
            return session.carry_out(spec)

"""What every kind of target database does for a step: read its SQL, write it for a shell, carry it out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from batchctl.plugin_api import Connection, Execution, JsonValue, StepContext, StepOutcome, StepRequest
from step_handlers.databases._statements import Statement


class ConnectionRefused(Exception):
    """A connection that no step can use, or that was lost; the message says why and what to do."""

    def __init__(self, message: str, *, fatal: bool = False) -> None:
        """Keep the reason; `fatal` when trying again cannot help."""
        super().__init__(message)
        self.fatal = fatal


class StepStopped(Exception):
    """The step was told to stop before it did what comes next."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A statement with the values of its placeholders; a secret's value is `{"secret": name}`."""

    statement: Statement
    values: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Script:
    """The statements of a step: those before its transaction, and those inside."""

    before: tuple[Statement, ...]
    inside: tuple[Statement, ...]

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Return all of them."""
        return self.before + self.inside


NOTHING = Script((), ())


@dataclass(frozen=True, slots=True)
class WrittenStep:
    """A step ready to be carried out: the text for the shell, and what the spec holds besides the connection."""

    text: str
    spec: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Argument:
    """A procedure's parameter with its value; an `output` one is read when the procedure has ended."""

    name: str
    value: JsonValue
    output: bool = False


class Database(ABC):
    """One kind of database; all objects of a kind are equal."""

    @abstractmethod
    def read(self, text: str, names: Sequence[str]) -> Script:
        """Parse SQL in which hole number n is the bound value `names[n]`; raises `MalformedSql`."""

    @abstractmethod
    def write(
        self, request: StepRequest, connection: Connection, before: Sequence[Bound], inside: Sequence[Bound]
    ) -> WrittenStep:
        """Write what a person can paste into the database's shell, and the spec; raises `ConnectionRefused`."""

    @abstractmethod
    def missing(self, connection: Connection, directory: str) -> str | None:
        """Return that the database or its driver is missing; None when it is not, or only opening it would tell."""

    def misread(self, written: Sequence[Statement]) -> str | None:
        """Return which statement cannot be read, without touching the database; None where only a server can parse."""
        del written
        return None

    @abstractmethod
    def run(self, connection: Connection, spec: Mapping[str, Any], execution: Execution) -> StepOutcome:
        """Carry out a spec; raises `ConnectionRefused`."""

    @abstractmethod
    def is_alive(self, connection: Connection, spec: Mapping[str, Any]) -> bool | None:
        """Say whether a session still carries out a spec; None when that cannot be known. Raises `ConnectionRefused`."""


def revealed(value: Any, execution: Execution) -> Any:
    """Return a bound value as it is sent: that of the secret, when it is one."""
    return execution.secret(value["secret"]) if isinstance(value, dict) else value


def secret_source(context: StepContext, value: Mapping[str, Any]) -> tuple[str, str]:
    """Return where the value of a bound secret comes from: `env` and a name, or `file` and a path."""
    kind, _, place = context.secrets[value["secret"]].partition(":")
    return kind, place

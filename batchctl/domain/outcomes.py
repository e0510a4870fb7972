"""What a handler is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Annotated

from batchctl.domain.records import JsonValue
from batchctl.domain.rows import BatchInstance, Step
from batchctl.domain.status import OnTimeout
from batchctl.domain.values import named_value, value

STOPPED_EARLY = "the job stopped early"
"""How the message begins of a job that noticed that it was to stop, and ended by itself."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a definition, worded so that the reader can correct it."""

    column: str
    message: str
    remedy: str | None = None
    """What to do when not the row is wrong, but something that it refers to."""


CORRECT_THE_ROWS = "correct the rows in an SQL client"


@dataclass(frozen=True, slots=True)
class RowFinding:
    """Something wrong: in which table, which row, which column, and what."""

    table: str
    row: str
    column: str
    message: str
    remedy: Annotated[str, "Next"] = CORRECT_THE_ROWS


@dataclass(frozen=True, slots=True)
class Connection:
    """A named target database of the configuration. `url` keeps its password out of repr."""

    name: str
    url: str = field(repr=False)
    procedures: str | None = None

    @property
    def dialect(self) -> str:
        """Return the database's kind: sqlite, postgresql, mssql."""
        kind = self.url.partition(":")[0].partition("+")[0]
        return "mssql" if kind == "sqlserver" else kind


@dataclass(frozen=True, slots=True)
class JobSignature:
    """How a registered job may be called. As long as nothing is known of it, it takes anything."""

    in_process: bool = False
    required: frozenset[str] = frozenset()
    """Arguments that have to be given."""
    accepted: frozenset[str] = frozenset()
    """Arguments that may be given."""
    takes_any: bool = True
    """True when arguments of other names may be given too."""


@dataclass(frozen=True, slots=True)
class StepContext:
    """What the configuration offers to steps: connections, jobs and secrets by name, and where relative paths begin."""

    connections: Mapping[str, Connection]
    jobs: Mapping[str, JobSignature]
    """Registered jobs by name."""
    secrets: Mapping[str, str]
    """Secret name to where its value comes from: `env:NAME` or `file:/path`. Never the value."""
    secret_is_set: Callable[[str], bool]
    """Say whether a secret's value is there for this user on this host; for checks only."""
    directory: str
    """Absolute; relative file names and working directories start here."""
    read_text: Callable[[str], str]
    """Read a file below `directory`; raises `StepRefused` when it cannot be read or lies outside."""
    batchctl_command: tuple[str, ...]
    """How this batchctl with this configuration is called from a shell."""
    unloaded: Mapping[str, str] = field(default_factory=dict)
    """What is wrong with modules that cannot be loaded, and may have jobs of their own; and what to do about each."""
    control: Connection | None = None
    """The control database, for populators that ask one; no step names it."""


@value
class StepRequest:
    """One attempt at one step, before placeholders are filled."""

    step: Step
    instance: BatchInstance
    batch_name: str
    attempt_no: int
    context: StepContext
    note: str
    """One line with the time, the host and the user; goes into the command text as a comment."""
    database_id: str
    """What distinguishes the instance from those of the same number in other control databases."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """The variables of the control database, by name, as they were read with the definitions."""

    @property
    def lock_name(self) -> str:
        """Return the name of the lock that a database session holds as long as it carries out a step of the instance."""
        # The number stands in front: SQL Server shows no more than 32 characters of a lock's name.
        return f"batchctl:{self.instance.instance_id}:{self.database_id}"


@value
class Rendered:
    """A step made ready: the text a person can paste, and the exact data that will be executed."""

    command_text: str
    spec: Mapping[str, JsonValue]
    """JSON-able; stored as CommandSpec. `execute` uses nothing else. Secrets stand in it as references."""
    brief: bool = False
    """True when executing waits for nothing, so that it may be done on the controller's own thread, which is faster.

    Only the product's own handlers may set it: steps of a plugin's are always carried out on threads of their own.

    With a handler that `RunsOneCommand` this concerns `command` and `outcome`; the command itself may take its time.
    """


@value
class Asks:
    """Who is asked by a step, and how long: its message is the question, its output what is shown beside it."""

    who: str | None
    """Names with commas between them; None is anyone who may act."""
    wait: timedelta | None = None
    on_timeout: OnTimeout | None = None


@named_value
class StepOutcome:
    """How an execution ended."""

    succeeded: bool
    message: str | None = None
    return_code: int | None = None
    error_code: str | None = None
    """SQLSTATE, number or name of the server's error; for a command that failed, the exit code by default."""
    error_line: int | None = None
    """On which line of the author's text it failed, as far as that is known."""
    output: str | None = None
    rows_affected: int | None = None
    value: str | int | float | bool | None = None
    """First value a query or job returned; only verification reads it."""
    fatal: bool = False
    """True when trying again cannot help: retries are skipped."""
    stopped: bool = False
    """True when the execution ended because it was told to stop."""
    lost: bool = False
    """True when it is unknown whether it was done, as when a connection breaks: OnLost decides what follows."""
    never_ran: bool = False
    """True when it could not be begun because this host lacks what another may have: put back, without a retry."""
    asks: Asks | None = None
    """Where the step waits for the answer of a person."""


class Result(StrEnum):
    """How grave it is."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """One thing that was looked at, what was found, and what to type to correct it."""

    check: str
    result: Result
    message: str
    next_step: str | None = None
    target: str = ""
    """What was looked at: the key of a setting, or `this host`."""


@dataclass(frozen=True, slots=True)
class MissingRights:
    """Rights that a user does not have on some tables, and the statements that grant them."""

    user: str
    privileges: str
    tables: str
    grant: str

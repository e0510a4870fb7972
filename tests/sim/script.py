"""A schedule as a value: the definitions, and the list of what happens. Printed, it is Python that makes it again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from enum import StrEnum
from typing import TypeAlias

from batchctl.domain.liveness import Rhythm


class Kind(StrEnum):
    """What can go wrong where a program commits, or asks the runner for something."""

    CRASH_BEFORE = "crash_before"
    CRASH_AFTER = "crash_after"
    UNKNOWN_MADE = "unknown_made"
    UNKNOWN_NOT_MADE = "unknown_not_made"
    BUSY = "busy"
    LOCKED = "locked"
    LOST = "lost"
    FREEZE_BEFORE = "freeze_before"
    FREEZE_AFTER = "freeze_after"


@dataclass(frozen=True, slots=True)
class Turn:
    """One pass of a worker's loop."""

    worker: int


@dataclass(frozen=True, slots=True)
class Wait:
    """Time passes."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Run:
    """Time passes, and all workers make their turns."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Stall:
    """A worker makes no more turns by itself, as if it were swapped out."""

    worker: int


@dataclass(frozen=True, slots=True)
class Wake:
    """A stalled worker goes on."""

    worker: int


@dataclass(frozen=True, slots=True)
class Fault:
    """Arm a fault: it strikes when the worker, or whichever is the first, comes to `at`: a commit, or a call of the runner."""

    worker: int | None
    at: str
    kind: Kind
    meanwhile: tuple[Event, ...] = ()
    """What happens while the worker is frozen."""


@dataclass(frozen=True, slots=True)
class Kill:
    """A worker's process dies."""

    worker: int


@dataclass(frozen=True, slots=True)
class KillSupervisor:
    """The supervisor of a worker's commands dies; the commands themselves do not."""

    worker: int


@dataclass(frozen=True, slots=True)
class Terminate:
    """A worker is asked to end in good order."""

    worker: int


@dataclass(frozen=True, slots=True)
class CrashHost:
    """The power of a host fails."""

    host: int


@dataclass(frozen=True, slots=True)
class BootHost:
    """The host is there again, and its workers are started."""

    host: int


@dataclass(frozen=True, slots=True)
class Jump:
    """Somebody sets the wall clock of a host."""

    host: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Away:
    """The database cannot be reached for so long."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Submit:
    """Something asks for work."""

    entity: str
    file_name: str
    data: str | None = None


@dataclass(frozen=True, slots=True)
class Operate:
    """A person acts on the nth instance."""

    action: str
    nth: int


@dataclass(frozen=True, slots=True)
class Ask:
    """A person asks by a row for an act on the nth instance, or on the nth batch where acts are done to batches."""

    action: str
    nth: int
    arguments: str | None = None
    times: int = 1
    """How many rows say it."""


@dataclass(frozen=True, slots=True)
class TakeBack:
    """A person takes back the nth of the requests that wait."""

    nth: int


@dataclass(frozen=True, slots=True)
class Switch:
    """A person disables or enables the nth batch."""

    nth: int
    enabled: bool


@dataclass(frozen=True, slots=True)
class Freeze:
    """A person freezes the nth batch, or everything: until somebody thaws it, or for so many seconds."""

    nth: int | None
    seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Thaw:
    """A person ends such a freeze; what becomes of those that have waited, `release` says."""

    nth: int | None
    release: str = "all"


@dataclass(frozen=True, slots=True)
class Drain:
    """A person drains a host, or a pool."""

    host: int | None = None
    pool: int | None = None


@dataclass(frozen=True, slots=True)
class Undrain:
    """A person ends that."""

    host: int | None = None
    pool: int | None = None


@dataclass(frozen=True, slots=True)
class MoveStep:
    """A person moves the nth step to another pool, or leaves that to its batch, by hand."""

    nth: int
    pool: str | None


@dataclass(frozen=True, slots=True)
class SetClock:
    """Somebody sets the database's clock."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Retime:
    """A person changes the nth schedule: its interval, or whether it is enabled."""

    nth: int
    minutes: int | None = None
    enabled: bool | None = None


@dataclass(frozen=True, slots=True)
class Backfill:
    """A person asks for the work of the nth schedule from so many minutes after this moment to so many: mostly before it."""

    nth: int
    first: int
    last: int
    most_open: int = 1
    missed: bool = False
    by_hand: bool = False
    """True for a row that is inserted, false for the command."""


@dataclass(frozen=True, slots=True)
class CancelBackfill:
    """A person cancels the nth backfill."""

    nth: int


@dataclass(frozen=True, slots=True)
class KillAgent:
    """An agent dies, and is started again; with its whole container, so do its supervisors and commands."""

    agent: int
    whole: bool = False
    renamed: bool = False
    after: float = 2.0
    """Seconds until it is started again."""


@dataclass(frozen=True, slots=True)
class StopAgent:
    """An agent stands still, as if it were swapped out."""

    agent: int


@dataclass(frozen=True, slots=True)
class GoOnAgent:
    """It goes on where it stood."""

    agent: int


@dataclass(frozen=True, slots=True)
class CutWire:
    """Something is wrong with the wire to an agent, or to all of them, for a while."""

    agent: int | None
    fault: str
    seconds: float


Event: TypeAlias = (
    "Turn | Wait | Run | Stall | Wake | Fault | Kill | KillSupervisor | Terminate"
    " | CrashHost | BootHost | Jump | Away | Submit | Operate | Ask | TakeBack | Switch | Freeze | Thaw | SetClock"
    " | Retime | Backfill | CancelBackfill | Drain | Undrain | MoveStep"
    " | KillAgent | StopAgent | GoOnAgent | CutWire"
)


@dataclass(frozen=True, slots=True)
class StepPlan:
    """A step: what becomes of it when it is lost, and whether it is a command of its own."""

    on_lost: str = "hold"
    is_command: bool = True
    max_duration: int | None = None
    retries: int | None = None
    """As many as its batch has where it is None, as are the others."""
    wait: int | None = None
    """In seconds."""
    backoff: int | None = None
    retry_on: str | None = None
    goes_past: bool = False
    """True when its instance goes on without it when it has failed for good."""
    rows: str | None = None
    """What follows when its number of rows is not as it should be; None: nobody looks at it."""
    learns: bool = False
    """True when its past decides how many these should be."""
    pool: str | None = None
    needs: str | None = None
    asks: str | None = None
    """What stands in Data4 of a step that asks people; None where it asks none."""


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """A batch."""

    steps: tuple[StepPlan, ...]
    retry_count: int = 0
    retry_wait: int = 1
    on_failure: str = "hold_batch"
    max_concurrent: int = 1
    units: int = 0
    """How many tapes an instance needs."""
    exclusive: bool = False
    poison: bool = False
    """True when the populator breaks on some of its rows."""
    entity: int | None = None
    """The batch whose rows it takes too; None for rows of its own."""
    duplicate_check: bool = True
    backwards: bool = False
    """True when its last step is registered first."""
    pool: str | None = None
    is_of_one_seq: bool = False
    """True when it has the Seq of all others that are so."""
    priority: int | None = None
    max_per_minute: int | None = None


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """A pool, and how many steps of it may be under way at once."""

    name: str
    most: int | None = None
    kind: str = "controllers"


@dataclass(frozen=True, slots=True)
class AgentPlan:
    """An agent: the host it runs on, its slots, and what it has of GPU."""

    host: int
    slots: int = 1
    gpus: int = 0


@dataclass(frozen=True, slots=True)
class DependentPlan:
    """A batch that completions of others start."""

    waits_for: tuple[int, ...]
    """The batches by their number."""
    any_of_them: bool = False


@dataclass(frozen=True, slots=True)
class SchedulePlan:
    """A schedule that starts a batch every so many minutes, or once."""

    minutes: int = 1
    batch: int = 0
    once_at: int | None = None
    """After how many minutes; None for one that is due again and again."""
    catch_up: str = "none"
    most: int | None = None
    overlap: str = "queue"
    jitter: int = 0


@dataclass(frozen=True, slots=True)
class Options:
    """What a schedule is played on."""

    luck: int = 0
    """Decides how long each execution takes and how it ends; 0: all at once, and well."""
    batches: tuple[BatchPlan, ...] = (BatchPlan((StepPlan(),)),)
    places: tuple[int, ...] = (0,)
    """The host of each worker."""
    slots: int = 1
    ahead: tuple[float, ...] = (0.0,)
    """By how many seconds the wall clock of each host is wrong at first."""
    tapes: int = 2
    """How many units the one resource has."""
    limit: int | None = None
    """How many instances of all batches may be under way at once."""
    orphan_timeout: float = 300.0
    patience: tuple[float, ...] = ()
    """The orphan timeout of each worker, where they are set up differently."""
    commit_takes: float = 0.0
    """Seconds."""
    dependents: tuple[DependentPlan, ...] = ()
    kept_for: float | None = None
    """For how many seconds finished instances and logs are kept; None: for ever."""
    keep_last: int = 0
    schedules: tuple[SchedulePlan, ...] = ()
    pools: tuple[PoolPlan, ...] = ()
    serves: tuple[tuple[str, ...], ...] = ()
    """The pools that each worker serves; none given: all of them the default pool."""
    agents: tuple[AgentPlan, ...] = ()
    """The agents of the pool `burst`."""
    agent_lease: float = 10.0
    past: int = 0
    """Decides which successes batches have had before; 0: none."""
    writes: int = 0
    """Decides what steps write while they run; 0: nothing."""
    tells: bool = False
    """True where people are told of problems, and the audit log is sealed."""
    reports: bool = False
    """True where the leader sends the report of the night besides."""

    @property
    def rhythm(self) -> Rhythm:
        """Return how often the first worker gives signs of life."""
        return self.rhythms[0]

    @property
    def rhythms(self) -> tuple[Rhythm, ...]:
        """Return the rhythm of each worker; the one with the least patience is the first where all are alike."""
        patience = self.patience or (self.orphan_timeout,) * len(self.places)
        return tuple(Rhythm(orphan_timeout=timedelta(seconds=each)) for each in patience)


@dataclass(frozen=True, slots=True)
class Script:
    """A whole schedule."""

    options: Options
    events: tuple[Event, ...] = ()
    seed: int | None = field(default=None, compare=False)

    def with_events(self, events: tuple[Event, ...]) -> Script:
        """Return the same schedule with other events."""
        return replace(self, events=events)


def every_event(events: tuple[Event, ...]) -> Iterator[Event]:
    """Yield events, and what happens while one of them freezes a worker."""
    for event in events:
        yield event
        if isinstance(event, Fault):
            yield from every_event(event.meanwhile)


def lines(script: Script) -> Iterator[str]:
    """Yield a schedule as Python, one event a line."""
    yield "Script("
    yield f"    {plain(script.options)},"
    yield "    ("
    yield from (f"        {plain(event)}," for event in script.events)
    yield "    ),"
    yield ")"


def plain(value: object) -> str:
    """Return a value as Python; fields that are as they are by default are left out."""
    if isinstance(value, Kind):
        return f"Kind.{value.name}"
    if isinstance(value, tuple):
        inner = ", ".join(plain(one) for one in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if not hasattr(value, "__dataclass_fields__"):
        return repr(value)
    told = []
    for at in fields(value):  # type: ignore[arg-type]
        held = getattr(value, at.name)
        if held != at.default:
            told.append(f"{at.name}={plain(held)}")
    return f"{type(value).__name__}({', '.join(told)})"

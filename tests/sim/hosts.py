"""Hosts, what runs on them, and the `StepRunner` of one program there."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from batchctl.domain.outcomes import StepOutcome
from tests.sim.stepwise import with_rows

if TYPE_CHECKING:
    pass

OK = StepOutcome(succeeded=True, return_code=0)
STOPPED = StepOutcome(succeeded=False, stopped=True, message="stopped")
VANISHED = StepOutcome(succeeded=False, lost=True, message="its supervisor died")
AS_LONG_AS_EVER = 1e9


@dataclass(eq=False)
class Running:
    """One execution of one attempt: what the world outside of batchctl knows of it."""

    key: int
    instance: int
    seq: int
    attempt: int
    checks: bool
    host: Host
    owner: str
    """The program that started it; its supervisor goes by the same name."""
    is_command: bool
    lease_bound: bool
    pid: int
    started: float
    ends: float
    outcome: StepOutcome
    grace: float
    """How long it takes to stop."""
    vouched: float = -1.0
    """Until when whoever has adopted it vouches for it."""
    is_out_of_sight: bool = False
    """True for what went on in an agent that stood still: nothing could stop it."""

    def is_alive(self, now: float) -> bool:
        """Say whether it still does something."""
        return now < self.ends

    def end(self, at: float, outcome: StepOutcome) -> None:
        """Let it end, if it has not ended by then."""
        if at < self.ends:
            self.ends, self.outcome = at, outcome


@dataclass(eq=False)
class Supervisor:
    """What watches the commands of one program, and outlives it; its journal outlives both."""

    host: Host
    boot: int
    alive: bool = True
    orphaned: bool = False
    """True once its program is gone: it begins nothing more, and ends when nothing runs any more."""
    closed: bool = False
    """True once somebody else has written that nothing may be begun."""
    lease: float = AS_LONG_AS_EVER
    """Until when, in true time, its program has vouched for leashed commands."""
    started: dict[int, Running] = field(default_factory=dict)
    """The start records of its journal."""
    unwatched: set[int] = field(default_factory=set)
    """Those it could not see end."""

    def is_there(self, now: float) -> bool:
        """Say whether the journal's lock is held."""
        if not self.alive or self.host.boot != self.boot or not self.host.up:
            return False
        return not self.orphaned or any(one.is_alive(now) for one in self._watched())

    def start(self, running: Running) -> None:
        """Begin an execution; another supervisor takes the place of one that died."""
        self.alive = True
        self.started[running.key] = running

    def refuses(self, now: float, *, lease_bound: bool) -> str | None:
        """Say why nothing may be begun, if that is so; a journal is opened again once its program has been heard of."""
        if now >= self.lease:
            return "its worker has lost touch with the database"
        self.closed = False
        return None

    def die(self, now: float) -> None:
        """Leave what runs without anybody to watch it."""
        self.unwatched |= {key for key, one in self.started.items() if one.is_alive(now)}
        self.alive = False

    def look_at_the_time(self, now: float) -> None:
        """Stop the leashed commands for which nobody vouches any more; once it is dead, its warden does."""
        if self.host.boot == self.boot and self.host.up:
            for one in self.started.values():
                until = max(self.lease, one.vouched)
                if one.lease_bound and until <= now:
                    one.end(max(until, one.started) + one.grace, STOPPED)

    def has_end(self, key: int, now: float) -> bool:
        """Say whether an end record stands in the journal."""
        return key in self.started and key not in self.unwatched and not self.started[key].is_alive(now)

    def _watched(self) -> list[Running]:
        return [one for key, one in self.started.items() if key not in self.unwatched]


@dataclass(eq=False)
class Host:
    """A machine."""

    number: int
    ahead: float
    up: bool = True
    boot: int = 1
    booted: float = 0.0

    @property
    def name(self) -> str:
        """Return what it is called."""
        return f"host{self.number}"

    @property
    def boot_id(self) -> str:
        """Return what the present boot is called."""
        return f"boot{self.number}.{self.boot}"


@dataclass(frozen=True)
class Luck:
    """How long executions take and how they end, by instance, step and attempt: the same however a schedule is cut down."""

    seed: int
    patience: float = 300.0
    """What is a long time."""
    _kinds: ClassVar[tuple[str, ...]] = ("ok",) * 8 + ("bad", "bad", "fatal") + ("long",) * 6

    def of(self, instance: int, seq: int, attempt: int) -> tuple[float, StepOutcome, float]:
        """Return how many seconds it takes, how it ends, and how long it takes to stop."""
        if not self.seed:
            return 0.0, with_rows(OK, 0, instance, seq, attempt), 0.0
        chance = random.Random((self.seed * 31 + instance) * 1009 + seq * 131 + attempt)
        kind = "bad" if self._is_cursed(instance, seq) else chance.choice(self._kinds)
        seconds = chance.choice((0, 0, 1, 5)) if kind != "long" else self.patience * chance.choice((0.6, 1.5, 2.5))
        outcome = OK
        if kind in ("bad", "fatal"):
            outcome = StepOutcome(succeeded=False, message="it broke", return_code=3, fatal=kind == "fatal")
        outcome = with_rows(outcome, self.seed, instance, seq, attempt)
        return float(seconds), outcome, chance.choice((0.0, 0.0, 2.0, 8.0))

    def _is_cursed(self, instance: int, seq: int) -> bool:
        """Say whether a step fails however often it is tried."""
        return random.Random(self.seed + instance * 10_007 + seq).random() < 0.1

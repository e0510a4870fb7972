"""A seed becomes a script: everything is drawn here, and nowhere else."""

from __future__ import annotations

from random import Random

from tests.sim.script import (
    Away,
    BatchPlan,
    BootHost,
    CrashHost,
    Event,
    Fault,
    Jump,
    Kill,
    KillSupervisor,
    Kind,
    Operate,
    Options,
    Run,
    Script,
    Stall,
    StepPlan,
    Submit,
    Switch,
    Terminate,
    Turn,
    Wait,
    Wake,
)

BOUNDARIES = ("C2", "C3", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C12", "C12", "C12")
CALLS = ("start", "start", "started", "collect", "stop", "examine", "adopt", "let_go", "stop_left_over")
ACTIONS = ("pause", "resume", "cancel", "rerun", "skip")
KINDS = ("crash", "commit", "database", "freeze", "kill", "stall", "terminate", "supervisor", "host", "jump", "away", "operate", "switch", "data")
"""What may be switched off: each seed does without a random half of it."""
FAULTS = {
    "crash": (Kind.CRASH_BEFORE, Kind.CRASH_AFTER),
    "commit": (Kind.UNKNOWN_MADE, Kind.UNKNOWN_NOT_MADE),
    "database": (Kind.BUSY, Kind.LOCKED, Kind.LOST),
}


def script_of(seed: int) -> Script:
    """Draw a schedule."""
    chance = Random(seed)
    swarm = tuple(kind for kind in KINDS if chance.random() < 0.5) or ("crash",)
    drawn = _Draw(chance, swarm, _options(chance))
    return Script(drawn.options, drawn.events(), seed)


def _options(chance: Random) -> Options:
    hosts = chance.choice((1, 2, 2, 3))
    return Options(
        luck=chance.randrange(1, 1_000_000),
        batches=tuple(_batch(chance) for _ in range(chance.choice((1, 1, 2)))),
        places=tuple(chance.randrange(hosts) for _ in range(chance.choice((1, 2, 2, 3)))),
        limit=chance.choice((None, None, 1, 2)),
        slots=chance.choice((1, 1, 2, 3)),
        orphan_timeout=chance.choice((20.0, 60.0, 300.0)),
        ahead=tuple(float(chance.choice((0, 0, -3600, 86400))) for _ in range(hosts)),
    )


def _batch(chance: Random) -> BatchPlan:
    steps = tuple(
        StepPlan(chance.choice(("hold", "hold", "rerun", "verify")), is_command=chance.random() < 0.7)
        for _ in range(chance.choice((1, 2, 2, 3)))
    )
    return BatchPlan(
        steps,
        retry_count=chance.choice((0, 1, 2)),
        retry_wait=chance.choice((0, 1, 3)),
        on_failure=chance.choice(("hold_batch", "hold_batch", "continue", "stop_all")),
        max_concurrent=chance.choice((1, 1, 2, 3)),
        units=chance.choice((0, 0, 1, 2)),
        exclusive=chance.random() < 0.3,
        poison=chance.random() < 0.3,
    )


class _Draw:
    """Draws events."""

    def __init__(self, chance: Random, swarm: tuple[str, ...], options: Options) -> None:
        self.chance = chance
        self.swarm = swarm
        self.options = options
        self.submitted = 0

    def events(self) -> tuple[Event, ...]:
        """Return the events of the whole schedule."""
        first = [self._submit() for _ in range(self.chance.choice((1, 2, 3)))]
        return (*first, *(self._event() for _ in range(self.chance.randrange(12, 32))))

    def _event(self) -> Event:
        chance, drawn = self.chance, self.chance.random()
        if drawn < 0.30:
            return Turn(self._worker())
        if drawn < 0.38:
            return Wait(self._seconds())
        if drawn < 0.48:
            return Run(self._seconds())
        if drawn < 0.52:
            return self._submit()
        return self._trouble(chance.choice(self.swarm))

    def _trouble(self, kind: str) -> Event:
        chance = self.chance
        match kind:
            case "crash" | "commit" | "database":
                return self._fault(kind)
            case "freeze":
                return self._freeze()
            case "kill":
                return Kill(self._worker())
            case "stall":
                return chance.choice((Stall, Stall, Wake))(self._worker())
            case "terminate":
                return Terminate(self._worker())
            case "supervisor":
                return KillSupervisor(self._worker())
            case "host":
                host = chance.randrange(len(self.options.ahead))
                return chance.choice((CrashHost(host), BootHost(host), BootHost(host)))
            case "jump":
                return Jump(chance.randrange(len(self.options.ahead)), float(chance.choice((-7200, 90, 86400))))
            case "away":
                return Away(chance.choice((1.0, 20.0, 1.2 * self.options.orphan_timeout)))
            case "operate":
                return Operate(chance.choice(ACTIONS), chance.randrange(6))
            case "switch":
                return Switch(chance.randrange(2), enabled=chance.random() < 0.5)
            case _:
                return self._submit(data="same")

    def _fault(self, kind: str) -> Event:
        chance = self.chance
        if kind == "crash" and chance.random() < 0.3:
            return Fault(self._whom(), chance.choice(CALLS), Kind.CRASH_BEFORE)
        return Fault(self._whom(), chance.choice(BOUNDARIES), chance.choice(FAULTS[kind]))

    def _freeze(self) -> Event:
        chance = self.chance
        meanwhile = tuple(self._meanwhile() for _ in range(chance.randrange(1, 5)))
        if chance.random() < 0.3:
            return Fault(self._whom(), chance.choice(CALLS), Kind.FREEZE_BEFORE, meanwhile)
        kind = chance.choice((Kind.FREEZE_BEFORE, Kind.FREEZE_AFTER))
        return Fault(self._whom(), chance.choice(BOUNDARIES), kind, meanwhile)

    def _meanwhile(self) -> Event:
        chance, drawn = self.chance, self.chance.random()
        if drawn < 0.5:
            return Turn(self._worker())
        if drawn < 0.75:
            return Wait(self._seconds())
        kind = chance.choice(self.swarm)
        return self._trouble(kind) if kind not in FAULTS and kind != "freeze" else Turn(self._worker())

    def _seconds(self) -> float:
        """Draw a time that is short, or long beside the lease."""
        patience = self.options.orphan_timeout
        return float(self.chance.choice((1, 1, 5, 0.3 * patience, 1.1 * patience)))

    def _worker(self) -> int:
        return self.chance.randrange(len(self.options.places))

    def _whom(self) -> int | None:
        return None if self.chance.random() < 0.6 else self._worker()

    def _submit(self, data: str | None = None) -> Event:
        self.submitted += 1
        prefix = self.chance.choice(("file", "file", "file", "poison", "surprise"))
        batch = self.chance.randrange(len(self.options.batches))
        return Submit(f"B{batch}", f"{prefix}{self.submitted}", data)

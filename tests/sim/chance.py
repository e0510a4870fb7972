"""A seed becomes a script: everything is drawn here, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.sim.asking import requested
from tests.sim.carried import carried
from tests.sim.learning import learning
from tests.sim.paces import paced
from tests.sim.pooled import pooled
from tests.sim.questioned import questioned
from tests.sim.script import (
    Ask,
    Away,
    Backfill,
    BatchPlan,
    BootHost,
    CancelBackfill,
    CrashHost,
    DependentPlan,
    Event,
    Fault,
    Freeze,
    Jump,
    Kill,
    KillSupervisor,
    Kind,
    Operate,
    Options,
    Retime,
    Run,
    SchedulePlan,
    Script,
    SetClock,
    Stall,
    StepPlan,
    Submit,
    Switch,
    Terminate,
    Thaw,
    Turn,
    Wait,
    Wake,
)
from tests.sim.shown import shown
from tests.sim.stepwise import stepwise
from tests.sim.variety import varied

BOUNDARIES = ("C2", "C3", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C12", "C12", "C12")
CALLS = ("read", "start", "start", "started", "collect", "stop", "examine", "adopt", "let_go", "stop_left_over")
RARE = ("C12", "examine", "adopt", "let_go", "stop_left_over")
ASKED = ("pause", "resume", "cancel")
RELEASES = ("all", "latest", "none", "throttle")
ACTIONS = ("pause", "resume", "cancel", "rerun", "skip")
TIMED_KINDS = ("crash", "commit", "database", "kill", "stall", "terminate", "host", "jump", "away", "clock")
KINDS = (
    "crash",
    "crash",
    "commit",
    "database",
    "freeze",
    "freeze",
    "kill",
    "stall",
    "stall",
    "terminate",
    "supervisor",
    "host",
    "jump",
    "away",
    "operate",
    "switch",
    "data",
)
"""What may be switched off: each seed does without a random half of it."""
FAULTS = {
    "crash": (Kind.CRASH_BEFORE, Kind.CRASH_AFTER),
    "commit": (Kind.UNKNOWN_MADE, Kind.UNKNOWN_NOT_MADE),
    "database": (Kind.BUSY, Kind.LOCKED, Kind.LOST),
}


TIMED = 1_000_000_000
"""The first seed of those with schedules of their own: what starts work because it is time."""


TOLD = 2_000_000_000
"""The first seed of those in which people are told of problems and acts are sealed: the first ones, with faults at that."""


VARIED = 3_000_000_000
"""The first seed of those with more variety: batches that share rows, workers set up differently, commits that take time."""

STEPWISE = 7_000_000_000
"""The first seed of those in which steps say for themselves how often they are tried again, and what follows then."""

POOLED = 8_000_000_000
"""The first seed of those in which workers serve different pools, and people drain hosts and pools."""

REQUESTED = 4_000_000_000
"""The first seed of those in which people ask by rows, and who leads changes while they wait for the answer."""

PACED = 9_000_000_000
"""The first seed of those in which batches of one Seq have a Priority, and are begun slowly."""

LEARNING = 13_000_000_000
"""The first seed of those in which steps have a past that says how many rows they should have."""

SHOWN = 11_000_000_000
"""The first seed of those in which steps write while they run, and people may see it."""

QUESTIONED = 12_000_000_000
"""The first seed of those in which steps ask people."""


REPORTED = 14_000_000_000
"""The first seed of those in which the leader sends the report of the night, too."""


CARRIED = 15_000_000_000
"""The first seed of those in which agents carry steps."""


def script_of(seed: int) -> Script:
    """Draw a schedule."""
    if seed >= CARRIED:
        return carried(seed, script_of(seed - CARRIED))
    if seed >= REPORTED:
        script = _told(seed - REPORTED + TOLD)
        # Rows of the audit log are kept for a day at least, and here for seconds.
        return Script(replace(script.options, reports=True, kept_for=None), script.events, seed)
    if seed >= LEARNING:
        return learning(seed, script_of(seed - LEARNING))
    if seed >= QUESTIONED:
        return questioned(seed, script_of(seed - QUESTIONED))
    if seed >= SHOWN:
        return shown(seed, script_of(seed - SHOWN))
    if seed >= PACED:
        return paced(seed, script_of(seed - PACED))
    if seed >= POOLED:
        return pooled(seed, script_of(seed - POOLED))
    if seed >= STEPWISE:
        return stepwise(seed, script_of(seed - STEPWISE))
    if seed >= REQUESTED:
        return requested(seed, script_of(seed - REQUESTED))
    if seed >= VARIED:
        return varied(seed, script_of(seed - VARIED))
    if seed >= TOLD:
        return _told(seed)
    if seed >= TIMED:
        return _timed(seed)
    chance = Random(seed)
    swarm = tuple(kind for kind in KINDS if chance.random() < 0.5) or ("crash",)
    drawn = _Draw(chance, swarm, _options(chance))
    # Drawn apart, so that a seed stays the schedule it was before there were any.
    options = replace(drawn.options, dependents=_dependents(Random(~seed), len(drawn.options.batches)))
    apart = Random(-seed - 1_000_000_007)
    kept_for = apart.choice((None, None, 5.0, 30.0, 200.0))
    options = replace(options, kept_for=kept_for, keep_last=apart.choice((0, 0, 1)))
    events = list(drawn.events())
    for _ in range(0 if kept_for is None else apart.choice((0, 1, 2))):
        events.insert(apart.randrange(len(events) + 1), _of_purge(apart))
    return Script(options, tuple(events), seed)


def _of_purge(chance: Random) -> Event:
    """Draw a fault that strikes when something is purged."""
    kind = chance.choice((Kind.FREEZE_BEFORE, Kind.FREEZE_BEFORE, Kind.FREEZE_BEFORE, *Kind))
    meanwhile: tuple[Event, ...] = ()
    if kind in {Kind.FREEZE_BEFORE, Kind.FREEZE_AFTER}:
        again = Operate("again", chance.randrange(3))
        meanwhile = chance.choice(((again,), (again, Run(1.0)), (Run(30.0),)))
    return Fault(None, "C13", kind, meanwhile)


def _told(seed: int) -> Script:
    script, chance = script_of(seed - TOLD), Random(seed)
    events = list(script.events)
    for _ in range(chance.choice((1, 2, 2, 3))):
        events.insert(chance.randrange(len(events) + 1), _of_telling(chance, script.options.places))
    return Script(replace(script.options, tells=True), tuple(events), seed)


def _of_telling(chance: Random, places: tuple[int, ...]) -> Event:
    """Draw a fault that strikes when an incident or a message is written, when one is sent, or when acts are sealed."""
    at = chance.choice(("C15", "C15", "C15", "send", "C16"))
    if at == "send":
        kind = chance.choice((Kind.CRASH_BEFORE, Kind.FREEZE_BEFORE))
    else:
        kind = chance.choice((Kind.FREEZE_BEFORE, Kind.FREEZE_AFTER, *Kind))
    # Whoever is frozen there may have lost its lock meanwhile, and another leads.
    later = Run(float(chance.choice((1, 20, 40, 400))))
    meanwhile = chance.choice(((later,), (Away(1.0), Turn(0), Turn(1 % len(places)), later)))
    return Fault(None, at, kind, meanwhile if "freeze" in kind else ())


def _timed(seed: int) -> Script:
    """Draw a schedule in which time itself starts work: leaders die at it, people change it, and clocks are set."""
    chance = Random(seed)
    options = replace(
        _options(chance),
        batches=tuple(
            BatchPlan((StepPlan("rerun"),), on_failure="continue", max_concurrent=3)
            for _ in range(chance.choice((1, 2)))
        ),
        limit=None,
        schedules=tuple(_schedule(chance) for _ in range(chance.choice((1, 1, 2, 3)))),
    )
    swarm = tuple(kind for kind in TIMED_KINDS if chance.random() < 0.5) or ("crash",)
    drawn, events = _Draw(chance, swarm, options), list[Event]()
    for _ in range(chance.randrange(10, 24)):
        events += drawn.timed_events()
    # Drawn apart, as above.
    apart = _Draw(Random(-seed), swarm, options)
    for _ in range(apart.chance.choice((0, 0, 0, 1, 1, 2))):
        at = apart.chance.randrange(len(events) + 1)
        events[at:at] = apart.backfill_events()
    return Script(options, tuple(events), seed)


def _schedule(chance: Random) -> SchedulePlan:
    catch_up = chance.choice(("none", "none", "latest", "up_to"))
    return SchedulePlan(
        minutes=chance.choice((1, 1, 2, 5)),
        batch=chance.randrange(2),
        once_at=chance.choice((None, None, None, None, 2, 6)),
        catch_up=catch_up,
        most=chance.choice((1, 2, 3)) if catch_up == "up_to" else None,
        overlap=chance.choice(("queue", "queue", "skip")),
        jitter=chance.choice((0, 0, 20, 90)),
    )


def _options(chance: Random) -> Options:
    hosts = chance.choice((1, 1, 2, 2, 3))
    return Options(
        luck=chance.randrange(1, 1_000_000),
        batches=tuple(_batch(chance) for _ in range(chance.choice((1, 1, 2)))),
        places=tuple(chance.randrange(hosts) for _ in range(chance.choice((1, 2, 2, 2, 3)))),
        limit=chance.choice((None, None, None, None, 1, 2)),
        slots=chance.choice((1, 2, 2, 3)),
        orphan_timeout=chance.choice((20.0, 60.0, 300.0)),
        ahead=tuple(float(chance.choice((0, 0, -3600, 86400))) for _ in range(hosts)),
    )


def _dependents(chance: Random, batches: int) -> tuple[DependentPlan, ...]:
    number = chance.choice((0, 0, 1, 1, 2))
    every = tuple(range(batches))
    return tuple(
        DependentPlan(chance.choice((every, every, every[:1])), any_of_them=chance.random() < 0.25)
        for _ in range(number)
    )


def _batch(chance: Random) -> BatchPlan:
    steps = tuple(
        StepPlan(chance.choice(("hold", "hold", "rerun", "rerun", "verify")), is_command=chance.random() < 0.7)
        for _ in range(chance.choice((1, 2, 2, 3)))
    )
    return BatchPlan(
        steps,
        retry_count=chance.choice((0, 1, 2, 2)),
        retry_wait=chance.choice((0, 0, 1)),
        on_failure=chance.choice(("hold_batch", "hold_batch", "continue", "continue", "continue", "stop_all")),
        max_concurrent=chance.choice((1, 2, 3, 3)),
        units=chance.choice((0, 0, 0, 0, 1, 2)),
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
        drawn: list[Event] = [self._submit() for _ in range(self.chance.choice((2, 3, 4, 5)))]
        for _ in range(self.chance.randrange(8, 22)):
            drawn += self._events()
        return tuple(drawn)

    def timed_events(self) -> list[Event]:
        """Draw what happens next where time itself starts work."""
        chance, drawn = self.chance, self.chance.random()
        if drawn < 0.35:
            return [Run(float(chance.choice((20, 40, 60, 61))))]
        if drawn < 0.45:
            return [Wait(float(chance.choice((90, 400, 4000))))]
        if drawn < 0.6:
            return [Fault(self._whom(), "C10", chance.choice([*Kind][:7])), Run(float(chance.choice((20, 61))))]
        if drawn < 0.7:
            # Whoever is frozen there wakes up when another has decided.
            later: tuple[Event, ...] = (Run(float(chance.choice((70, 400)))), *self._timed_trouble())
            kind = chance.choice((Kind.FREEZE_BEFORE, Kind.FREEZE_BEFORE, Kind.FREEZE_AFTER))
            return [Fault(self._whom(), "C10", kind, later), Run(61.0)]
        if drawn < 0.85:
            return list(self._timed_trouble())
        return self._failure(chance.choice(self.swarm))

    def backfill_events(self) -> list[Event]:
        """Draw somebody who wants work of the past, and what befalls it."""
        chance = self.chance
        by_hand, first = chance.random() < 0.6, chance.choice((-4, -9, -9, -15))
        wanted = Backfill(
            chance.randrange(3),
            first,
            min(first + chance.choice((3, 8, 12)), chance.choice((0, 0, 3)) if by_hand else 0),
            most_open=chance.choice((1, 1, 2, 3)),
            missed=chance.random() < 0.4,
            by_hand=by_hand,
        )
        cancel, turn = CancelBackfill(chance.randrange(2)), Run(float(chance.choice((5, 20, 61))))
        match chance.choice(("calm", "fault", "fault", "freeze", "freeze", "cancel", "missed")):
            case "fault":
                return [wanted, Fault(self._whom(), "C10", chance.choice([*Kind][:7])), turn]
            case "freeze":
                meanwhile = chance.choice(((turn,), (cancel,), (turn, *self._timed_trouble())))
                kind = chance.choice((Kind.FREEZE_BEFORE, Kind.FREEZE_BEFORE, Kind.FREEZE_AFTER))
                return [wanted, Fault(self._whom(), "C10", kind, meanwhile), turn]
            case "cancel":
                return [wanted, turn, cancel]
            case "missed":
                return [Wait(400.0), Run(20.0), wanted]
            case _:
                return [wanted]

    def _timed_trouble(self) -> tuple[Event, ...]:
        chance, nth = self.chance, self.chance.randrange(3)
        match chance.choice(("edit", "edit", "disable", "pause", "clock" if "clock" in self.swarm else "edit")):
            case "edit":
                return (Retime(nth, minutes=chance.choice((1, 2, 3, 7))),)
            case "disable":
                return (Retime(nth, enabled=False),)
            case "pause":
                return Retime(nth, enabled=False), Run(float(chance.choice((5, 70)))), Retime(nth, enabled=True)
            case _:
                return SetClock(float(chance.choice((-86_400, -3600, -130, -61, -61, 61, 3600, 86_400)))), Run(20.0)

    def _events(self) -> list[Event]:
        chance, drawn = self.chance, self.chance.random()
        if drawn < 0.22:
            return [Turn(self._worker())]
        if drawn < 0.50:
            return [Run(float(chance.choice((1, 1, 5))))]
        if drawn < 0.54:
            return [Run(self._long())]
        if drawn < 0.58:
            return [Wait(self._seconds())]
        if drawn < 0.64:
            return [self._submit()]
        return self._failure(chance.choice(self.swarm))

    def _failure(self, kind: str) -> list[Event]:
        """Draw trouble of a kind; some of it matters only when time passes then."""
        chance = self.chance
        match kind:
            case "crash" | "commit" | "database":
                return self._with_cause(self._fault(kind))
            case "freeze":
                return self._with_cause(self._freeze())
            case "kill" | "stall":
                return self._silence(kind)
            case "terminate":
                return [Terminate(self._worker())]
            case "supervisor":
                return [KillSupervisor(self._worker())]
            case "host":
                host = chance.randrange(len(self.options.ahead))
                later = [Run(self._long()), BootHost(host)] if chance.random() < 0.5 else [BootHost(host)]
                return [CrashHost(host), *later]
            case "jump":
                return [Jump(chance.randrange(len(self.options.ahead)), float(chance.choice((-7200, 90, 86400))))]
            case "clock":
                return list(self._timed_trouble())
            case "away":
                return [Away(chance.choice((1.0, 20.0, 1.2 * self.options.orphan_timeout)))]
            case "operate":
                acts = [(chance.choice(ACTIONS), chance.randrange(6)) for _ in range(chance.choice((1, 1, 2)))]
                # When a request is carried out nobody looks whether anything of a lost step is alive.
                return [Ask(*act) if act[0] in ASKED and act[1] % 2 else Operate(*act) for act in acts]
            case "switch":
                batch = chance.randrange(2)
                other = None if batch else 1
                frozen = Freeze(other, None if batch else 3)
                thawed = Thaw(other, RELEASES[len(self.options.batches) % len(RELEASES)])
                return [Switch(batch, enabled=False), frozen, Run(5.0), thawed, Switch(batch, enabled=True)]
            case _:
                return [self._submit(data="same")]

    def _silence(self, kind: str) -> list[Event]:
        """Let a worker give no sign of life for a while: others have to look after what it has begun."""
        chance, worker = self.chance, self._worker()
        if kind == "kill":
            return (
                [Kill(worker), Stall(worker), Run(self._long()), Wake(worker)]
                if chance.random() < 0.5
                else [Kill(worker)]
            )
        if chance.random() < 0.3:
            # It comes back just while another takes over.
            back = Fault(None, "C12", Kind.FREEZE_BEFORE, (Wake(worker), Turn(worker), Run(1.0)))
            return [Run(1.0), Stall(worker), back, Run(1.6 * self.options.orphan_timeout)]
        return [Run(1.0), Stall(worker), Run(self._long()), Wake(worker), Turn(worker)]

    def _with_cause(self, fault: Fault) -> list[Event]:
        """Let something happen that leads to where the fault strikes, if that is rare."""
        if fault.at in RARE:
            return [fault, *self._silence(self.chance.choice(("kill", "stall")))]
        return [fault]

    def _fault(self, kind: str) -> Fault:
        chance = self.chance
        if kind == "crash" and chance.random() < 0.3:
            return Fault(self._whom(), chance.choice(CALLS), Kind.CRASH_BEFORE)
        return Fault(self._whom(), chance.choice(BOUNDARIES), chance.choice(FAULTS[kind]))

    def _freeze(self) -> Fault:
        chance = self.chance
        meanwhile = tuple(self._meanwhile() for _ in range(chance.choice((1, 2, 2, 3))))
        if chance.random() < 0.3:
            return Fault(self._whom(), chance.choice(CALLS), Kind.FREEZE_BEFORE, meanwhile)
        kind = chance.choice((Kind.FREEZE_BEFORE, Kind.FREEZE_AFTER))
        return Fault(self._whom(), chance.choice(BOUNDARIES), kind, meanwhile)

    def _meanwhile(self) -> Event:
        chance, drawn = self.chance, self.chance.random()
        if drawn < 0.35:
            return Run(self._long())
        if drawn < 0.55:
            return Run(1.0)
        if drawn < 0.7:
            return Wake(self._worker())
        if drawn < 0.8:
            return Turn(self._worker())
        return chance.choice(
            (Kill(self._worker()), Operate(chance.choice(ACTIONS), chance.randrange(6)), Wait(self._long()))
        )

    def _long(self) -> float:
        """Draw a time within which others may take somebody silent for dead, or almost."""
        return self.options.orphan_timeout * self.chance.choice((0.6, 1.6, 1.6))

    def _seconds(self) -> float:
        return float(self.chance.choice((1, 5, 0.5 * self.options.orphan_timeout, 1.2 * self.options.orphan_timeout)))

    def _worker(self) -> int:
        return self.chance.randrange(len(self.options.places))

    def _whom(self) -> int | None:
        return None if self.chance.random() < 0.6 else self._worker()

    def _submit(self, data: str | None = None) -> Event:
        self.submitted += 1
        prefix = self.chance.choice(("file",) * 8 + ("poison", "surprise"))
        batch = self.chance.randrange(len(self.options.batches))
        return Submit(f"B{batch}", f"{prefix}{self.submitted}", data)

"""What steps write while they run, and the laws of what is shown of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from random import Random
from typing import TYPE_CHECKING, Any

from batchctl.domain.live_texts import KEPT, SHOWN_EVERY
from batchctl.system.commands.kept_output import Output
from batchctl.system.commands.shown_output import ShownOutput
from tests.sim.laws import Broken
from tests.sim.script import Away, Event, Fault, Kind, Operate, Run, Script, Stall, Turn, Wake

if TYPE_CHECKING:
    from tests.sim.faults import Actor
    from tests.sim.hosts import Running
    from tests.sim.world import World

SECRET = "pa55-w0rd-für-prod"
MASK = "***"
_CUT = re.compile(r"\n\[\.\.\. \d+ bytes left out \.\.\.\]\n")
_RATES = (0, 3, 40, 700, 9_000, 60_000)
"""How many bytes a step writes in a second."""
_MOST = 300_000


def shown(seed: int, script: Script) -> Script:
    """Return the schedule with steps that write, and with faults where that is stored."""
    chance = Random(seed)
    events = list(script.events)
    for _ in range(chance.choice((2, 3, 4))):
        at = chance.randrange(len(events) + 1)
        events[at:at] = _events(chance, script)
    return Script(replace(script.options, writes=seed), tuple(events), seed)


def _events(chance: Random, script: Script) -> list[Event]:
    # Each is a turn of every worker.
    runs = (Run(float(chance.choice((2, 3, 7)))),) * 4
    worker = chance.randrange(len(script.options.places))
    silence = Run(1.3 * script.options.orphan_timeout)
    kind = chance.choice([*Kind, Kind.UNKNOWN_MADE, Kind.UNKNOWN_MADE, Kind.LOST, Kind.FREEZE_BEFORE])
    others = tuple(Turn(at) for at in range(len(script.options.places)))
    happens: list[tuple[Event, ...]] = [
        (Run(3.0),),
        (*others, silence, *others),
        (Operate("cancel", chance.randrange(4)), Run(3.0)),
    ]
    meanwhile = chance.choice(happens)
    fault = Fault(None, "C5", kind, meanwhile if "freeze" in kind else ())
    match chance.choice(("calm", "fault", "fault", "fault", "frozen", "frozen", "away", "stall")):
        case "frozen":
            # Who is about to store what its step writes is taken for dead, and another goes on with the step.
            return [*runs, Fault(worker, "C5", Kind.FREEZE_BEFORE, (*others, silence, *others)), *runs]
        case "calm":
            return [*runs, *runs]
        case "fault":
            return [*runs, fault, *runs]
        case "away":
            return [*runs, Away(chance.choice((1.0, 12.0))), *runs]
        case _:
            return [*runs, Stall(worker), silence, Wake(worker), *runs]


@dataclass(frozen=True)
class Writing:
    """All that an execution would write if it never ended."""

    rate: int
    text: bytes

    def at(self, seconds: float) -> bytes:
        """Return what it has written so long after its beginning: that may end within a character, or a secret."""
        return self.text[: max(0, int(self.rate * seconds))]

    @cached_property
    def masked(self) -> str:
        """Return all of it as it may be shown."""
        return self.text.decode().replace(SECRET, MASK)


@lru_cache(maxsize=64)
def writing_of(writes: int, instance: int, seq: int, attempt: int) -> Writing:
    """Return what an attempt writes: numbered lines, some of them with a secret."""
    chance = Random(f"{writes} {instance} {seq} {attempt}")
    rate, lines, length, number = chance.choice(_RATES), list[str](), 0, 0
    while length < min(_MOST, rate * 1000):
        number += 1
        said = chance.choice(("read", "gelöscht 🎉", f"password={SECRET}", f"{SECRET}{SECRET}", "", "x" * (rate // 10)))
        lines.append(f"{instance}.{seq}.{attempt} line {number}: {said}\n")
        length += len(lines[-1].encode())
    return Writing(rate, "".join(lines).encode())


class WritingStep:
    """What the supervisor of a command, or its program, reads of it while it runs."""

    def __init__(self, world: World, running: Running) -> None:
        self._world = world
        self._running = running
        self._output = Output()
        self._shown = ShownOutput(self._output, [SECRET])

    def take(self) -> str:
        """Return what has come since the last time."""
        self._output.feed(written(self._world, self._running)[self._output.total :])
        return self._shown.take()


def written(world: World, running: Running) -> bytes:
    """Return what an execution has written by now."""
    return _writing(world, running).at(min(world.time.seconds, running.ends) - running.started)


def _writing(world: World, running: Running) -> Writing:
    return writing_of(world.options.writes, running.instance, running.seq, running.attempt)


@dataclass
class Seen:
    """How far an attempt has been shown."""

    number: int = 0
    until: int = 0
    """A position in what may be shown of all that it writes."""
    at: float = -1e9


_OWNER = """
SELECT h.Status, h.ClaimToken = c.ClaimToken, c.ClaimedBy FROM BatchProcessHistory h
JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id WHERE h.BatchProcessHistory_id = ?
"""
_PARTS = "SELECT Number, Text FROM StepOutput WHERE BatchProcessHistory_id = ? ORDER BY Number"
_STATUS = "SELECT Status FROM BatchProcessHistory WHERE BatchProcessHistory_id = ?"


def check(world: World, actor: Actor, seen: Sequence[tuple[Any, ...]]) -> None:
    """Ask of what was stored of an attempt whether it may be shown, and is all that should be."""
    for key in dict.fromkeys(int(row) for what, row, *_ in seen if what == "wrote"):
        _check_writer(world, actor, key)
        parts = [(int(number), str(text)) for number, text in world.rows(_PARTS, key)]
        _check_bounds(parts, key)
        _check_newest(parts, seen, key)
        _check_pace(world, key)
        _check_text(world, parts, key)
        world.happened["Shown"] += 1
    dropped = {int(row) for what, row, *_ in seen if what == "dropped"}
    world.happened["Dropped"] += sum(world.rows(_STATUS, key) == [("running",)] for key in dropped)


def _check_writer(world: World, actor: Actor, key: int) -> None:
    for status, is_current, owner in world.rows(_OWNER, key):
        if status != "running" or not is_current or owner != actor.name:
            raise Broken("writer", f"{actor.name} stores what attempt {key} writes, which is {status} and of {owner}")


def _check_bounds(parts: Sequence[tuple[int, str]], key: int) -> None:
    size = sum(len(text.encode()) for _, text in parts)
    if size > KEPT:
        raise Broken("bounded", f"{size} bytes are kept of attempt {key}")
    if any(SECRET in text for text in (*(text for _, text in parts), "".join(text for _, text in parts))):
        raise Broken("secret", f"a secret is shown of attempt {key}")
    numbers = [number for number, _ in parts]
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        raise Broken("gap", f"parts {numbers} are kept of attempt {key}")


def _check_newest(parts: Sequence[tuple[int, str]], seen: Sequence[tuple[Any, ...]], key: int) -> None:
    """Ask whether only what there is no room for is gone, or what lies before a gap."""
    gone = [(int(one[4]), int(one[5])) for one in seen if one[0] == "dropped" and int(one[1]) == key]
    if not gone:
        return
    number, size = max(gone)
    room = KEPT - sum(len(text.encode()) for _, text in parts)
    if number == parts[0][0] - 1 and size <= room:
        raise Broken("newest", f"part {number} of attempt {key} is gone, although there is room for its {size} bytes")


def _check_pace(world: World, key: int) -> None:
    known, now = world.shown.setdefault(key, Seen()), world.time.seconds
    if now - known.at < SHOWN_EVERY.total_seconds() - 1e-6:
        raise Broken("often", f"what attempt {key} writes is stored {now - known.at:.1f} s after the last time")
    known.at = now


def _check_text(world: World, parts: Sequence[tuple[int, str]], key: int) -> None:
    """Ask whether what is new goes on where the last part ended, or says that something is missing."""
    running = next(one for one in world.executions if one.key == key)
    whole = _writing(world, running).masked
    so_far = written(world, running).decode(errors="ignore").replace(SECRET, MASK)
    known = world.shown[key]
    for number, text in parts:
        if number <= known.number:
            continue
        goes_on = number == known.number + 1
        for piece in _pieces(text, goes_on=goes_on):
            at = known.until if goes_on else whole.find(piece, known.until)
            if at < 0 or not whole.startswith(piece, at):
                raise Broken("gap", f"part {number} of attempt {key} does not go on where the one before has ended")
            known.until, goes_on = at + len(piece), False
        world.happened["Cut"] += not goes_on and number > known.number + 1
        known.number = number
    if known.until > len(so_far):
        raise Broken("gap", f"more is shown of attempt {key} than it has written")


def _pieces(text: str, *, goes_on: bool) -> Iterator[str]:
    """Yield what stands between cuts, without the line that a cut goes through."""
    for at, piece in enumerate(_CUT.split(text)):
        yield piece if goes_on and at == 0 else piece.partition("\n")[2]

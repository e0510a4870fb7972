"""Nights that a real controller lives through, some of them slow: was it told in time which of them would be late?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

from batchctl.control.creation import Creator
from batchctl.domain.outcomes import Rendered
from batchctl.domain.rows import HistoryId
from tests.control.alarm import Alarm
from tests.control.nights import DAY, MINUTE, Nights, written
from tests.control.world import NO_WAIT, OK, ZONE, World

STEPS = {"Orders": (20.0, 30.0, 20.0), "Report": (15.0, 20.0)}
"""How many minutes each step takes on an ordinary night."""
COMES = timedelta(hours=2)
FINISH_BY = timedelta(hours=4, minutes=30)
BEGINS = datetime(2026, 11, 22, tzinfo=UTC)
QUARTER = 15 * MINUTE
KNOWN = 25
"""How many nights have passed before the first one."""
SLOW = 0.15


@dataclass
class Verdict:
    """What came of the nights, and of which it was told before."""

    late: int = 0
    told_of_late: int = 0
    in_time: int = 0
    told_of_in_time: int = 0


@dataclass
class RiskyNights:
    """One installation, night after night."""

    world: World
    chance: Random
    ids: dict[str, int] = field(default_factory=lambda: {"Orders": 1, "Report": 2})
    ends: list[tuple[datetime, HistoryId]] = field(default_factory=list)
    verdict: Verdict = field(default_factory=Verdict)

    def live(self, nights: int) -> Verdict:
        """Live through nights, one after the other."""
        made = Nights(self.world)
        self.world.batch("Orders", steps=3)
        self.world.batch("Report", steps=2, FinishBy="04:30")
        self.world.sql("INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (2, 1)")
        self.world.sql("UPDATE ProcessBatch SET z_inserted = '2026-01-01 00:00:00'")
        made.ids = self.ids
        for back in range(KNOWN, 0, -1):
            took = self._lengths()
            came = BEGINS - back * DAY + COMES
            at = made.ran("Orders", came, came, took["Orders"])
            made.ran("Report", at, at, took["Report"])
        self.world.runner.script = self._started
        self.controller = self.world.controller(slots=2)
        # By another way to the database, as another program creates: then the controller is notified.
        means = self.world.open(), self.world.clock, self.world.populators, ZONE, self.world.events.append
        self.creator = Creator(*means)
        self.keeping, self.alarm = made.keeping(), Alarm(self.world)
        for night in range(nights):
            self._live_through(BEGINS + night * DAY)
        return self.verdict

    def _lengths(self) -> Mapping[str, list[float]]:
        """Return how long each step of a night takes: in a slow one, all of them take longer."""
        factor = self.chance.lognormvariate(0, 0.1)
        if self.chance.random() < SLOW:
            factor *= self.chance.uniform(1.5, 2.2)
        return {
            name: [minutes * factor * self.chance.lognormvariate(0, 0.1) for minutes in steps]
            for name, steps in STEPS.items()
        }

    def _live_through(self, day: datetime) -> None:
        self.took, came = self._lengths(), day + COMES
        self._go_to(came)
        self.world.submit("Orders", CycleKey=f"{day:%Y-%m-%d}")
        self._turn()
        told = 0
        for at in self._moments(came, day + FINISH_BY):
            self._go_to(at)
            self.keeping.finish()
            self.alarm.duty.finish()
            opened = "SELECT count(*) FROM Incident WHERE Kind = 'at_risk' AND OpenedTime >= ?"
            told = int(self.world.one(opened, written(came)))
        ready = self._is_ready(day)
        self._go_to(day + timedelta(hours=12))
        assert self._is_ready(day)
        self.alarm.duty.finish()
        self.verdict.late += not ready
        self.verdict.told_of_late += not ready and told > 0
        self.verdict.in_time += ready
        self.verdict.told_of_in_time += ready and told > 0

    def _moments(self, since: datetime, until: datetime) -> Iterator[datetime]:
        at = since + QUARTER
        while at < until:
            yield at
            at += QUARTER

    def _is_ready(self, day: datetime) -> bool:
        done = "SELECT count(*) FROM BatchControl WHERE ProcessBatch_id = 2 AND Status = 'complete' AND CycleKey = ?"
        return bool(self.world.one(done, f"{day:%Y-%m-%d}"))

    def _go_to(self, moment: datetime) -> None:
        """Let everything end that does until then."""
        while self.ends and min(self.ends)[0] <= moment:
            at, key = min(self.ends)
            self.ends.remove((at, key))
            self._advance(at)
            self.world.runner.end(key, OK)
            self._turn()
        self._advance(moment)
        self._turn()

    def _advance(self, moment: datetime) -> None:
        self.world.clock.advance(max(moment - self.world.clock.now(), timedelta()))

    def _turn(self) -> None:
        for _ in self.ids:
            # What completes may start what depends on it.
            self.creator.create_instances()
            self.world.hear()
            self.controller.turn(NO_WAIT)
            self.world.turn_until_idle(self.controller)

    def _started(self, rendered: Rendered) -> None:
        words = rendered.command_text.split()
        seq, instance = int(words[1]), int(words[3])
        batch = self.world.one("SELECT ProcessBatch_id FROM BatchControl WHERE BatchControl_id = ?", instance)
        minutes = self.took["Orders" if batch == 1 else "Report"][seq // 10 - 1]
        self.ends.append((self.world.clock.now() + timedelta(minutes=minutes), self.world.runner.started[-1]))

"""Random nights on a server: whatever fails or crashes, no instance is lost and no step succeeds twice.

The simulation asks the same and more, but of SQLite alone.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batchctl.domain.errors import OutcomeUnknown
from batchctl.domain.outcomes import Rendered, StepOutcome
from batchctl.ports import Boundary
from tests.control.world import BAD, FATAL, OK, RUNS_ON, World
from tests.control_databases import ControlDatabase, PostgresControl
from tests.postgres import PostgresServer
from tests.tiers import examples

VIOLATIONS = {
    "two live attempts of one instance": (
        "SELECT BatchControl_id FROM BatchProcessHistory WHERE Status = 'running' GROUP BY 1 HAVING count(*) > 1"
    ),
    "claimed and owner differ": (
        "SELECT 1 FROM BatchControl WHERE (Status IN ('running', 'pausing', 'cancelling')) <> (ClaimedBy IS NOT NULL)"
    ),
    "a step that succeeded twice": (
        "SELECT 1 FROM BatchProcessHistory WHERE Status = 'success' AND Cause <> 'manual'"
        " GROUP BY BatchControl_id, ProcessControlSeq HAVING count(*) > 1"
    ),
    "a step before its predecessor's success": (
        "SELECT 1 FROM BatchProcessHistory h JOIN ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id"
        " AND p.ProcessControlSeq < h.ProcessControlSeq WHERE NOT EXISTS (SELECT 1 FROM BatchProcessHistory g"
        " WHERE g.BatchControl_id = h.BatchControl_id AND g.ProcessControlSeq = p.ProcessControlSeq"
        " AND g.Status = 'success' AND g.EndTime <= h.StartTime)"
    ),
    "complete without every success": (
        "SELECT 1 FROM BatchControl c JOIN ProcessControl p USING (ProcessBatch_id) WHERE c.Status = 'complete'"
        " AND NOT EXISTS (SELECT 1 FROM BatchProcessHistory h WHERE h.BatchControl_id = c.BatchControl_id"
        " AND h.ProcessControlSeq = p.ProcessControlSeq AND h.Status = 'success')"
    ),
    "attempts with holes": (
        "SELECT 1 FROM BatchProcessHistory GROUP BY BatchControl_id, ProcessControlSeq"
        " HAVING min(AttemptNo) <> 1 OR max(AttemptNo) <> count(*)"
    ),
    "more automatic failures than allowed": (
        "SELECT 1 FROM BatchProcessHistory h JOIN ProcessBatch b USING (ProcessBatch_id)"
        " WHERE h.Status IN ('failed', 'timeout') GROUP BY h.BatchControl_id, h.ProcessControlSeq, b.RetryCount"
        " HAVING count(*) > 1 + b.RetryCount"
    ),
    "an attempt before its NextRunTime": (
        "SELECT 1 FROM BatchProcessHistory a JOIN BatchProcessHistory b ON b.BatchControl_id = a.BatchControl_id"
        " AND b.ProcessControlSeq = a.ProcessControlSeq AND b.AttemptNo = a.AttemptNo + 1"
        " WHERE b.StartTime < a.NextRunTimeAfter"
    ),
    "a lost step that may not run again, run again": (
        "SELECT 1 FROM BatchProcessHistory a JOIN BatchProcessHistory b ON b.BatchControl_id = a.BatchControl_id"
        " AND b.ProcessControlSeq = a.ProcessControlSeq AND b.AttemptNo = a.AttemptNo + 1"
        " JOIN ProcessControl p ON p.ProcessBatch_id = a.ProcessBatch_id AND p.ProcessControlSeq = a.ProcessControlSeq"
        " WHERE a.Status = 'lost' AND p.OnLost = 'hold' AND b.Cause <> 'manual'"
    ),
    "a file row complete before its instances": (
        "SELECT 1 FROM FileProcess f JOIN BatchControl c USING (FileProcess_id)"
        " WHERE (f.Status = 'complete') <> (c.Status = 'complete')"
    ),
}


class Crashed(BaseException):
    """The controller's process has died here."""


class Night:
    """A world in which steps fail and commits are cut, as chance says."""

    def __init__(self, database: ControlDatabase, chance: Any) -> None:
        self.calm = False
        self.random = chance
        self.world = World(database)
        self.world.batch("once", steps=3, RetryCount=self.random.randrange(3), OnFailure="continue", MaxConcurrent=2)
        again = self.world.batch("again", steps=0, RetryCount=2, MaxConcurrent=2)
        for seq in (1, 2):
            self.world.step(again, seq, OnLost="rerun")
        for number in range(3):
            self.world.submit("once", str(number))
            self.world.submit("again", str(number))
        self.world.create()

    def live(self) -> None:
        """Run controllers until each in turn has died, then one that lives to the end."""
        for _ in range(self.random.randrange(6)):
            self._one_life(dies=True)
            self.world.crash()
            self.world.clock.advance(timedelta(minutes=self.random.randrange(9)))
            self.check()
        for _ in range(12):
            self._one_life(dies=False)
            self.calm = True
            self.world.clock.advance(timedelta(minutes=6))
        self.check()

    def check(self) -> None:
        """Assert that no law is broken."""
        for name, statement in VIOLATIONS.items():
            assert self.world.sql(statement) == [], name

    def _one_life(self, *, dies: bool) -> None:
        world = self.world
        world.runner.script = self._outcome(dies=dies)
        whole = world.transactions
        world.transactions = Cut(whole, self.random) if dies else whole
        try:
            world.recover()
            world.turn_until_idle(world.controller(slots=self.random.choice((1, 3))))
        except (Crashed, OutcomeUnknown):
            pass  # While it recovers a controller does not outlive a lost connection.
        finally:
            world.transactions = whole

    def _outcome(self, *, dies: bool) -> Callable[[Rendered], StepOutcome | None]:
        def outcome(rendered: Rendered) -> StepOutcome | None:
            del rendered
            choices = (OK, OK, OK, OK, BAD, FATAL, RUNS_ON) if dies else (OK, OK, OK, BAD)
            return OK if self.calm else self.random.choice(choices)

        return outcome


class Cut:
    """Transactions cut now and then, before or after the commit: the process dies, or only the connection does."""

    def __init__(self, whole: Any, chance: Any) -> None:
        self.whole = whole
        self.random = chance
        self.read = whole.read
        self.changed = whole.changed

    def run(self, boundaries: frozenset[Boundary], work: Callable[[Any], Any], *, nowait: bool = False) -> Any:
        self._cut()
        result = self.whole.run(boundaries, work, nowait=nowait)
        self._cut()
        return result

    def _cut(self) -> None:
        drawn = self.random.random()
        if drawn < 0.1:
            raise Crashed
        if drawn < 0.2:
            message = "the connection was lost"
            raise OutcomeUnknown(message)


@settings(max_examples=examples(20), deadline=None, suppress_health_check=list(HealthCheck))
@given(chance=st.randoms(use_true_random=False))
def test_no_law_is_broken_however_the_night_goes(
    postgres: PostgresServer, prepared: str, tmp_path_factory: pytest.TempPathFactory, chance: Any
) -> None:
    """Live one night and see that everything has come to its end, or waits for a person."""
    database = PostgresControl(postgres, tmp_path_factory.mktemp("night"), postgres.new_database(prepared))
    night = Night(database, chance)
    try:
        night.live()
        statuses = set(night.world.statuses())
        assert statuses <= {"complete", "failed", "held", "ready", "retry"}
        # What still waits, waits behind an earlier instance of its batch that a person must deal with.
        waits = "SELECT count(*) FROM BatchControl w WHERE w.Status IN ('ready', 'retry') AND NOT EXISTS"
        behind = "(SELECT 1 FROM BatchControl a WHERE a.ProcessBatch_id = w.ProcessBatch_id"
        earlier = " AND a.BatchControl_id < w.BatchControl_id AND a.Status IN ('failed', 'held'))"
        assert night.world.one(f"{waits} {behind}{earlier}") == 0
    finally:
        night.world.close()


def test_every_checker_can_fire(world: World) -> None:
    """Prove that no statement above is so written that it never finds anything."""
    batch_id = world.batch(steps=2)
    world.submit()
    world.submit()
    world.create()
    add = (
        "INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType,"
        " AttemptNo, Cause, Status, CommandText, StartTime, EndTime, NextRunTimeAfter)"
        f" VALUES (?, {batch_id}, ?, 's', 'told', ?, ?, ?, '', ?, ?, ?)"
    )
    world.sql('DROP INDEX "UX_BatchProcessHistory_Live"')
    early, late = "2026-01-01 00:00:00.000", "2026-01-02 00:00:00.000"
    for attempt in (2, 3):
        world.sql(add, 1, 10, attempt, "auto", "success", early, early, None)
        world.sql(add, 1, 20, attempt, "auto", "failed", early, early, late)
    world.sql(add, 1, 10, 4, "auto", "lost", early, early, None)
    world.sql(add, 1, 10, 5, "auto", "running", early, None, None)
    world.sql(add, 1, 10, 6, "auto", "running", early, None, None)
    world.sql("UPDATE BatchControl SET Status = 'complete', ClaimedBy = 'x'")
    world.sql(add, 2, 20, 1, "auto", "success", early, early, None)
    silent = [name for name, statement in VIOLATIONS.items() if not world.sql(statement)]
    world.close()

    assert silent == []

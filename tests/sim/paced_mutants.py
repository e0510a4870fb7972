"""Plausible mistakes about how fast instances are begun, and which batch of one Seq comes first."""

from __future__ import annotations

from batchctl.control import claiming
from batchctl.domain import gates
from batchctl.domain.scheduling import pace
from batchctl.store import limits
from tests.sim.mutating import Mutant, mutant

PACED_MUTANTS: tuple[Mutant, ...] = (
    mutant(
        "instances are begun as fast as they come", "pace", (limits, "if batch.max_per_minute is None:", "if True:")
    ),
    mutant("half a minute counts as one", "pace", (limits, "since=now - MINUTE", "since=now - MINUTE / 2")),
    mutant(
        "it is not written down what was begun",
        "pace",
        (claiming, "return replace(after, begun_at=now) if is_counted else after", "return after"),
    ),
    mutant(
        "of one look as many are begun as there are places",
        "pace",
        (gates, "pace = pace if its_pace is None else its_pace.after(1, now)", "pass"),
    ),
    mutant(
        "what failed at its first step is begun again beside the pace",
        "pace",
        (pace, "instance.last_seq < batch.steps[0].seq", "instance.claim_token == 0"),
    ),
    mutant(
        "batches of one Seq take turns whatever their Priority",
        "priority",
        (claiming, "return batch.seq, -(batch.priority or 0)", "return batch.seq, 0"),
    ),
    mutant(
        "a batch whose turn is longest ago goes before one with a higher Priority",
        "priority",
        (
            claiming,
            "for _, batches in groupby(is_open, _rank):",
            "for batches in [list(is_open)]:",
        ),
    ),
)

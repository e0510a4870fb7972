"""The figures of a campaign, for people."""

from __future__ import annotations

from collections import Counter

from tests.chaos import cuts
from tests.chaos.campaign import Outcome

PROMISES = ("lost", "doubled", "stuck", "left over", "fsck")


def figures(outcome: Outcome) -> str:
    """Return what happened and what came of it."""
    points = [*cuts.points((*cuts.OF_WORKERS, *cuts.OF_INTAKE, *cuts.OF_PEOPLE, "C14"))]
    reached = sum(point in outcome.points for point in points)
    broken = {found.promise: len(found.rows) for found in outcome.violations}
    counted = {name: sum(times for said, times in broken.items() if said.startswith(name)) for name in PROMISES}
    rate = outcome.kills / max(outcome.chaos_seconds, 0.001) * 60
    lines = [
        f"{outcome.options.database}, seed {outcome.options.seed}: {outcome.kills} kills in"
        f" {outcome.chaos_seconds:.0f} s ({rate:.0f} a minute), {outcome.seconds:.0f} s in all",
        f"  befell:    {_listed(outcome.counts)}",
        f"  cut at:    {reached} of {len(points)} crash points ({sum(outcome.points.values())} times)",
        f"  work:      {outcome.instances} instances, {outcome.executions} executions of steps;"
        f" attempts: {_listed(outcome.attempts)}",
        f"  people:    {_listed(outcome.people) or 'nothing'}",
        f"  found:     {', '.join(f'{name} {times}' for name, times in counted.items())}",
    ]
    return "\n".join(lines)


def findings(outcome: Outcome) -> str:
    """Return what was violated, with the rows, and how to see it again."""
    said = [f"  {found}" for found in outcome.violations]
    return "\n".join(
        [f"seed {outcome.options.seed}: {len(outcome.violations)} promises were not kept", *said]
        + [f"  everything lies in {outcome.directory}", f"  again: {outcome.options.command}"]
    )


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {times}" for name, times in counts.most_common())

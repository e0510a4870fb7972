"""The figures of a campaign, for people."""

from __future__ import annotations

from collections import Counter

from tests.chaos import cuts, hosts
from tests.chaos.campaign import Outcome

PROMISES = ("lost", "doubled", "stuck", "left over", "outside", "fsck")


def figures(outcome: Outcome) -> str:
    """Return what happened and what came of it."""
    points = [*cuts.points((*cuts.OF_WORKERS, *cuts.OF_INTAKE, *cuts.OF_PEOPLE, "C14"))]
    missed = [point for point in points if point not in outcome.points]
    never = f"; never at {', '.join(missed)}" if 0 < len(missed) <= 5 else ""
    broken = {found.promise: len(found.rows) for found in outcome.constraint_findings}
    counted = {name: sum(times for said, times in broken.items() if said.startswith(name)) for name in PROMISES}
    counted["other"] = sum(broken.values()) - sum(counted.values())
    rate = outcome.kills / max(outcome.chaos_seconds, 0.001) * 60
    options, times = outcome.options, sum(outcome.points.values())
    found = ", ".join(f"{name} {number}" for name, number in counted.items())
    told = len(outcome.notifications)
    chaos = f"{outcome.kills} kills in {outcome.chaos_seconds:.0f} s ({rate:.0f} a minute)"
    work = f"{outcome.instances} instances, {outcome.executions} executions of steps"
    lines = [
        f"{options.database}, seed {options.seed}: {chaos}, {outcome.seconds:.0f} s in all",
        f"  befell:    {_listed(outcome.counts)}",
        f"  cut at:    {len(points) - len(missed)} of {len(points)} crash points ({times} times){never}",
        f"  work:      {work}; attempts: {_listed(outcome.attempts)}",
        f"  told:      {told} messages, {outcome.notifications.total() - told} times once more",
        f"  rescued:   {_listed(outcome.rescued)}",
        *([f"  hosts:     three, with their own {hosts.wording()}"] if options.pools else []),
        f"  people:    {_listed(outcome.people) or 'nothing'}",
        f"  found:     {found}",
    ]
    return "\n".join(lines)


def findings(outcome: Outcome) -> str:
    """Return what was violated, with the rows, and how to see it again."""
    lines = [
        f"seed {outcome.options.seed}: {len(outcome.constraint_findings)} promises were not kept",
        *(f"  {found}" for found in outcome.constraint_findings),
        f"  everything lies in {outcome.directory}",
        f"  again: {outcome.options.command}",
    ]
    return "\n".join(lines)


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {times}" for name, times in counts.most_common())

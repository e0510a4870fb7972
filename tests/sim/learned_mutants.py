"""Plausible mistakes about what a step learns of its number of rows."""

from __future__ import annotations

from batchctl.domain.definitions import row_guard
from batchctl.store import row_counts
from tests.sim.mutating import Mutant, mutant

LEARNED_MUTANTS: tuple[Mutant, ...] = (
    mutant(
        "a step learns from fewer runs than it says",
        "learned",
        (row_guard, "if len(rows) < LEAST_RUNS:", "if len(rows) < LEAST_RUNS - 5:"),
    ),
    mutant(
        "a step learns for Sundays from Mondays",
        "learned",
        (row_counts, "if days_like(row.CycleKey, row.StartTime) == days", "if True"),
    ),
    mutant(
        "a step goes by the day on which it runs whatever its CycleKey says",
        "learned",
        (row_guard, 'date.fromisoformat((cycle_key or "")[:10])', "at.date()"),
    ),
    mutant(
        "a single odd night moves what a step has learned",
        "learned",
        (
            row_guard,
            "WIDTH * median(abs(one - middle) for one in known)",
            "WIDTH * max(abs(one - middle) for one in known)",
        ),
    ),
    mutant(
        "what is usual may be next to nothing more or less",
        "learned",
        (row_guard, ", middle / LEAST_PART)", ", 0)"),
    ),
    mutant(
        "no row at all is as good as few",
        "learned",
        (row_guard, "1 if min(known) > 0 else 0", "-1"),
    ),
)

"""Plausible mistakes about what is learned of the past: how many rows a step should have, and what forecasts say."""

from __future__ import annotations

from batchctl.domain.definitions import row_guard
from batchctl.operations.dependencies import forecasting
from batchctl.store import row_counts
from batchctl.store.dependencies import kept_forecasts
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
    mutant(
        "what was ready before a forecast was made came of it",
        "C17",
        (kept_forecasts, " if row.z_updated > since", ""),
    ),
    mutant(
        "a forecast of nine nights in ten is earlier than that of half of them",
        "C17",
        (forecasting, "odds.at_rank(ends, odds.NEARLY, nights)", "odds.at_rank(ends, 0.1, nights)"),
    ),
)

"""Forecasts hold what they promise, on a year of flights: see benchmarks/forecast_accuracy.py."""

from __future__ import annotations

from batchctl.domain.dependencies.odds import MEDIAN, NEARLY, Score, score
from benchmarks import forecast_accuracy


def test_levels_are_met_and_lose_less_than_what_others_reckon() -> None:
    found = forecast_accuracy.measure()

    def of(name: str, level: float) -> Score:
        made = score(level, found.pairs[name])
        assert made is not None
        return made

    median, nearly = of("replays, p50", MEDIAN), of("replays, p90", NEARLY)
    assert 0.46 <= median.coverage <= 0.54
    assert 0.86 <= nearly.coverage <= 0.94
    assert median.loss < of("chain of medians, p50", MEDIAN).loss
    assert nearly.loss <= of("means + 1.28 sigma, p90", NEARLY).loss
    assert of("replays, p90, sources are there", NEARLY).loss <= 0.6 * nearly.loss

"""The engine keeps its laws however programs, hosts and the database fail; `dev.py sim` plays far more of this."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.sim import script as scripts
from tests.sim.chance import (
    CARRIED,
    LEARNING,
    PACED,
    POOLED,
    QUESTIONED,
    REPORTED,
    REQUESTED,
    SHOWN,
    STEPWISE,
    TIMED,
    TOLD,
    VARIED,
    script_of,
)
from tests.sim.many import play_chunk
from tests.sim.mutants import MUTANTS
from tests.sim.mutating import made
from tests.sim.playing import play
from tests.sim.script import Script, lines
from tests.sim.shrink import smallest

ROOT = Path(__file__).parents[2]
SCHEDULES = 500
FEW = 5
"""How many of each kind the quick tests play."""
AT_A_TIME = 50
"""How many the full tests play in one: short enough to be divided among processes."""


def chunks(most: int, size: int, few: int = FEW) -> list[Any]:
    """Return what is played at a time: a few schedules, and the others in the full suite."""
    later = [range(begin, min(begin + size, most)) for begin in range(few, most, size)]
    return [range(few), *(pytest.param(chunk, marks=pytest.mark.full) for chunk in later)]


@pytest.mark.parametrize("seeds", chunks(SCHEDULES, AT_A_TIME), ids=str)
def test_no_schedule_breaks_a_law(seeds: range) -> None:
    figures = play_chunk(seeds)

    assert figures.failed == []
    assert figures.schedules == len(seeds)


@pytest.mark.parametrize("seeds", chunks(60, AT_A_TIME, few=10), ids=str)
def test_whatever_fails_and_whoever_sets_clocks_each_due_time_is_decided_once(seeds: range) -> None:
    figures = play_chunk(range(TIMED + seeds.start, TIMED + seeds.stop))

    assert figures.failed == []
    assert figures.happened["SetClock"] > 0


@pytest.mark.parametrize("seeds", chunks(120, AT_A_TIME), ids=str)
def test_whatever_fails_each_problem_is_told_and_each_act_is_sealed(seeds: range) -> None:
    figures = play_chunk(range(TOLD + seeds.start, TOLD + seeds.stop))

    assert figures.failed == []
    assert figures.happened["Sent"] > 0


@pytest.mark.parametrize("seeds", chunks(120, AT_A_TIME), ids=str)
def test_whatever_fails_the_report_of_the_night_is_sent_once_a_day(seeds: range) -> None:
    figures = play_chunk(range(REPORTED + seeds.start, REPORTED + seeds.stop))

    assert figures.failed == []
    assert figures.happened["Reported"] > 0


@pytest.mark.parametrize("seeds", chunks(300, AT_A_TIME), ids=str)
def test_however_settings_differ_everything_is_taken_in_and_tried_as_often_as_it_should_be(seeds: range) -> None:
    figures = play_chunk(range(VARIED + seeds.start, VARIED + seeds.stop))

    assert figures.failed == []


@pytest.mark.parametrize("seeds", chunks(300, AT_A_TIME), ids=str)
def test_whoever_leads_each_request_is_answered_once_and_its_act_is_done_with_it(seeds: range) -> None:
    figures = play_chunk(range(REQUESTED + seeds.start, REQUESTED + seeds.stop))

    assert figures.failed == []
    assert figures.happened["Answered"] > figures.happened["TakeBack"] > 0


@pytest.mark.parametrize("seeds", chunks(300, AT_A_TIME), ids=str)
def test_each_step_is_tried_as_often_as_it_says_and_gone_past_where_it_may(seeds: range) -> None:
    figures = play_chunk(range(STEPWISE + seeds.start, STEPWISE + seeds.stop))

    assert figures.failed == []
    assert figures.happened["WentPast"] > 0
    assert figures.happened["OutsideRows"] > 0


@pytest.mark.parametrize("seeds", chunks(300, AT_A_TIME), ids=str)
def test_each_step_begins_where_its_pool_is_served_and_nowhere_that_is_drained(seeds: range) -> None:
    figures = play_chunk(range(POOLED + seeds.start, POOLED + seeds.stop))

    assert figures.failed == []
    assert figures.happened["Drained"] > 0


@pytest.mark.parametrize("seeds", chunks(200, AT_A_TIME), ids=str)
def test_whatever_fails_no_more_are_begun_in_a_minute_than_may_be_and_what_has_priority_comes_first(
    seeds: range,
) -> None:
    figures = play_chunk(range(PACED + seeds.start, PACED + seeds.stop))

    assert figures.failed == []
    assert figures.happened["Begun slowly"] > 0


@pytest.mark.parametrize("seeds", chunks(300, AT_A_TIME), ids=str)
def test_whatever_fails_what_is_shown_of_a_step_is_the_newest_of_what_it_writes_and_no_secret(seeds: range) -> None:
    figures = play_chunk(range(SHOWN + seeds.start, SHOWN + seeds.stop))

    assert figures.failed == []
    assert figures.happened["Shown"] > figures.happened["Dropped"] > 0


@pytest.mark.parametrize("seeds", chunks(200, AT_A_TIME, few=15), ids=str)
def test_each_number_of_rows_is_judged_by_what_the_step_has_learned(seeds: range) -> None:
    figures = play_chunk(range(LEARNING + seeds.start, LEARNING + seeds.stop))

    assert figures.failed == []
    assert figures.happened["Learned"] > figures.happened["Unusual"] > 0
    assert figures.happened["Silent"] > 0


@pytest.mark.parametrize("seeds", chunks(200, AT_A_TIME), ids=str)
def test_whatever_fails_each_question_is_answered_once_and_nothing_behind_it_begins_before(seeds: range) -> None:
    figures = play_chunk(range(QUESTIONED + seeds.start, QUESTIONED + seeds.stop))

    assert figures.failed == []
    assert figures.happened["Question confirmed"] > 0
    assert figures.happened["Question expired"] > 0


@pytest.mark.parametrize("seeds", chunks(300, AT_A_TIME), ids=str)
def test_whatever_befalls_agents_and_their_wires_nothing_is_begun_twice_and_lost_means_lost(seeds: range) -> None:
    figures = play_chunk(range(CARRIED + seeds.start, CARRIED + seeds.stop))

    assert figures.failed == []
    assert figures.happened["Told an agent"] > 0
    assert figures.happened["Question lost"] > 0


@pytest.mark.full
def test_what_once_broke_a_law_does_so_no_more() -> None:
    said = (Path(__file__).parent / "regressions.txt").read_text(encoding="utf-8").splitlines()
    seeds = [int(line.split()[0]) for line in said if line and not line.startswith("#")]

    assert [(seed, play(script_of(seed), examine=True).message) for seed in seeds] == [(seed, "") for seed in seeds]


@pytest.mark.full
def test_a_seed_always_tells_the_same_story() -> None:
    told = "from tests.sim.playing import play; from tests.sim.chance import script_of\n"
    told += "print([play(script_of(seed)).world.fingerprint for seed in (3, 4, 5)])"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", told],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": hashes, "PYTHONPATH": str(ROOT)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for hashes in ("1", "2")
    }

    assert len(outputs) == 1


@pytest.mark.full
def test_a_script_that_breaks_a_law_is_made_small_and_printed_as_it_can_be_typed() -> None:
    forgets = next(mutant for mutant in MUTANTS if mutant.name == "OnLost is forgotten")
    with made(forgets):
        broken = next(played for played in map(play, map(script_of, range(SCHEDULES))) if played.law is not None)
        small = smallest(broken.script, str(broken.law))
        again = eval(" ".join(lines(small)), vars(scripts))
        found = play(again)

    assert isinstance(again, Script)
    assert len(small.events) < len(broken.script.events)
    assert found.law == broken.law
    assert play(again).message == ""

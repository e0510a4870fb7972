"""The options of `schedule add` and `set` are the columns of Schedule, all of them, and '' empties one."""

from __future__ import annotations

import click
import pytest

from batchctl.cli.definitions.sql_job_commands import WallTime
from batchctl.cli.log_command import Moment
from batchctl.cli.scheduling.calendar_commands import Day
from batchctl.cli.scheduling.schedule_changes import Emptied, _given, add, change
from batchctl.cli.scheduling.schedule_commands import LocalTime
from batchctl.domain.scheduling.schedule_columns import DEFAULTS
from batchctl.store.tables import schedule

OURS = {"Schedule_id", "NextRunTime", "DecidedUntil", "TimingHash", "Origin", "z_inserted", "z_updated"}
"""Columns that people do not write."""


@pytest.mark.parametrize(
    ("command", "otherwise"), [(add, {"ScheduleName", "Enabled"}), (change, {"ScheduleName", "Enabled"})]
)
def test_every_column_that_people_write_has_its_option(command: click.Command, otherwise: set[str]) -> None:
    options = {str(option.name): option.opts[0] for option in command.params if isinstance(option, click.Option)}
    written = {str(column.name) for column in schedule.c} - OURS

    assert written - set(options) == otherwise
    assert options["RunDaysOfMonth"] == "--run-days-of-month"
    assert options["EveryN"] == "--every-n"
    assert options["ScheduleType"] == "--type"


def test_the_defaults_are_those_of_the_database() -> None:
    found = {
        str(column.name): str(column.server_default.arg).strip("'")  # type: ignore[attr-defined] # all of them are texts
        for column in schedule.c
        if column.server_default is not None and column.name not in OURS
    }

    assert found == {name: str(value) for name, value in DEFAULTS.items()}


def test_an_empty_value_empties_and_nothing_said_changes_nothing() -> None:
    number = Emptied(click.IntRange(1, 5))

    assert (number.convert("", None, None), number.convert("3", None, None)) == ("", 3)
    with pytest.raises(click.BadParameter):
        number.convert("9", None, None)
    assert _given({"RunDays": "", "Jitter": 0, "EveryN": None}) == {"RunDays": None, "Jitter": 0}


@pytest.mark.parametrize(
    ("option", "word", "said"),
    [
        ("ScheduleType", "dayly", "'dayly' is not one of interval, daily, weekly,"),
        ("GapPolicy", "skp", "'skp' is not one of run, skip. Did you mean 'skip'?"),
        ("GapPolicy", "zzz", "'zzz' is not one of run, skip."),
    ],
)
def test_a_misspelt_word_is_told_which_is_meant(option: str, word: str, said: str) -> None:
    (kind,) = [one.type for one in add.params if one.name == option]
    with pytest.raises(click.BadParameter) as refused:
        kind.convert(word, None, None)

    assert refused.value.message.startswith(said)
    assert ("Did you mean" in refused.value.message) is (word != "zzz")


@pytest.mark.parametrize(
    ("kind", "written", "said"),
    [
        (WallTime(), "2026-11-31 02:00", "'2026-11-31 02:00' is not a time: November 2026 has 30 days; write one such"),
        (LocalTime(), "2026-02-30", "'2026-02-30' is not a time: February 2026 has 28 days; write one such as"),
        (Moment(), "2026-02-30", "'2026-02-30' is not a time: February 2026 has 28 days; write one in UTC, such as"),
        (Day(), "2026-02-30", "'2026-02-30' is not a day: February 2026 has 28 days; write one such as 2026-12-25."),
        (LocalTime(), "tomorrow", "'tomorrow' is not a time; write one such as"),
    ],
)
def test_a_day_that_there_is_not_is_told_why(kind: click.ParamType[object], written: str, said: str) -> None:
    with pytest.raises(click.BadParameter) as refused:
        kind.convert(written, None, None)

    assert refused.value.message.startswith(said)

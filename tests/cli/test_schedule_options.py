"""The options of `schedule add` and `set` are the columns of Schedule, all of them, and '' empties one."""

from __future__ import annotations

import click
import pytest

from batchctl.cli.schedule_changes import Emptied, _given, add, change
from batchctl.domain.schedule_columns import DEFAULTS
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

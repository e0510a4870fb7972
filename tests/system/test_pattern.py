"""The populator that reads file names."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.plugin_api import CannotPopulate, Populated
from batchctl.populators.pattern import PatternPopulator
from tests.system.test_populating import BATCH, ROW


def populate(file_name: str | None, pattern: str | None = None, data: str | None = None) -> Populated:
    row = replace(ROW, file_name=file_name, data=data)
    return PatternPopulator().populate(row, replace(BATCH, populator_args=pattern))


def check(pattern: str | None) -> list[str]:
    return [finding.message for finding in PatternPopulator().check(replace(BATCH, populator_args=pattern))]


@pytest.mark.parametrize(
    ("file_name", "directory", "name"),
    [
        ("/in/a.csv", "/in", "a.csv"),
        ("/a.csv", "/", "a.csv"),
        ("a.csv", None, "a.csv"),
        ("in/deep/a.csv", "in/deep", "a.csv"),
        (r"C:\in\a.csv", r"C:\in", "a.csv"),
        (r"\\server\share\a b.csv", r"\\server\share", "a b.csv"),
        (r"mixed/x\a.csv", "mixed/x", "a.csv"),
        ("/in/", "/in", ""),
        ("", None, ""),
    ],
)
def test_without_a_pattern_directory_name_and_data_are_taken(file_name: str, directory: str | None, name: str) -> None:
    assert populate(file_name, data="D").data == (directory, name, "D", None, None, None)


def test_without_a_file_name_only_data_is_there() -> None:
    assert populate(None, data="D") == Populated(data=(None, None, "D", None, None, None))


def test_named_groups_fill_and_override() -> None:
    pattern = r"data_(?P<CycleKey>\d{8})_(?P<Data4>\d{8})\.(?P<Data2>csv)$"

    populated = populate("/in/data_20261101_20261130.csv", pattern, "D")

    assert populated == Populated(data=("/in", "csv", "D", "20261130", None, None), cycle_key="20261101")


def test_the_pattern_is_searched_in_the_name_only() -> None:
    with pytest.raises(CannotPopulate, match=r"the file name 'a\.csv' does not match 'in'"):
        populate("/in/a.csv", "in")


def test_a_group_that_took_no_part_leaves_the_plain_value() -> None:
    assert populate("/in/a.csv", "a(?P<Data2>x)?").data[1] == "a.csv"


def test_a_group_may_be_empty_text() -> None:
    assert populate("/in/a.csv", "a(?P<Data2>x*)").data[1] == ""


def test_without_a_file_name_a_pattern_cannot_be_searched() -> None:
    with pytest.raises(CannotPopulate, match="there is no FileName to search for 'x'"):
        populate(None, "x")


def test_an_invalid_pattern_is_a_reason_with_its_position() -> None:
    reason = "'data_(' is not a regular expression: missing ), unterminated subpattern at position 5"

    assert check("data_(") == [reason]
    with pytest.raises(CannotPopulate) as refused:
        populate("/in/a.csv", "data_(")
    assert str(refused.value) == reason


def test_check_names_unknown_groups_with_a_suggestion() -> None:
    assert check(r"(?P<Data1>a)(?P<Dta2>b)(?P<CycelKey>c)") == [
        "the group 'Dta2' fills nothing. Did you mean 'Data2'?",
        "the group 'CycelKey' fills nothing. Did you mean 'CycleKey'?",
    ]


@pytest.mark.parametrize("pattern", [None, "", r"(?P<Data1>a)(?P<Data6>b)(?P<CycleKey>c)", "no groups"])
def test_check_finds_nothing_wrong_with_a_good_pattern(pattern: str | None) -> None:
    assert check(pattern) == []


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_name_and_any_pattern_populate_or_refuse(file_name: str, pattern: str) -> None:
    reasons: list[str] = []
    try:
        populated = [populate(file_name, pattern)]
    except CannotPopulate as error:
        populated, reasons = [], [str(error)]

    assert len(populated) + len(reasons) == 1
    assert all(reasons)
    # What check finds wrong with the pattern itself, populating refuses too.
    assert not populated or all("is not a regular expression" not in finding for finding in check(pattern))


def searched(on: str | None, file_name: str | None = "/in/dir_7/name.csv", data: str | None = "d_7") -> str | None:
    row = replace(ROW, file_name=file_name, data=data, entity="E_7")
    batch = replace(BATCH, populator_args=r"(?P<Data4>\w+)(_7|\.csv)", populator_on=on)
    return PatternPopulator().populate(row, batch).data[3]


def test_populator_on_says_what_is_searched() -> None:
    found = [searched(on) for on in (None, "filename", "data", "Entity")]
    assert found == ["name", "dir", "d", "E"]
    assert searched("data", file_name=None) == "d"


def test_what_is_searched_and_is_not_there_is_refused() -> None:
    with pytest.raises(CannotPopulate, match="there is no Data to search for"):
        searched("data", data=None)
    with pytest.raises(CannotPopulate, match="Data 'x' does not match"):
        searched("data", data="x")
    with pytest.raises(CannotPopulate, match="PopulatorOn 'folder' is none of filename, data, entity"):
        searched("folder")


def test_check_names_a_populator_on_that_is_no_word_of_it() -> None:
    strange = replace(BATCH, populator_args="x", populator_on="folder")
    assert [one.column for one in PatternPopulator().check(strange)] == ["PopulatorOn"]


def test_only_who_searches_a_file_name_needs_one() -> None:
    needs = [
        replace(BATCH, populator_args="x", populator_on=on).searches_file_name for on in (None, "FileName", "data")
    ]
    assert needs == [True, True, False]

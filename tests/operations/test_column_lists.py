"""A column list states each column once: for people, and for programs."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from batchctl.domain.rows import WatchId
from batchctl.domain.status import InstanceStatus
from batchctl.domain.unreadable import UnreadableRow
from batchctl.operations.column_lists import Column, ColumnList, by_row_id, in_csv, in_json, record
from tests.house.source import module_names


@dataclass(frozen=True, slots=True)
class Work:
    """A record with a column of each kind."""

    watch_id: WatchId
    status: InstanceStatus
    data: tuple[str | None, str | None]
    retry_wait: timedelta


NIGHTLY = Work(WatchId(7), InstanceStatus.READY, ("a", None), timedelta(minutes=2))
WORKS = ColumnList[Work](
    "Works",
    {
        **record(Work, data={"Data": lambda one: one.data}),
        "Exact": Column(lambda one: one.retry_wait, timedelta.total_seconds),
    },
    {"wait": "RetryWait", "status": "Status", "first": lambda one: one.data[0]},
    by_row_id,
)


def test_programs_get_columns_and_people_what_stands_under_headings() -> None:
    assert WORKS.as_json([NIGHTLY]) == [
        {"WatchId": 7, "Status": "ready", "Data": ["a", None], "RetryWait": 120, "Exact": 120.0}
    ]
    assert WORKS.cells([NIGHTLY]) == [[timedelta(minutes=2), InstanceStatus.READY, "a"]]
    assert list(record(Work)) == ["WatchId", "Status", "Data1", "Data2", "RetryWait"]


def test_a_list_may_hold_the_row_of_another() -> None:
    held = ColumnList[tuple[int, Work]]("Held", WORKS.within(lambda one: one[1]))

    assert held.as_json([(1, NIGHTLY)]) == WORKS.as_json([NIGHTLY])


def test_rows_that_cannot_be_read_have_the_columns_of_the_others_and_their_own() -> None:
    broken = UnreadableRow(table="Work", row_id=9, column="Data1", wording="no text", mend="correct it")

    (alone,), (_, behind) = WORKS.as_json([], [broken]), WORKS.as_json([NIGHTLY], [broken])

    assert isinstance(alone, dict)
    assert isinstance(behind, dict)
    assert (alone["Work_id"], alone["Next"], alone["Unreadable"]) == (9, "correct it", broken.message)
    assert {**dict.fromkeys(WORKS.columns), **alone} == behind
    assert WORKS.header == [*WORKS.columns, *(name for name in alone if name != "Work_id")]


def test_values_are_written_as_json_has_them() -> None:
    at = datetime(2026, 11, 28, 6, tzinfo=UTC)

    assert in_json([at, date(2026, 11, 28), timedelta(seconds=1.5), InstanceStatus.READY, True, None]) == [
        *("2026-11-28T06:00:00.000Z", "2026-11-28", 1, "ready", True, None)
    ]


def test_every_heading_that_names_a_column_names_one_of_its_list() -> None:
    lists = [
        one
        for name in module_names()
        if name.startswith("batchctl.operations")
        for one in [*vars(importlib.import_module(name)).values()]
        if isinstance(one, ColumnList)
    ]

    assert len(lists) > 20
    for one in lists:
        assert {name for name in one.headings.values() if isinstance(name, str)} <= {*one.columns}, one.title


def test_what_a_spreadsheet_would_take_for_a_formula_is_a_text_in_csv() -> None:
    for text in ("=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "-"):
        assert in_csv(text) == f"'{text}"
    for value in ("a=1", "-12.5", "+3", "", -5, 1.5, None):
        assert in_csv(value) == value


def test_sql_that_begins_with_a_comment_is_left_as_it_is_in_csv() -> None:
    for text in ("-- loads it", "--loads\nSELECT (1) || 'x' FROM t", "---- été\n=1"):
        assert in_csv(text) == text
    for text in (
        *("--", "--1", "-- 2+3", "--\nSELECT 1", "--'x'", "-- @a", "- a comment of nothing"),
        *("--cmd|' /C calc'!A0", "-- a\ncmd|' /C calc'!A0", "--WEBSERVICE(A1)"),
    ):
        assert in_csv(text) == f"'{text}"

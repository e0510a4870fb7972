"""Whether a step has loaded as many rows as it should."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.definitions.row_guard import (
    Band,
    Counts,
    band_of,
    counted,
    days_like,
    expected,
    judged,
    message,
    stated_in,
    usual,
    warning_in,
    wrong_number,
)
from batchctl.domain.outcomes import StepOutcome
from batchctl.domain.rows import BatchId, Step
from batchctl.domain.rule_texts import row_bound
from batchctl.domain.status import OnRows

FRIDAY = datetime(2026, 11, 27, 23, tzinfo=UTC)
STEADY = (100, 101, 99, 102, 98, 100, 103, 97, 100, 101)


def step(least: int | str | None = None, most: int | str | None = None, on_rows: OnRows | None = None) -> Step:
    return Step(
        batch_id=BatchId(1),
        seq=10,
        name="load",
        process_type="sql",
        rows_min=least,
        rows_max=most,
        on_rows=on_rows,
    )


def loaded(rows: int | None, output: str | None = None) -> StepOutcome:
    return StepOutcome(succeeded=True, rows_affected=rows, output=output)


@pytest.mark.parametrize(
    ("least", "most", "rows", "said"),
    [
        (10, None, 10, None),
        (10, None, 9, "9, and has to be 10 or more"),
        (None, 5, 5, None),
        (None, 5, 6, "6, and has to be 5 or fewer"),
        (10, 20, 21, "21, and has to be 10 to 20"),
        (0, None, 0, None),
        (1, None, None, "it says none, and has to be 1 or more"),
    ],
)
def test_a_number_outside_its_bounds_is_wrong(
    least: int | None, most: int | None, rows: int | None, said: str | None
) -> None:
    assert wrong_number(step(least, most), loaded(rows), None) == said


def test_a_line_that_says_no_number_is_shown() -> None:
    wrong = loaded(None, "batchctl-rows: 5\nbatchctl-rows: x\n")

    assert wrong_number(step(1), counted(wrong), None) == "'batchctl-rows: x' is no number, and has to be 1 or more"


@pytest.mark.parametrize(
    ("output", "rows"),
    [
        ("batchctl-rows: 7", 7),
        ("first\n  batchctl-rows:8  \r\nlast", 8),
        ("batchctl-rows: 1\nbatchctl-rows: 2\n", 2),
        ("batchctl-rows: -3", None),
        ("batchctl-rows:", None),
        ("not batchctl-rows: 7", None),
        (None, None),
    ],
)
def test_the_last_line_that_says_so_is_the_number_of_a_command(output: str | None, rows: int | None) -> None:
    assert counted(loaded(None, output)).rows_affected == rows


def test_what_the_database_says_counts_for_more() -> None:
    assert counted(loaded(3, "batchctl-rows: 7")).rows_affected == 3
    assert stated_in("no such line") is None


@pytest.mark.parametrize(
    "output",
    ["batchctl-rows: y" + " " * 1_000_000 + "x", "batchctl-rows:" * 200_000, "x batchctl-rows:\n" * 100_000],
)
def test_a_long_line_holds_up_no_controller(output: str) -> None:
    # What reads it again and again does not come to its end.
    assert counted(loaded(None, output)).rows_affected is None


def test_only_plain_digits_are_a_number() -> None:
    assert counted(loaded(None, "batchctl-rows: \u0665")).rows_affected is None


def test_fewer_than_ten_runs_say_nothing() -> None:
    learns = step("learned", "learned")
    few = Counts(STEADY[:9], "Monday to Friday")

    assert wrong_number(learns, loaded(0), few) is None
    assert expected(learns, few) == (
        "nothing is learned yet: 9 of the 10 runs on Monday to Friday that have to be known"
    )


def test_a_learned_band_does_not_mind_single_odd_runs() -> None:
    odd = Counts((0, 100_000, *STEADY), "Monday to Friday")

    assert usual(odd.rows) == Band(90, 110, 12)
    assert wrong_number(step("learned", "learned"), loaded(50), odd) == "50, and has to be 90 to 110"
    assert wrong_number(step("learned"), loaded(5000), odd) is None
    assert wrong_number(step(None, "learned"), loaded(0), odd) is None


def test_one_bound_may_be_given_and_the_other_learned() -> None:
    known = Counts(STEADY, "Monday to Friday")

    assert band_of(step(5, "learned"), known) == Band(5, 110, 10)
    assert expected(step(5, "learned", OnRows.WARN), known) == (
        "5 to 110 (learned from 10 runs on Monday to Friday), else it warns"
    )
    assert expected(step(5, 9), known) == "5 to 9, else it fails"


def test_no_row_at_all_is_unusual_where_there_always_were_some() -> None:
    varied = (3, 90, 15, 200, 44, 7, 120, 66, 31, 9)

    assert usual(varied) is not None
    assert usual(varied).least == 1  # type: ignore[union-attr]
    assert usual((*varied, 0)).least == 0  # type: ignore[union-attr]


@given(st.lists(st.integers(0, 10**12), min_size=10, max_size=80))
def test_what_is_usual_holds_the_median_and_has_no_end_below_zero(rows: list[int]) -> None:
    band = usual(rows)

    assert band is not None
    assert band.least is not None
    assert 0 <= band.least
    assert band.covers(sorted(rows[:60])[len(rows[:60]) // 2])
    assert band.runs == min(len(rows), 60)


@given(st.integers(20, 10**9))
def test_a_number_that_is_always_the_same_leaves_a_tenth_of_room(rows: int) -> None:
    band = usual([rows] * 10)

    assert band is not None
    assert band.covers(round(rows * 1.05))
    assert not band.covers(rows * 2)


def test_a_failure_and_a_warning_say_the_number_the_band_and_the_newest_five() -> None:
    learns, known = step("learned"), Counts(STEADY, "Monday to Friday")
    said = message(wrong_number(learns, loaded(3), known) or "", learns, known)

    failed = judged(learns, loaded(3), said)
    assert (failed.succeeded, failed.error_code) == (False, "rows")
    assert failed.message == (
        "wrong number of rows: 3, and has to be 90 or more, learned from 10 runs on Monday to Friday"
        " (the newest on Monday to Friday: 100, 101, 99, 102, 98)"
    )
    warned = judged(step("learned", on_rows=OnRows.WARN), loaded(3), said)
    assert warned.succeeded
    assert warning_in(warned.message) == said
    assert warning_in("nothing of the kind") is None


@pytest.mark.parametrize(
    ("cycle_key", "days"),
    [
        ("2026-11-27", "Monday to Friday"),
        ("2026-11-28", "Saturdays and Sundays"),
        ("2026-11-29T05", "Saturdays and Sundays"),
        ("week 7", "Monday to Friday"),
        (None, "Monday to Friday"),
    ],
)
def test_the_business_date_says_which_days_are_alike_else_the_day_in_utc(cycle_key: str | None, days: str) -> None:
    assert days_like(cycle_key, FRIDAY) == days


@pytest.mark.parametrize(("text", "bound"), [("0", 0), (" 12 ", 12), ("Learned", "learned"), (None, None)])
def test_a_bound_is_a_number_or_the_word(text: str | None, bound: int | str | None) -> None:
    assert row_bound("RowsMin", text) == bound


@pytest.mark.parametrize("text", ["-1", "1.5", "many", "", "1e3", "9" * 19])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^RowsMax is '.*', and has to be a number of rows, 0 or more, or the word"):
        row_bound("RowsMax", text)


def test_no_number_could_ever_be_right() -> None:
    with pytest.raises(ValueError, match="RowsMin is 9, and RowsMax is less: 3"):
        step(9, 3)

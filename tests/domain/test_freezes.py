"""What a freeze is of, when it ends, and what tags are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from batchctl.domain.operators import freezes
from batchctl.domain.operators.freezes import Scope
from batchctl.domain.operators.release import staggered, superseded
from batchctl.domain.rows import NEVER, BatchDefinition, BatchId, Freeze, FreezeId, InstanceId, tags_of

NOW = datetime(2026, 11, 22, 5, tzinfo=UTC)
HOUR = timedelta(hours=1)


def frozen(number: int, until: datetime | None) -> Freeze:
    return Freeze(freeze_id=FreezeId(number), reason="r", actor="a", since=NOW, until=until)


@pytest.mark.parametrize(
    ("written", "tags", "is_wrong"),
    [
        (None, (), False),
        ("nightly", ("nightly",), False),
        (" a b ,c", ("a b", "c"), False),
        ("a,,b", ("a", "b"), True),
        ("", (), True),
        ("a,A", ("a", "A"), True),
        ("a\u200b", ("a\u200b",), True),
    ],
)
def test_tags_stand_between_commas(written: str | None, tags: tuple[str, ...], is_wrong: bool) -> None:
    assert tags_of(written) == tags
    assert (freezes.tag_finding(written) is not None) is is_wrong


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("90s", NOW + timedelta(seconds=90)),
        (" 2 h ", NOW + 2 * HOUR),
        ("3d", NOW + timedelta(days=3)),
        ("2026-11-22 06:00", NOW + HOUR),
        ("2026-11-22T06:00:00Z", NOW + HOUR),
        ("2026-11-22 07:00+01:00", NOW + HOUR),
        ("2h30", None),
        ("tomorrow", None),
        ("", None),
        ("9999-12-31T23:59:59-23:00", None),
        ("123456d", None),
    ],
)
def test_an_end_is_a_length_of_time_or_a_time(text: str, end: datetime | None) -> None:
    assert freezes.end_of(text, NOW) == end


def test_of_several_freezes_the_one_that_lasts_longest_speaks_and_the_next_end_wakes() -> None:
    found = frozen(1, NOW + HOUR), frozen(2, NOW), frozen(3, NOW + 2 * HOUR)
    batch = BatchDefinition(batch_id=BatchId(1), name="B", entity="B", freezes=found)

    assert freezes.holding(batch, NOW) == found[2]
    assert freezes.holding(batch, NOW + 2 * HOUR) is None
    assert freezes.next_end([batch], NOW) == NOW + HOUR
    assert freezes.longest([*found, frozen(4, None), frozen(5, None)]) == frozen(4, None)


def test_a_scope_is_the_same_whatever_the_letter_case_of_its_tag() -> None:
    assert Scope(tag=" Night").is_of(Freeze(freeze_id=FreezeId(1), reason="r", actor="a", since=NOW, tag="night"))
    assert not Scope().is_of(Freeze(freeze_id=FreezeId(1), reason="r", actor="a", since=NOW, tag="night"))
    assert not Scope(batch="b").covers("B", ())
    assert (str(Scope()), str(Scope(batch="B"))) == ("everything", "batch B")


def test_a_throttle_spreads_evenly_and_the_newest_supersedes_the_others() -> None:
    assert list(staggered(3, 2, NOW)) == [NOW, NOW + HOUR / 120, NOW + HOUR / 60]
    assert superseded([InstanceId(1), InstanceId(2), InstanceId(5)]) == {1, 2}
    assert superseded([]) == frozenset()


def test_of_an_end_that_is_no_time_nothing_is_said_but_that() -> None:
    said = freezes.wording(frozen(1, NEVER))

    assert "until somebody thaws it, for its UntilTime holds no time, by a: r" in said
    assert "9999" not in said

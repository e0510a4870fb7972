"""When a controller counts as dead, and how long it may trust itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain import liveness
from batchctl.domain.liveness import Rhythm, Sighting
from batchctl.domain.rows import LONG_AGO, ControllerRow
from batchctl.domain.status import ControllerStatus

SECONDS = st.floats(min_value=0.01, max_value=86400).map(lambda seconds: timedelta(seconds=seconds))
ROW = ControllerRow(
    row_id=1,
    name="c1",
    status=ControllerStatus.RUNNING,
    host="h",
    pid=None,
    pid_start=None,
    boot_id=None,
    slots=1,
    heartbeat_seq=7,
    heartbeat=LONG_AGO,
    version=None,
    started_at=LONG_AGO,
)


def test_by_default_a_controller_trusts_itself_for_four_minutes() -> None:
    assert Rhythm().lease == timedelta(minutes=4)


@given(SECONDS, SECONDS, SECONDS)
def test_who_trusts_itself_is_never_taken_for_dead(beat: timedelta, timeout: timedelta, grace: timedelta) -> None:
    rhythm = Rhythm(heartbeat_interval=beat, orphan_timeout=timeout, stop_grace=grace)

    assert timedelta(0) < rhythm.lease < timeout
    # What is leashed is stopped in the time between, as far as half of the timeout suffices for it.
    left = timeout - rhythm.lease + timedelta(microseconds=1)
    assert left >= min(grace + beat, timeout / 2)


def test_only_a_sign_of_life_that_changes_is_one() -> None:
    first = liveness.seen(None, ROW, 10.0)

    assert first == Sighting(7, 10.0)
    assert liveness.seen(first, ROW, 20.0) is first
    assert liveness.seen(first, replace(ROW, heartbeat_seq=8), 20.0) == Sighting(8, 20.0)
    assert liveness.seen(first, replace(ROW, heartbeat_seq=6), 20.0) == Sighting(6, 20.0), "it has begun anew"


@pytest.mark.parametrize(("now", "expected"), [(309.9, False), (310.0, True), (1e9, True)])
def test_silence_is_measured_from_when_it_was_first_seen(now: float, expected: bool) -> None:
    assert liveness.is_overdue(Sighting(7, 10.0), ROW, now, Rhythm()) is expected


@given(SECONDS, SECONDS)
def test_nobody_is_overdue_who_still_trusts_itself_however_the_watcher_is_set(
    own: timedelta, theirs: timedelta
) -> None:
    watcher, watched = Rhythm(orphan_timeout=own), Rhythm(orphan_timeout=theirs)
    row = replace(ROW, orphan_timeout=theirs)

    assert liveness.patience(row, watcher) == max(own, theirs)
    assert not liveness.is_overdue(Sighting(7, 0.0), row, watched.lease.total_seconds(), watcher)


def test_where_a_row_says_nothing_the_watchers_own_setting_counts() -> None:
    assert liveness.patience(ROW, Rhythm(orphan_timeout=timedelta(seconds=7))) == timedelta(seconds=7)

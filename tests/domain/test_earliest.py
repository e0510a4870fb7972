"""When something may start at the earliest, said of all kinds of gates together."""

from __future__ import annotations

from datetime import timedelta

import pytest

from batchctl.domain.earliest import earliest
from batchctl.domain.gates import Ends, Gate
from batchctl.testing import FakeClock

NOW = FakeClock().now()
SOON, LATE = NOW + timedelta(minutes=1), NOW + timedelta(minutes=2)
PASSED = Gate("enabled")
TIMED, LATER = (Gate("NextRunTime", "waits", ends=Ends.TIME, until=at) for at in (SOON, LATE))
HELD, FAILED = Gate("resource r", "held", ends=Ends.HOLDER), Gate("status", "failed")
RETRIED = Gate("failure policy", "waits", ends=Ends.HOLDER, until=LATE)


@pytest.mark.parametrize(
    ("gates", "said"),
    [
        ([PASSED], "now"),
        ([PASSED, TIMED], f"{SOON:%Y-%m-%d %H:%M:%S} UTC"),
        ([LATER, TIMED], f"{LATE:%Y-%m-%d %H:%M:%S} UTC"),
        ([HELD], "when what holds it ends"),
        ([FAILED], "when a person acts"),
        ([FAILED, HELD], "when what holds it ends and when a person acts"),
        ([TIMED, FAILED], f"not before {SOON:%Y-%m-%d %H:%M:%S} UTC, when a person acts"),
        ([RETRIED, PASSED], f"not before {LATE:%Y-%m-%d %H:%M:%S} UTC, when what holds it ends"),
    ],
)
def test_times_add_up_and_what_has_no_time_is_said_besides(gates: list[Gate], said: str) -> None:
    assert str(earliest(gates)) == said


def test_a_time_is_there_whenever_any_gate_knows_one() -> None:
    assert earliest([FAILED, TIMED]).at == SOON
    assert earliest([FAILED]).at is None
    assert earliest([PASSED]).is_now

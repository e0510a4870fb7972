"""The clock of a controller follows the database's, however late the answers come."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from batchctl.system import clock as clock_module
from batchctl.system.clock import MOST_DRIFT, SystemClock

SERVER = datetime(2026, 11, 22, 3, 0, tzinfo=UTC)
"""What the server's clock shows when the host's monotonic one stands at zero."""


class Host:
    """A host whose wall clock is an hour wrong, and a server whose clock may be set."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.set_by = timedelta(0)

    def monotonic(self) -> float:
        return self.seconds

    def time(self) -> float:
        return (SERVER + timedelta(hours=1)).timestamp() + self.seconds

    def server(self) -> datetime:
        return SERVER + timedelta(seconds=self.seconds) + self.set_by

    def ask(self, clock: SystemClock, *, there: float, back: float) -> None:
        """Ask the server for its time, with so many seconds on the way there, and so many on the way back."""
        heard = clock.reading()
        self.seconds += there
        shown = self.server()
        self.seconds += back
        heard(shown)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    made = Host()
    monkeypatch.setattr(clock_module, "time", made)
    return made


def test_the_hosts_clock_counts_until_a_server_has_told_its_own(host: Host) -> None:
    clock = SystemClock()

    assert clock.now() == SERVER + timedelta(hours=1)
    host.ask(clock, there=0.0, back=0.0)
    assert clock.now() == SERVER


def test_an_answer_that_comes_late_does_not_set_the_clock_back(host: Host) -> None:
    clock = SystemClock()
    host.ask(clock, there=0.001, back=0.001)

    for _ in range(20):
        before = clock.now()
        host.ask(clock, there=0.001, back=0.5)
        assert clock.now() - before > timedelta(seconds=0.499)

    assert host.server() - clock.now() <= timedelta(seconds=0.002 + 20 * 0.501 * MOST_DRIFT)


def test_a_first_answer_that_came_late_is_made_good_by_the_next(host: Host) -> None:
    clock = SystemClock()
    host.ask(clock, there=0.001, back=2.0)
    assert host.server() - clock.now() == timedelta(seconds=2)

    host.ask(clock, there=0.001, back=0.001)

    assert host.server() - clock.now() <= timedelta(seconds=0.002)


def test_it_is_never_ahead_of_the_server(host: Host) -> None:
    clock = SystemClock()
    for there, back in [(0.3, 0.0), (0.0, 0.3), (1.0, 0.001), (0.001, 1.0), (0.05, 0.05)]:
        host.ask(clock, there=there, back=back)
        assert clock.now() <= host.server()


@pytest.mark.parametrize(
    "set_by", [timedelta(hours=-1), timedelta(seconds=-1), timedelta(seconds=1), timedelta(days=3)]
)
def test_a_server_whose_clock_was_set_is_believed_at_once(host: Host, set_by: timedelta) -> None:
    clock = SystemClock()
    host.ask(clock, there=0.001, back=0.001)
    host.set_by = set_by

    host.ask(clock, there=0.001, back=0.001)

    assert abs(host.server() - clock.now()) <= timedelta(seconds=0.002)


def test_a_clock_that_runs_slower_than_the_hosts_is_followed(host: Host) -> None:
    clock = SystemClock()
    for _ in range(1000):
        host.ask(clock, there=0.0005, back=0.0005)
        host.seconds += 1
        host.set_by -= timedelta(seconds=1) * MOST_DRIFT / 2
        assert abs(host.server() - clock.now()) <= timedelta(seconds=0.003)

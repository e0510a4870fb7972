"""A carrier that ends while its thread is being woken."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from threading import Event

from batchctl.system.remote.carrier import TURN, Carrier
from batchctl.system.runner import ThreadStepRunner
from tests.leftovers import end_supervisors


class SlowToWake(ThreadStepRunner):
    """A runner that is woken as slowly as by a thread that has to wait for its turn."""

    def __init__(self, state: Path) -> None:
        super().__init__(
            controller_id="c1",
            plugin_process=lambda: None,  # type: ignore[arg-type,return-value] # no step of this test is a job
            jobs={},
            connections={},
            secrets=str,
            slots=1,
            stop_grace=timedelta(seconds=1),
            state_directory=state,
        )
        self.is_closed, self.woken_closed = Event(), list[bool]()

    def wake(self) -> None:
        self.woken_closed.append(self.is_closed.wait(2 * TURN))
        super().wake()

    def close(self, *, leave: bool = False) -> None:
        self.is_closed.set()
        super().close(leave=leave)


def test_a_runner_that_is_closed_is_not_woken(tmp_path: Path) -> None:
    runner = SlowToWake(tmp_path)
    carrier = Carrier("mark", runner)
    carrier.close()
    carrier.recorded([])
    end_supervisors(tmp_path)

    assert runner.woken_closed == [False], "its descriptors may belong to others by then"

"""Steps for the runner under test: the handler is the test's own function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, ClassVar

from batchctl.domain.rows import HistoryId
from batchctl.plugin_api import Execution, Finding, JobEnd, Rendered, Step, StepContext, StepOutcome, StepRequest
from batchctl.ports import Finished, Report, Spawned
from batchctl.system.runner import ThreadStepRunner
from tests.system.watching import LIMIT

KEY = HistoryId(1)
WAIT = timedelta(seconds=LIMIT)


class Does:
    """A step handler that does what it is made with."""

    process_type: ClassVar[str] = "does"

    def __init__(self, act: Callable[[Execution], Any]) -> None:
        self._act = act

    def check(self, step: Step, context: StepContext) -> Sequence[Finding]:
        return ()

    def render(self, request: StepRequest) -> Rendered:
        return Rendered("", {})

    def execute(self, rendered: Rendered, execution: Execution) -> StepOutcome:
        answer: StepOutcome = self._act(execution)
        return answer


def start(runner: ThreadStepRunner, act: Callable[[Execution], Any], key: int = KEY) -> None:
    runner.start(HistoryId(key), Does(act), Rendered("", {}))


def finished(runner: ThreadStepRunner, key: int = KEY) -> Finished:
    """Wait for the end of a step, whatever is reported before."""
    while True:
        reports = runner.collect(WAIT)
        assert reports, f"nothing was reported within {LIMIT} seconds"
        for report in reports:
            if isinstance(report, Finished) and report.key == key:
                return report


def spawned(runner: ThreadStepRunner) -> Spawned:
    """Wait for the report that a process exists."""
    reports: Sequence[Report] = runner.collect(WAIT)
    assert isinstance(reports[0], Spawned)
    return reports[0]


def outcome_of(runner: ThreadStepRunner, act: Callable[[Execution], Any]) -> StepOutcome:
    start(runner, act)
    return finished(runner).outcome


def run_job(runner: ThreadStepRunner, name: str, /, **arguments: Any) -> JobEnd:
    """Run a job in a step and return its end as the handler sees it."""
    ends: list[JobEnd] = []

    def act(execution: Execution) -> StepOutcome:
        ends.append(execution.run_job(name, arguments))
        return StepOutcome(succeeded=True)

    outcome = outcome_of(runner, act)
    assert outcome.succeeded, outcome
    return ends[0]

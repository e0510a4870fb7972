"""What handlers are given in tests: an `Execution` for SQL, and the real runner for commands."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from batchctl.domain.rows import HistoryId
from batchctl.plugin_api import (
    CommandEnd,
    Connection,
    Execution,
    JobEnd,
    JsonValue,
    Rendered,
    StepHandler,
    StepOutcome,
)
from batchctl.ports import Finished
from batchctl.system.plugins.plugin_process import PluginProcess
from batchctl.system.runner import ThreadStepRunner

KEY = HistoryId(1)


@dataclass
class Alone:
    """An execution outside of any runner; commands and jobs end as told."""

    connections: Mapping[str, Connection] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    command_end: CommandEnd = field(default_factory=lambda: CommandEnd(exit_code=0))
    job_end: JobEnd = field(default_factory=lambda: JobEnd(succeeded=True))
    looks_until_stop: int | None = None
    asked: list[object] = field(default_factory=list)
    stops: list[Callable[[], None]] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def run_command(
        self, argv: Sequence[str], *, directory: str, environment: Mapping[str, str] | None = None
    ) -> CommandEnd:
        self.asked.append((list(argv), directory, dict(environment or {})))
        return self.command_end

    def run_job(self, name: str, arguments: Mapping[str, JsonValue]) -> JobEnd:
        self.asked.append((name, dict(arguments)))
        return self.job_end

    def secret(self, name: str) -> str:
        return self.secrets[name]

    def masked(self, text: str) -> str:
        return text

    def show(self, line: str) -> None:
        self.lines.append(line)

    def in_session(self, name: str) -> None:
        self.sessions.append(name)

    def on_stop(self, stop: Callable[[], None]) -> None:
        self.stops.append(stop)

    @property
    def stopping(self) -> bool:
        """Becomes true after it was looked at often enough."""
        if self.looks_until_stop is None:
            return False
        self.looks_until_stop -= 1
        return self.looks_until_stop < 0

    @property
    def must_end(self) -> bool:
        """Nothing is ended by force here."""
        return False


def run_for_real(
    handler: StepHandler,
    rendered: Rendered,
    secrets: Mapping[str, str] | None = None,
    connections: Mapping[str, Connection] | None = None,
) -> StepOutcome:
    """Let the product's runner carry out one step."""
    with tempfile.TemporaryDirectory() as state:
        runner = ThreadStepRunner(
            controller_id="a test",
            plugin_process=_no_process,
            jobs={},
            connections=connections or {},
            secrets=dict(secrets or {}).__getitem__,
            state_directory=Path(state),
        )
        try:
            runner.start(KEY, handler, rendered)
            while True:
                for report in runner.collect(timedelta(seconds=30)):
                    if isinstance(report, Finished):
                        return report.outcome
        finally:
            runner.close()


def _no_process() -> PluginProcess:
    raise AssertionError("no job is called here")


def as_execution(alone: Alone) -> Execution:
    """Let the type checker see that it is one."""
    return alone

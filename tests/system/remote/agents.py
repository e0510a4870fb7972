"""Agents with real runners and real processes, and what asks them as a controller would."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, ClassVar

from batchctl import __version__
from batchctl.domain.rows import BatchId, HistoryEntry, HistoryId, InstanceId
from batchctl.domain.status import Cause, HistoryStatus
from batchctl.plugin_api import Command, CommandEnd, Execution, Rendered, StepHandler, StepOutcome
from batchctl.ports import Finished, Report, StepRunner
from batchctl.system.clock import SystemClock
from batchctl.system.remote import wire
from batchctl.system.remote.agent import Agent, AgentMeans
from batchctl.system.remote.agent_folder import AgentFolder
from batchctl.system.remote.wire import AgentFacts, AgentToken, AskedStep, Message
from batchctl.system.runner import ThreadStepRunner
from tests.system.stepping import Does
from tests.system.watching import LIMIT

DATABASE = "database-of-the-test"
POOL = "burst"
GRACE = 0.5
TYPES = ("script", "waits")


class Script(Does):
    """A handler whose step is the shell command in its specification."""

    process_type: ClassVar[str] = "script"

    def __init__(self) -> None:
        super().__init__(lambda execution: StepOutcome(succeeded=False, message="the engine runs it by itself"))

    def is_one_command(self, rendered: Rendered) -> bool:
        return True

    def command(self, rendered: Rendered, execution: Execution) -> Command:
        return Command(["sh", "-c", str(rendered.spec["script"])], "/", {"PASSWORD": execution.secret("password")})

    def outcome(self, rendered: Rendered, end: CommandEnd) -> StepOutcome:
        return StepOutcome(
            succeeded=end.exit_code == 0,
            message=end.not_started or end.signal_name,
            return_code=end.exit_code,
            output=end.output,
            stopped=end.stopped,
        )


def _wait(execution: Execution) -> StepOutcome:
    until = time.monotonic() + LIMIT
    while not execution.stopping and time.monotonic() < until:
        Event().wait(0.02)
    return StepOutcome(succeeded=not execution.stopping, message="told to stop" if execution.stopping else "alone")


HANDLERS: Mapping[str, StepHandler] = {"script": Script(), "waits": Does(_wait)}


NOW = SystemClock().now


def an_agent(
    state: Path,
    boot: str = "boot-1",
    *,
    version: str = __version__,
    slots: int = 4,
    now: Callable[[], datetime] = NOW,
    types: tuple[str, ...] = TYPES,
    resources: Mapping[str, float] | None = None,
) -> Agent:
    """Return an agent of this host; one with another `boot` is the next start of it, or another worker."""
    facts = AgentFacts(
        boot=boot,
        version=version,
        host="far",
        user="somebody",
        slots=slots,
        stop_grace=GRACE,
        directory=str(state),
        python="python3",
        process_types=types,
        resources=resources or {},
    )
    return Agent(
        AgentMeans(
            facts=facts,
            prepare=_prepare,
            handler=HANDLERS.__getitem__,
            runner=partial(_runner, slots),
            folder=AgentFolder(state, boot),
            now=now,
        )
    )


def _runner(slots: int, controller: str, state: Path) -> StepRunner:
    return ThreadStepRunner(
        controller_id=controller,
        plugin_process=lambda: None,  # type: ignore[arg-type,return-value] # no step of these tests is a job
        jobs={},
        connections={},
        secrets={"password": "s3same"}.__getitem__,
        slots=slots,
        stop_grace=timedelta(seconds=GRACE),
        state_directory=state,
    )


def _prepare(database_id: str, asked: AskedStep) -> Message:
    del database_id
    rendered = Rendered(str(asked.step.data[0]), {"script": asked.step.data[0]})
    return {
        "step": wire.step_message(asked.step),
        "rendered": wire.rendered_message(rendered),
        "not_ready": None,
        "put_back": False,
        "goes_on_alone": True,
    }


class Asking:
    """Asks an agent as a controller does, straight; what is said goes through JSON, as over a wire."""

    def __init__(self, agent: Agent, controller: str) -> None:
        self.agent, self.controller = agent, controller
        self.carrier = str(self.ask("hello")["carrier"])
        self.said: list[str] = []
        """All that has gone over the wire, both ways."""
        self._behind = 0
        self._reports: list[Report] = []

    def ask(self, verb: str, **message: Any) -> Message:
        asked = json.dumps({"database": DATABASE, "controller": self.controller, "pool": POOL, **message})
        answered = json.dumps(self.agent.answer(verb, json.loads(asked)))
        if verb != "hello":
            self.said += [asked, answered]
        answer: Message = json.loads(answered)
        return answer

    def start(
        self, key: int, script: str, *, claim: int = 1, within: float = LIMIT, bound: bool = False, kind: str = "script"
    ) -> Message:
        """Have a step started, which is to be told within some seconds; its lease is as long."""
        return self.ask(
            "start",
            token=self.token(key, claim),
            type=kind,
            rendered={"text": script, "spec": {"script": script}, "brief": False},
            lease_bound=bound,
            carrier=self.carrier,
            until=time.monotonic() + within,
        )

    def token(self, key: int, claim: int = 1) -> Message:
        return AgentToken(DATABASE, HistoryId(key), claim).message

    def left(self, key: int, script: str, of: str, kind: str = "script") -> dict[str, Any]:
        """Return what is asked about a step that a dead controller has left."""
        entry = HistoryEntry(
            history_id=HistoryId(key),
            instance_id=InstanceId(1),
            batch_id=BatchId(1),
            seq=10,
            step_name="step",
            process_type=kind,
            attempt_no=1,
            claim_token=1,
            cause=Cause.AUTO,
            status=HistoryStatus.RUNNING,
            command_text=script,
            command_spec="{}",
            started_at=SystemClock().now(),
            claimed_by=of,
        )
        rendered: Message = {"text": script, "spec": {"script": script}, "brief": False}
        return {"entry": wire.entry_message(entry), "type": kind, "rendered": rendered}

    @property
    def heard(self) -> int:
        """Return the number of the last report that was heard."""
        return self._behind

    def news(
        self, behind: int, wait: float = 0.0, *, until: float | None = None, recorded: Sequence[int] = ()
    ) -> tuple[list[Report], int]:
        """Return the reports behind a number, and the number of the last one."""
        told = {"until": until, "recorded": [*recorded]}
        answer = self.ask("news", carrier=self.carrier, behind=behind, wait=wait, **told)
        reports: Any = answer["reports"]
        return [wire.report_of(each, SystemClock().now()) for each in reports], int(str(answer["last"]))

    def end_of(self, key: int) -> Finished:
        """Wait for the end of a step."""
        until = time.monotonic() + LIMIT
        while time.monotonic() < until:
            for each in self._reports:
                if isinstance(each, Finished) and each.key == key:
                    return each
            reports, self._behind = self.news(self._behind, 1.0)
            self._reports += reports
        raise AssertionError(f"step {key} has not ended")

    def reports_of(self, key: int) -> list[Report]:
        """Return what has been heard of a step."""
        return [each for each in self._reports if each.key == key]

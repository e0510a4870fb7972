"""Tries the agents of a pool, one after the other: what each has, how far its clock is off, and whether a step runs there."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from queue import Empty, SimpleQueue

from batchctl.agent_pools import MET_IN, pool_of
from batchctl.app import App
from batchctl.domain.errors import NotFound, Refused
from batchctl.domain.maintenance.lengths import for_people
from batchctl.domain.rows import (
    NO_DATA,
    BatchDefinition,
    BatchId,
    BatchInstance,
    HistoryId,
    InstanceId,
    IntakeId,
    Step,
)
from batchctl.domain.status import Cause, InstanceStatus
from batchctl.domain.text import did_you_mean, typed, visible
from batchctl.operations.column_lists import Alarming, ColumnList
from batchctl.ports import Finished, Report
from batchctl.system.remote import wire
from batchctl.system.remote.agent_folder import TRIAL
from batchctl.system.remote.agent_pool import AgentPool
from batchctl.system.remote.followed_agent import FollowedAgent, RemoteAttempt
from batchctl.system.remote.transport import UnreachableError
from batchctl.system.remote.wire import AgentToken, AskedStep, Message, Received

ENDED_IN = 20.0
"""Seconds within which a step that does nothing has ended."""
ASKED_IN = 5.0
CLOCK_OFF = timedelta(seconds=5)
"""By how much the clock of an agent may differ before that is told: nothing depends on it but what people read there."""
_INSTANCE, _CLAIM = InstanceId(1), 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTrial:
    """What was found of one agent."""

    name: str
    host: str | None = None
    user: str | None = None
    directory: str | None = None
    version: str | None = None
    slots: int
    resources: str | None = None
    clock_off: timedelta | None = None
    missing: tuple[str, ...] = ()
    """Types of steps for which this host has a handler, and the agent has none."""
    took: timedelta | None = None
    """From telling it to start a step that does nothing until its end was heard."""
    failure: str | None = None
    """Why no step runs there; None where one did."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what is to be known of an agent besides."""
        off, found = self.clock_off or timedelta(0), list[str]()
        if abs(off) > CLOCK_OFF:
            ahead = "ahead" if off > timedelta(0) else "behind"
            found.append(
                f"the clock of {self.name} is {for_people(abs(off))} {ahead}; its steps are timed by this one."
            )
        if self.missing:
            found.append(f"{self.name} has no handler for: {', '.join(self.missing)}.")
        return tuple(found)

    @property
    def outcome(self) -> str | Alarming:
        """Say whether a step runs there."""
        return "a step ran" if self.failure is None else Alarming(self.failure)


AGENTS = ColumnList[AgentTrial](
    "Agents",
    {
        "Agent": lambda one: one.name,
        "Host": lambda one: one.host,
        "User": lambda one: one.user,
        "Directory": lambda one: one.directory,
        "Version": lambda one: one.version,
        "Slots": lambda one: one.slots,
        "Resources": lambda one: one.resources,
        "ClockOffSecs": lambda one: one.clock_off,
        "MissingTypes": lambda one: list(one.missing),
        "TookMs": lambda one: None if one.took is None else round(one.took.total_seconds() * 1000, 1),
        "Failure": lambda one: one.failure,
    },
    {
        "agent": "Agent",
        "host": "Host",
        "user": "User",
        "folder": "Directory",
        "slots#": "Slots",
        "resources": "Resources",
        "ms#": "TookMs",
        "": lambda one: one.outcome,
    },
)


def try_pool(app: App, name: str) -> tuple[AgentTrial, ...]:
    """Return what was found of each agent; raises `NotFound` where the configuration has no such pool of agents."""
    given = app.settings.agent_pools.get(name.strip().lower())
    if given is None:
        near = visible(did_you_mean(name, app.settings.agent_pools))
        message = f"batchctl.toml has no pool '{visible(name)}' whose steps agents carry.{near}"
        example = f"[pools.{typed(name)}] with its kind and where its agents are reached (docs/agents.md)"
        raise NotFound(message, next_step=f"write {example} into batchctl.toml")
    reports = SimpleQueue[Report]()
    mine = f"{TRIAL}{app.ids.token(8)}"
    with closing(pool_of(app, name, given, reports.put, database_id=mine)) as pool:
        pool.meet(MET_IN)
        if pool.failure is not None:
            message = f"The agents of pool {visible(name)} cannot be looked for: {pool.failure}."
            steps = f"see that a scheduler listens at {given.scheduler}"
            steps += f", and correct tls_ca_file, tls_cert and tls_key of [pools.{name}]" if given.tls_files else ""
            if given.scheduler is None:
                steps = f"see that a console answers at {given.server}, and: batchctl web token list"
            raise Refused(message, next_step=steps)
        pool.keep_lease(app.clock.monotonic() + MET_IN + ENDED_IN * max(len(pool.agents), 1))
        # Agents of one host share what they remember of attempts: each is tried with another one.
        tried = enumerate(pool.agents, start=1)
        return tuple(_Trial(app, pool, each, mine, HistoryId(at), reports).found() for at, each in tried)


@dataclass(frozen=True, slots=True)
class _Trial:
    app: App
    pool: AgentPool
    agent: FollowedAgent
    database_id: str
    attempt: HistoryId
    reports: SimpleQueue[Report]

    def found(self) -> AgentTrial:
        known = AgentTrial(name=self.agent.offer.name, slots=self.agent.offer.slots, failure=self.agent.failure)
        facts = self.agent.facts
        if facts is None:
            return known
        handlers = self.app.registry.handler_names
        resources = ", ".join(f"{name}={most:g}" for name, most in self.agent.offer.resources.items())
        known = replace(
            known,
            host=facts.host,
            user=facts.user,
            directory=facts.directory,
            version=facts.version,
            resources=resources or None,
            missing=tuple(each for each in handlers if each not in facts.process_types),
        )
        try:
            began = self.app.clock.now()
            there = datetime.fromisoformat(str(self._ask("hello", {})["now"]))
            known = replace(known, clock_off=there - began)
            return self._run(known, facts.python)
        except UnreachableError as error:
            return replace(known, failure=str(error))

    def _run(self, known: AgentTrial, python: str) -> AgentTrial:
        """Have a step that does nothing carried out."""
        asked = AskedStep(
            instance=_instance(self.app.clock.now()),
            batch=BatchDefinition(batch_id=BatchId(1), name="trial", entity="trial"),
            step=_step(shlex.join([python, "-c", ""])),
            attempt_no=1,
            cause=Cause.AUTO,
            now=self.app.clock.now(),
        )
        ready = self._ask("prepare", {"asked": asked.message})
        if ready.get("rendered") is None:
            return replace(known, failure=str(ready.get("not_ready") or ready.get("refused")))
        token = AgentToken(self.database_id, self.attempt, _CLAIM)
        rendered = wire.rendered_of(ready["rendered"])
        began = self.app.clock.monotonic()
        # It takes no slot: also an agent that is busy is tried.
        self.pool.start(self.agent.offer.name, RemoteAttempt(token, "os_command", rendered, lease_bound=True))
        end = next(self._ends(), None)
        if end is None:
            self.pool.stop(self.attempt)
            return replace(known, failure=f"a step that does nothing has not ended within {ENDED_IN:g} s")
        self.pool.recorded([self.attempt])
        refused = None if end.outcome.succeeded else end.outcome.message or "a step that does nothing failed"
        took = timedelta(seconds=self.app.clock.monotonic() - began)
        return replace(known, took=took, failure=refused)

    def _ends(self) -> Iterator[Finished]:
        until = self.app.clock.monotonic() + ENDED_IN
        while (left := until - self.app.clock.monotonic()) > 0:
            try:
                report = self.reports.get(timeout=left)
            except Empty:
                return
            if isinstance(report, Finished) and report.key == self.attempt:
                yield report

    def _ask(self, verb: str, message: Message) -> Received:
        return self.pool.ask(self.agent.offer.name, verb, message, within=ASKED_IN)


def _step(command: str) -> Step:
    data = (command, *NO_DATA[1:])
    return Step(batch_id=BatchId(1), seq=10, name="nothing", process_type="os_command", data=data)


def _instance(now: datetime) -> BatchInstance:
    return BatchInstance(
        instance_id=_INSTANCE,
        batch_id=BatchId(1),
        intake_id=IntakeId(1),
        last_seq=0,
        status=InstanceStatus.RUNNING,
        retry_count=0,
        next_run_time=now,
        cycle_key=None,
        data=NO_DATA,
        claim_token=_CLAIM,
        claimed_by=None,
        lost_count=0,
        entity="trial",
        file_name=None,
    )

"""What controllers and agents tell each other, as JSON: no clock of one is read by the other, and no secret is in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any, TypeAlias, cast

from batchctl.domain.commands import Identity
from batchctl.domain.outcomes import Rendered, StepOutcome
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import (
    BatchDefinition,
    BatchId,
    BatchInstance,
    HistoryEntry,
    HistoryId,
    InstanceId,
    IntakeId,
    Step,
)
from batchctl.domain.status import Cause, HistoryStatus, InstanceStatus, OnLost
from batchctl.domain.text import storable
from batchctl.ports import Finished, Report, Spawned, Wrote

Message: TypeAlias = dict[str, JsonValue]
"""What is sent."""
Received: TypeAlias = Mapping[str, Any]
"""What has come: whatever reads it raises `KeyError`, `TypeError` or `ValueError` where it is not as it should be."""
_SCALARS = ("succeeded", "message", "return_code", "error_code", "error_line", "output", "rows_affected", "value")
_FLAGS = ("fatal", "stopped", "lost", "never_ran")
_OUTCOME = (*_SCALARS, *_FLAGS)
_IDENTITY = ("pid", "pid_start", "boot_id", "db_session")


@dataclass(frozen=True, slots=True)
class AgentToken:
    """Names an attempt among those of all control databases, and the claim under which it may be told something."""

    database_id: str
    history_id: HistoryId
    claim_token: int

    @property
    def message(self) -> Message:
        """Return it as JSON."""
        return {"database": self.database_id, "attempt": self.history_id, "claim": self.claim_token}

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> AgentToken:
        """Read it from a message."""
        return cls(str(message["database"]), HistoryId(int(message["attempt"])), int(message["claim"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFacts:
    """What an agent says of itself."""

    boot: str
    """Another one each time an agent starts."""
    version: str
    host: str
    user: str
    slots: int
    stop_grace: float
    """Seconds that it takes at most to stop a step."""
    directory: str
    """Where its configuration lies, and relative paths begin."""
    python: str
    """The interpreter it runs in."""
    process_types: tuple[str, ...]
    """The types of steps for which it has a handler."""
    resources: Mapping[str, float] = field(default_factory=dict)

    @property
    def message(self) -> Message:
        """Return it as JSON."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**plain, "process_types": [*self.process_types], "resources": dict(self.resources)}

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> AgentFacts:
        """Read it from a message."""
        known = {each.name: message[each.name] for each in fields(cls)}
        return cls(**{**known, "process_types": tuple(message["process_types"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedStep:
    """A step to be made ready: all that its handler may look at, but for what the agent's own configuration offers."""

    instance: BatchInstance
    batch: BatchDefinition
    """Its name and its variables; nothing else of it goes over the wire."""
    step: Step
    attempt_no: int
    cause: Cause
    now: datetime
    """By the control database; it stands in the note above the command."""

    @property
    def message(self) -> Message:
        """Return it as JSON."""
        return {
            "instance": _instance_message(self.instance),
            "batch": {"id": self.batch.batch_id, "name": self.batch.name, "variables": dict(self.batch.variables)},
            "step": step_message(self.step),
            "attempt_no": self.attempt_no,
            "cause": self.cause.value,
            "now": self.now.isoformat(),
        }

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> AskedStep:
        """Read it from a message."""
        batch = message["batch"]
        named = BatchDefinition(
            batch_id=BatchId(int(batch["id"])), name=batch["name"], entity="", variables=batch["variables"]
        )
        return cls(
            instance=_instance(message["instance"]),
            batch=named,
            step=step_of(message["step"]),
            attempt_no=int(message["attempt_no"]),
            cause=Cause(message["cause"]),
            now=datetime.fromisoformat(message["now"]),
        )


def step_message(step: Step) -> Message:
    """Return as JSON what a handler may look at of a step."""
    return {
        "batch_id": step.batch_id,
        "seq": step.seq,
        "name": step.name,
        "process_type": step.process_type,
        "max_duration": None if step.max_duration is None else step.max_duration.total_seconds(),
        "on_lost": step.on_lost.value,
        "data": [*step.data],
    }


def step_of(message: Mapping[str, Any]) -> Step:
    """Read a step from a message."""
    longest = message["max_duration"]
    return Step(
        batch_id=BatchId(int(message["batch_id"])),
        seq=int(message["seq"]),
        name=message["name"],
        process_type=message["process_type"],
        max_duration=None if longest is None else timedelta(seconds=longest),
        on_lost=OnLost(message["on_lost"]),
        data=cast("Any", tuple(message["data"])),
    )


def rendered_message(rendered: Rendered) -> Message:
    """Return a step made ready as JSON."""
    return {"text": rendered.command_text, "spec": dict(rendered.spec), "brief": rendered.brief}


def rendered_of(message: Mapping[str, Any]) -> Rendered:
    """Read a step made ready from a message."""
    return Rendered(message["text"], message["spec"], brief=bool(message["brief"]))


def entry_message(entry: HistoryEntry) -> Message:
    """Return as JSON what tells an attempt from others, and what carries it out."""
    return {
        "history_id": entry.history_id,
        "instance_id": entry.instance_id,
        "batch_id": entry.batch_id,
        "seq": entry.seq,
        "step_name": entry.step_name,
        "process_type": entry.process_type,
        "attempt_no": entry.attempt_no,
        "claim_token": entry.claim_token,
        "claimed_by": entry.claimed_by,
        "pid": entry.pid,
        "pid_start": entry.pid_start,
        "boot_id": entry.boot_id,
        "db_session": entry.db_session,
        "started_at": entry.started_at.isoformat(),
    }


def entry_of(message: Mapping[str, Any]) -> HistoryEntry:
    """Read an attempt from a message."""
    return HistoryEntry(
        **{
            **message,
            "history_id": HistoryId(int(message["history_id"])),
            "instance_id": InstanceId(int(message["instance_id"])),
            "batch_id": BatchId(int(message["batch_id"])),
            "started_at": datetime.fromisoformat(message["started_at"]),
            "cause": Cause.AUTO,
            "status": HistoryStatus.RUNNING,
            "command_text": "",
            "command_spec": "{}",
        }
    )


def report_message(report: Report, now: datetime) -> Message:
    """Return a report as JSON; moments are how long ago they are, for the other side has another clock."""
    if isinstance(report, Spawned):
        return {"kind": "spawned", "attempt": report.key, "identity": _identity_message(report.identity, now)}
    if isinstance(report, Wrote):
        return {"kind": "wrote", "attempt": report.key, "text": report.text}
    return {
        "kind": "finished",
        "attempt": report.key,
        "outcome": {name: getattr(report.outcome, name) for name in _OUTCOME},
        "identity": None if report.identity is None else _identity_message(report.identity, now),
        "ended": _ago(report.ended_at, now),
        "never_ran": report.never_ran,
        "may_go_on": report.may_go_on,
    }


def report_of(message: Mapping[str, Any], now: datetime) -> Report:
    """Read a report from a message; raises what is raised for one that is none."""
    key = HistoryId(int(message["attempt"]))
    match message["kind"]:
        case "spawned":
            return Spawned(key, _identity(message["identity"], now))
        case "wrote":
            return Wrote(key, _text_of(message["text"]))
        case _:
            identity = message["identity"]
            return Finished(
                key,
                _outcome_of(message["outcome"]),
                None if identity is None else _identity(identity, now),
                _before(message["ended"], now),
                bool(message["never_ran"]),
                bool(message["may_go_on"]),
            )


def _outcome_of(message: Mapping[str, Any]) -> StepOutcome:
    found: dict[str, Any] = {name: _scalar(message[name]) for name in _SCALARS}
    return StepOutcome(**found | {name: bool(message[name]) for name in _FLAGS})


def _text_of(found: object) -> str:
    """Return a text; raises `TypeError` for anything else."""
    if not isinstance(found, str):
        reason = f"a text is expected, not {type(found).__name__}"
        raise TypeError(reason)
    return storable(found)


def _scalar(found: object) -> Any:
    """Return what a column can hold; raises `TypeError` for anything else."""
    if found is None or isinstance(found, bool | int | float):
        return found
    return _text_of(found)


def _identity_message(identity: Identity, now: datetime) -> Message:
    return {name: getattr(identity, name) for name in _IDENTITY} | {"spawned": _ago(identity.spawned_at, now)}


def _identity(message: Mapping[str, Any], now: datetime) -> Identity:
    return Identity(**{name: _scalar(message[name]) for name in _IDENTITY}, spawned_at=_before(message["spawned"], now))


def _ago(moment: datetime | None, now: datetime) -> float | None:
    return None if moment is None else max((now - moment).total_seconds(), 0.0)


def _before(seconds: float | None, now: datetime) -> datetime | None:
    return None if seconds is None else now - timedelta(milliseconds=round(1000 * seconds))


def _instance_message(instance: BatchInstance) -> Message:
    return {
        "instance_id": instance.instance_id,
        "batch_id": instance.batch_id,
        "intake_id": instance.intake_id,
        "last_seq": instance.last_seq,
        "status": instance.status.value,
        "retry_count": instance.retry_count,
        "next_run_time": instance.next_run_time.isoformat(),
        "cycle_key": instance.cycle_key,
        "data": [*instance.data],
        "claim_token": instance.claim_token,
        "claimed_by": instance.claimed_by,
        "lost_count": instance.lost_count,
        "entity": instance.entity,
        "file_name": instance.file_name,
        "source": instance.source,
    }


def _instance(message: Mapping[str, Any]) -> BatchInstance:
    return BatchInstance(
        **{
            **message,
            "instance_id": InstanceId(int(message["instance_id"])),
            "batch_id": BatchId(int(message["batch_id"])),
            "intake_id": IntakeId(int(message["intake_id"])),
            "status": InstanceStatus(message["status"]),
            "next_run_time": datetime.fromisoformat(message["next_run_time"]),
            "data": tuple(message["data"]),
        }
    )

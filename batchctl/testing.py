"""For plugin authors: a clock that stands still, and builders of what handlers and populators are given."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from batchctl.domain.errors import StepRefused
from batchctl.domain.outcomes import Connection, JobSignature, StepContext, StepRequest
from batchctl.domain.rows import LONG_AGO, BatchId, BatchInstance, DataValues, InstanceId, IntakeId, IntakeRow, Step
from batchctl.domain.status import InstanceStatus, IntakeStatus


class FakeClock:
    """A clock that moves only when told to."""

    def __init__(self, start: datetime = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)) -> None:
        """Begin at three in the morning."""
        self._now = start
        self._seconds = 0.0

    def now(self) -> datetime:
        """Return the time that was set."""
        return self._now

    def monotonic(self) -> float:
        """Return the seconds that have been let pass."""
        return self._seconds

    def advance(self, by: timedelta) -> None:
        """Let time pass."""
        self._now += by
        self._seconds += by.total_seconds()


def data_values(values: Mapping[str, str | None]) -> DataValues:
    """Return Data1..Data6 from the ones named."""
    one, two, three, four, five, six = (values.get(f"Data{at}") for at in range(1, 7))
    return one, two, three, four, five, six


def a_step(process_type: str = "os_command", *, seq: int = 10, **given: Any) -> Step:
    """Return a step; `Data1` to `Data6` by name, anything else as the fields of `Step`."""
    data = data_values({name: given.pop(name) for name in list(given) if name.startswith("Data")})
    return replace(
        Step(batch_id=BatchId(1), seq=seq, name=f"step {seq}", process_type=process_type, data=data), **given
    )


def an_instance(**given: Any) -> BatchInstance:
    """Return an instance; `Data1` to `Data6` by name, anything else as the fields of `BatchInstance`."""
    data = data_values({name: given.pop(name) for name in list(given) if name.startswith("Data")})
    plain = BatchInstance(
        instance_id=InstanceId(42),
        batch_id=BatchId(1),
        intake_id=IntakeId(7),
        last_seq=0,
        status=InstanceStatus.RUNNING,
        retry_count=0,
        next_run_time=LONG_AGO,
        cycle_key="2026-11-21",
        data=data,
        claim_token=1,
        claimed_by="a controller",
        lost_count=0,
        entity="MyFileType1",
        file_name="/in/data_20261101_20261130.csv",
    )
    return replace(plain, **given)


def an_intake_row(**given: Any) -> IntakeRow:
    """Return an intake row; anything given replaces the plain value."""
    plain = IntakeRow(
        intake_id=IntakeId(7),
        entity="MyFileType1",
        file_name="/in/data_20261101_20261130.csv",
        status=IntakeStatus.READY,
        data=None,
        cycle_key=None,
        source=None,
        message=None,
        inserted_at=datetime(2026, 11, 21, 3, 0, tzinfo=UTC),
    )
    return replace(plain, **given)


def context(
    directory: str,
    *,
    connections: Mapping[str, Connection] | None = None,
    jobs: Mapping[str, JobSignature] | None = None,
    secrets: Mapping[str, str] | None = None,
    unset_secrets: Collection[str] = (),
    files: Mapping[str, str] | None = None,
) -> StepContext:
    """Return a context that offers what is given; `files` are what `read_text` finds."""

    def read_text(name: str) -> str:
        if files is None or name not in files:
            raise StepRefused(f"'{name}' cannot be read.")
        return files[name]

    return StepContext(
        connections=connections or {},
        jobs=jobs or {},
        secrets=secrets or {},
        secret_is_set=lambda name: name not in unset_secrets,
        directory=directory,
        read_text=read_text,
        batchctl_command=("batchctl",),
    )


def a_request(step: Step, context: StepContext, **instance: Any) -> StepRequest:
    """Return a request for a first attempt at a step, for an instance with the given fields."""
    return StepRequest(
        step=step,
        instance=an_instance(**instance),
        batch_name="MyFileType1",
        attempt_no=1,
        context=context,
        note="BatchControl 42 of batch MyFileType1",
        database_id="test",
    )

"""Rows cross the pipe to the plugin process and arrive as they were."""

from __future__ import annotations

from datetime import UTC, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.rows import (
    BatchDefinition,
    BatchId,
    Freeze,
    FreezeId,
    IntakeId,
    IntakeRow,
    MissingPlugin,
    Need,
    ResourceId,
    Step,
)
from batchctl.domain.status import DependencyMode, IntakeStatus, OnFailure, OnLost, ProcessingMode
from batchctl.system.plugins.messages import batch_definition, fields_of, intake_row, line_of, message_of

maybe_text = st.none() | st.text()
spans = st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=400)).map(
    lambda span: timedelta(milliseconds=span // timedelta(milliseconds=1))
)
rows = st.builds(
    IntakeRow,
    intake_id=st.integers().map(IntakeId),
    entity=st.text(),
    file_name=maybe_text,
    status=st.sampled_from(IntakeStatus),
    data=maybe_text,
    cycle_key=maybe_text,
    source=maybe_text,
    message=maybe_text,
    inserted_at=st.datetimes(timezones=st.just(UTC)),
)
steps = st.builds(
    Step,
    batch_id=st.integers().map(BatchId),
    seq=st.integers(),
    name=st.text(),
    process_type=st.text(),
    expected_duration=st.none() | spans,
    alarm_duration=st.none() | spans,
    max_duration=st.none() | spans,
    on_lost=st.sampled_from(OnLost),
    data=st.tuples(*[maybe_text] * 6),
)
needs = st.builds(
    Need,
    resource_id=st.integers().map(ResourceId),
    name=st.text(),
    capacity=st.integers(),
    units=st.integers(),
    exclusive=st.booleans(),
)
missing_plugins = st.builds(
    MissingPlugin, column=st.text(), message=st.text(), mend=st.text(), row=st.text(), seq=st.none() | st.integers()
)
moments = st.datetimes(timezones=st.just(UTC))
freezes = st.builds(
    Freeze,
    freeze_id=st.integers().map(FreezeId),
    reason=st.text(),
    actor=st.text(),
    since=moments,
    batch=maybe_text,
    tag=maybe_text,
    until=st.none() | moments,
    thawed_at=st.none() | moments,
    thawed_by=maybe_text,
)
batches = st.builds(
    BatchDefinition,
    batch_id=st.integers().map(BatchId),
    name=st.text(),
    entity=st.text(),
    retry_wait=spans,
    populator_args=maybe_text,
    on_failure=st.sampled_from(OnFailure),
    dependency_mode=st.sampled_from(DependencyMode),
    mode=st.none() | st.sampled_from(ProcessingMode),
    origin=maybe_text,
    steps=st.lists(steps, max_size=3).map(tuple),
    needs=st.lists(needs, max_size=3).map(tuple),
    tags=st.lists(st.text(), max_size=3).map(tuple),
    missing_plugins=st.lists(missing_plugins, max_size=2).map(tuple),
    freezes=st.lists(freezes, max_size=3).map(tuple),
)


@given(rows)
def test_an_intake_row_arrives_as_it_was(row: IntakeRow) -> None:
    line = line_of(fields_of(row))

    assert line.count(b"\n") == 1
    assert intake_row(message_of(line)) == row


@given(batches)
def test_a_batch_definition_arrives_as_it_was(batch: BatchDefinition) -> None:
    arrived = batch_definition(message_of(line_of(fields_of(batch))))

    assert arrived == batch
    # A word is equal to its text, and not the same.
    assert type(arrived.mode) is type(batch.mode)


@pytest.mark.parametrize("line", [b"", b"{", b"[]\n", b"Traceback\n", b"\xff\n"])
def test_anything_else_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):
        message_of(line)


def test_a_value_nobody_knows_is_refused() -> None:
    with pytest.raises(TypeError, match="set"):
        line_of({"x": {1, 2}})

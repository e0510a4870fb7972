"""Every column that people fill is exported; the tables themselves say which those are."""

from __future__ import annotations

from batchctl.store.definitions.definition_rows import _NAMES, KEPT, SHAPES, STAMPS
from batchctl.store.tables import metadata

NO_DEFINITIONS = frozenset(
    {
        *("FileProcess", "BatchControl", "BatchProcessHistory", "BatchCompletion", "DurationHistory", "SchedulerLog"),
        *("ScheduleFire", "ScheduleBackfill", "FileWatchSeen", "Controller", "Leader", "OperatorRequest", "AuditLog"),
        *("BatchVersion", "AppliedDefinition", "BatchFreeze", "ZoneOffset", "Incident", "AlertDelivery", "AuditSeal"),
        *("NamedLock", "ControllerPool", "StepOutput", "Confirmation", "Note", "Drain", "KeptForecast"),
        *("WebUser", "WebSession", "ApiToken", "LoginBackOff", "WebRequest"),
    }
)
"""The tables that tell what has happened, or is to happen once."""
OF_FILES = {part.kind: part for shape in SHAPES for part in (shape, *shape.parts)}


def test_every_table_is_of_definitions_or_is_named_as_none() -> None:
    assert {*metadata.tables} == {*OF_FILES} | NO_DEFINITIONS
    assert not {*OF_FILES} & NO_DEFINITIONS


def test_every_column_is_exported_or_is_named_as_kept_by_batchctl() -> None:
    for kind, shape in OF_FILES.items():
        own = {f"{kind}_id", *STAMPS, *KEPT.get(kind, ())}
        below = {f"{one.kind}_id" for one in SHAPES if shape in one.parts}
        wanted = {str(column.name) for column in metadata.tables[kind].columns} - own - below

        assert {*shape.columns} == {_NAMES[each][0] if each in _NAMES else each for each in wanted}
        assert KEPT.get(kind, frozenset()) <= {str(column.name) for column in metadata.tables[kind].columns}


def test_what_may_be_left_out_is_what_the_tables_say() -> None:
    batch, step = OF_FILES["ProcessBatch"].columns, OF_FILES["ProcessControl"].columns

    assert (batch["Seq"].default, batch["Populator"].default, batch["Entity"].default) == (100, "pattern", None)
    assert [column for column, about in step.items() if about.is_needed] == [
        "ProcessControlSeq",
        "ProcessName",
        "ProcessType",
    ]

"""T-SQL for the SSIS catalog: the batches that a step sends with bound values, and the same as a text to paste.

Every value is bound as text and cast in the batch, so that the catalog's sql_variant has the parameter's type whatever
the driver makes of a Python value. Errors are caught in the batch and selected, so that their number arrives with every
driver. Creating and starting are two batches: between them the execution_id is recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from batchctl.plugin_api import StepRequest, visible
from step_handlers.packages._ssis_parameters import Value
from step_handlers.sqlserver._tsql import literals

ERROR = "batchctl_error"
"""The column that distinguishes an error which a batch has caught from everything a catalog answers."""

_OBJECT_TYPES = {"$Project": 20, "$Package": 30, "$ServerOption": 50}
_SQL_TYPES = {
    "Boolean": "bit",
    "Byte": "tinyint",
    "DateTime": "datetime",
    "Double": "float",
    "Int16": "smallint",
    "Int32": "int",
    "Int64": "bigint",
    "SByte": "smallint",
    "Single": "real",
    "String": "nvarchar(4000)",
    "UInt32": "bigint",
    "UInt64": "decimal(20, 0)",
}

_CREATE = """\
DECLARE @execution_id bigint, @folder nvarchar(128) = ?, @project nvarchar(128) = ?, @package nvarchar(260) = ?;
EXEC [SSISDB].[catalog].[create_execution] @folder_name = @folder, @project_name = @project, @package_name = @package,
    @reference_id = NULL, @use32bitruntime = 0, @execution_id = @execution_id OUTPUT;"""
_CREATED = "SELECT @execution_id AS [execution_id];"
_SET = """\
DECLARE @name{number} nvarchar(128) = ?, @value{number} {kind} = {value};
EXEC [SSISDB].[catalog].[set_execution_parameter_value] @execution_id = @execution_id,
    @object_type = {object_type}, @parameter_name = @name{number}, @parameter_value = @value{number};"""
_START = "EXEC [SSISDB].[catalog].[start_execution] @execution_id = @execution_id;"
_STATUS = "SELECT [status] FROM [SSISDB].[catalog].[executions] WHERE [execution_id] = @execution_id;"
_PAUSE = "WAITFOR DELAY '00:00:01';"
_MESSAGES = """\
SELECT TOP (300) [operation_message_id], [message_type],
    CONVERT(nvarchar(19), [message_time], 126) AS [message_time], [message], COUNT(*) OVER () AS [all_messages]
FROM [SSISDB].[catalog].[operation_messages] WHERE [operation_id] = @execution_id
ORDER BY CASE WHEN [message_type] IN (120, 130) THEN 0 WHEN [message_type] = 110 THEN 1 ELSE 2 END,
    [operation_message_id];"""
_SEARCH = """\
DECLARE @caller nvarchar(4000) = ?, @folder nvarchar(128) = ?, @project nvarchar(128) = ?, @package nvarchar(260) = ?;
SELECT TOP (1) e.[execution_id], e.[status], CAST(p.[parameter_value] AS nvarchar(4000)) AS [caller]
FROM [SSISDB].[catalog].[executions] AS e
JOIN [SSISDB].[catalog].[execution_parameter_values] AS p ON p.[execution_id] = e.[execution_id]
WHERE e.[folder_name] = @folder AND e.[project_name] = @project AND e.[package_name] = @package
    AND p.[object_type] = 50 AND p.[parameter_name] = N'CALLER_INFO'
    AND CHARINDEX(@caller, CAST(p.[parameter_value] AS nvarchar(4000))) = 1
ORDER BY e.[execution_id] DESC;"""
_GUARD = """\
BEGIN TRY
{body}
END TRY
BEGIN CATCH
SELECT ERROR_NUMBER() AS [{error}], ERROR_SEVERITY() AS [error_severity], ERROR_PROCEDURE() AS [error_procedure],
    ERROR_LINE() AS [error_line], ERROR_MESSAGE() AS [error_message];
END CATCH;"""
_SCRIPT = """\
SET NOCOUNT ON;
BEGIN TRY
DECLARE @status int;
{creation}
{start}
{status}
WHILE @status IN (2, 5, 8)
BEGIN
{pause}
{status}
END;
SELECT @execution_id AS [execution_id], @status AS [status];
{messages}
IF @status <> 7 RAISERROR(N'execution %I64d ended with status %d, not with 7', 16, 1, @execution_id, @status);
END TRY
BEGIN CATCH
THROW;
END CATCH;"""


@dataclass(frozen=True, slots=True)
class Package:
    """Where a package lies in the catalog."""

    folder: str
    project: str
    name: str


@dataclass(frozen=True, slots=True)
class Batch:
    """T-SQL with a `?` for each value."""

    sql: str
    values: tuple[str, ...] = ()

    def in_place(self) -> str:
        """Write the values into their places."""
        first, *rest = self.sql.split("?")
        return first + "".join(
            " + ".join(literals(value)) + piece for value, piece in zip(self.values, rest, strict=True)
        )


def marker(request: StepRequest) -> str:
    """Return what the executions of a step of an instance have in common; the number of the attempt follows.

    With it there is one such text in the life of a control database: its name is its own, an instance's number is given
    once, and attempts only count up. A time would add nothing, and the clocks of two servers differ.
    """
    name = visible(request.database_id)[:80]
    return f"batchctl {name} BatchControl {request.instance.instance_id} step {request.step.seq} attempt "


def caller(request: StepRequest) -> str:
    """Return what identifies the owner of an execution. The batch's name is only shown: it may be changed meanwhile."""
    return f"{marker(request)}{request.attempt_no} of {visible(request.batch_name)[:200]}"


def attempt_of(caller: str, common: str) -> int | None:
    """Return which attempt has made an execution, None when its caller does not show that."""
    number = caller[len(common) :].partition(" ")[0]
    return int(number) if number.isdecimal() else None


def creation(package: Package, values: Sequence[Value], caller: str) -> Batch:
    """Create an execution, set its parameters, answer with its execution_id."""
    core = _creation(package, values, caller)
    return Batch(_guarded(f"SET NOCOUNT ON;\n{core.sql}\n{_CREATED}"), core.values)


def start(execution_id: int) -> Batch:
    """Start an execution and wait for its end."""
    return _on(execution_id, _guarded(_START))


def state(execution_id: int, *, after_pause: bool) -> Batch:
    """Answer with the status of an execution, after a second that passes in the server."""
    return _on(execution_id, f"{_PAUSE}\n{_STATUS}" if after_pause else _STATUS)


def stopping(execution_id: int) -> Batch:
    """Ask the catalog to stop an execution."""
    return _on(execution_id, _guarded("EXEC [SSISDB].[catalog].[stop_operation] @operation_id = @execution_id;"))


def pause() -> Batch:
    """Let a second pass in the server."""
    return Batch(_PAUSE)


def messages(execution_id: int) -> Batch:
    """Answer with the messages of an execution: errors and warnings first, then as many others as are shown."""
    return _on(execution_id, _MESSAGES)


def search(package: Package, common: str) -> Batch:
    """Answer with the newest execution of a step of an instance: its id, its status and its caller."""
    return Batch(_SEARCH, (common, package.folder, package.project, package.name))


def script(package: Package, values: Sequence[Value], caller: str) -> str:
    """Write the whole step as one batch for sqlcmd or SSMS: it fails where the step fails."""
    return _SCRIPT.format(
        creation=_creation(package, values, caller).in_place(),
        start=_START,
        status=_STATUS.replace("SELECT [status]", "SELECT @status = [status]"),
        pause=_PAUSE,
        messages=_MESSAGES,
    )


def _creation(package: Package, values: Sequence[Value], caller: str) -> Batch:
    lines = [_CREATE]
    bound = [package.folder, package.project, package.name]
    ours = [
        Value("$ServerOption", "CALLER_INFO", "String", caller),
        Value("$ServerOption", "SYNCHRONIZED", "Int32", "1"),
    ]
    for number, value in enumerate([*values, *ours], start=1):
        kind, object_type = _sql_type(value), _OBJECT_TYPES[value.scope]
        lines.append(_SET.format(number=number, kind=kind, value=_cast(value, kind), object_type=object_type))
        bound += [value.name, _sql_text(value)]
    return Batch("\n".join(lines), tuple(bound))


def _on(execution_id: int, body: str) -> Batch:
    return Batch(f"SET NOCOUNT ON;\nDECLARE @execution_id bigint = CAST(? AS bigint);\n{body}", (str(execution_id),))


def _guarded(body: str) -> str:
    return _GUARD.format(body=body, error=ERROR)


def _sql_type(value: Value) -> str:
    if value.type != "Decimal":
        return _SQL_TYPES[value.type]
    whole, _, fraction = value.text.lstrip("+-").partition(".")
    return f"decimal({max(1, len(whole) + len(fraction))}, {len(fraction)})"


def _sql_text(value: Value) -> str:
    return {"True": "1", "False": "0"}[value.text] if value.type == "Boolean" else value.text


def _cast(value: Value, kind: str) -> str:
    if value.type == "DateTime":
        return "CONVERT(datetime, ?, 126)"
    return "?" if value.type == "String" else f"CAST(? AS {kind})"


def error_of(row: Any) -> tuple[int, str]:
    """Return the number and the text of an error that a batch has caught."""
    number, _, procedure, line, message = row
    place = f" ({procedure}, line {line})" if procedure else ""
    return int(number), f"error {number}: {visible(str(message))}{place}"

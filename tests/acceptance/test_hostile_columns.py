"""Hostile text in every column that takes it: every command and every view shows it, none obeys it, none falls over."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import click
import pytest
from sqlalchemy import Column, Table

from batchctl.cli.main import COMMANDS, cli
from batchctl.store import views
from batchctl.store.columns import UtcTime
from batchctl.store.tables import metadata
from tests.acceptance.installation import PATIENCE, RunBatchctl, StartBatchctl
from tests.acceptance.night import Night, a_control, python
from tests.control_databases import KINDS

MARK = "h0stile"
HOSTILE = f"{MARK} \x1b]0;pwned\x07\x1b[2J\x1b[31m[red]\r\n\u202e😀 '\"`$(id)%s{{Data1}}</td><script>"
"""Changes the title of a terminal, clears it, colours it, turns the line around; quotes, markup, a formula."""
NEEDED: dict[str, dict[str, object]] = {
    "AlertDelivery": {"Kind": "alert"},
    "ApiToken": {"Role": "reader"},
    "BatchDependency": {"DependsOnBatch_id": 1},
    "CalendarDay": {"CalendarDate": "2026-11-22"},
    "DataTrigger": {"OnNewRows": 1},
    "Drain": {"Host": HOSTILE},
    "Pool": {"PoolName": HOSTILE.lower()[:50]},
    "Incident": {"Kind": "failed", "Severity": "error"},
    "Note": {"BatchControl_id": 1},
    "OperatorRequest": {"Status": "refused"},
    "Schedule": {"ScheduleType": "cron", "Cron": HOSTILE},
    "ScheduleFire": {"Outcome": "skipped"},
    "SchedulerLog": {"EventType": "error"},
    "WebUser": {"Role": "reader"},
}
"""What the rows of some tables have to hold besides what any row has."""
WITH_ARGUMENTS = (
    ("show", "1"),
    ("history", "1", "--full"),
    ("history", "2", "--full"),
    ("why", "1"),
    ("why", f"batch:{HOSTILE}"),
    ("why", "file:1"),
    ("inbox", "show", "1"),
    ("impact", HOSTILE),
    ("graph", HOSTILE),
    ("trigger", "test", HOSTILE),
    ("schedule", "test", HOSTILE),
    ("schedule", "preview", HOSTILE),
    ("job", "history", HOSTILE),
    ("wait", "1", "--timeout", "0"),
)
EMPTY = {"vRunning", "vLate", "vSqlJob", "vUnreadable"}
"""The views of what there is none of in this night."""
EXPECTED = {0, 2, 3, 4, 5, 6}
"""The exit codes of a command that knows what it says; 1 would be that of an error nobody has thought of, but for `wait`."""


def expected(words: tuple[str, ...]) -> set[int]:
    """Return them; `wait` says by 1 that nothing more happens unless a person acts, as where a plugin is missing."""
    return EXPECTED | ({1} if words[0] == "wait" else set())


FAILS = python("import sys; print(sys.argv[1]); sys.exit(sys.argv[1])", "{FileName}")


def texts_of(table: Table) -> list[Column[Any]]:
    """Return the columns that hold text, moments left out."""
    return [column for column in table.columns if column.type.python_type is str]


@pytest.fixture(scope="module", params=KINDS)
def night(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, run_batchctl: RunBatchctl) -> Night:
    """A night in which every text that any table takes is hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    made = Night(a_control(request.param, request, folder), run_batchctl)
    made.batch(HOSTILE, FAILS, Entity=HOSTILE, OnFailure="continue")
    made.arrive(HOSTILE, HOSTILE, CycleKey=HOSTILE)
    made.arrive(HOSTILE, HOSTILE)
    made.arrive(f"nobody takes {MARK}", HOSTILE)
    done = made("run", "--once")
    assert done.returncode == 1, done.stderr
    assert made("pause", "1", "--reason", HOSTILE).returncode == 4
    assert made("rerun", "1", "--reason", HOSTILE, "--set", f"Data3={HOSTILE}", "--yes").returncode == 0
    # The newest row of each table gets it in columns that make a definition unreadable, too.
    made.batch("broken", FAILS, Enabled=0)
    made.sql("INSERT INTO Setting (Name, Value) VALUES ('x', 'y')")
    for table in metadata.sorted_tables:
        if texts_of(table):
            fill(made, table)
    return made


def fill(night: Night, table: Table) -> None:
    """See that a table has a row, and put hostile text into each of its columns that does not refuse it."""
    if not night.sql(f"SELECT 1 FROM {table.name}"):
        values = {column.name: value_for(night, column) for column in table.columns if is_needed(column)}
        values |= NEEDED.get(table.name, {})
        marks = ", ".join("?" * len(values))
        night.sql(f"INSERT INTO {table.name} ({', '.join(values)}) VALUES ({marks})", *values.values())
    (key,) = table.primary_key.columns
    for column in texts_of(table):
        newest = f"{key.name} = (SELECT max({key.name}) FROM {table.name})"
        with closing(night.database.hand()) as hand, suppress(hand.Refused):
            hand.sql(f"UPDATE {table.name} SET {column.name} = ? WHERE {newest}", fitting(column))


def fitting(column: Column[Any]) -> str:
    """Return as much of the hostile text as a column has room for."""
    return HOSTILE[: getattr(column.type, "length", None) or len(HOSTILE)]


def is_needed(column: Column[Any]) -> bool:
    return not (column.nullable or column.server_default is not None or column.autoincrement is True)


def value_for(night: Night, column: Column[Any]) -> object:
    for key in column.foreign_keys:
        other = key.column
        ((found,),) = night.sql(f"SELECT max({other.name}) FROM {other.table.name}")
        return found
    if column in texts_of(column.table):
        return fitting(column)
    return "2026-11-22 03:00:00.000" if isinstance(column.type, UtcTime) else 1


def reading_commands(group: click.Group, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield every command that prints JSON and needs no more than its name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from reading_commands(command, (*before, name))
        if command is not None:
            options = {parameter.name: parameter for parameter in command.params}
            alone = not isinstance(command, click.Group) or command.invoke_without_command
            if alone and "as_json" in options and not any(one.required for one in options.values()):
                yield (*before, name)


def on_a_terminal(night: Night, start: StartBatchctl, *command: str) -> tuple[int, str]:
    """Run a command that believes a person is looking; return its exit code and what it wrote to the terminal."""
    ours, terminal = os.openpty()
    with open(ours, "rb", buffering=0) as reader:
        environment = {**night.environment, "COLUMNS": "200"}
        process = start(*command, cwd=night.folder, env=environment, stdout=terminal, stderr=terminal)
        os.close(terminal)
        seen = b""
        with suppress(OSError):  # how Linux says that nobody writes to it any more
            while found := reader.read(65536):
                seen += found
        code = process.wait(PATIENCE)
    return code, seen.decode("utf-8").replace("\r\n", "\n")


READING = (*reading_commands(cli), *WITH_ARGUMENTS)


def test_there_are_such_commands() -> None:
    assert {("status",), ("batches",), ("inbox",), ("schedule", "list"), ("check",), ("doctor",)} <= set(READING)
    assert len({name for name, *_ in READING}) > len(COMMANDS) / 2


@pytest.mark.parametrize("command", READING, ids=lambda command: "-".join(command).replace(HOSTILE, "it"))
def test_a_terminal_shows_it_and_has_nothing_to_obey(
    night: Night, command: tuple[str, ...], start_batchctl: StartBatchctl
) -> None:
    code, seen = on_a_terminal(night, start_batchctl, *command)

    assert code in expected(command), seen
    assert [line for line in seen.replace("\r", "\n").split("\n") if not line.isprintable()] == []


def test_a_file_gets_the_command_to_the_letter(night: Night) -> None:
    assert HOSTILE.replace("\r\n", "\n") in night("history", "2", "--full").stdout


@pytest.mark.parametrize("command", READING, ids=lambda command: "-".join(command).replace(HOSTILE, "it"))
def test_json_is_ascii_that_can_be_read(night: Night, command: tuple[str, ...]) -> None:
    done = night(*command, "--json")

    assert done.returncode in expected(command), done.stderr
    assert all(line.isprintable() for line in done.stderr.split("\n"))
    if done.stdout:
        assert done.stdout.isascii()
        json.loads(done.stdout)
    else:
        assert done.returncode in {2, 3, 4, 5}, done.stderr


@pytest.mark.parametrize(
    ("command", "columns"),
    [
        (("batches",), {"ProcessBatchName", "Entity"}),
        (("history", "2"), {"ProcessName", "Message", "CommandText", "Output"}),
        (("show", "1"), {"Entity", "FileName", "CycleKey", "Data3"}),
    ],
    ids=lambda found: found[0] if isinstance(found, tuple) else None,
)
def test_programs_get_it_to_the_letter(night: Night, command: tuple[str, ...], columns: set[str]) -> None:
    found = set(exact(night.json(*command)))

    assert columns <= found


@pytest.mark.parametrize("view", views.NAMES)
def test_a_view_holds_it_to_the_letter(night: Night, view: str) -> None:
    rows = night.sql(f"SELECT * FROM {view}")

    assert any(value == HOSTILE for row in rows for value in row) or (view in EMPTY and not rows), rows


def exact(value: object, name: str = "") -> Iterator[str]:
    """Yield the names under which the hostile text stands as it was written."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from exact(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from exact(inner, name)
    elif value == HOSTILE or (name == "Message" and isinstance(value, str) and HOSTILE in value):
        yield name


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_controller_tells_its_events_one_to_a_line(night: Night, form: str) -> None:
    # Else it would take the database for a copy.
    night.sql("UPDATE Leader SET Place = NULL")
    done = night("run", "--once", env={"BATCHCTL_LOG__FORMAT": form, "BATCHCTL_LOG__FILE": f"events.{form}"})
    assert done.returncode in {0, 1}, done.stderr
    lines = (night.folder / f"events.{form}").read_text(encoding="utf-8").split("\n")

    assert "Traceback" not in done.stderr
    assert MARK in done.stderr
    assert lines[-1] == ""
    assert all(line.isprintable() for line in (*lines, *done.stderr.split("\n")))
    if form == "json":
        assert all(json.loads(line)["Event"] for line in lines[:-1])

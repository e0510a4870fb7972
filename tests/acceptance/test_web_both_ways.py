"""Every table of every page leads to the same as CSV and as SQL: to a file with its rows, and to statements that run."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from collections.abc import Iterator
from contextlib import closing
from html import unescape
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pytest

from batchctl.store.views.same_lists import STATEMENTS
from batchctl.web.pages import PAGES
from tests.acceptance.consoles import Browser, Console
from tests.acceptance.night import Night
from tests.acceptance.test_web_many import over
from tests.acceptance.test_web_narrowed import LIST
from tests.sqlserver import taken

PLACES = {
    "/": ["/"],
    "/instances": ["/instances", "/instances?status=failed&batch=Late"],
    "/instances/{number}": ["/instances/1", "/instances/2"],
    "/batches": ["/batches"],
    "/batch": ["/batch?name=Late"],
    "/dependencies": ["/dependencies", "/dependencies?batch=Waits"],
    "/day": ["/day"],
    "/schedules": ["/schedules"],
    "/schedule": ["/schedule?name=nightly"],
    "/calendar": ["/calendar?name=NL"],
    "/inbox": ["/inbox"],
    "/file-processes/{number}": ["/file-processes/1"],
    "/incidents": ["/incidents"],
    "/audit": ["/audit", "/audit?of=batch:Late"],
    "/requests": ["/requests"],
    "/requests/{number}": ["/requests/1"],
    "/controllers": ["/controllers"],
    "/sql": ["/sql?list=Running"],
    "/help": [],
    "/help/{name}": [],
}
"""Where each page is looked at; the documentation holds no rows."""
_TIMED = (("ScheduleName", "ScheduleName"),)
_INSTANCE, _BATCH = (("BatchControl_id", "BatchControl_id"),), (("ProcessBatchName", "ProcessBatchName"),)
_FILE = (("FileProcess_id", "FileProcess_id"),)
SAME = {
    "Running": _INSTANCE,
    "Failed, held, to be tried again": _INSTANCE,
    "Waiting": _INSTANCE,
    "Waits for other batches": _BATCH,
    "Waiting for a person": _INSTANCE,
    "Late": (("What", "What"), ("Name", "Name")),
    "Ready by": _BATCH,
    "Completed last": _INSTANCE,
    "Due next": _TIMED,
    "Disabled batches with open instances": _BATCH,
    "Calendars that run out": (("CalendarName", "CalendarName"),),
    "Unreadable: nothing goes by these rows until they are corrected": (
        ("TableName", "TableName"),
        ("RowNumber", "Row_id"),
    ),
    "Rows that are not work": _FILE,
    "Attempts": (("ProcessControlSeq", "ProcessControlSeq"), ("AttemptNo", "AttemptNo")),
    "Steps": (("ProcessControlSeq", "ProcessControlSeq"), ("ProcessName", "ProcessName")),
    "How long steps take": (("ProcessControlSeq", "ProcessControlSeq"),),
    "Decided last": (("FireKey", "FireKey"),),
    "Instances": _INSTANCE,
    "Schedules": _TIMED,
    "Calendars": (("CalendarName", "CalendarName"),),
    "Days": (("CalendarDate", "CalendarDate"),),
    "Incidents": (("Incident_id", "Incident_id"),),
    "Requests": (("OperatorRequest_id", "OperatorRequest_id"),),
    "Acts": (("AuditLog_id", "AuditLog_id"),),
    "Controllers": (("Controller_id", "Controller_id"),),
    "Pools": (("PoolName", "PoolName"),),
    "Versions": (("DefVersion", "DefVersion"),),
}
"""The lists whose statements show their rows and no others, and by which columns: of the list, and of the statement."""
WIDER = {
    "Batches": (_BATCH, "it shows those that nothing can go by, too"),
    "Rows that nothing came of": (_FILE, "the inbox has what is new, too"),
    "Notes": ((("Note_id", "Note_id"),), "on Now stand those about what is shown there"),
    "24 hours": (_BATCH, "it shows what runs since before these hours"),
}
"""The lists whose statements show more."""
OTHER_ROWS = {
    "Gates": "views know the first gate that is in the way",
    "Due times": "computed, and printed by the command",
    "Due within 30 days": "computed, and for each schedule printed by the command",
    "Nights in which the clocks are changed": "computed, and printed by the command",
    "Triggers, watches and schedules that start nothing": "a statement on the log and one on watches",
    "Refused": "the instances stand in ValuesAfter",
}
"""The lists whose statements show what they are made of."""


class Table(NamedTuple):
    """Where a table leads."""

    page: str
    title: str
    file: str
    sql: str


def by_hand(night: Night) -> None:
    """Make rows of every kind that a page lists."""
    insert = {
        "Calendar": "(CalendarName, ValidUntil) VALUES ('NL', '2020-12-31'), ('BE', NULL)",
        "CalendarDay": "(Calendar_id, CalendarDate) VALUES (1, '2020-12-25'), (2, '2020-12-26')",
        "Schedule": "(ScheduleName, Entity, ScheduleType, RunTimes, TimeZone, CalendarName, CalendarRule) VALUES"
        " ('nightly', 'Late', 'daily', '02:30', 'Europe/Amsterdam', NULL, 'business_days'),"
        " ('ended', 'Late', 'daily', '03:00', NULL, 'NL', 'business_days')",
        "DataTrigger": "(TriggerName, Entity, ConnectionName, TableName, StatusColumn, PendingValue, OnNewRows)"
        " VALUES ('orders', 'Late', 'shop', 'Orders', 'Status', 'new', 1)",
        "SchedulerLog": "(EventType, Source, Entity, Message) VALUES ('error', 'trigger orders', 'Late', 'no such table'),"
        " ('error', 'trigger gone', 'Late', 'no such table')",
        "FileWatch": "(WatchName, Entity, Folder, UnreachableSince) VALUES ('in', 'Late', '/nowhere', '2025-11-01 00:00:00.000')",
        "ScheduleFire": "(Schedule_id, FireKey, Outcome, DueTime, Reason)"
        " VALUES (1, '2025-11-01T02:30', 'skipped', '2025-11-01 01:30:00.000', 'by hand')",
        "KeptForecast": "(ProcessBatch_id, MadeOn, P50, P90, FinishBy, Chance, NeedsPerson, Nights, Decides) VALUES"
        " (1, '2025-11-01', '2999-11-01 03:10:00.000', '2999-11-01 03:40:00.000', '2999-11-01 03:00:00.000', 30, 0, 43, 'Late')",
        "OperatorRequest": "(Action, BatchControl_id) VALUES ('pause', 1), ('pause', 2)",
    }
    night.sql("DELETE FROM KeptForecast")
    for table, values in insert.items():
        night.sql(f"INSERT INTO {table} {values}")


@pytest.fixture
def shown(night: Night) -> Night:
    """Return the night in which there is a row for every list."""
    night.batch("Good", "true", "true")
    night.batch("Waits", "true", Entity="Waits for two", DependencyMode="all")
    night.batch("Asks", "Is it right?")
    night.sql("UPDATE ProcessControl SET ProcessType = 'confirm' WHERE Data1 = 'Is it right?'")
    night.batch("Runs", "sleep 1000")
    night.sql("UPDATE ProcessControl SET AlarmDuration = 1 WHERE Data1 = 'sleep 1000'")
    night.batch("Quiet", "true", MaxConcurrent=1)
    night.batch("Broken", "true")
    for needed in ("Good", "Quiet"):
        night.sql(
            "INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) SELECT w.ProcessBatch_id, n.ProcessBatch_id"
            " FROM ProcessBatch w CROSS JOIN ProcessBatch n WHERE w.ProcessBatchName = 'Waits' AND n.ProcessBatchName = ?",
            needed,
        )
    night.sql("UPDATE ProcessControl SET ProcessName = 'step one' WHERE Data1 = 'echo loaded'")
    for entity in ("Good", "Asks"):
        night.arrive(entity)
    assert night("run", "--once").returncode == 0
    for entity in ("Runs", "Quiet"):
        night.arrive(entity)
    assert night("create").returncode == 0
    assert night("disable", "Quiet", "--reason", "not tonight").returncode == 0
    night.arrive("Nobody")
    night.arrive("Late", "odd.csv", Status="rejected", Message="odd")
    by_hand(night)
    assert night("note", "--batch", "Late", "seen").returncode == 0
    assert night("note", "1", "seen, too").returncode == 0
    ((runs,),) = night.sql(
        "SELECT c.BatchControl_id FROM BatchControl c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id"
        " WHERE b.ProcessBatchName = 'Runs'"
    )
    night.sql(
        "INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType,"
        " CommandText, StartTime) SELECT BatchControl_id, ProcessBatch_id, 10, 'step 1', 'os_command', 'sleep 1000',"
        " '2025-11-01 00:00:00.000' FROM BatchControl WHERE BatchControl_id = ?",
        runs,
    )
    night.sql("UPDATE BatchControl SET Status = 'running', ClaimedBy = 'etl1' WHERE BatchControl_id = ?", runs)
    with closing(night.database.hand()) as hand:
        hand.loosen()
        hand.sql("UPDATE ProcessBatch SET OnFailure = 'sad' WHERE ProcessBatchName = 'Broken'")
    return night


def tables_of(browser: Browser, page: str) -> Iterator[Table]:
    """Yield the tables of a page; each has both links before it, and none that belongs to another one."""
    answer = browser.get(page)
    assert answer.status == 200, answer.said
    *before, _ = answer.text.split("<table")
    for part in before:
        leads = {kind: unescape(address) for address, kind in LIST.findall(part.rpartition("</table>")[2])}
        assert {*leads} == {"CSV", "SQL"}, f"{page}: a table does not lead to the same: {part[-600:]}"
        titles = {dict(parse_qsl(urlsplit(one).query))["list"] for one in leads.values()}
        assert len(titles) == 1, page
        yield Table(page, titles.pop(), leads["CSV"], leads["SQL"])


def rows_of(browser: Browser, table: Table) -> list[dict[str, str]]:
    answer = browser.get(table.file)
    assert answer.status == 200, f"{table}: {answer.said}"
    return [*csv.DictReader(io.StringIO(answer.text))]


def statements_of(browser: Browser, table: Table) -> list[str]:
    """Return the statements, which run in any client of SQL Server, too."""
    answer = browser.get(table.sql)
    assert answer.status == 200, f"{table}: {answer.said}"
    found = [unescape(one) for one in re.findall(r'<pre class="command">(.*?)</pre>', answer.text, re.DOTALL)]
    assert found, table
    for one in found:
        taken.assert_taken(one, by_any_client=True, of_ours=True)
    return found


def keys(night: Night, statements: list[str], columns: list[str]) -> set[tuple[str, ...]]:
    picked = ", ".join(f"q.{column}" for column in columns)
    return {
        tuple("" if value is None else str(value) for value in row)
        for one in statements
        # No SQL Server sorts what another query picks from.
        for row in night.sql(f"SELECT {picked} FROM ({one.removesuffix(';').partition(' ORDER BY ')[0]}) q")
    }


def look_at_the_others(
    night: Night, tables: list[tuple[Table, list[dict[str, str]], list[str]]], printed: dict[Table, str]
) -> None:
    """Compare what the statements of `OTHER_ROWS` show, as far as a list says the same, and what commands print."""
    for table, rows, statements in tables:
        said = {value for row in rows for value in row.values()}
        match table.title:
            case "Gates":
                found = [one for one in statements if night.sql(one)]
                assert found, table
                waiting = [one for one in found if " vWaiting " in one and table.page.startswith("/instances/")]
                assert {reason for (reason,) in keys(night, waiting, ["Reason"])} <= said, table
            case "Due times" | "Nights in which the clocks are changed":
                assert [*csv.DictReader(io.StringIO(printed[table]))] == rows
            case "Triggers, watches and schedules that start nothing":
                log, watches = statements
                named = {("watch in",)} if night.sql(watches) else set()
                assert {(row["Source"],) for row in rows} == keys(night, [log], ["Source"]) | named
            case "Refused":
                ((after,),) = keys(night, statements, ["ValuesAfter"])
                assert json.loads(after) == {"BatchControl_id": 1, "Message": rows[0]["Message"]}
            case _:
                assert all(isinstance(night.sql(one), list) for one in statements)


def commands_in(statements: list[str]) -> list[list[str]]:
    """Return the commands that comments name."""
    found = [line for one in statements for line in one.splitlines() if line.startswith("-- ")]
    return [shlex.split(line.rpartition(": batchctl ")[2]) for line in found]


def test_every_table_leads_to_its_rows_as_csv_and_as_sql(shown: Night, console: Console) -> None:
    browser = console.browser()
    assert {*PLACES} == {one.path for one in PAGES}
    path = "/many/rerun?status=failed&batch=Late"
    form = {"form": browser.form(path), "reason": "once more"}
    assert shown("cancel", "1", "--reason", "not this one").returncode == 0
    many = browser.post(path, form).headers["location"]
    over(browser, many)
    assert browser.act("/instances/1/note", text="cancelled").status == 303
    shown.sql("UPDATE BatchControl SET Status = 'failed' WHERE BatchControl_id = 1")
    pages = [*(page for places in PLACES.values() for page in places), many]
    tables = [table for page in pages for table in tables_of(browser, page)]

    assert {table.title for table in tables} == {*SAME, *WIDER, *OTHER_ROWS} == {*STATEMENTS}
    others, printed = [], dict[Table, str]()
    for table in tables:
        rows, statements = rows_of(browser, table), statements_of(browser, table)
        assert rows, table
        if table.title in OTHER_ROWS:
            others.append((table, rows, statements))
        else:
            pairs = SAME[table.title] if table.title in SAME else WIDER[table.title][0]
            # Of a batch that was not worked at there is no attempt.
            worked = (row for row in rows if row.get("Instances") != "0")
            listed = {tuple(row[name] for name, _ in pairs) for row in worked}
            found = keys(shown, statements, [column for _, column in pairs])
            is_wider = table.title in WIDER and "?" not in table.page
            assert listed == (found & listed if is_wider else found), (table, statements)
        for command in commands_in(statements):
            done = shown(*("nightly" if word in {"NAME", "BATCH"} else word for word in command))
            assert (done.returncode, done.stderr) == (0, ""), command
            printed[table] = done.stdout
    look_at_the_others(shown, others, printed)

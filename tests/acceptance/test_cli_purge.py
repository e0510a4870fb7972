"""`batchctl purge`: what would go, in rows, and what has gone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.acceptance.installation import RunBatchctl
from tests.control_databases import ControlDatabase

COMMAND = (
    "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
    " SELECT ProcessBatch_id, 10, 'step', 'os_command', 'true' FROM ProcessBatch WHERE ProcessBatchName = ?"
)


class Shop:
    """A folder where three batches have been at work long ago."""

    def __init__(self, database: ControlDatabase, run: RunBatchctl) -> None:
        self.database, self._run, self.hand = database, run, database.hand()
        settings = f'database_url = "{database.url}"\nslots = 4\n'
        (database.directory / "batchctl.toml").write_text(settings, encoding="utf-8")
        for name in ("Load", "Mail"):
            self.hand.sql("INSERT INTO ProcessBatch (ProcessBatchName, MaxConcurrent) VALUES (?, 9)", name)
            self.hand.sql(COMMAND, name)
            for at in range(3):
                self.hand.sql("INSERT INTO FileProcess (Entity, FileName, Data) VALUES (?, 'f', ?)", name, str(at))
        self.hand.sql("INSERT INTO FileProcess (Entity, Status) VALUES ('Load', 'rejected')")
        self("run", "--once")
        for table, column in (
            ("BatchControl", "z_updated"),
            ("FileProcess", "z_updated"),
            ("FileProcess", "z_inserted"),
        ):
            self.hand.sql(f"UPDATE {table} SET {column} = '2026-01-02'")
        self.hand.sql("UPDATE BatchProcessHistory SET StartTime = '2026-01-01', EndTime = '2026-01-02'")
        self.hand.sql("INSERT INTO SchedulerLog (EventType, Source, EventTime) VALUES ('skipped', 's', '2026-01-02')")

    def __call__(self, *args: str, code: int = 0) -> tuple[str, str]:
        done = self._run(*args, cwd=self.database.directory)
        assert done.returncode == code, done
        return " ".join(done.stdout.split()), " ".join(done.stderr.split())

    def set(self, name: str, value: str) -> None:
        self.hand.sql("INSERT INTO Setting (Name, Value) VALUES (?, ?)", name, value)

    def rows(self, table: str) -> Any:
        return self.hand.sql(f"SELECT count(*) FROM {table}")[0][0]


@pytest.fixture
def shop(control_database: ControlDatabase, run_batchctl: RunBatchctl) -> Iterator[Shop]:
    made = Shop(control_database, run_batchctl)
    yield made
    made.hand.close()


def test_a_dry_run_says_in_rows_what_then_goes(shop: Shop) -> None:
    for name, value in {"CompleteDays": "30", "KeepLast": "1", "KeepLast:Mail": "2", "InboxDays": "30"}.items():
        shop.set(name, value)
    shown, said = shop("purge", "--dry-run")
    planned = json.loads(shop("purge", "--dry-run", "--json")[0])
    assert shop.rows("BatchControl") == 6

    day = "2026-01-02T00:00:00.000Z"
    assert planned == [
        {"Table": table, "ProcessBatchName": batch, "Status": status, "Rows": rows, "Oldest": oldest}
        for table, batch, status, rows, oldest in [
            ("SchedulerLog", None, None, 1, day),
            ("FileProcess", None, None, 1, day),
            ("BatchControl", "Load", "complete", 2, day),
            ("BatchControl", "Mail", "complete", 1, day),
            ("BatchProcessHistory", None, None, 3, None),
            ("FileProcess", None, None, 3, None),
        ]
    ]
    assert "Rows that would go" in shown
    assert "3 FileProcess rows of these have Data: sent again after that, they are no duplicates." in said

    assert "say why" in shop("purge", code=2)[1]
    gone, _ = shop("purge", "--reason", "the disk is full")
    assert gone == "Rows purged: 1 of SchedulerLog, 4 of FileProcess, 3 of BatchControl, 3 of BatchProcessHistory."
    assert [shop.rows(table) for table in ("FileProcess", "BatchControl", "BatchProcessHistory")] == [3, 3, 3]
    acts = shop.hand.sql("SELECT Reason, ValuesBefore, ValuesAfter FROM AuditLog WHERE Action = 'purge' ORDER BY 1, 2")
    assert {reason for reason, _, _ in acts} == {"the disk is full"}
    before, after = (next(json.loads(each) for each in values if each) for values in list(zip(*acts, strict=True))[1:])
    assert before["Setting"]["KeepLast:Mail"] == "2"
    assert after["BatchControl"] == 3
    assert json.loads(shop("purge", "--reason", "again", "--json")[0]) == []
    assert shop("fsck")[0]


def test_a_setting_that_cannot_be_meant_so_is_told_and_the_rest_goes(shop: Shop) -> None:
    shop.set("CompleteDays", "30")
    shop.set("KeepLast:Lod", "0")
    shown, said = shop("purge", "--dry-run", code=6)
    assert "SchedulerLog" in shown
    assert "BatchControl" not in shown
    assert "Did you mean 'Load'?" in said

    gone, said = shop("purge", "--reason", "r", code=1)
    assert gone == "Rows purged: 1 of SchedulerLog."
    assert "Did you mean 'Load'?" in said

"""`Populator = 'procedure'` with the installed command: a payload is enough, and what does not answer holds up nobody."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.acceptance.installation import RunBatchctl, StartBatchctl
from tests.acceptance.test_controller import Shop
from tests.control_databases import ControlDatabase, SqliteControl

NAME = "s_PopulateBatchControl_Load"
FUNCTION = """
CREATE FUNCTION s_PopulateBatchControl_Load(p_id bigint, p_entity text, p_file text, p_data text, p_key text)
RETURNS TABLE (Data1 text, Data2 text, CycleKey text) LANGUAGE sql AS $$ {} $$
"""


@pytest.fixture
def shop(control_database: ControlDatabase, start_batchctl: StartBatchctl, run_batchctl: RunBatchctl) -> Iterator[Shop]:
    made = Shop(control_database, start_batchctl, run_batchctl)
    yield made
    made.close()


def make(shop: Shop, sqlite: str, postgres: str) -> None:
    if isinstance(shop.database, SqliteControl):
        (shop.directory / "procedures").mkdir(exist_ok=True)
        (shop.directory / "procedures" / f"{NAME}.sql").write_text(sqlite, encoding="utf-8")
    else:
        shop.hand.sql(FUNCTION.format(postgres))


def test_a_payload_without_a_file_name_is_work_and_a_procedure_that_is_not_there_is_named(shop: Shop) -> None:
    shop.batch("Load", "sh -c 'echo $0 $1 $2 > found' {Data1} {Data2} {CycleKey}", Populator="procedure")
    shop.hand.sql("INSERT INTO FileProcess (Entity, Data) VALUES ('Load', 'orders/2026-11-22')")
    lacking, early = shop.run("check"), shop.run("run", "--once")
    ((status, message),) = shop.hand.sql("SELECT Status, Message FROM FileProcess")

    assert (lacking.returncode, early.returncode, status) == (6, 0, "rejected"), lacking.stdout + early.stderr
    assert (NAME in lacking.stdout, NAME in str(message)) == (True, True), lacking.stdout + str(message)

    parts = "substr({0}, 1, 6){1}, CAST({2} AS text){3}, substr({0}, 8){4}"
    make(
        shop,
        "SELECT " + parts.format(":Data", " AS DATA1", ":FileProcess_id", " AS data2", " AS cyclekey"),
        "SELECT " + parts.format("p_data", "", "p_id", "", ""),
    )
    sound, again = shop.run("check"), shop.run("inbox", "retry", "1", "--reason", "made the procedure")
    worked = shop.run("run", "--once")

    assert (sound.returncode, again.returncode, worked.returncode) == (0, 0, 0), sound.stdout + again.stderr
    assert (shop.directory / "found").read_text(encoding="utf-8") == "orders 1 2026-11-22\n"
    assert shop.hand.sql("SELECT Data1, Data2, CycleKey FROM BatchControl") == [("orders", "1", "2026-11-22")]


def test_a_procedure_that_hangs_is_stopped_and_the_entitys_other_batch_runs(shop: Shop) -> None:
    shop.configure("populate_timeout = 2\n")
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) AS Data1 FROM n"
    make(shop, endless, "SELECT '', '', '' FROM pg_sleep(3600)")
    shop.batch("Load", "true", Populator="procedure")
    shop.batch("Other", "true", Entity="Load")
    shop.submit("Load")

    assert shop.run("run", "--once").returncode == 0
    assert shop.value("SELECT PopulatorTries FROM FileProcess") == 3
    assert shop.hand.sql("SELECT Status FROM BatchControl") == [("complete",)]


def test_the_connection_that_populator_args_name_is_asked(shop: Shop) -> None:
    with closing(sqlite3.connect(shop.directory / "wh.db")) as warehouse:
        warehouse.executescript("CREATE TABLE Item (Name); INSERT INTO Item VALUES ('one')")
    (shop.directory / "wh").mkdir()
    (shop.directory / "wh" / f"{NAME}.sql").write_text("SELECT Name AS Data1 FROM Item", encoding="utf-8")
    shop.configure('[connections.wh]\nurl = "sqlite:///wh.db"\nprocedures = "wh"\n')
    shop.batch("Load", "true", Populator="procedure", PopulatorArgs="wh")
    shop.submit("Load")

    assert shop.run("run", "--once").returncode == 0
    assert shop.hand.sql("SELECT Data1, Status FROM BatchControl") == [("one", "complete")]


def test_an_expression_searches_what_populator_on_says(shop: Shop) -> None:
    for name, on in (("A", "filename"), ("B", "Data"), ("C", "entity")):
        shop.batch(name, "true", Entity="E_7", PopulatorArgs="(?P<Data4>[a-zA-Z]+_7)", PopulatorOn=on)
    shop.batch("D", "true", Entity="E_7", PopulatorArgs="(?P<Data4>[a-z]+)")
    with pytest.raises(shop.hand.Refused):
        shop.batch("odd", "true", PopulatorOn="directory")
    shop.hand.sql("INSERT INTO FileProcess (Entity, FileName, Data) VALUES ('E_7', '/in/dir_7/name.csv', 'd_7')")

    assert shop.run("run", "--once").returncode == 0
    found = shop.hand.sql("SELECT ProcessBatch_id, Data4 FROM BatchControl ORDER BY 1")
    assert [value for _, value in found] == ["dir_7", "d_7", "E_7", "name"]

"""What is reported of a walk through a real server, which cannot be had here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import make_url

from tests.house.source import ROOT
from tests.sqlserver import control, real_drivers, walk
from tests.sqlserver.control import URL, MssqlControl, MssqlHand, Pool
from tests.store.sql_server import SqlServer, one, raising, server_error

NOBODY = "mssql+pyodbc://sa:geheim@127.0.0.1:9/walk?driver=ODBC+Driver+18+for+SQL+Server&TrustServerCertificate=yes"


@pytest.mark.parametrize("module", ["pyodbc", "mssql_python"])
def test_where_nobody_answers_no_test_is_begun(tmp_path: Path, module: str) -> None:
    chosen = ROOT / "tests" / "acceptance" / "test_cli_audit.py"
    done = subprocess.run(
        [sys.executable, "-Im", "pytest", "-p", "tests.sqlserver.walk", "-p", "no:cacheprovider", str(chosen)],
        cwd=tmp_path,
        env={**os.environ, URL: real_drivers.url(module, 9)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "ERROR: the SQL Server cannot be walked through: " in done.stderr
    assert "test_cli_audit" not in done.stdout
    assert "geheim" not in done.stdout + done.stderr
    assert not (tmp_path / walk.REPORT).exists()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SqlServer:
    """A server that can be reached, with the databases of a walk."""
    made = SqlServer()
    made.install(monkeypatch)
    monkeypatch.setenv(URL, NOBODY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(control, "POOL", Pool(print, made=["walk_batchctl_1", "walk_batchctl_2"]))
    return made


def test_the_report_is_written_whatever_becomes_of_the_databases_and_what_is_left_is_told(server: SqlServer) -> None:
    server.when(r"DROP DATABASE \[walk_batchctl_1", raising(server_error(3702, "it is in use, says geheim")))
    made, said = walk.Walk(NOBODY), list[str]()
    made.failures.append(("test_x", "it failed"))
    written = list[bool]()
    drop_all = control.drop_all

    def look_and_drop() -> dict[str, str]:
        written.append(walk.REPORT.exists())
        return drop_all()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "drop_all", look_and_drop)
        made.pytest_sessionfinish()
    made.pytest_terminal_summary(SimpleNamespace(section=said.append, write_line=said.append))

    assert written == [True]
    assert "- `test_x`: it failed" in walk.REPORT.read_text(encoding="utf-8")
    assert server.wording("DROP DATABASE") == ["DROP DATABASE [walk_batchctl_1]", "DROP DATABASE [walk_batchctl_2]"]
    assert walk.REPORT.read_text(encoding="utf-8") in said
    (left,) = [line for line in said if "is left" in line]
    assert left.startswith("database walk_batchctl_1 is left, drop it by hand: it is in use")
    assert "geheim" not in "".join(said)


def test_a_table_that_keeps_a_row_gives_no_number_twice(server: SqlServer) -> None:
    server.when(r"MAX\(\w+_id\)", one(0))
    server.when(r"MAX\(Setting_id\)", one(1))
    hand = MssqlHand(NOBODY, Path.cwd())
    hand.empty()
    hand.close()

    (kept,) = server.wording(r"CHECKIDENT \('Setting'")
    (other,) = server.wording(r"CHECKIDENT \('Schedule'")
    assert "('Setting', RESEED, 1)" in kept
    assert "('Schedule', RESEED, 0)" in other


def test_no_two_tests_have_one_database_at_the_same_time_and_what_is_given_back_is_lent_again() -> None:
    created = list[str]()
    pool = Pool(created.append)
    of_a_module, first = pool.take("walk"), pool.take("walk")
    pool.give_back(first)

    assert (of_a_module, first, pool.take("walk")) == ("walk_batchctl_1", "walk_batchctl_2", "walk_batchctl_2")
    assert created == pool.made == ["walk_batchctl_1", "walk_batchctl_2"]


def test_a_database_that_is_lent_is_reached_as_the_one_that_was_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(URL, NOBODY)

    assert make_url(MssqlControl(tmp_path, "walk_2").url) == make_url(NOBODY).set(database="walk_2")

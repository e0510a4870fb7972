"""What is reported of a walk through a real server, which cannot be had here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import make_url

from tests.house.source import ROOT
from tests.sqlserver.control import URL, MssqlControl, Pool

NOBODY = "mssql+pyodbc://sa:geheim@127.0.0.1:9/walk?driver=ODBC+Driver+18+for+SQL+Server&TrustServerCertificate=yes"


def test_a_server_that_is_not_there_is_reported_without_its_password(tmp_path: Path) -> None:
    chosen = ROOT / "tests" / "acceptance" / "test_cli_audit.py"
    done = subprocess.run(
        [sys.executable, "-Im", "pytest", "-p", "tests.sqlserver.walk", "-p", "no:cacheprovider", str(chosen), "-x"],
        cwd=tmp_path,
        env={**os.environ, URL: NOBODY},
        capture_output=True,
        text=True,
        check=False,
    )

    report = (tmp_path / "sqlserver-report.md").read_text(encoding="utf-8")
    assert done.returncode == 1
    assert "# batchctl on SQL Server\n\n- batchctl: " in report
    assert "- server: cannot be asked: " in report
    assert "1 failed" in report
    assert "- `" in report
    assert "geheim" not in done.stdout + report
    assert report in done.stdout


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

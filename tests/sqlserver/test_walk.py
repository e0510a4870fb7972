"""What is reported of a walk through a real server, which cannot be had here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.house.source import ROOT
from tests.sqlserver.control import URL

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

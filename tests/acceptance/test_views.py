"""The night in an SQL client: what failed, why the next one waits, the statement to run, and what became of it."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.installation import RunBatchctl
from tests.control_databases import PostgresControl
from tests.postgres import PostgresServer

CONFIGURED = 'business_time_zone = "Europe/Amsterdam"\n'
REGISTERED = """
INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('Load');
INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)
SELECT ProcessBatch_id, 10, 'read', 'os_command', 'cat -- {FileName}' FROM ProcessBatch WHERE ProcessBatchName = 'Load';
"""
QUESTIONS = {
    "what is the state": "SELECT ProcessBatchName, Status, Failed, Ready FROM vStatus WHERE ProcessBatchName = 'Load';",
    "what failed": "SELECT BatchControl_id, ProcessName, ReturnCode FROM vFailed;",
    "what waits": "SELECT BatchControl_id, Reason FROM vWaiting;",
    "what to run": "SELECT RerunSql FROM vFailed;",
    "what happened": "SELECT BatchControl_id, AttemptNo, Cause, Status FROM vHistory ORDER BY BatchProcessHistory_id;",
    "two clocks": "SELECT count(*) FROM vHistory WHERE StartTimeLocal > StartTime;",
}


@pytest.fixture(params=["sqlite3", "psql"])
def client(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Callable[[str], str], dict[str, str]]:
    """Return a shell of SQL, as support staff have one, and where its database is."""
    (tmp_path / "batchctl.toml").write_text(CONFIGURED, encoding="utf-8")
    if request.param == "sqlite3":

        def ask(text: str) -> str:
            command = ["sqlite3", "-batch", str(tmp_path / "batchctl.db")]
            return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout

        return ask, {}
    server: PostgresServer = request.getfixturevalue("postgres")
    database = PostgresControl(server, tmp_path, server.new_database())

    def ask_server(text: str) -> str:
        done = server.psql(database.name, text, "-A", "-t")
        assert done.returncode == 0, done.stderr
        return done.stdout

    return ask_server, {"BATCHCTL_DATABASE_URL": database.url}


def test_a_batch_that_failed_at_night_is_run_again_from_an_sql_client(
    client: tuple[Callable[[str], str], dict[str, str]], run_batchctl: RunBatchctl, tmp_path: Path
) -> None:
    ask, env = client
    told = {name: lambda asked=question: ask(asked).split("\n")[:-1] for name, question in QUESTIONS.items()}

    def batchctl(line: str) -> None:
        run_batchctl(*shlex.split(line), cwd=tmp_path, env=env)

    batchctl("db upgrade")
    assert ask("SELECT DISTINCT ZoneName FROM ZoneOffset;") == "Europe/Amsterdam\n"
    ask(REGISTERED)
    for name in ("one", "two"):
        ask(f"INSERT INTO FileProcess (Entity, FileName) VALUES ('Load', '{tmp_path / name}');")
    batchctl("run --once")
    assert told["what is the state"]() == ["Load|failed|1|1"]
    assert told["what failed"]() == ["1|read|1"]
    assert told["what waits"]() == ["2|BatchControl 1 of the same batch is failed (OnFailure hold_batch)"]

    for name in ("one", "two"):
        (tmp_path / name).write_text("here it is", encoding="utf-8")
    (rerun,) = told["what to run"]()
    ask(rerun.replace("'...'", "'the file was late'"))
    batchctl("run --once")

    assert told["what failed"]() == told["what waits"]() == []
    assert told["what is the state"]() == ["Load|idle|0|0"]
    assert told["what happened"]() == ["1|1|auto|failed", "1|2|manual|success", "2|1|auto|success"]
    assert told["two clocks"]() == ["3"]
    assert ask("SELECT Status FROM OperatorRequest;").strip() == "done"

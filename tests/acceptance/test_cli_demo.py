"""`batchctl demo` does in one go what the worked example's README tells."""

from __future__ import annotations

import shlex
import signal
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.installation import PATIENCE, RunBatchctl, StartBatchctl
from tests.house.source import ROOT
from tests.postgres import PostgresServer

pytestmark = pytest.mark.wheel


def test_the_demo_runs_to_its_good_end_in_a_fresh_folder(run_batchctl: RunBatchctl, tmp_path: Path) -> None:
    planned = run_batchctl("demo", "--dry-run", cwd=tmp_path)
    assert (planned.returncode, list(tmp_path.iterdir())) == (0, [])

    done = run_batchctl("demo", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "the warehouse holds 336,776 flights" in done.stdout
    with closing(sqlite3.connect(tmp_path / "batchctl-demo" / "batchctl.db")) as control:
        statuses = control.execute(
            "SELECT Status, count(*) FROM FileProcess GROUP BY Status ORDER BY Status"
        ).fetchall()
        attempts = control.execute("SELECT Status, count(*) FROM BatchProcessHistory GROUP BY Status").fetchall()
    assert statuses == [("complete", 12), ("duplicate", 1)]
    assert attempts == [("failed", 1), ("success", 60)]
    (failed_command,) = [line for line in done.stdout.splitlines() if line.startswith("$ batchctl rerun ")]
    story = (tmp_path / "batchctl-demo" / "README.md").read_text(encoding="utf-8")
    assert "\n    sqlite3 -cmd '.timeout 5000' batchctl.db < register.sql\n" in story
    assert [word for word in ("psql", "<!--", "load_flights`") if word in story] == []
    assert failed_command == "$ batchctl rerun 6 --reason 'the sender sent the file again'"


def test_a_folder_in_use_is_left_alone(run_batchctl: RunBatchctl, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious.txt").touch()

    refused = run_batchctl("demo", "mine", cwd=tmp_path)
    second = run_batchctl("demo", "--dry-run", cwd=tmp_path)

    assert refused.returncode == 4
    assert "is not empty" in refused.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["precious.txt"]
    assert "batchctl-demo," in second.stdout


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that the server may look into, which itself reads the files."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)


@pytest.fixture
def role(postgres: PostgresServer) -> Iterator[str]:
    """A role that may log in and nothing more."""
    name = "newcomer"
    with postgres.connect() as dba:
        dba.execute(f"CREATE ROLE {name} LOGIN")
    yield name
    with postgres.connect() as dba:
        for (database,) in dba.execute("SELECT datname FROM pg_database WHERE datdba = 'newcomer'::regrole").fetchall():
            dba.execute(f"DROP DATABASE {database}".encode())
        dba.execute(f"DROP ROLE {name}")


def of_its_own(postgres: PostgresServer, role: str) -> str:
    """Return the name of an empty database that belongs to a role."""
    database = postgres.new_database()
    with postgres.connect() as dba:
        dba.execute(f"ALTER DATABASE {database} OWNER TO {role}".encode())
    return database


def next_step(stderr: str) -> str:
    """Return what a person is told to do, without who has to."""
    return stderr.rpartition("Next: ")[2].partition("\nCode: ")[0].partition(": ")[2]


def test_the_demo_runs_on_postgresql_with_the_one_right_that_it_asks_for(
    run_batchctl: RunBatchctl, postgres: PostgresServer, role: str, folder: Path
) -> None:
    database = of_its_own(postgres, role)
    url = postgres.url(database, role).replace(f"{role}@", f"{role}:not-asked-for@")
    refused = run_batchctl("demo", "demo", "--database", url, cwd=folder)
    assert (refused.returncode, list(folder.iterdir())) == (4, [])
    assert next_step(refused.stderr) == f"GRANT pg_read_server_files TO {role};"
    with postgres.connect() as dba:
        dba.execute(next_step(refused.stderr).encode())

    done = run_batchctl("demo", "demo", "--database", url, cwd=folder)
    again = run_batchctl("demo", "another", "--database", url, cwd=folder)
    story = (folder / "demo" / "README.md").read_text(encoding="utf-8")

    assert done.returncode == 0, done.stderr
    assert (folder / "demo" / "batchctl.toml").stat().st_mode & 0o777 == 0o600
    assert 'step_environment = ["PG*"]' in (folder / "demo" / "batchctl.toml").read_text(encoding="utf-8")
    assert (again.returncode, [path.name for path in folder.iterdir()]) == (4, ["demo"])
    assert "the warehouse holds 336,776 flights" in done.stdout
    assert ", with the password where this command has found it, such as in PGPASSWORD; README.md tells" in done.stdout
    assert "\n    psql DATABASE < register.sql\n" in story
    assert (
        '\n    CALL "load_flights" failed: ERROR 23514: line 1001 of data_20130601_20130630.csv is no flight;' in story
    )
    assert [word for word in ("sqlite3", "<!--", "CHECK constraint", "warehouse.db") if word in story] == []
    with postgres.connect(database) as control:
        assert control.execute("SELECT Status, count(*) FROM FileProcess GROUP BY 1 ORDER BY 1").fetchall() == [
            ("complete", 12),
            ("duplicate", 1),
        ]
        attempts = "SELECT Status, count(*) FROM BatchProcessHistory GROUP BY 1 ORDER BY 1"
        assert control.execute(attempts).fetchall() == [("failed", 1), ("success", 60)]


def test_a_database_that_is_not_empty_is_left_as_it_was(
    run_batchctl: RunBatchctl, postgres: PostgresServer, prepared: str, tmp_path: Path
) -> None:
    ours = postgres.new_database(prepared)
    theirs = postgres.new_database()
    waiting = """
    INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('Orders');
    INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)
    SELECT ProcessBatch_id, 10, 'touch', 'os_command', 'touch done' FROM ProcessBatch WHERE ProcessBatchName = 'Orders';
    INSERT INTO FileProcess (Entity) VALUES ('Orders')
    """
    with postgres.connect(ours) as dba:
        dba.execute(waiting)
    with postgres.connect(theirs) as dba:
        dba.execute("CREATE SCHEMA dwh; CREATE TABLE dwh.Flight (a int)")

    by_option = run_batchctl("demo", "--database", postgres.url(ours), cwd=tmp_path)
    by_variable = run_batchctl("demo", cwd=tmp_path, env={"BATCHCTL_DATABASE_URL": postgres.url(ours)})
    with_a_warehouse = run_batchctl("demo", "--dry-run", "--database", postgres.url(theirs), cwd=tmp_path)

    for refused in (by_option, by_variable, with_a_warehouse):
        assert (refused.returncode, refused.stdout) == (4, "")
        assert "is not empty" in refused.stderr
        assert "Next: name an empty database" in refused.stderr
    assert "dwh.flight" in with_a_warehouse.stderr
    assert list(tmp_path.iterdir()) == []
    with postgres.connect(ours) as dba:
        assert dba.execute("SELECT Status FROM FileProcess").fetchall() == [("ready",)]
        assert dba.execute("SELECT count(*) FROM ProcessBatch").fetchall() == [(1,)]


@pytest.mark.parametrize(
    ("url", "code", "said", "to_do"),
    [
        ("postgresql://u:s3same@127.0.0.1:1/d", 4, "cannot be reached", "host and port in --database"),
        ("postgresql://postgres:s3same@127.0.0.1:{port}/no_such", 4, "does not exist", "CREATE DATABASE"),
        ("postgresql://nobody_here:s3same@127.0.0.1:{port}/postgres", 4, "refused the login", "--database"),
        ("postgresql://u:{{secret:x}}@127.0.0.1/d", 2, "no configuration", "PGPASSWORD"),
        ("postgresql://u:s3same@x@127.0.0.1/d", 2, "percent-encode", ""),
        ("postgres://u:s3same@127.0.0.1/d", 2, "takes a PostgreSQL database", "write postgresql://"),
        ("sqlite:///x.db", 2, "takes a PostgreSQL database", "leave out --database"),
        ("s3same", 2, "takes a PostgreSQL database", "write postgresql://"),
    ],
)
def test_what_keeps_the_demo_from_beginning_is_said_plainly_and_leaves_nothing(
    run_batchctl: RunBatchctl, postgres: PostgresServer, tmp_path: Path, url: str, code: int, said: str, to_do: str
) -> None:
    refused = run_batchctl("demo", "--database", url.format(port=postgres.port), cwd=tmp_path)

    assert (refused.returncode, refused.stdout) == (code, "")
    assert said in refused.stderr
    assert to_do in refused.stderr
    assert "s3same" not in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_role_that_may_make_no_tables_is_told_the_grant(
    run_batchctl: RunBatchctl, postgres: PostgresServer, role: str, tmp_path: Path
) -> None:
    url = postgres.url(postgres.new_database(), role)
    refused = run_batchctl("demo", "--database", url, cwd=tmp_path)

    assert refused.returncode == 4
    assert next_step(refused.stderr) == f"GRANT CREATE ON SCHEMA public TO {role};"


def test_a_folder_that_the_server_cannot_read_is_refused_and_not_left(
    run_batchctl: RunBatchctl, postgres: PostgresServer, folder: Path
) -> None:
    folder.chmod(0o700)
    database = postgres.new_database()
    refused = run_batchctl("demo", "demo", "--database", postgres.url(database), cwd=folder)

    assert (refused.returncode, list(folder.iterdir())) == (4, [])
    assert "cannot read the demo's files" in refused.stderr
    assert "name a folder that its user may read" in refused.stderr
    with postgres.connect(database) as dba:
        assert dba.execute("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace").fetchone() == (
            0,
        )


@pytest.mark.parametrize(
    ("variable", "said"),
    [("BATCHCTL_CONNECTIONS__WAREHOUSE__URL", "the environment would change"), ("BATCHCTL_NO_SUCH", "no such setting")],
)
def test_variables_that_would_lead_it_elsewhere_are_refused(
    run_batchctl: RunBatchctl, tmp_path: Path, variable: str, said: str
) -> None:
    refused = run_batchctl("demo", cwd=tmp_path, env={variable: "sqlite:///production.db"})

    assert refused.returncode in {2, 4}
    assert said in refused.stderr
    assert variable in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_story_stops_when_another_file_fails_than_the_one_it_tells_of(
    run_batchctl: RunBatchctl, tmp_path: Path
) -> None:
    header = (
        "year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,arr_delay,carrier,flight,tailnum,"
    )
    header += "origin,dest,air_time,distance,hour,minute,time_hour\n"
    line = "2013,{},1,517,515,{},830,819,11,UA,1545,N14228,EWR,IAH,227,1400,5,15,2013-01-01T10:00:00Z\n"
    months = "".join(line.format(month, "soon" if month == 1 else 2) for month in range(1, 13))
    (tmp_path / "flights.csv").write_text(header + months, encoding="utf-8")

    stopped = run_batchctl("demo", "--flights", "flights.csv", cwd=tmp_path)

    assert stopped.returncode == 1
    assert "Error: The demo stops: instance 1 is failed at step 20" in stopped.stderr
    assert "dep_delay is a whole number" in stopped.stderr
    assert "history 1" in stopped.stderr.partition("Next: ")[2]
    assert "The sender sends the file again" not in stopped.stdout


def in_a_browser() -> list[list[str]]:
    """Return the commands by which README shows it in a browser, without the program."""
    _, _, below = (ROOT / "README.md").read_text(encoding="utf-8").partition("Or see it in a browser")
    return [shlex.split(line, comments=True)[1:] for line in below.split("```")[1].splitlines() if line]


def test_the_story_can_be_ended_in_a_browser(
    run_batchctl: RunBatchctl, start_batchctl: StartBatchctl, tmp_path: Path
) -> None:
    begin, again, looked_at = in_a_browser()
    worker = start_batchctl(*begin, cwd=tmp_path)
    assert worker.stdout is not None
    lines = [worker.stdout.readline()]
    while lines[-1] and not lines[-1].startswith("Code: "):
        lines.append(worker.stdout.readline())
    worker.send_signal(signal.SIGTERM)
    worker.communicate(timeout=PATIENCE)

    assert lines[-2].startswith("The console: http://127.0.0.1:")
    assert "1 failed" in run_batchctl(*looked_at, cwd=tmp_path).stdout
    assert [*again[:-1], "status"] == looked_at
    folder = tmp_path / begin[1]
    assert run_batchctl("rerun", "6", "--reason", "sent again", cwd=folder).returncode == 0
    assert run_batchctl("process", cwd=folder).returncode == 0
    with closing(sqlite3.connect(folder / "batchctl.db")) as control:
        assert control.execute("SELECT DISTINCT Status FROM BatchControl").fetchall() == [("complete",)]

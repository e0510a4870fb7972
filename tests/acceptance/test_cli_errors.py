"""Exit codes and messages: what happened, to what, and what to type next; never a traceback unasked."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.installation import PATIENCE, RunBatchctl, StartBatchctl, Started, clean_environment
from tests.acceptance.night import Night, a_control, a_file, python
from tests.control_databases import KINDS, ControlDatabase, SqliteControl

ANY = [("status",), ("check",), ("submit", "E"), ("process",), ("run", "--once"), ("pause", "1"), ("db", "verify")]


@pytest.mark.parametrize("command", ANY)
def test_a_missing_database_is_refused_and_never_created(
    run_batchctl: RunBatchctl, tmp_path: Path, command: tuple[str, ...]
) -> None:
    done = run_batchctl(*command, cwd=tmp_path)

    assert done.returncode == 4
    assert (
        f"{tmp_path / 'batchctl.db'} does not exist, and no batchctl.toml in that folder names another." in done.stderr
    )
    assert "--config FILE, BATCHCTL_CONFIG or BATCHCTL_DATABASE_URL" in done.stderr
    assert "Next: batchctl db upgrade" in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database_is_named(run_batchctl: RunBatchctl, tmp_path: Path) -> None:
    (tmp_path / "batchctl.db").write_bytes(b"these are not the rows you are looking for" * 100)
    done = run_batchctl("status", cwd=tmp_path)

    assert done.returncode == 4
    assert "is not a SQLite database" in done.stderr
    assert "Next: correct database_url in batchctl.toml" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("url", "said", "next_step"),
    [
        ("sqlite:///folder", "cannot be opened", "it has to name a file"),
        ("postgresql:/x", "is not a database URL", "postgresql://user@host/database"),
    ],
)
def test_a_url_that_cannot_be_used_says_what_to_correct(
    run_batchctl: RunBatchctl, tmp_path: Path, url: str, said: str, next_step: str
) -> None:
    (tmp_path / "folder").mkdir()
    done = run_batchctl("status", cwd=tmp_path, env={"BATCHCTL_DATABASE_URL": url})

    assert said in done.stderr
    assert "Next: correct" in done.stderr
    assert next_step in done.stderr


def test_a_database_without_tables_is_told_from_a_missing_one(run_batchctl: RunBatchctl, tmp_path: Path) -> None:
    (tmp_path / "batchctl.db").touch()
    done = run_batchctl("status", cwd=tmp_path)

    assert done.returncode == 4
    assert "holds no batchctl tables" in done.stderr


@pytest.fixture(scope="module", params=KINDS)
def night(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, run_batchctl: RunBatchctl) -> Night:
    """A database without rows, of every kind in turn."""
    folder = tmp_path_factory.mktemp("errors")
    return Night(a_control(request.param, request, folder), run_batchctl)


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (("statsu",), 2, "Did you mean 'status'?"),
        (("db", "upgrad"), 2, "Did you mean 'upgrade'?"),
        (("status", "--jsn"), 2, "'--json'?"),
        (("show", "x"), 2, "'x'"),
        (("show", "0"), 2, "0"),
        (("show", "9" * 30), 2, "9999"),
        (("rerun", "1"), 2, "--reason"),
        (("rerun", "1", "--reason", "r", "--set", "Data7=x"), 2, "Data7"),
        (("rerun", "1", "--reason", "r", "--set", "Data1"), 2, "Data3=VALUE"),
        (("history", "--limit", "0"), 2, "--limit"),
        (("show", "7"), 3, "There is no BatchControl 7."),
        (("history", "7"), 3, "There is no BatchControl 7."),
        (("why", "file:7"), 3, "There is no FileProcess 7."),
        (("why", "seven"), 2, "neither"),
        (("job", "run", "nosuch"), 3, "There is no job 'nosuch'."),
        (("check", "--config", "x.toml"), 2, "stands before the command: batchctl --config FILE check"),
        (("db", "verify", "--config=x.toml"), 2, "stands before the command: batchctl --config FILE db verify"),
        (("freeze", "Load", "--reason", "x"), 2, "batchctl freeze --batch Load, or --tag Load"),
        (("status", "--debug"), 2, "stands before the command: batchctl --debug status"),
        (
            ("show", "x"),
            2,
            "Which instances there are: batchctl why batch:x; which have run: batchctl history --batch x",
        ),
        (("rerun", "file:3", "--reason", "r"), 2, "Which instances there are: batchctl why file:3"),
        (("history", "--limit", "x"), 2, "'x' is not a whole number from 1 to 100000."),
        (
            ("completion",),
            2,
            "Error: Missing argument '{bash|zsh|fish|powershell}'. One of bash, zsh, fish, powershell\n",
        ),
        (("run", "--until-idle", "nan"), 2, "'nan' is not a number of seconds"),
        (("run", "--until-idle", "soon"), 2, "'soon' is not a number of seconds"),
        (("run", "--once", "--until-idle", "3"), 2, "--once and --until-idle exclude each other"),
        (("--config", ".", "status"), 2, "is a folder, not a file"),
        (("rerun", "7", "--reason", "r"), 3, "There is no BatchControl 7."),
        (("accept", "7", "--reason", "r"), 3, "There is no FileProcess 7."),
        (("disable", "nobody"), 3, "There is no batch 'nobody'."),
        (("--config", "nowhere.toml", "status"), 2, "nowhere.toml does not exist"),
        (("submit", ""), 4, "Entity cannot be submitted"),
    ],
)
def test_every_error_has_its_exit_code_and_says_what_is_wrong(
    night: Night, command: tuple[str, ...], code: int, said: str
) -> None:
    done = night(*command)

    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_malformed_configuration_is_named_with_file_line_and_key(night: Night, tmp_path: Path) -> None:
    settings = tmp_path / "odd.toml"
    settings.write_text("# a comment\npol_interval = 3\n", encoding="utf-8")
    done = night("--config", str(settings), "status")

    assert done.returncode == 2
    assert "odd.toml, line 2: pol_interval" in done.stderr
    assert "Did you mean 'poll_interval'?" in done.stderr


def test_a_traceback_is_shown_when_asked_for(night: Night) -> None:
    done = night("--debug", "show", "7")

    assert done.returncode == 3
    assert "Traceback" in done.stderr
    assert "Error: There is no BatchControl 7." in done.stderr


def test_what_nobody_foresaw_is_one_line_and_exit_1(sqlite_database: SqliteControl, run_batchctl: RunBatchctl) -> None:
    night = Night(sqlite_database, run_batchctl)
    night.sql("CREATE TRIGGER t BEFORE INSERT ON FileProcess BEGIN SELECT RAISE(ABORT, 'not today'); END")
    done = night("submit", "E")

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("Error: something went wrong inside batchctl: ")
    assert "--debug" in done.stderr


@pytest.mark.parametrize("command", [("--help",), ("--version",), ("run", "--help"), ("db", "--help")])
def test_help_needs_neither_a_database_nor_what_only_databases_need(
    installed_batchctl: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    interpreter = installed_batchctl.with_name(installed_batchctl.name.replace("batchctl", "python"))
    done = subprocess.run(
        [interpreter, "-X", "importtime", "-m", "batchctl", *command],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0
    assert done.stdout
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "click" in imported
    assert not imported & {"sqlalchemy", "alembic", "pydantic", "pydantic_settings", "rich"}


@pytest.fixture
def busy(control_database: ControlDatabase, run_batchctl: RunBatchctl) -> Night:
    """A database of every kind in turn on which a controller works."""
    return Night(control_database, run_batchctl)


@pytest.fixture
def controller(busy: Night, start_batchctl: StartBatchctl) -> Iterator[Started]:
    """A controller that carries out a step which ends only when it is told to."""
    night = busy
    night.batch("Long", python("import sys; print(sys.stdin.read()); __import__('signal').pause()"))
    night.arrive("Long")
    graces = {"BATCHCTL_SHUTDOWN_GRACE": "0", "BATCHCTL_STOP_GRACE": "1"}
    process = start_batchctl("run", cwd=night.folder, env={**night.environment, **graces})
    assert process.stderr is not None
    heard = iter(process.stderr.readline, "")
    assert any(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ step\.started ", line) for line in heard)
    yield process
    if process.poll() is None:
        process.terminate()
        process.communicate()
        # The step would outlive its controller, and this test.
        night("cancel", "1", "--reason", "the test is over")
        night("run", "--once")


@pytest.mark.full
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process alone")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_controller_ends_in_order(controller: Started, busy: Night, number: int) -> None:
    controller.send_signal(number)
    out, err = controller.communicate(timeout=PATIENCE)

    assert controller.returncode == 0, err
    assert out.startswith("Steps: 1 started, 0 succeeded, 0 failed")
    assert "step.left" in err
    assert "Traceback" not in err
    assert busy("cancel", "1", "--reason", "test").returncode == 0
    after = busy("run", "--once")
    assert after.returncode == 0, after.stderr
    assert "step.adopted" in after.stderr
    assert "instance.cancelled" in after.stderr


@pytest.mark.full
def test_a_second_controller_works_beside_the_first(controller: Started, busy: Night) -> None:
    busy.batch("Short", "true")
    busy.arrive("Short")
    busy("create")
    done = busy("process")
    running = busy("status", "--json")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Steps: 1 started, 1 succeeded")
    (name,) = json.loads(running.stdout)["Controllers"]
    assert re.search(rf"\b{controller.pid}\b", name)
    assert "is running" in busy("status").stdout
    assert "step 1" in busy("status").stdout


def test_the_database_is_made_verified_and_printed(run_batchctl: RunBatchctl, empty_database: ControlDatabase) -> None:
    night = Night(empty_database, run_batchctl)
    made = night("db", "upgrade")
    again = night("db", "upgrade")
    verified = night("db", "verify")
    as_json = night("db", "verify", "--json")
    script = night("db", "script", "--dialect", empty_database.kind)

    assert [done.returncode for done in (made, again, verified, script)] == [0, 0, 0, 0]
    assert "Nothing to do" in again.stdout
    assert json.loads(as_json.stdout)["Schema"] in made.stdout
    assert "CREATE TABLE BatchControl" in script.stdout
    assert script.stderr == ""


def test_of_many_differences_the_first_are_named_and_the_rest_counted(
    run_batchctl: RunBatchctl, control_database: ControlDatabase
) -> None:
    night = Night(control_database, run_batchctl)
    dropping = {
        "sqlite": "SELECT 'DROP INDEX \"' || name || '\"' FROM sqlite_master WHERE name LIKE 'ix%'",
        "postgresql": "SELECT 'DROP INDEX \"' || relname || '\"' FROM pg_class WHERE lower(relname) LIKE 'ix%'",
        "mssql": "SELECT CONCAT('DROP INDEX ', name, ' ON ', OBJECT_NAME(object_id)) FROM sys.indexes WHERE name LIKE 'IX%'",
    }
    names = night.sql(dropping[control_database.kind])
    for (statement,) in names:
        night.sql(statement)
    verified = night("db", "verify")

    assert verified.returncode == 4
    assert verified.stderr.count(" is missing") == 20
    assert f"; and {len(names) - 20} more." in verified.stderr


def test_an_upgrade_says_beforehand_whose_database_it_is(
    run_batchctl: RunBatchctl, empty_database: ControlDatabase
) -> None:
    night = Night(empty_database, run_batchctl)
    for name in "abcdef":
        night.sql(f"CREATE TABLE {name} (x INTEGER)")
    said = "Note: the database holds 6 other tables (a, b, c, d, e, ...); batchctl keeps its own beside them: "

    dry, made, again = night("db", "upgrade", "--dry-run"), night("db", "upgrade"), night("db", "upgrade")

    assert made.returncode == 0
    assert [said in done.stderr for done in (dry, made, again)] == [True, True, False]


def test_a_table_that_somebody_dropped_is_named_with_what_to_type(run_batchctl: RunBatchctl, tmp_path: Path) -> None:
    night = Night(a_file(tmp_path), run_batchctl)
    night.batch("B")
    night.sql("DROP TABLE AuditLog")

    refused, verified = night("disable", "B"), night("db", "verify")

    assert (refused.returncode, verified.returncode) == (4, 4)
    assert "batchctl.db lacks the table AuditLog." in refused.stderr
    assert "Next: batchctl db verify" in refused.stderr
    assert "AuditLog is missing" in verified.stderr


def test_an_upgrade_says_what_it_leaves_as_somebody_has_changed_it(run_batchctl: RunBatchctl, tmp_path: Path) -> None:
    night = Night(a_file(tmp_path), run_batchctl)
    night.sql('DROP INDEX "IX_BatchCompletion_Waiting"')

    done = night("db", "upgrade")

    assert done.returncode == 0
    assert "Nothing to do" not in done.stdout
    assert "IX_BatchCompletion_Waiting is missing" in done.stderr
    assert "Next: batchctl db verify" in done.stderr
    assert night("db", "verify").returncode == 4


def test_a_dry_upgrade_says_what_would_be_done_and_makes_nothing(run_batchctl: RunBatchctl, tmp_path: Path) -> None:
    missing = run_batchctl("db", "upgrade", "--dry-run", cwd=tmp_path)
    (tmp_path / "text.db").write_text("this is not a database" * 100, encoding="utf-8")
    wrong = run_batchctl("db", "upgrade", "--dry-run", cwd=tmp_path, env={"BATCHCTL_DATABASE_URL": "sqlite:///text.db"})

    assert missing.returncode == 0
    assert "batchctl.db does not exist" in missing.stdout
    assert "batchctl db upgrade would create or upgrade it." in missing.stdout
    assert wrong.returncode == 4
    assert "is not a SQLite database" in wrong.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["text.db"]


def test_a_database_is_not_made_where_there_is_no_folder(run_batchctl: RunBatchctl, tmp_path: Path) -> None:
    done = run_batchctl("db", "upgrade", cwd=tmp_path, env={"BATCHCTL_DATABASE_URL": "sqlite:///nowhere/b.db"})

    assert done.returncode == 4
    assert "nowhere of the control database b.db does not exist." in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_setting_is_told_without_pointing_to_the_help(night: Night) -> None:
    for variable, value in (("BATCHCTL_PLUGIN_MODULES", "nope"), ("BATCHCTL_POLL_INTERVALL", "3")):
        done = night("status", env={variable: value})
        assert done.returncode == 2
        assert f"Environment variable {variable}" in done.stderr
        assert "--help" not in done.stderr


def test_help_says_what_a_command_does_not_do(night: Night) -> None:
    assert "It asks no target database" in night("check", "--help").stdout
    assert "Accepted for scripts; this command never asks." in night("submit", "--help", env={"COLUMNS": "100"}).stdout

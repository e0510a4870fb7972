"""`batchctl demo` does in one go what the worked example's README tells."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from tests.acceptance.installation import RunBatchctl
from tests.postgres import PostgresServer


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
    assert "\n    sqlite3 batchctl.db < register.sql\n" in story
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


def test_the_demo_runs_on_postgresql_with_a_real_procedure(run_batchctl: RunBatchctl, postgres: PostgresServer) -> None:
    database = postgres.new_database()
    with (
        tempfile.TemporaryDirectory() as made
    ):  # The server itself reads the files, and may not look into the tests' own.
        folder = Path(made)
        folder.chmod(0o755)
        done = run_batchctl("demo", "demo", "--database", postgres.url(database), cwd=folder)

        story = (folder / "demo" / "README.md").read_text(encoding="utf-8")

    assert done.returncode == 0, done.stderr
    assert "the warehouse holds 336,776 flights" in done.stdout
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

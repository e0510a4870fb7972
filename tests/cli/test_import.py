"""`batchctl import`: files of other schedulers become definitions, which are planned, applied and exported as any others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shop import Shop

TAB = """\
MAILTO=ops@example.com
CRON_TZ=Europe/Amsterdam
# The orders
30 2 * * 1-5 echo loaded > loaded.txt
0 3 * * * cat > read.txt %first%second
@reboot warm
"""


@pytest.fixture
def tab(shop: Shop) -> Path:
    path = shop.folder / "etl.cron"
    path.write_text(TAB, encoding="utf-8")
    return path


def test_a_crontab_becomes_a_file_that_is_planned_applied_and_exported(shop: Shop, tab: Path) -> None:
    file = shop.folder / "jobs.toml"
    assert shop("import", "crontab", str(tab), "--output", str(file)) == 6
    assert "3 jobs: 2 mapped, 0 mapped with findings, 1 unmapped." in shop.out
    assert f"Next: batchctl plan {file}" in shop.out
    assert shop.err.count("MAILTO ops@example.com: no output is mailed") == 1
    assert shop("plan", str(file)) == 6
    assert shop("apply", str(file), "--reason", "from cron") == 0
    assert shop("check") == 0
    assert shop.sql("SELECT Enabled FROM ProcessBatch UNION SELECT Enabled FROM Schedule") == [(0,)]

    again = shop.folder / "again.toml"
    assert shop("export", "--output", str(again)) == 0
    exported = again.read_text(encoding="utf-8").partition("\n# What these were")[0]
    assert exported == file.read_text(encoding="utf-8")
    assert shop("plan", str(file)) == 0


def test_what_was_imported_runs_as_it_did(shop: Shop, tab: Path) -> None:
    file = shop.folder / "jobs.toml"
    shop("import", "crontab", str(tab), "--output", str(file))
    assert shop("apply", str(file), "--reason", "from cron") == 0
    for name in ("echo", "cat"):
        assert shop("enable", name, "--reason", "from cron") == 0
        assert shop("submit", name) == 0
    assert shop("run", "--once") == 0
    assert (shop.folder / "loaded.txt").read_text() == "loaded\n"
    assert (shop.folder / "read.txt").read_text() == "first\nsecond\n"


def test_the_report_says_what_became_of_everything(shop: Shop, tab: Path) -> None:
    assert shop("import", "crontab", str(tab), "--json") == 6
    first, _, last = json.loads(shop.out)
    assert (first["Where"], first["ProcessBatchName"], first["Outcome"]) == (f"{tab}:4", "echo", "mapped")
    assert [one["Parameter"] for one in first["Parameters"]] == ["times", "MAILTO", "CRON_TZ", "command"]
    assert (last["Outcome"], len(last["Findings"])) == ("unmapped", 1)
    assert not (shop.folder / "jobs.toml").exists()


AGENT = """
DECLARE @jobId BINARY(16)
EXEC msdb.dbo.sp_add_job @job_name=N'Ship', @description=N'Ships files', @job_id = @jobId OUTPUT
EXEC msdb.dbo.sp_add_jobstep @job_id=@jobId, @step_name=N'ship', @step_id=1, @subsystem=N'CmdExec', @command=N'echo shipped'
EXEC msdb.dbo.sp_add_jobschedule @job_id=@jobId, @name=N'daily', @freq_type=4, @freq_interval=1, @active_start_time=13000
EXEC msdb.dbo.sp_add_jobserver @job_id = @jobId
"""


def test_a_script_of_sql_server_agent_becomes_a_batch_that_runs(shop: Shop) -> None:
    script, file = shop.folder / "ship.sql", shop.folder / "jobs.toml"
    script.write_text(AGENT, encoding="utf-16")
    assert shop("import", "sql-agent", str(script), "--time-zone", "Europe/Amsterdam", "--output", str(file)) == 0
    assert "1 job: 1 mapped" in shop.out
    assert shop("apply", str(file), "--reason", "from Agent") == 0
    assert shop("check") == 0
    assert shop.sql("SELECT RunTimes, TimeZone, Enabled FROM Schedule") == [("01:30", "Europe/Amsterdam", 0)]
    again = shop.folder / "again.toml"
    assert shop("export", "--output", str(again)) == 0
    assert again.read_text(encoding="utf-8").partition("\n# What these were")[0] == file.read_text(encoding="utf-8")
    assert shop("enable", "Ship", "--reason", "from Agent") == 0
    assert shop("submit", "Ship") == 0
    assert shop("run", "--once") == 0
    assert shop.sql("SELECT Status FROM BatchControl") == [("complete",)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"0 1 * * * \xff\n", "is written neither in UTF-8 nor, with its mark, in UTF-16"),
        ("0 1 * * * true\n".encode("utf-16-le"), "it contains a NUL character"),
        (b"# long\n" * 1_300_000, "bytes, and a file that is imported has 8,388,608 at most"),
    ],
)
def test_a_file_that_cannot_be_read_leaves_nothing(shop: Shop, content: bytes, said: str) -> None:
    path, file = shop.folder / "bad.cron", shop.folder / "jobs.toml"
    path.write_bytes(content)
    assert shop("import", "crontab", str(path), "--output", str(file)) == 2
    assert said in shop.err
    assert not file.exists()


def test_a_file_of_windows_is_read(shop: Shop) -> None:
    path = shop.folder / "windows.cron"
    path.write_bytes("0 1 * * * true\r\n".encode("utf-16"))
    assert shop("import", "crontab", str(path)) == 0
    assert "1 job: 1 mapped" in shop.out


def test_what_is_typed_wrongly_is_said(shop: Shop, tab: Path) -> None:
    assert shop("import", "crontab", str(tab), "--time-zone", "Europe/Amsterdm") == 2
    assert "Did you mean 'Europe/Amsterdam'?" in shop.err
    assert shop("import", "crontab", "nowhere") == 2
    assert "nowhere cannot be read: No such file or directory." in shop.err
    assert shop("import", "crontab", str(tab), "--output", str(shop.folder)) == 2
    assert "cannot be written" in shop.err

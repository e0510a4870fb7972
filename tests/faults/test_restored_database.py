"""A control database restored beneath a controller: what belongs to rows that are gone is stopped, what is there is done."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

from tests.control_databases import PostgresControl
from tests.faults.site import PATIENCE, WAITS, Site, back_up, until
from tests.system.watching import ends

Restore = Callable[[], object]


def kept(site: Site) -> Restore:
    """Take a backup as the database's own tools do; return what restores it."""
    database, backup = site.database, site.directory / "backup"
    if not isinstance(database, PostgresControl):
        back_up(site.database_file, backup)
        return lambda: back_up(backup, site.database_file)
    server = database.server
    here = ("-h", "127.0.0.1", "-p", str(server.port), "-U", "postgres")

    def tool(name: str, *options: str) -> None:
        done = subprocess.run(
            [server.programs / name, *here, "-d", database.name, *options],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    tool("pg_dump", "-Fc", "-f", str(backup))
    return lambda: tool("pg_restore", "--clean", "--single-transaction", str(backup))


def test_what_runs_of_rows_that_are_gone_is_stopped_and_what_is_there_is_done(site: Site) -> None:
    site.batch("B", site.leaves_a_line(first=WAITS), site.leaves_a_line(2))
    site.submit("B")
    restore = kept(site)
    controller = site.control()
    first = site.hear()
    controller.hear("step.started")
    restore()
    second = site.hear()
    assert ends(first)
    site.go()
    site.wait_for_complete(1)

    assert first != second
    assert controller.end() == 0
    assert controller.count("step.fenced") == 1
    assert site.effects() == {"1/1": 1, "1/2": 1}
    assert site.attempts() == [(1, 1, 1, "success"), (1, 2, 1, "success")]
    assert "Traceback" not in "".join(controller.wording)
    site.check_laws()


def test_a_command_that_began_before_the_backup_and_ended_before_its_restoring_is_seen_to_its_end(site: Site) -> None:
    site.batch("B", site.leaves_a_line(first=WAITS), site.leaves_a_line(2, first=WAITS))
    site.submit("B")
    controller = site.control()
    site.hear()
    restore = kept(site)
    site.go()
    site.hear()
    restore()
    site.go()
    controller.hear("step.adopted")
    site.hear()
    site.go()
    site.wait_for_complete(1)

    assert controller.end() == 0
    assert controller.count("step.fenced") == 1
    assert site.effects() == {"1/1": 1, "1/2": 2}
    assert site.attempts() == [(1, 1, 1, "success"), (1, 2, 1, "success")]
    assert "Traceback" not in "".join(controller.wording)
    site.check_laws()


STUBBORN = "trap '' TERM; while [ ! -e go ]; do sleep 0.05; done;"


def test_what_is_stopped_slowly_has_ended_before_its_instance_begins_again(site: Site) -> None:
    """Its row is gone, and with it the number that the next attempt is given, also one of another instance."""
    site.configure("slots = 4\n")
    site.batch("B", site.leaves_a_line(first=STUBBORN))
    site.hand.sql("UPDATE ProcessBatch SET MaxConcurrent = 2")
    site.submit("B")
    site.submit("B")
    assert site.run("create").returncode == 0
    restore = kept(site)
    controller = site.control()
    controller.hear("step.started", 2)
    restore()
    controller.hear("step.started", 4)
    (site.directory / "go").touch()
    site.wait_for_complete(2)

    assert controller.end() == 0
    events = [line.split()[1] for line in controller.wording if " step.started " in line or " step.fenced " in line]
    assert events == ["step.started"] * 2 + ["step.fenced"] * 2 + ["step.started"] * 2
    assert site.attempts() == [(1, 1, 1, "success"), (2, 1, 1, "success")]
    assert site.effects() == {"1/1": 1, "2/1": 1}
    site.check_laws()


def test_no_step_follows_another_while_what_is_stopped_slowly_has_not_ended(site: Site) -> None:
    site.configure("slots = 2\n")
    site.batch("B", site.leaves_a_line(first=WAITS), site.leaves_a_line(2))
    site.batch("A", site.leaves_a_line(first="trap 'touch told' TERM; while [ ! -e go ]; do sleep 0.05; done;"))
    site.submit("B")
    controller = site.control()
    site.hear()
    controller.hear("step.started")
    restore = kept(site)
    site.submit("A")
    controller.hear("step.started", 2)
    restore()
    until((site.directory / "told").exists)
    site.go()
    until(lambda: site.attempts() == [(1, 1, 1, "success")])
    until(lambda: site.value("SELECT Status FROM BatchControl") == "ready")
    (site.directory / "go").touch()
    site.wait_for_complete(1)

    assert controller.end() == 0
    events = [line.split()[1] for line in controller.wording if " step.started " in line or " step.fenced " in line]
    assert events == ["step.started", "step.started", "step.fenced", "step.started"]
    assert site.attempts() == [(1, 1, 1, "success"), (1, 2, 1, "success")]
    site.check_laws()


JOBS = """
from pathlib import Path
from batchctl.plugin_api import job
@job("waits")
def waits() -> None:
    fifo = Path(__file__).with_name("fifo")
    fifo.write_text("1\\n")
    fifo.read_text()
"""


def test_a_job_that_began_before_the_backup_and_ended_before_its_restoring_is_lost(site: Site) -> None:
    site.configure('plugin_modules = ["jobs_of_site"]\n')
    (site.directory / "jobs_of_site.py").write_text(JOBS, encoding="utf-8")
    site.batch("B", "waits", "waits")
    site.hand.sql("UPDATE ProcessControl SET ProcessType = 'python'")
    site.submit("B")
    controller = site.control()
    site.hear()
    restore = kept(site)
    site.go()
    site.hear()
    restore()
    site.go()
    controller.hear("step.lost")
    until(lambda: site.value("SELECT Status FROM BatchControl") == "held")

    assert controller.end() == 0
    assert site.attempts() == [(1, 1, 1, "lost")]
    assert "an older control database was restored" in str(site.value("SELECT Message FROM BatchProcessHistory"))
    assert "Traceback" not in "".join(controller.wording)
    site.check_laws()

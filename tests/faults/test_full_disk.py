"""A disk that is full, wherever that is: the controller waits or does without, nothing runs twice, and all of it goes on.

No disk is filled for it: a living process is told how far it may write into files, and later that it may again.
"""

from __future__ import annotations

import resource
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.acceptance.installation import clean_environment
from tests.control_databases import PostgresControl
from tests.faults.site import PATIENCE, WAITS, Running, Site
from tests.system.watching import parent_of

ROUNDS, ROWS = 3, 6


@contextmanager
def full(size: int, *pids: int) -> Iterator[None]:
    """Let processes write no file beyond a size."""
    for pid in pids:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        for pid in pids:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def at_work(site: Site) -> tuple[Running, int]:
    """Start a controller, and return it with its supervisor once both are at work."""
    site.batch("waits", site.leaves_a_line(first=WAITS))
    site.batch("B", site.leaves_a_line())
    site.submit("waits")
    controller = site.control("--slots", "2")
    supervisor = parent_of(site.hear())
    site.go()
    site.wait_for_complete(1)
    return controller, supervisor


def submit_wide_rows(site: Site, number: int) -> None:
    """Drop rows that need more room than there is left in any file."""
    site.submit_many("B", [f"{number}-{row}-{'x' * 4000}" for row in range(ROWS)])


def check_that_each_ran_once(site: Site, controller: Running, number: int) -> None:
    """End the controller, and look what has come of so many rows."""
    site.wait_for_complete(number)
    assert controller.end() == 0, controller.wording
    assert list(site.effects().values()) == [1] * number
    assert Counter(row[1:] for row in site.attempts()) == {(1, 1, "success"): number}
    assert "Traceback" not in "".join(controller.wording)
    site.check_laws()


@pytest.mark.parametrize("room", ["none at all", "for what is there"])
def test_where_the_control_database_is_its_controller_waits_and_goes_on(sqlite_site: Site, room: str) -> None:
    site = sqlite_site
    site.configure('[log]\nfile = "events.log"\n')
    controller, _ = at_work(site)
    for number in range(ROUNDS):
        site.submit("waits")
        site.hear()
        told = controller.count("controller.waiting")
        with full(0 if room == "none at all" else site.database_file.stat().st_size, controller.pid):
            submit_wide_rows(site, number)
            site.go()
            controller.hear("controller.waiting", told + 1)
        site.wait_for_complete(1 + (ROWS + 1) * (number + 1))

    assert controller.count("controller.resumed") >= ROUNDS
    check_that_each_ran_once(site, controller, 1 + ROUNDS * (ROWS + 1))


GROW = """
ALTER TABLE BatchProcessHistory SET (autovacuum_enabled = off);
SET session_replication_role = replica;
DO $$
DECLARE grown bigint;
BEGIN
    -- Long rows first, and short ones where those have left room, until there is none.
    FOR number IN 1..50000 LOOP
        INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, AttemptNo, ProcessName,
            ProcessType, CommandText, Status, EndTime)
        VALUES (0, 0, 0, number, 'x', 'x', repeat('x', CASE WHEN number < 12000 THEN 1800 ELSE 1 END), 'skipped', localtimestamp);
        EXIT WHEN number > 12000 AND pg_relation_size('BatchProcessHistory') > grown;
        grown := pg_relation_size('BatchProcessHistory');
    END LOOP;
END $$;
CHECKPOINT;
"""
"""Makes a table longer than any other file of the server: it alone cannot grow any more then."""
SHRINK = "SET session_replication_role = replica; DELETE FROM BatchProcessHistory WHERE BatchControl_id = 0;"
LONGEST_OTHER = 17 * 1024 * 1024
"""Bytes: a little more than the server's log of writes has in one file."""


def test_where_the_tables_of_postgresql_are_its_controller_waits_and_goes_on(postgres_site: Site) -> None:
    site = postgres_site
    assert isinstance(site.database, PostgresControl)
    server, rows = site.database.server, 10 * ROWS
    assert server.psql(site.database.name, GROW).returncode == 0
    controller, _ = at_work(site)
    for number in range(ROUNDS):
        told = controller.count("could not extend file")
        server.limit_files(LONGEST_OTHER)
        try:
            site.submit_many("B", [f"{number}-{row}" for row in range(rows)])
            controller.hear("could not extend file", told + 1)
        finally:
            server.limit_files(None)
        site.wait_for_complete(1 + rows * (number + 1))

    assert controller.count("controller.resumed") >= ROUNDS
    assert server.psql(site.database.name, SHRINK).returncode == 0
    check_that_each_ran_once(site, controller, 1 + rows * ROUNDS)


def test_where_the_event_file_is_it_is_told_once_and_written_again_later(sqlite_site: Site) -> None:
    site = sqlite_site
    log = site.directory / "events.log"
    grown = 4 * 1024 * 1024
    log.write_text("x" * grown + "\n", encoding="ascii")  # longer than any other file that the controller writes
    site.configure(f'[log]\nfile = "{log.name}"\nrotate_mb = 100\n')
    controller, _ = at_work(site)
    with full(log.stat().st_size, controller.pid):
        submit_wide_rows(site, 0)
        site.wait_for_complete(1 + ROWS)
    site.submit("B")

    check_that_each_ran_once(site, controller, 2 + ROWS)
    assert controller.count("log.trouble") == 1
    assert controller.count("controller.waiting") == 0
    told = [line for line in log.read_text(encoding="utf-8").splitlines()[1:] if "step.ended" in line]
    assert any("BatchControl_id=1 " in line for line in told)
    assert any(f"BatchControl_id={2 + ROWS} " in line for line in told), "there is room again"
    assert not any("BatchControl_id=2 " in line for line in told)


def test_where_the_state_directory_is_no_command_is_begun_until_there_is_room(site: Site) -> None:
    controller, supervisor = at_work(site)
    (journal,) = (site.directory / "state").rglob("journal")
    with full(journal.stat().st_size, supervisor):
        submit_wide_rows(site, 0)
        controller.hear("step.ended BatchControl_id=2 ")
    assert site.run("rerun", "2", "--reason", "there is room again").returncode == 0
    site.wait_for_complete(1 + ROWS)

    assert controller.end() == 0, controller.wording
    assert list(site.effects().values()) == [1] * (1 + ROWS)
    ((first, said), *others) = site.hand.sql(
        "SELECT Status, Message FROM BatchProcessHistory WHERE BatchControl_id = 2 ORDER BY AttemptNo"
    )
    assert (first, "the journal of commands cannot be written" in said) == ("lost", True)
    assert others == [("success", None)]
    site.check_laws()


def test_where_standard_error_is_the_work_goes_on(site: Site) -> None:
    site.batch("B", site.leaves_a_line())
    submit_wide_rows(site, 0)
    with Path("/dev/full").open("w", encoding="utf-8") as nowhere:
        controller = site.control("--slots", "2", stderr=nowhere)

    check_that_each_ran_once(site, controller, ROWS)


@pytest.mark.parametrize(("words", "code"), [(["show", "9"], 3), (["sho"], 2), (["run", "--once"], 0)])
def test_an_exit_code_says_what_standard_error_cannot(
    sqlite_site: Site, installed_batchctl: Path, words: list[str], code: int
) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as nowhere:
        done = subprocess.run(
            [installed_batchctl, *words],
            cwd=sqlite_site.directory,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=nowhere,
            timeout=PATIENCE,
            check=False,
        )

    assert done.returncode == code

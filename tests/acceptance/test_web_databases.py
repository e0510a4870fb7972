"""What happens to the database, and to the console itself, while pages are open: it is said, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.acceptance.consoles import PASSWORD, Browser, Console, Served, add, choose, failed_night, serving
from tests.acceptance.installation import PATIENCE, RunBatchctl, StartBatchctl
from tests.acceptance.night import Night, a_file
from tests.control_databases import PostgresControl, with_tables
from tests.postgres import PostgresServer

MANY = 30


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server that may be stopped."""
    made = PostgresServer()
    made.start()
    yield made
    made.remove()


@pytest.fixture(scope="module")
def served(
    server: PostgresServer,
    tmp_path_factory: pytest.TempPathFactory,
    run_batchctl: RunBatchctl,
    start_batchctl: StartBatchctl,
) -> Iterator[Served]:
    """Anna and Bob have chosen passwords, in a database of that server."""
    database = PostgresControl(server, tmp_path_factory.mktemp("served"), server.new_database())
    with_tables(database)
    night = failed_night(database, run_batchctl)
    codes = {name: add(night, name, "operator") for name in ("anna", "bob")}
    for one in serving(night, start_batchctl):
        for name, code in codes.items():
            choose(one, name, code)
        yield one


def test_a_schema_that_is_upgraded_under_a_console_is_noticed_at_the_next_request(
    night: Night, console: Console
) -> None:
    browser = console.browser()
    assert browser.get("/").status == 200
    ((begun_with,),) = night.sql("SELECT version_num FROM alembic_version")
    for upgraded in ("9999", "0001"):
        night.sql("UPDATE alembic_version SET version_num = ?", upgraded)
        for path in ("/", "/instances/1", "/login", "/instances/1/rerun", "/api/v1/instances"):
            answer = browser.get(path)
            assert (answer.status, f"schema {upgraded}" in answer.text, begun_with in answer.text) == (503, True, True)
        assert browser.get("/").headers["refresh"] == "5"
        assert "start it again" in browser.get("/").said
        assert browser.post("/instances/1/cancel", {"form": "0", "reason": "x"}).status == 503
    night.sql("UPDATE alembic_version SET version_num = ?", begun_with)
    assert browser.get("/").status == 200
    assert night.status_of(1) == "failed"


def test_a_server_that_is_stopped_is_waited_for_and_sessions_outlive_it(server: PostgresServer, served: Served) -> None:
    anna = served.browser("anna")
    assert anna.get("/").status == 200

    server.stop(at_once=True)
    try:
        for browser, path in ((anna, "/"), (anna, "/instances/1/rerun"), (Browser(served.port), "/login")):
            answer = browser.get(path)
            assert (answer.status, answer.headers.get("refresh")) == (503, "5"), answer.said
            assert "The control database is away or busy" in answer.said
            assert str(server.port) not in answer.said, "nobody is known, so nobody is told where it is"
        stranger = Browser(served.port).get("/api/v1/instances", Authorization="Bearer x")
        assert (stranger.status, str(server.port) in stranger.text) == (503, False)
        assert Browser(served.port).post("/login", {"name": "anna", "password": PASSWORD}).status == 503
    finally:
        server.start()

    assert anna.get("/").status == 200
    assert anna.act("/instances/1/cancel", reason="sent twice").status == 303
    assert served.night.status_of(1) == "cancelled"


def test_a_server_that_was_away_while_no_page_was_asked_for_is_not_noticed(
    server: PostgresServer, served: Served
) -> None:
    anna = served.browser("anna")
    paths = ["/", "/instances", "/batches", "/inbox"] * 4
    with ThreadPoolExecutor(len(paths)) as pool:
        assert {answer.status for answer in pool.map(anna.get, paths)} == {200}

    server.stop(at_once=True)
    server.start()

    assert [anna.get(path).status for path in paths] == [200] * len(paths)


def test_after_wrong_passwords_no_password_is_looked_at_for_a_while(served: Served) -> None:
    stranger = Browser(served.port)
    for _ in range(6):
        assert stranger.post("/login", {"name": "bob", "password": "a wrong password"}).status in {403, 429}
    assert stranger.post("/login", {"name": "bob", "password": PASSWORD}).status in {403, 429}
    assert served.night.sql("SELECT count(*) FROM WebSession WHERE WebUser_id = 2 AND EndedTime IS NULL") == [(1,)]

    served.night.sql("DELETE FROM LoginBackOff")

    assert served.browser("bob").get("/").status == 200


def test_a_session_ends_with_its_user(served: Served) -> None:
    bob = served.browser("bob")
    assert bob.get("/").status == 200
    assert served.night("web", "user", "disable", "bob", "--reason", "has left").returncode == 0
    assert bob.get("/").headers["location"] == "/login"


def test_a_console_that_is_killed_loses_nothing(night: Night, console: Console, start_batchctl: StartBatchctl) -> None:
    night.batch("Flaky", "false", RetryCount=0, OnFailure="continue")
    for at in range(MANY):
        night.arrive("Flaky", f"{at}.csv")
    assert night("run", "--once").returncode == 1
    path = "/many/cancel?status=failed&batch=Flaky"
    browser = console.browser()
    form = {"form": browser.form(path), "reason": "sent twice"}
    begun = browser.post(path, form)
    assert begun.status == 303

    console.worker.kill()
    console.worker.communicate(timeout=PATIENCE)

    again = start_batchctl("web", "--port", "0", cwd=night.folder, env=night.environment)
    made = Console.of(again)
    other = made.browser()
    where = begun.headers["location"]
    assert other.post(where, {}).status == 303
    while "It goes on." in (page := other.get(where)).said:
        pass
    assert f"Done {MANY} of {MANY}" in page.said
    assert night.sql("SELECT count(*) FROM BatchControl WHERE Status = 'cancelled'") == [(MANY,)]
    each = (
        "SELECT count(*), count(DISTINCT Target) FROM AuditLog WHERE Action = 'cancel' AND Target LIKE 'BatchControl:%'"
    )
    assert night.sql(each) == [(MANY, MANY)]
    assert night("fsck").returncode == 0
    made.end()


def test_a_file_that_is_gone_is_not_made_anew(
    tmp_path: Path, run_batchctl: RunBatchctl, start_batchctl: StartBatchctl
) -> None:
    database = a_file(tmp_path)
    night = failed_night(database, run_batchctl)
    console = Console.of(start_batchctl("web", "--port", "0", cwd=night.folder, env=night.environment))
    browser = console.browser()
    there, away = tmp_path / "batchctl.db", tmp_path / "away.db"
    there.rename(away)
    for path in ("/", "/api/v1/instances"):
        answer = browser.get(path)
        assert (answer.status, "db upgrade" in answer.text) == (503, False), answer.text
    assert "The control database is away or busy. Next: batchctl doctor" in browser.get("/").said
    away.rename(there)
    assert browser.get("/").status == 200
    console.end()

"""A console whose login changes no work asks the leading controller for each act, and shows what became of it."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.acceptance.consoles import Browser, Served, add, choose, serving
from tests.acceptance.guarded import Guarded, guarding
from tests.acceptance.installation import PATIENCE, RunBatchctl, StartBatchctl
from tests.acceptance.night import NEEDS_A_FILE
from tests.faults.site import until

LATE = "/instances/1"


@pytest.fixture(scope="module")
def shop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, run_batchctl: RunBatchctl
) -> Iterator[Guarded]:
    """Instance 1 has failed, and instance 2 waits behind it."""
    with guarding(request, tmp_path_factory.mktemp("shop"), run_batchctl) as made:
        made.batch("Late", "echo loaded", NEEDS_A_FILE)
        made.arrive("Late", "missing.csv")
        made.arrive("Late", "second.csv")
        assert made.announced("service", "run", "--once").returncode == 1
        made.environment["BATCHCTL_DATABASE_URL"] = made.url("web")
        yield made


@pytest.fixture(scope="module")
def anna(shop: Guarded, start_batchctl: StartBatchctl) -> Iterator[Browser]:
    """An operator before a console that has the database role of the console."""
    code = add(shop, "anna", "operator")
    served: Iterator[Served] = serving(shop, start_batchctl)
    yield choose(next(served), "anna", code)
    next(served, None)


@contextmanager
def leading(shop: Guarded, start_batchctl: StartBatchctl) -> Iterator[None]:
    """Let a controller work."""
    worker = start_batchctl("run", cwd=shop.folder, env={"BATCHCTL_DATABASE_URL": shop.url("service")})
    until(lambda: shop.json("inbox")["Leader"])
    try:
        yield
    finally:
        worker.send_signal(signal.SIGTERM)
        worker.communicate(timeout=PATIENCE)


def test_without_a_controller_an_act_is_asked_for_and_its_page_says_so(shop: Guarded, anna: Browser) -> None:
    form = anna.form(f"{LATE}/rerun")
    sent = anna.post(f"{LATE}/rerun", {"form": form, "reason": "the file is there", "Data3": "x"})
    again = anna.post(f"{LATE}/rerun", {"form": form, "reason": "the file is there", "Data3": "x"})

    assert (sent.status, sent.headers["location"]) == (303, "/requests/1")
    assert again.status == 303
    shown = anna.get("/requests/1")
    assert shown.headers["refresh"] == "5"
    assert "Asked: request 1." in shown.said
    assert "No controller leads, so nothing is answered: batchctl run" in shown.said
    asked = "SELECT Action, BatchControl_id, Arguments, Reason, Actor, Status FROM OperatorRequest"
    assert shop.sql(asked) == [("rerun", 1, '{"Data3": "x"}', "the file is there", "anna", "requested")]
    assert shop.status_of(1) == "failed"
    ((actor, host, action),) = shop.sql("SELECT Actor, Host, Action FROM AuditLog WHERE Target = 'OperatorRequest:1'")
    assert (actor, action) == ("anna", "ask")
    assert re.fullmatch(r"web \w+@.+", str(host))


def test_a_controller_answers_and_the_console_shows_what_was_done(
    shop: Guarded, anna: Browser, start_batchctl: StartBatchctl
) -> None:
    with leading(shop, start_batchctl):
        until(lambda: "Done:" in anna.get("/requests/1").said)
        done = anna.get("/requests/1")
        assert "refresh" not in done.headers
        assert f'href="{LATE}"' in done.text
        paused = anna.act("/instances/2/pause")
        assert (paused.status, paused.headers["location"]) == (303, "/instances/2")
        assert shop.status_of(2) == "paused"
        assert anna.post("/instances/2/pause", {"form": anna.form("/instances/2/resume")}).status == 409
    acts = "SELECT Actor, Action, Host FROM AuditLog WHERE Target = 'BatchControl:2'"
    assert shop.sql(acts) == [("anna", "pause", "OperatorRequest:2")]
    shop.refuses("web", "UPDATE BatchControl SET Status = 'ready'")

"""A console whose login changes no work asks the leading controller for each act, and shows what became of it."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from batchctl.web.act_table import ACTS
from batchctl.web.pages import PAGES
from batchctl.web.wishes import Subject
from tests.acceptance.consoles import Answer, Browser, Served, add, choose, serving
from tests.acceptance.guarded import Guarded, guarding
from tests.acceptance.installation import PATIENCE, RunBatchctl, StartBatchctl
from tests.acceptance.night import NEEDS_A_FILE
from tests.acceptance.test_web_narrowed import statements
from tests.faults.site import until

LATE = "/instances/1"
WHY = {"reason": "it is wanted"}
SPAN = {"from": "2025-11-01", "to": "2025-11-03"}
DONE: dict[tuple[Subject, str], tuple[str, dict[str, str]]] = {
    (Subject.INSTANCES, "skip"): (LATE, WHY),
    (Subject.INSTANCES, "pause"): ("/instances/5", {}),
    (Subject.INSTANCES, "resume"): ("/instances/5", {}),
    (Subject.INSTANCES, "cancel"): ("/instances/5", WHY),
    (Subject.INSTANCES, "rerun"): ("/instances/5", {**WHY, "from_seq": "10", "Data3": "x"}),
    (Subject.INSTANCES, "confirm"): ("/instances/6", {}),
    (Subject.INSTANCES, "refuse"): ("/instances/7", WHY),
    (Subject.INSTANCES, "note"): (LATE, {"text": "seen"}),
    (Subject.BATCHES, "disable"): ("/batches/Bank", {}),
    (Subject.BATCHES, "enable"): ("/batches/Bank", {}),
    (Subject.BATCHES, "freeze"): ("/batches/Bank", {**WHY, "until": "2h"}),
    (Subject.BATCHES, "thaw"): ("/batches/Bank", WHY),
    (Subject.BATCHES, "note"): ("/batches/Bank", {"text": "seen"}),
    (Subject.FREEZES, "freeze"): ("/new/freezes", {**WHY, "batch": "Bank"}),
    (Subject.FREEZES, "thaw"): ("/freezes/2", {**WHY, "release": "all"}),
    (Subject.INCIDENTS, "acknowledge"): ("/incidents/1", WHY),
    (Subject.INCIDENTS, "snooze"): ("/incidents/1", {**WHY, "for": "2h"}),
    (Subject.INCIDENTS, "note"): ("/incidents/1", {"text": "seen"}),
    (Subject.FILE_PROCESSES, "submit"): ("/new/file-processes", {"entity": "Bank", "file_name": "b.csv"}),
    (Subject.FILE_PROCESSES, "accept"): ("/file-processes/8", WHY),
    (Subject.FILE_PROCESSES, "retry"): ("/file-processes/9", WHY),
    (Subject.FILE_PROCESSES, "reject"): ("/file-processes/10", WHY),
    (Subject.FILE_PROCESSES, "resend"): ("/file-processes/10", WHY),
    (Subject.HOSTS, "drain"): ("/hosts/etl2", WHY),
    (Subject.HOSTS, "undrain"): ("/hosts/etl2", WHY),
    (Subject.POOLS, "drain"): ("/pools/default", WHY),
    (Subject.POOLS, "undrain"): ("/pools/default", WHY),
    (Subject.SCHEDULES, "run"): ("/schedules/nightly", WHY),
    (Subject.SCHEDULES, "backfill"): ("/schedules/nightly", SPAN),
    (Subject.BACKFILLS, "cancel"): ("/backfills/1", WHY),
}
"""Each act, where it is done, and what is filled in; one after the other."""
MEANWHILE = """
CREATE FUNCTION pause_meanwhile() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN UPDATE BatchControl SET Status = 'paused' WHERE BatchControl_id = NEW.BatchControl_id; RETURN NULL; END $$;
CREATE TRIGGER meanwhile AFTER INSERT ON OperatorRequest FOR EACH ROW WHEN (NEW.Reason = 'too late')
EXECUTE FUNCTION pause_meanwhile()
"""
REFUSED_AND_THEN = ("cancel", "resume")
"""What is asked for besides, of the instance that is paused meanwhile."""
QUERIES = {
    "/sql": "?list=Running",
    "/batch": "?name=Late",
    "/schedule": "?name=nightly",
    "/calendar": "?name=NL",
}


@pytest.fixture(scope="module")
def shop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, run_batchctl: RunBatchctl
) -> Iterator[Guarded]:
    """Instance 1 has failed, and instance 2 waits behind it; 3 to 5 wait for their batch, 6 and 7 for an answer."""
    with guarding(request, tmp_path_factory.mktemp("shop"), run_batchctl) as made:
        made.batch("Late", "echo loaded", NEEDS_A_FILE)
        made.batch("Quiet", "true", Enabled=0)
        made.batch("Bank", "true")
        made.batch("Asks", "Is it right?")
        made.sql("UPDATE ProcessControl SET ProcessType = 'confirm' WHERE Data1 = 'Is it right?'")
        for entity in ("Late", "Late", "Quiet", "Quiet", "Quiet", "Asks", "Asks"):
            made.arrive(entity, "missing.csv")
        daily = ("--entity", "Quiet", "--type", "daily", "--run-times", "02:00")
        assert made.announced("author", "schedule", "add", "nightly", *daily).returncode == 0
        made.as_("author", "INSERT INTO Calendar (CalendarName) VALUES ('NL')")
        assert made.announced("service", "run", "--once").returncode == 1
        for status in ("rejected", "rejected", "paused"):
            made.arrive("Bank", "odd.csv", Status=status)
        made.environment["BATCHCTL_DATABASE_URL"] = made.url("web")
        yield made


@pytest.fixture(scope="module")
def anna(shop: Guarded, start_batchctl: StartBatchctl) -> Iterator[Browser]:
    """An operator before a console that has the database role of the console."""
    code = add(shop, "anna", "operator")
    served: Iterator[Served] = serving(shop, start_batchctl)
    yield choose(next(served), "anna", code)
    next(served, None)


@dataclass
class Program:
    """A program that shows a token."""

    browser: Browser
    token: str

    def get(self, path: str) -> Answer:
        return self.browser.get(f"/api/v1{path}", Authorization=f"Bearer {self.token}")

    def post(self, path: str, body: str, key: str | None = None) -> Answer:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        headers |= {} if key is None else {"Idempotency-Key": key}
        return self.browser.post(f"/api/v1{path}", body.encode(), headers)


@pytest.fixture(scope="module")
def loader(shop: Guarded, anna: Browser) -> Program:
    """A program that may act."""
    token = shop.json("web", "token", "add", "loader", "--role", "operator", "--days", "1")["Token"]
    return Program(Browser(anna.port), token)


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


def _an_act_is_asked_for_and_its_page_says_so(shop: Guarded, anna: Browser) -> None:
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
    mark = json.loads(shop.sql(asked)[0][2])["mark"]
    assert shop.sql(asked) == [
        (
            "rerun",
            1,
            f'{{"Data3": "x", "status": "failed", "mark": "{mark}"}}',
            "the file is there",
            "anna",
            "requested",
        )
    ]
    assert shop.status_of(1) == "failed"
    ((actor, host, action),) = shop.sql("SELECT Actor, Host, Action FROM AuditLog WHERE Target = 'OperatorRequest:1'")
    assert (actor, action) == ("anna", "ask")
    assert re.fullmatch(r"web \w+@.+", str(host))


def _a_program_gets_202_and_the_address_of_its_request(loader: Program) -> None:
    asked, again = (loader.post("/instances/3/pause", "{}", key="once") for _ in range(2))
    for answer in (asked, again):
        assert (answer.status, answer.headers["location"]) == (202, "/api/v1/requests/2")

    assert json.loads(asked.text) == {"OperatorRequest_id": 2, "Status": "requested"}
    standing = json.loads(loader.get("/requests/2").text)
    assert (standing["Action"], standing["Actor"], standing["Status"]) == ("pause", "token:loader", "requested")
    assert loader.get("/requests/99").status == 404


def _an_act_on_many_asks_for_each_and_its_page_says_how_far_it_has_come(shop: Guarded, anna: Browser) -> None:
    path = "/many/resume?status=ready&batch=Quiet"
    begun = anna.act(path).headers["location"]

    shown = anna.get(begun)
    assert "Left 3" in shown.said
    assert "No controller leads" in shown.said
    assert shown.headers["refresh"] == "5"
    asked = "SELECT BatchControl_id, Arguments FROM OperatorRequest WHERE Action = 'resume' ORDER BY OperatorRequest_id"
    assert shop.sql(asked) == [(at, '{"status": "ready"}') for at in (3, 4, 5)]
    shop.sql("UPDATE OperatorRequest SET Action = 'pause' WHERE Action = 'resume' AND BatchControl_id = 4")


def _a_controller_answers_and_the_console_shows_what_was_done(
    shop: Guarded, anna: Browser, loader: Program, start_batchctl: StartBatchctl
) -> None:
    with leading(shop, start_batchctl):
        until(lambda: "Asked: request 1" not in anna.get("/requests/1").said)
        done = anna.get("/requests/1")
        assert "Done:" in done.said, done.said
        assert "refresh" not in done.headers
        assert f'href="{LATE}"' in done.text
        (many,) = shop.sql("SELECT Target FROM AuditLog WHERE Target LIKE 'Many:%'")
        progress = f"/many/resume/{str(many[0]).partition(':')[2]}"
        until(lambda: "Left 0" in anna.get(progress).said)
        over = anna.get(progress).said
        assert "Done 1 of 3 Refused 2 Left 0" in over
        assert "BatchControl 3 is paused: only what is ready was meant" in over
        refused = statements(anna, f"/sql?{anna.query(list='Refused', many=progress.rpartition('/')[2])}")
        assert {at for one in refused for (at,) in shop.sql(one.replace("*", "BatchControl_id"))} == {3, 5}
        assert "refresh" not in anna.get("/requests/3").headers
        resumed = loader.post("/instances/4/resume", "{}")
        assert resumed.status == 200, resumed.said
        _what_the_leader_refuses_is_said_on_the_page_of_the_act(shop, anna)
        until(lambda: shop.status_of(1) == "failed")
        _a_request_to_rerun_does_nothing_where_somebody_has_corrected_the_instance_meanwhile(shop, anna)
        for (subject, name), (path, values) in DONE.items():
            until(lambda: shop.status_of(1) != "running")
            where = path if ACTS[subject, name].makes_row else f"{path}/{name}"
            done = anna.act(where, **values)
            assert (done.status, done.headers.get("location", "").startswith("/requests")) == (303, False), done.said
    assert DONE.keys() == ACTS.keys()
    assert shop.sql("SELECT Action, Answer FROM OperatorRequest WHERE Status <> 'done' AND Action <> 'resume'") == []
    asked = "SELECT count(*) FROM AuditLog WHERE Action = 'ask' AND Actor = 'anna' AND Host LIKE 'web %'"
    assert shop.sql(asked) == [(len(DONE) + len(REFUSED_AND_THEN),)]
    acts = "SELECT DISTINCT Action FROM AuditLog WHERE Actor = 'anna' AND Host LIKE 'OperatorRequest:%'"
    done_by_her = {name for _, name in DONE if name != "submit"}
    assert {"backfill", "schedule run", "accept", *done_by_her} - {"run"} <= {action for (action,) in shop.sql(acts)}


def _what_the_leader_refuses_is_said_on_the_page_of_the_act(shop: Guarded, anna: Browser) -> None:
    shop.sql(MEANWHILE)

    refused = anna.act(f"/instances/2/{REFUSED_AND_THEN[0]}", reason="too late")

    assert refused.status == 409, refused.said
    assert "BatchControl 2 is paused: only what is ready was meant" in refused.said
    assert shop.status_of(2) == "paused"
    assert anna.act(f"/instances/2/{REFUSED_AND_THEN[1]}").status == 303
    shop.sql("UPDATE OperatorRequest SET Action = 'resume' WHERE Reason = 'too late'")


def _a_request_to_rerun_does_nothing_where_somebody_has_corrected_the_instance_meanwhile(
    shop: Guarded, anna: Browser
) -> None:
    form = anna.form(f"{LATE}/rerun")
    shop.sql("UPDATE BatchControl SET Data3 = 'by hand' WHERE BatchControl_id = 1")

    late = anna.post(f"{LATE}/rerun", {"form": form, "reason": "mine", "Data3": "mine"})

    assert late.status == 409, late.said
    assert "has changed since it was shown" in late.said
    assert shop.sql("SELECT Data3 FROM BatchControl WHERE BatchControl_id = 1") == [("by hand",)]


def _each_page_is_shown_to_the_role_of_the_console(anna: Browser) -> None:
    for place in PAGES:
        path = place.path.replace("{number}", "1").replace("{name}", "console") + QUERIES.get(place.path, "")
        shown = anna.get(path)
        assert shown.status == 200, (path, shown.said)


def test_what_the_console_asks_for_the_leader_does(
    shop: Guarded, anna: Browser, loader: Program, start_batchctl: StartBatchctl
) -> None:
    _an_act_is_asked_for_and_its_page_says_so(shop, anna)
    _a_program_gets_202_and_the_address_of_its_request(loader)
    _an_act_on_many_asks_for_each_and_its_page_says_how_far_it_has_come(shop, anna)
    _a_controller_answers_and_the_console_shows_what_was_done(shop, anna, loader, start_batchctl)
    _each_page_is_shown_to_the_role_of_the_console(anna)


def test_the_role_of_the_console_changes_no_work(shop: Guarded) -> None:
    shop.refuses("web", "UPDATE BatchControl SET Status = 'ready'")

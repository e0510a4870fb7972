"""The same act on all instances of a filter, from the console: what is shown, done, refused, and left when it ends."""

from __future__ import annotations

import json
import re
import time

from tests.acceptance.consoles import Answer, Browser, Console, add, choose, serving
from tests.acceptance.installation import PATIENCE, StartBatchctl
from tests.acceptance.night import Night
from tests.faults.site import until

MANY = 30
_LEAVE = "UPDATE WebUser SET Enabled = 0"
_WHEN = "WHEN (NEW.Target = 'BatchControl:5')"
LEAVES = {
    "sqlite": [
        f"CREATE TRIGGER leaves AFTER INSERT ON AuditLog {_WHEN} BEGIN {_LEAVE}; END",
    ],
    "postgresql": [
        f"CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {_LEAVE}; RETURN NULL; END $$",
        f"CREATE TRIGGER leaves AFTER INSERT ON AuditLog FOR EACH ROW {_WHEN} EXECUTE FUNCTION leave()",
    ],
}
"""The user is disabled with the third act."""


def failed(night: Night) -> None:
    """Let many instances fail, beside the one that has."""
    night.batch("Flaky", "false", RetryCount=0, OnFailure="continue")
    for at in range(MANY):
        night.arrive("Flaky", f"{at}.csv")
    assert night("run", "--once").returncode == 1
    ((count,),) = night.sql("SELECT count(*) FROM BatchControl WHERE Status = 'failed'")
    assert count == MANY + 1


def over(browser: Browser, path: str) -> Answer:
    """Look again until it does not go on any more; as long as it does, the page comes back by itself."""
    until = time.monotonic() + PATIENCE
    while "It goes on." in (page := browser.get(path)).said and time.monotonic() < until:
        assert page.headers["refresh"] == "5"
    assert "refresh" not in page.headers
    return page


def test_all_of_a_filter_are_run_again_and_what_was_refused_is_listed(night: Night, console: Console) -> None:
    failed(night)
    browser = console.browser()
    path = "/many/rerun?status=failed&batch=Flaky"
    assert f'href="{path}"'.replace("&", "&amp;") in browser.get("/instances?status=failed&batch=Flaky").text
    shown = browser.get(path)
    assert f"{MANY} instances of batch Flaky have the status failed." in shown.said
    form = {"form": browser.form(path), "reason": "the disk was full"}
    assert night("cancel", "3", "--reason", "not this one").returncode == 0

    begun = browser.post(path, form)

    where = begun.headers["location"]
    page = over(browser, where)
    assert f"Done {MANY - 1} of {MANY} Refused 1 Left 0" in page.said
    assert "BatchControl 3 is cancelled: only what is failed was meant." in page.said
    assert night.sql("SELECT count(*) FROM BatchControl WHERE Status = 'ready' AND ProcessBatch_id = 2") == [
        (MANY - 1,)
    ]
    assert night.status_of(1) == "failed"
    acts = night.sql("SELECT count(*) FROM AuditLog WHERE Action = 'rerun' AND Target LIKE 'BatchControl:%'")
    assert acts == [(MANY - 1,)]
    assert browser.post(path, form).headers["location"] == where
    other = {"form": browser.form("/many/pause?status=ready"), "reason": "another act"}
    assert browser.post("/many/cancel", other).status == 409
    assert night.sql("SELECT count(*) FROM AuditLog WHERE Target LIKE 'Many:%' AND Action = 'rerun'") == [(1,)]


def test_what_is_done_stays_done_when_the_console_ends_and_the_rest_can_follow(night: Night, console: Console) -> None:
    failed(night)
    browser = console.browser()
    assert browser.act("/instances/1/cancel", reason="the sender was wrong").status == 303
    ((actor,),) = night.sql("SELECT Actor FROM AuditLog WHERE Action = 'cancel'")
    # As a console leaves it that is killed behind the second instance.
    write = (
        "INSERT INTO AuditLog (Actor, Host, Action, Target, Reason, ValuesAfter) VALUES (?, 'web', 'cancel', ?, ?, ?)"
    )
    found = {"Status": "failed", "Found": [*range(3, 3 + MANY)]}
    night.sql(write, actor, "Many:abc", "the sender was wrong", json.dumps(found))
    for at in (3, 4):
        assert browser.act(f"/instances/{at}/cancel", reason="the sender was wrong").status == 303

    stopped = browser.get("/many/cancel/abc").said
    assert f"Done 2 of {MANY} Refused 0 Left {MANY - 2}" in stopped
    assert f"Go on with the {MANY - 2}" in stopped
    assert browser.post("/many/cancel/abc", {}).status == 303
    assert f"Done {MANY} of {MANY} Refused 0 Left 0" in over(browser, "/many/cancel/abc").said
    assert night.sql("SELECT count(*) FROM BatchControl WHERE Status = 'failed'") == [(0,)]


def test_what_was_refused_stands_after_a_restart_and_is_not_offered_again(
    night: Night, console: Console, start_batchctl: StartBatchctl
) -> None:
    failed(night)
    browser = console.browser()
    path = "/many/rerun?status=failed&batch=Flaky"
    form = {"form": browser.form(path), "reason": "the disk was full"}
    for at in (3, 4):
        assert night("cancel", str(at), "--reason", "not this one").returncode == 0
    where = browser.post(path, form).headers["location"]
    over(browser, where)
    console.end()

    started = Console.of(start_batchctl("web", "--port", "0", cwd=night.folder, env=night.environment))
    page = started.browser().get(where)
    assert f"Done {MANY - 2} of {MANY} Refused 2 Left 0" in page.said
    assert "It is over." in page.said
    assert "BatchControl 4 is cancelled: only what is failed was meant." in page.said
    assert "Go on" not in page.said
    refused = "SELECT ValuesAfter FROM AuditLog WHERE Action = 'rerun refused' AND Reason = 'the disk was full'"
    assert [json.loads(after)["BatchControl_id"] for (after,) in night.sql(refused)] == [3, 4]
    started.end()


def test_what_cannot_be_meant_is_said(night: Night, console: Console) -> None:
    browser = console.browser()
    assert browser.get("/many/confirm").status == 404
    assert browser.get("/many/pause").status == 400
    assert browser.get("/many/rerun?status=sad").status == 400
    assert browser.get("/many/rerun?batch=Nope").status == 404
    assert browser.get(f"/many/rerun/{'0' * 32}").status == 404
    assert "0 instances have the status held" in browser.get("/many/rerun?status=held").said
    form = browser.form("/many/rerun?status=failed")
    assert browser.post("/many/rerun", {"form": form, "reason": " "}).status == 409
    assert night.status_of(1) == "failed"
    assert re.search(r"Rerun the 1\b", browser.get("/many/rerun").said)


def test_what_could_not_begin_is_sent_again(night: Night, console: Console) -> None:
    browser = console.browser()
    form = {"form": browser.form("/many/rerun?status=failed"), "reason": "once more"}
    night.sql("ALTER TABLE AuditLog RENAME TO AuditLogAway")
    assert browser.post("/many/rerun", form).status >= 400
    night.sql("ALTER TABLE AuditLogAway RENAME TO AuditLog")
    begun = browser.post("/many/rerun", form)
    assert (begun.status, browser.get(begun.headers["location"]).status) == (303, 200)


def test_what_one_person_has_begun_another_goes_on_with_and_nothing_is_done_twice(
    night: Night, console: Console
) -> None:
    failed(night)
    browser = console.browser()
    # As a console leaves it that is killed behind the second instance; somebody else has begun it.
    write = "INSERT INTO AuditLog (Actor, Host, Action, Target, Reason, ValuesAfter) VALUES ('anna', 'web', ?, ?, ?, ?)"
    found = json.dumps({"Status": "failed", "Found": [*range(3, 3 + MANY)]})
    night.sql(write, "rerun", "Many:abc", "the disk was full", found)
    for at in (3, 4):
        night.sql(write, "rerun", f"BatchControl:{at}", "the disk was full", None)

    for _ in range(2):
        assert browser.post("/many/rerun/abc", {}).status == 303
        assert f"Done {MANY} of {MANY} Refused 0 Left 0" in over(browser, "/many/rerun/abc").said
        night("run", "--once")

    done = night.sql("SELECT count(*) FROM AuditLog WHERE Action = 'rerun' AND Target LIKE 'BatchControl:%'")
    assert done == [(MANY,)]


def test_an_act_on_many_ends_with_the_right_of_the_one_who_has_begun_it(
    night: Night, start_batchctl: StartBatchctl
) -> None:
    failed(night)
    code = add(night, "anna", "operator")
    served = serving(night, start_batchctl)
    browser = choose(next(served), "anna", code)
    for statement in LEAVES[night.database.kind]:
        night.sql(statement)

    begun = browser.act("/many/rerun?status=failed&batch=Flaky", reason="the disk was full")

    assert begun.status == 303
    until(lambda: night.sql("SELECT Enabled FROM WebUser") == [(0,)])
    next(served, None)
    acts = night.sql("SELECT Target FROM AuditLog WHERE Action = 'rerun' AND Target LIKE 'BatchControl:%' ORDER BY 1")
    assert acts == [("BatchControl:3",), ("BatchControl:4",), ("BatchControl:5",)]

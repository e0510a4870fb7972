"""Acts of the console beside those on instances: what each shows first, what it does, and what it says of what cannot be."""

from __future__ import annotations

import re

from tests.acceptance.consoles import Browser, Console
from tests.acceptance.night import Night


def test_what_has_waited_is_shown_before_a_batch_is_enabled_and_becomes_what_was_chosen(
    night: Night, console: Console
) -> None:
    browser = console.browser()
    night.batch("Bank", "true")
    assert browser.act("/batches/Bank/disable").headers["location"] == "/batch?name=Bank"
    for name in ("march.csv", "april.csv"):
        night.arrive("Bank", name)
    assert night("create").returncode == 0
    shown = browser.get("/batches/Bank/enable").said
    assert "Batch Bank would be enabled. This will start 2 instances" in shown

    assert '<select name="release" required>' in browser.get("/batches/Bank/enable").text
    assert "latest: only the newest of each batch starts" in shown
    unchosen = browser.act("/batches/Bank/enable")
    assert (unchosen.status, "This will start 2 instances" in unchosen.said) == (409, True)
    assert "choose what becomes of those that wait" in unchosen.said
    assert "--release" not in unchosen.said
    assert browser.act("/batches/Bank/enable", release="throttle").status == 400
    looked = browser.post("/batches/Bank/enable", {"release": "latest", "look": "1"})
    assert "1 of the 2 that waited may start; would be cancelled as older ones: 1." in looked.said
    assert browser.act("/batches/Bank/enable", release="latest").status == 303

    assert [night.status_of(at) for at in (3, 4)] == ["cancelled", "ready"]
    assert night.sql("SELECT Enabled FROM ProcessBatch WHERE ProcessBatchName = 'Bank'") == [(1,)]


def test_what_came_meanwhile_is_not_started_unseen(night: Night, console: Console) -> None:
    browser = console.browser()
    night.batch("Bank", "true")
    assert night("disable", "Bank").returncode == 0
    night.arrive("Bank", "march.csv")
    assert night("create").returncode == 0
    form = browser.form("/batches/Bank/enable")
    night.arrive("Bank", "april.csv")
    assert night("create").returncode == 0

    late = browser.post("/batches/Bank/enable", {"form": form, "release": "all"})

    assert (late.status, "Meanwhile more has come: 1 not shown before" in late.said) == (409, True)
    assert night.sql("SELECT Enabled FROM ProcessBatch WHERE ProcessBatchName = 'Bank'") == [(0,)]


def test_batches_are_frozen_and_thawed(night: Night, console: Console) -> None:
    browser = console.browser()
    for page in ("/", "/batches"):
        assert 'href="/new/freezes"' in browser.get(page).text
    assert "/thaw" not in browser.get("/batch?name=Late").text
    frozen = browser.act("/batches/Late/freeze", reason="month's end", until="2h")
    assert (frozen.status, frozen.headers["location"]) == (303, "/batch?name=Late")
    assert "Frozen: batch Late is frozen since" in browser.get("/batch?name=Late").said
    assert browser.act("/new/freezes", reason="the disk is full").status == 303
    for page in ("/", "/batch?name=Late"):
        ends = re.findall(r'class="button" href="(/freezes/[0-9]+/thaw)"', browser.get(page).text)
        assert sorted(ends) == ["/freezes/1/thaw", "/freezes/2/thaw"]
    assert len(night.json("freezes")) == 2
    assert "FROZEN: everything is frozen" in browser.get("/").said
    assert "Batch Late stays frozen: everything is frozen" in browser.get("/freezes/1/thaw").said
    assert browser.act("/freezes/1/thaw", reason="done").status == 303
    assert browser.act("/freezes/2/thaw", reason="done").status == 303
    assert night.json("freezes") == []
    assert browser.act("/batches/Late/thaw", reason="once more").status == 303
    assert browser.get("/freezes/9/thaw").status == 404
    wrong = browser.act("/batches/Late/freeze", reason="x", until="yesterday or so")
    assert (wrong.status, "says no time" in wrong.said, "--until" in wrong.said) == (400, True, False)
    unknown = browser.act("/new/freezes", reason="month's end", tag="nosuch")
    assert (unknown.status, "No batch has the tag 'nosuch'." in unknown.said) == (404, True)
    assert 'name="tag" value="nosuch"' in unknown.text
    assert "month&#39;s end" in unknown.text


def test_what_is_only_planned_is_not_said_as_if_it_were_done(night: Night, console: Console) -> None:
    browser = console.browser()
    freeze = browser.get("/batches/Late/freeze").said
    assert "Would be frozen: batch Late, until somebody thaws it." in freeze
    assert "nothing new starts in 1 batch." in freeze
    assert "Incident 1 (Late) would be acknowledged" in browser.get("/incidents/1/acknowledge").said
    night.arrive("Late", "third.csv")
    assert night("inbox", "reject", "3", "--reason", "not wanted").returncode == 0
    assert "FileProcess 3 is rejected and would be ready." in browser.get("/file-processes/3/retry").said
    night.sql("INSERT INTO FileProcess (Entity, Status, Message) VALUES ('Late', 'rejected', 'no such name')")
    assert (
        "FileProcess 4 is rejected already, and would be so for your reason."
        in browser.get("/file-processes/4/reject").said
    )


def test_what_was_done_is_said_once_on_the_page_that_follows(night: Night, console: Console) -> None:
    browser = console.browser()
    done = browser.act("/instances/1/cancel", reason="not wanted")
    assert "cancel" not in done.headers["location"]
    assert 'role="status">BatchControl <' not in browser.get("/instances/1?x=1", **{"HX-Request": "true"}).text
    said = "BatchControl 1 is now cancelled, and was failed."
    assert said in browser.get(done.headers["location"]).said
    assert said not in browser.get(done.headers["location"]).said
    forged = Browser(console.port, {**browser.cookies, "__Host-batchctl-done": "all is well"})
    assert "all is well" not in forged.get("/").said
    browser.act("/batches/Late/note", text="seen")
    assert 'class="done" role="status"' in browser.get("/batch?name=Late").text


def test_only_what_a_row_allows_is_offered(night: Night, console: Console) -> None:
    browser = console.browser()
    night.sql("INSERT INTO FileProcess (Entity, FileName) VALUES ('nobody', 'x.csv')")
    night.arrive("Late", "third.csv")
    night.sql("UPDATE FileProcess SET Status = 'rejected' WHERE FileProcess_id = 4")
    offered = {
        "/instances/1": {"rerun", "skip", "cancel", "note"},
        "/instances/2": {"pause", "cancel", "note"},
        "/file-processes/1": set(),
        "/file-processes/3": {"reject"},
        "/file-processes/4": {"accept", "retry", "reject", "resend"},
    }
    for page, acts in offered.items():
        assert set(re.findall(rf'class="button" href="{page}/([a-z]+)"', browser.get(page).text)) == acts, page
        for act in acts:
            assert browser.get(f"{page}/{act}").status == 200, (page, act)
    assert "All of these" in browser.get("/instances?status=failed").said
    assert "All of these" not in browser.get("/instances?status=held").said


def test_instances_that_a_text_names_lead_to_their_pages(night: Night, console: Console) -> None:
    browser = console.browser()
    for page in ("/", "/incidents"):
        shown = browser.get(page).text
        assert 'batchctl rerun <a href="/instances/1" aria-label="instance 1">1</a>' in shown, page
        assert '<a href="/instances/1">BatchControl 1</a>' in shown, page


def test_work_is_submitted_and_accepted(night: Night, console: Console) -> None:
    browser = console.browser()
    assert 'href="/new/file-processes"' in browser.get("/inbox").text
    looked = browser.post("/new/file-processes", {"entity": "Late", "file_name": "third.csv", "look": "1"})
    assert "A FileProcess row would be inserted: Late, third.csv. Taken by: Late." in looked.said
    done = browser.act("/new/file-processes", entity="Late", file_name="third.csv")
    assert done.headers["location"] == "/file-processes/3"
    assert "FileProcess 3" in browser.get("/file-processes/3").said
    assert night.sql("SELECT Entity, FileName FROM FileProcess WHERE FileProcess_id = 3") == [("Late", "third.csv")]
    assert browser.act("/new/file-processes", file_name="x.csv").status == 400

    night.sql("UPDATE FileProcess SET Status = 'rejected' WHERE FileProcess_id = 3")
    assert "FileProcess 3 (rejected) would be taken in by Late." in browser.get("/file-processes/3/accept").said
    assert browser.act("/file-processes/3/accept", reason="it is right").status == 303
    assert night.status_of(3) == "ready"
    assert browser.get("/file-processes/3/accept").status == 409


def test_schedules_are_run_now_and_their_past_is_worked_off(night: Night, console: Console) -> None:
    browser = console.browser()
    made = night("schedule", "add", "nightly", "--entity", "Late", "--type", "daily", "--run-times", "02:00")
    assert made.returncode == 0, made.stderr
    assert "A FileProcess row would be inserted: Late, CycleKey" in browser.get("/schedules/nightly/run").said
    assert browser.act("/schedules/nightly/run", reason="it is wanted now").headers["location"] == "/file-processes/3"
    span = {"from": "2025-11-01", "to": "2025-11-03"}
    looked = browser.post("/schedules/nightly/backfill", {**span, "look": "1"})
    assert "Work would be started for 3 due times, at most 1 unfinished at once." in looked.said
    assert browser.act("/schedules/nightly/backfill", **span, most_open="2").status == 303
    assert night.json("backfill", "list")[0]["MostOpen"] == 2
    for page in ("/schedules", "/schedule?name=nightly"):
        shown = browser.get(page)
        assert "Backfill 1 of schedule nightly is under way: 0 fired, 0 unfinished" in shown.said
        assert 'href="/backfills/1/cancel"' in shown.text
    assert browser.act("/backfills/1/cancel", reason="enough").headers["location"] == "/schedules"
    assert "/backfills/" not in browser.get("/schedules").text
    assert night.json("backfill", "list")[0]["Status"] == "cancelled"
    for wrong in ({"from": "soon", "to": "2025-11-03"}, {"from": "2025-11-01"}, {**span, "most_open": "many"}):
        assert browser.act("/schedules/nightly/backfill", **wrong).status == 400, wrong


def test_incidents_are_snoozed_and_notes_are_written(night: Night, console: Console) -> None:
    browser = console.browser()
    assert browser.act("/incidents/1/snooze", **{"for": "2h"}, reason="the bank is closed").status == 303
    assert night.json("incidents")[0]["SnoozedUntil"] is not None
    assert browser.act("/incidents/1/snooze", **{"for": "a while"}, reason="x").status == 400
    for path in ("/instances/1/note", "/incidents/1/note", "/batches/Late/note"):
        assert "Reason" not in browser.get(path).said
        assert browser.act(path, text=f"seen at {path}").status == 303
    assert night.sql("SELECT count(*) FROM Note") == [(3,)]
    assert "seen at /instances/1/note" in browser.get("/instances/1").said


def test_names_of_batches_may_hold_what_addresses_are_made_of(night: Night, console: Console) -> None:
    browser = console.browser()
    night.batch("a/b ?#%2F", "true")
    night.batch("a\nb\n", "true")
    assert browser.act("/batches/a%2Fb%20%3F%23%252F/disable").status == 303
    assert night.sql("SELECT Enabled FROM ProcessBatch WHERE ProcessBatchName = ?", "a/b ?#%2F") == [(0,)]
    assert browser.act("/batches/a%0Ab%0A/disable", reason="not tonight").status == 303
    assert night.sql("SELECT Enabled FROM ProcessBatch WHERE ProcessBatchName = ?", "a\nb\n") == [(0,)]


def test_each_act_that_a_page_names_is_there(night: Night, console: Console) -> None:
    browser: Browser = console.browser()
    for page in ("/instances/1", "/instances/2", "/incidents"):
        acts = re.findall(r'class="button" href="([^"]+)"', browser.get(page).text)
        assert acts
        for path in acts:
            assert browser.get(path).status in {200, 409}, path
    assert night.status_of(1) == "failed"


def test_hosts_and_pools_are_drained_where_they_are_listed(night: Night, console: Console) -> None:
    browser = console.browser()
    shown = browser.get("/controllers").text
    ((host,),) = night.sql("SELECT DISTINCT Host FROM Controller")
    for path in (f"/hosts/{host}", "/pools/default"):
        assert f'href="{path}/drain"' in shown
        assert browser.act(f"{path}/drain", reason="patches").headers["location"] == "/controllers"
        assert f'href="{path}/undrain"' in browser.get("/").text

    drained = browser.get("/controllers").text
    for path in (f"/hosts/{host}", "/pools/default"):
        assert (f'href="{path}/undrain"' in drained, f'href="{path}/drain"' in drained) == (True, False)
        assert browser.act(f"{path}/undrain", reason="patched").status == 303
    assert night.json("status")["Drains"] == []


def test_a_host_without_controllers_is_drained_with_a_note_and_can_be_undrained_on_the_page(
    night: Night, console: Console
) -> None:
    browser = console.browser()
    said = browser.get("/hosts/nohost/drain").said
    assert "No controller has been on host nohost in the last days." in said
    drained = night("drain", "--host", "nohost", "--reason", "patches")
    assert "Note: No controller has been on host nohost in the last days." in drained.stderr

    page = browser.get("/controllers")
    assert "host nohost is drained since " in page.said
    assert 'href="/hosts/nohost/undrain"' in page.text
    assert browser.act("/hosts/nohost/undrain", reason="misspelt").status == 303
    assert "Undrained: host nohost" in browser.get("/controllers").said
    assert "nohost" not in browser.get("/controllers").said

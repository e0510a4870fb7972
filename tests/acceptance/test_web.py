"""The console as a browser meets it: an address, a code, pages, forms; and what it does not let happen."""

from __future__ import annotations

import csv
import io
import re
from html import unescape

import pytest

from batchctl.domain.errors import Refused
from batchctl.system.host.listening import listen
from tests.acceptance.consoles import Browser, Console, add
from tests.acceptance.night import HOSTILE, Night

MARKED = "<script>alert('x')</script> \x1b[31m😀 {Data1}"


def test_a_failed_instance_is_found_understood_corrected_and_run_again(night: Night, console: Console) -> None:
    browser = console.browser()
    now = browser.get("/")
    assert "Failed, held, to be tried again 1 Late" in now.said.replace(" as CSV", "").replace(
        "id batch status step message next ", ""
    )
    shown = browser.get("/instances/1")
    assert shown.said.index("Step 20 step 2: exited with 1") < shown.said.index("a step failed and no retry is left")
    assert "missing.csv" in shown.said
    card = browser.get("/instances/1/rerun")
    assert "10 step 1: succeeded at" in card.said
    assert "is ● failed and would become ● ready".replace("● ", "") in card.said

    (night.folder / "there.csv").write_text("rows", encoding="utf-8")
    done = browser.act("/instances/1/rerun", Data2="there.csv", reason="the file lies elsewhere")

    assert (done.status, done.headers["location"]) == (303, "/instances/1")
    assert night.sql("SELECT Status, Data2 FROM BatchControl WHERE BatchControl_id = 1") == [("ready", "there.csv")]
    ((actor, host, reason),) = night.sql("SELECT Actor, Host, Reason FROM AuditLog WHERE Action = 'rerun'")
    assert reason == "the file lies elsewhere"
    assert re.fullmatch(rf"web {actor}@\S+", host)
    assert night("run", "--once").returncode == 1
    assert night.status_of(1) == "complete"
    assert f"{actor} {host} rerun BatchControl:1 the file lies elsewhere" in browser.get("/instances/1").said


def test_what_stands_in_rows_is_shown_and_never_interpreted(night: Night, console: Console) -> None:
    night.sql("UPDATE ProcessControl SET ProcessName = ? WHERE ProcessControlSeq = 20", MARKED)
    assert night("note", "1", HOSTILE).returncode == 0
    browser = console.browser()
    for path in ("/", "/instances", "/instances/1", "/instances/1/rerun", "/batches", "/inbox", "/incidents", "/audit"):
        page = browser.get(path)
        assert page.status == 200, (path, page.said)
        assert "<script>" not in page.text
        assert "\x1b" not in page.text
    assert MARKED.replace("\x1b", "\\x1b") in unescape(browser.get("/instances/1").text)


def test_the_page_of_a_batch_says_where_its_steps_run_where_any_names_a_place(night: Night, console: Console) -> None:
    browser = console.browser()
    assert "seq name type what it does" in browser.get("/batch?name=Late").said
    night.sql("INSERT INTO Pool (PoolName, Kind) VALUES ('burst', 'dask')")
    night.sql("UPDATE ProcessControl SET Pool = 'burst', Needs = 'GPU=1' WHERE ProcessControlSeq = 20")

    said = browser.get("/batch?name=Late").said
    assert "seq name type pool needs what it does" in said
    assert "os_command default echo" in said
    assert "os_command burst GPU=1 " in said
    listed = browser.get("/batch?name=Late&format=csv&list=Steps").text
    assert "GPU=1" in listed


def test_without_a_session_there_is_only_the_door_and_each_code_opens_once(console: Console) -> None:
    stranger = Browser(console.port)
    for path in ("/", "/instances/1", "/audit", "/instances/1/rerun"):
        answer = stranger.get(path)
        door = "/login" if path == "/" else f"/login?{stranger.query(page=path)}"
        assert (answer.status, answer.headers["location"]) == (303, door)
        assert answer.text == ""
    used = console.code
    browser = console.browser()
    assert stranger.post("/login", {"code": used}).status == 403
    assert stranger.post("/login", {"code": console.code}).status == 429
    assert browser.get("/").status == 200
    assert browser.post("/logout", {}).headers["location"] == "/login"
    assert browser.get("/").headers["location"] == "/login"


def test_who_logs_in_goes_on_to_the_page_that_was_asked_for(console: Console) -> None:
    stranger = Browser(console.port)
    for path in ("/instances?batch=Late&status=failed", "/batches/a%2Fb/disable"):
        door = stranger.get(path).headers["location"]
        (page,) = re.findall(r'name="page" value="([^"]+)"', stranger.get(door).text)
        assert unescape(page) == path
        entered = Browser(console.port).post("/login", {"code": console.code, "page": unescape(page)})
        assert (entered.status, entered.headers["location"]) == (303, path)
        console.code = console.next_code()


@pytest.mark.parametrize(
    "page",
    [
        "//evil.example",
        "/\\evil.example",
        "https://evil.example/",
        "evil",
        "/\t/evil.example",
        "/ x",
        "/é",
        "/" * 2001,
        "",
    ],
)
def test_an_address_elsewhere_is_not_gone_on_to(console: Console, page: str) -> None:
    stranger = Browser(console.port)
    assert 'name="page"' not in stranger.get(f"/login?{stranger.query(page=page)}").text
    entered = stranger.post("/login", {"code": console.code, "page": page})
    assert (entered.status, entered.headers["location"]) == (303, "/")


def test_who_was_logged_out_is_told_why(console: Console) -> None:
    browser = console.browser()
    assert "Your session has ended" not in browser.get("/login").said
    gone = Browser(console.port, {"__Host-batchctl": "of a console that was started again"})
    assert "Your session has ended: half an hour after its last request" in gone.get("/login?page=%2Faudit").said
    assert "Your session has ended" not in Browser(console.port).get("/login").said


def test_the_cookie_is_for_this_console_alone(console: Console) -> None:
    made = Browser(console.port)
    cookie = made.post("/login", {"code": console.code}).headers["set-cookie"]
    assert cookie.startswith("__Host-batchctl=")
    assert {"HttpOnly", "Secure", "Path=/", "SameSite=strict"} <= {part.strip() for part in cookie.split(";")}


def test_every_answer_says_what_a_browser_may_do_with_it(console: Console) -> None:
    browser = console.browser()
    for path in ("/", "/login", "/nowhere", "/instances/1", "/static/console.css", "/instances/99"):
        headers = browser.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'"), path
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


NOT_OURS: list[dict[str, str]] = [
    {},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "none"},
    {"Origin": "http://elsewhere.example"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "same-origin", "Host": "elsewhere.example"},
]


def test_a_form_that_another_site_has_sent_does_nothing(night: Night, console: Console) -> None:
    browser = console.browser()
    number = browser.form("/instances/1/cancel")
    for headers in NOT_OURS:
        answer = browser.post("/instances/1/cancel", {"form": number, "reason": "x"}, headers)
        assert answer.status == 403, headers
    assert night.status_of(1) == "failed"
    assert browser.get("/", Host="elsewhere.example").status == 403


def test_a_form_acts_once_and_on_what_it_has_shown(night: Night, console: Console) -> None:
    browser = console.browser()
    form = {"form": browser.form("/instances/1/rerun"), "reason": "again"}
    late = {"form": browser.form("/instances/1/rerun"), "reason": "again, from an old page"}
    assert [browser.post("/instances/1/rerun", form).status for _ in range(2)] == [303, 303]
    assert night.sql("SELECT count(*) FROM AuditLog WHERE Action = 'rerun'") == [(1,)]
    assert night("run", "--once").returncode == 1

    changed = browser.post("/instances/1/rerun", late)

    assert changed.status == 409
    assert "has changed since it was shown" in changed.said
    assert night.sql("SELECT count(*) FROM AuditLog WHERE Action = 'rerun'") == [(1,)]
    unknown = browser.post("/instances/1/rerun", {"form": "0" * 32, "reason": "made up"})
    assert (unknown.status, "The form is no longer known" in unknown.said) == (409, True)


IMPOSSIBLE = [
    ("/instances/99", 404, "There is no BatchControl 99."),
    (f"/instances/{'9' * 30}", 404, "is not the number of"),
    ("/instances/x", 404, "is not the number of"),
    ("/instances/1/explode", 404, "There is no act 'explode' about instances."),
    ("/instances?status=sad", 400, "'sad' is no status."),
    ("/instances?before=-1", 400, "'before' is the number of a row."),
    ("/instances?batch=Nope", 404, "There is no batch 'Nope'"),
    ("/instances?bacth=Late", 400, "'bacth' is no filter of this page. Did you mean 'batch'?"),
    ("/instances?nonsense=1", 400, "'nonsense' is no filter of this page. Known: batch, before, status."),
    ("/instances?status=failed&status=ready", 400, "The address says 'status' twice."),
    ("/instances?format=xml", 400, "'xml' is no format of a list."),
    ("/instances/1?batch=Late", 400, "'batch' is no filter of this page."),
    ("/many/rerun?status=failed&bacth=Late", 400, "'bacth' is no filter of this page. Did you mean 'batch'?"),
    ("/instances/1/rerun?from_sec=2", 400, "'from_sec' is no filter of this page. Did you mean 'from_seq'?"),
    ("/sql?list=Instances&bacth=Late", 400, "'bacth' is no filter of this page. Did you mean 'batch'?"),
    ("/help?format=csv", 404, "This page has no list."),
    ("/instances/1/resume", 409, "not possible there"),
    ("/?format=csv&list=Nope", 404, "no list 'Nope'"),
    ("/audit?actor=%00", 400, "it contains a NUL character"),
    ("/hosts/%00/drain", 400, "it contains a NUL character"),
    ("/login?%00=1", 400, "it contains a NUL character"),
]


def test_what_cannot_be_is_said_on_a_page(console: Console) -> None:
    browser = console.browser()
    for path, status, said in IMPOSSIBLE:
        answer = browser.get(path)
        assert (answer.status, said in answer.said) == (status, True), (path, answer.said)


def test_bad_forms_are_refused_and_nothing_is_done(night: Night, console: Console) -> None:
    browser = console.browser()
    number = browser.form("/instances/1/cancel")
    assert browser.post("/instances/1/cancel", {"form": number, "reason": " "}).status == 409
    assert browser.post("/instances/1/cancel", b"form=" + b"x" * 70_000).status == 413
    assert browser.post("/instances/1/cancel", b"reason=%ff%fe").status == 400
    assert browser.post("/instances/1/cancel", b"&".join(b"a%d=1" % at for at in range(200))).status == 400
    assert browser.post("/instances/1/cancel", {"form": number, "reason": "\0"}).status == 400
    assert browser.act("/incidents/1/acknowledge", reason="").status == 409
    assert night.status_of(1) == "failed"
    assert browser.get("/instances/1").status == 200


def test_acts_and_lists_are_those_of_the_command_line(night: Night, console: Console) -> None:
    browser = console.browser()
    assert browser.act("/incidents/1/acknowledge", reason="mine").status == 303
    assert night.json("incidents")[0]["AcknowledgedBy"] is not None
    assert browser.act("/instances/2/pause").status == 303
    assert night.status_of(2) == "paused"
    assert browser.act("/instances/2/resume").status == 303
    assert browser.act("/instances/1/skip", reason="not needed today").status == 303
    assert night.status_of(1) == "complete"
    assert browser.act("/instances/2/cancel", reason="sent twice").status == 303
    assert night.status_of(2) == "cancelled"

    assert "cancelled" in browser.get("/instances?status=cancelled").said
    assert browser.get("/instances?status=failed").said.endswith("submit ENTITY --file FILE")
    listed = browser.get("/instances?format=csv")
    assert listed.headers["content-type"].startswith("text/csv")
    assert listed.text.splitlines()[0].startswith("BatchControl_id,ProcessBatch_id,")
    assert len(listed.text.splitlines()) == 3


def test_rows_that_nothing_came_of_are_listed_for_programs_with_what_people_see(night: Night, console: Console) -> None:
    night.sql("INSERT INTO FileProcess (Entity, FileName) VALUES ('NoSuchEntity', 'lost.csv')")
    night("run", "--once")
    title = "Rows that nothing came of"

    (row,) = csv.DictReader(io.StringIO(console.browser().get("/?" + Browser.query(format="csv", list=title)).text))

    assert (row["Entity"], row["FileName"], row["State"]) == ("NoSuchEntity", "lost.csv", "not taken")
    assert "NoSuchEntity" in row["Because"]
    assert row["Next"].startswith("batchctl why file:")


def test_a_question_is_seen_and_answered(night: Night, console: Console) -> None:
    night.batch("Bank", "true", "true", "true")
    night.sql(
        "UPDATE ProcessControl SET ProcessType = 'confirm', Data1 = ? WHERE ProcessControlSeq = 20"
        " AND ProcessBatch_id = 2",
        "Send {FileName} to the bank?",
    )
    for name in ("march.csv", "april.csv"):
        night.arrive("Bank", name)
    night("run", "--once")
    browser = console.browser()
    for act in ("confirm", "refuse"):
        card = browser.get(f"/instances/3/{act}").said
        assert "Send march.csv to the bank? Who may answer: anyone who may act" in card
        assert ("These commands would run step 30" in card) is (act == "confirm")
    assert "Waiting for a person" in browser.get("/").said
    shown = browser.get("/instances/3").said
    assert "It waits for an answer Send march.csv to the bank?" in shown
    assert "Confirm Refuse" in shown
    assert "Resume" not in shown

    assert browser.act("/instances/3/confirm", reason="totals agree").status == 303
    assert browser.act("/instances/4/refuse", reason="the wrong month").status == 303

    late = browser.get("/instances/3/confirm")
    assert (late.status, "was answered: confirmed by" in late.said) == (409, True)
    assert [night.status_of(at) for at in (3, 4)] == ["ready", "failed"]


def test_pages_go_on_where_the_one_before_ended(night: Night, console: Console) -> None:
    for at in range(3, 53):
        night.arrive("Late", f"{at}.csv")
    assert night("create").returncode == 0
    browser = console.browser()
    first = browser.get("/instances")
    (older,) = re.findall(r'rel="next" href="([^"]+)"', first.text)
    second = browser.get("/instances" + unescape(older))
    numbers = [int(at) for page in (first, second) for at in re.findall(r'href="/instances/(\d+)"', page.text)]
    assert numbers == [*range(52, 0, -1)]
    assert "Older ones" not in second.said


def test_what_is_not_here_says_where_to_go(console: Console) -> None:
    browser = console.browser()
    nowhere = browser.get("/nowhere")
    assert (nowhere.status, "Next: / (the page Now" in nowhere.said) == (404, True)
    elsewhere = browser.get("/", Host="console.example.org")
    assert (elsewhere.status, '[web] names = ["NAME"]' in elsewhere.said) == (403, True)


def test_a_port_that_any_may_be_is_not_named_for_the_tunnel(night: Night) -> None:
    add(night, "anna", "admin")
    refused = night("web", "--host", "0.0.0.0", "--port", "0")
    assert (refused.returncode, "ssh -L PORT:127.0.0.1:PORT THIS_HOST" in refused.stderr) == (4, True)


def test_a_host_at_which_this_machine_does_not_listen_is_not_a_matter_of_ports() -> None:
    with pytest.raises(Refused) as refused:
        listen("nosuch.invalid", 0)
    assert "--host and an address of this machine" in str(refused.value.next_step)


def test_only_this_machine_can_reach_it(night: Night) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        done = night("web", "--host", host)
        assert (done.returncode, "it knows no users" in done.stderr) == (4, True)
        assert "batchctl web user add" in done.stderr


def test_a_form_acts_only_on_the_step_and_the_question_that_it_has_shown(night: Night, console: Console) -> None:
    night.batch("Asks", "Is A right?", "Pay B?")
    night.sql("UPDATE ProcessControl SET ProcessType = 'confirm' WHERE Data1 IN ('Is A right?', 'Pay B?')")
    night.arrive("Asks")
    assert night("run", "--once").returncode == 0
    browser = console.browser()
    confirming, refusing = browser.form("/instances/3/confirm"), browser.form("/instances/3/refuse")
    skipping, cancelling = browser.form("/instances/1/skip"), browser.form("/instances/1/cancel")
    assert night("confirm", "3").returncode == 0
    assert night("run", "--once").returncode == 0
    assert night("rerun", "1", "--reason", "another file", "--set", "Data2=x").returncode == 0

    for path, form in (
        ("/instances/3/confirm", confirming),
        ("/instances/3/refuse", refusing),
        ("/instances/1/skip", skipping),
        ("/instances/1/cancel", cancelling),
    ):
        late = browser.post(path, {"form": form, "reason": "as shown"})
        assert late.status == 409, (path, late.said)
    assert "has changed since it was shown" in browser.post("/instances/3/confirm", {"form": confirming}).said
    assert [night.status_of(at) for at in (1, 3)] == ["ready", "paused"]
    assert night.sql("SELECT count(*) FROM Confirmation WHERE Answer IS NULL") == [(1,)]


def test_a_form_that_was_refused_is_corrected_and_sent_again(night: Night, console: Console) -> None:
    browser = console.browser()
    form = browser.form("/instances/1/cancel")
    assert browser.post("/instances/1/cancel", {"form": form}).status == 409

    sent = [browser.post("/instances/1/cancel", {"form": form, "reason": "given up"}) for _ in range(2)]

    assert [(one.status, one.headers["location"]) for one in sent] == [(303, "/instances/1")] * 2
    assert night.status_of(1) == "cancelled"
    assert night.sql("SELECT count(*) FROM AuditLog WHERE Action = 'cancel'") == [(1,)]


def test_a_form_that_showed_no_card_shows_it_before_it_acts(night: Night, console: Console) -> None:
    browser = console.browser()
    assert night("rerun", "1", "--reason", "once more").returncode == 0
    unfit = browser.get("/instances/1/rerun?Data3=zzz")
    assert unfit.status == 409
    (form,) = re.findall(r'name="form" value="(\w+)"', unfit.text)
    assert night("run", "--once").returncode == 1

    looked = browser.post("/instances/1/rerun", {"form": form, "reason": "blindly", "Data3": "zzz"})

    assert (looked.status, "Commands" in looked.text or "would" in looked.said) == (200, True)
    assert night.status_of(1) == "failed"

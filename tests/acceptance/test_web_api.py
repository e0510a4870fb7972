"""The console as a program meets it: the JSON of the command line, acts by POST, problems, and each request once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.acceptance.consoles import OWN, Answer, Browser, Console
from tests.acceptance.night import HOSTILE, Night

JSON = {**OWN, "Content-Type": "application/json"}

SAME = {
    "/instances/1": ("show", "1"),
    "/instances/1/why": ("why", "1"),
    "/instances/1/attempts": ("history", "1"),
    "/instances/1/output": ("output", "1"),
    "/attempts": ("history",),
    "/attempts?status=failed": ("history", "--status", "failed"),
    "/batches": ("batches",),
    "/batches?status=disabled": ("batches", "--status", "disabled"),
    "/batches/Late/why": ("why", "batch:Late"),
    "/file-processes/1/why": ("why", "file:1"),
    "/schedules/nightly/why": ("why", "schedule:nightly"),
    "/incidents": ("incidents",),
    "/incidents?all=true": ("incidents", "--all"),
    "/inbox": ("inbox",),
    "/audit": ("audit",),
    "/audit?of=batch:Late&limit=1": ("audit", "--of", "batch:Late", "--limit", "1"),
    "/controllers": ("controllers",),
    "/status": ("status",),
    "/freezes": ("freezes",),
    "/freezes?all=true&limit=1": ("freezes", "--all", "--limit", "1"),
    "/backfills": ("backfill", "list"),
    "/watches": ("watch", "list"),
    "/calendars": ("calendar", "list"),
    "/calendars/NL": ("calendar", "show", "NL"),
    "/batches/Late/versions": ("versions", "Late"),
    "/jobs": ("job", "list"),
    "/log": ("log",),
    "/log?source=schedule&type=fired&limit=1": ("log", "--source", "schedule", "--type", "fired", "--limit", "1"),
    "/pools": ("pools",),
    "/requests": ("requests",),
    "/waits": ("waits",),
    "/schedules": ("schedule", "list"),
    "/triggers": ("trigger", "list"),
    "/variables": ("variable", "list"),
}
ROUNDS = 6
_PASSING = {"Now", "z_updated", "HeartbeatTime", "Age", "Earliest"}


def get(browser: Browser, path: str) -> Any:
    answer = browser.get(f"/api/v1{path}")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json"), (path, answer.text)
    return json.loads(answer.text)


def post(browser: Browser, path: str, body: object, **headers: str) -> Answer:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    return browser.post(
        f"/api/v1{path}", sent, {**JSON, **{name.replace("_", "-"): it for name, it in headers.items()}}
    )


def problem(answer: Answer) -> Mapping[str, Any]:
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    found = json.loads(answer.text)
    assert set(found) == {"type", "title", "status", "detail", "next", "code"}
    assert found["status"] == answer.status
    return dict(found)


def test_what_programs_read_is_what_the_command_line_prints(night: Night, console: Console) -> None:
    night.sql("UPDATE ProcessControl SET ProcessName = ? WHERE ProcessControlSeq = 20", HOSTILE)
    made = night("schedule", "add", "nightly", "--entity", "Late", "--type", "daily", "--run-times", "02:00")
    assert made.returncode == 0, made.stderr
    assert night("variable", "set", "InDir", "/in", "--reason", "it lies there").returncode == 0
    night.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL')")
    for tag in ("to be sure", "once more"):
        assert night("schedule", "run", "nightly", "--reason", tag).returncode == 0
        assert night("freeze", "--batch", "Late", "--until", "2h", "--reason", tag).returncode == 0
    assert night("backfill", "nightly", "--from", "2025-11-01", "--to", "2025-11-03", "--reason", "x").returncode == 0
    assert night("drain", "--host", "etl2", "--reason", "patches").returncode == 0
    browser = console.browser()
    for path, command in SAME.items():
        assert _lasting(get(browser, path)) == _lasting(night.json(*command)), path
    assert get(browser, "/drains") == night.json("status")["Drains"]


def _lasting(value: Any) -> Any:
    """Leave out what passes between two looks."""
    if isinstance(value, list):
        return [_lasting(each) for each in value]
    if isinstance(value, dict):
        return {name: _lasting(each) for name, each in value.items() if name not in _PASSING}
    return value


def test_pages_lead_to_the_next_one(night: Night, console: Console) -> None:
    for at in range(3, 8):
        night.arrive("Late", f"{at}.csv")
    assert night("create").returncode == 0
    browser, path, seen = console.browser(), "/api/v1/instances?batch=Late&limit=3", list[int]()
    while path:
        answer = browser.get(path)
        seen += [row["BatchControl_id"] for row in json.loads(answer.text)]
        link = answer.headers.get("link", "")
        path = link.partition(">")[0].removeprefix("<")
    assert seen == [*range(7, 0, -1)]


def test_acts_are_done_by_programs_and_looked_at_first(night: Night, console: Console) -> None:
    browser = console.browser()
    assert get(browser, f"/instances?before={2**63 - 1}&limit=1")[0]["BatchControl_id"] == 2
    card = get(browser, "/instances/1/rerun?from_seq=000000000010")
    assert (card["DryRun"], card["After"]["Status"]) == (True, "ready")
    looked = post(browser, "/instances/1/rerun", {"dry_run": True, "Data2": "there.csv"})
    assert json.loads(looked.text)["After"]["Data2"] == "there.csv"
    assert problem(post(browser, "/instances/1/rerun", {}))["detail"].startswith("The reason is empty")
    assert night.status_of(1) == "failed"

    done = post(browser, "/instances/1/rerun", {"reason": "it is there now", "Data2": "there.csv"})

    assert (done.status, json.loads(done.text)["DryRun"]) == (200, False)
    assert night.status_of(1) == "ready"
    ((reason,),) = night.sql("SELECT Reason FROM AuditLog WHERE Action = 'rerun'")
    assert reason == "it is there now"
    assert post(browser, "/batches/Late/disable", {}).status == 200
    assert json.loads(post(browser, "/batches/Late/enable", {"release": "all"}).text)["Enabled"] is True
    assert post(browser, "/incidents/1/snooze", {"for": "2h", "reason": "later"}).status == 200
    assert json.loads(post(browser, "/freezes", {"reason": "the disk is full"}).text)["New"] is True
    assert post(browser, "/freezes/1/thaw", {"reason": "it is not", "release": "all"}).status == 200


def test_rows_are_submitted_once_for_each_key(night: Night, console: Console) -> None:
    browser = console.browser()
    row = {"entity": "Late", "file_name": "third.csv"}
    answers = [post(browser, "/file-processes", row, Idempotency_Key="k1") for _ in range(3)]
    assert {(one.status, one.text) for one in answers} == {(201, answers[0].text)}
    assert night.sql("SELECT count(*) FROM FileProcess WHERE FileName = 'third.csv'") == [(1,)]

    other = post(browser, "/file-processes", {**row, "data": "x"}, Idempotency_Key="k1")
    assert (other.status, "used for another request" in problem(other)["detail"]) == (422, True)
    failed = post(browser, "/file-processes", {"entity": ""}, Idempotency_Key="k2")
    assert problem(failed)["status"] == 409
    assert post(browser, "/file-processes", row, Idempotency_Key="k2").status == 201
    kept = "SELECT RequestKey, HttpStatus FROM WebRequest ORDER BY WebRequest_id"
    assert night.sql(kept) == [("k1", 201), ("k2", 201)], "so that a restart of the console forgets none"
    night.sql("UPDATE WebRequest SET HttpStatus = NULL WHERE RequestKey = 'k2'")
    assert post(browser, "/file-processes", row, Idempotency_Key="k2").status == 422
    assert post(browser, "/file-processes", row, Idempotency_Key="x" * 201).status == 400
    assert post(browser, "/file-processes", {**row, "dry_run": True}).status == 200
    assert night.sql("SELECT count(*) FROM FileProcess WHERE FileName = 'third.csv'") == [(2,)]


def test_a_key_that_comes_many_times_at_once_acts_once(night: Night, console: Console) -> None:
    browser = console.browser()

    def send(at: int) -> int:
        row = {"entity": "Late", "file_name": f"{at % ROUNDS}.csv"}
        return post(browser, "/file-processes", row, Idempotency_Key=f"k{at % ROUNDS}").status

    with ThreadPoolExecutor(8) as pool:
        answers = [*pool.map(send, sorted([*range(ROUNDS)] * 8))]

    assert set(answers) <= {201, 422}, "422: the same is under way"
    assert night.sql("SELECT count(*) FROM FileProcess WHERE FileName LIKE '_.csv'") == [(ROUNDS,)]


BAD_BODIES: list[tuple[bytes, int]] = [
    (b"[]", 400),
    (b"{", 400),
    (b'"text"', 400),
    (b"\xff\xfe", 400),
    (b'{"reason": NaN}', 400),
    (b'{"reason": "a", "reason": "b"}', 400),
    (b'{"reason": 5}', 400),
    (b'{"raeson": "x"}', 400),
    (b'{"reason": "\\u0000"}', 400),
    (b'{"reason": "\\ud800"}', 400),
    (b'{"reason": "x", "from_seq": "10"}', 400),
    (b'{"reason": "x", "from_seq": true}', 400),
    (b'{"reason": "x", "from_seq": ' + b"9" * 5000 + b"}", 400),
    (b'{"reason": "x", "from_seq": 1e999}', 400),
    (b'{"reason": "x", "dry_run": "true"}', 400),
    (b'{"reason": "x", "dry_run": 1}', 400),
    (b'{"reason": "x", "dry_run": {}}', 400),
    (b"[" * 200_000, 400),
    (b'{"reason": ' + b"[" * 200_000 + b"}", 400),
    (b'{"reason": "' + b"x" * 10_000_000 + b'"}', 413),
]


def test_bodies_that_say_nothing_are_refused_and_nothing_is_done(night: Night, console: Console) -> None:
    browser = console.browser()
    for body, status in BAD_BODIES:
        answer = post(browser, "/instances/1/rerun", body)
        assert problem(answer)["status"] == status, body[:60]
    assert post(browser, "/instances/1/rerun", {"reason": "x"}, Content_Type="text/plain").status == 415
    assert night.status_of(1) == "failed"


BAD_ADDRESSES = [
    ("/instances/99", 404, "There is no BatchControl 99."),
    (f"/instances/{'9' * 30}", 404, "is not the number of a row"),
    ("/instances/1/explode", 404, "There is no such resource."),
    ("/instances/1%0A2/why", 404, "is not the number of a row"),
    ("/%0A", 404, "There is no such resource."),
    ("/nowhere", 404, "There is no such resource."),
    ("/instances?colour=red", 400, "'colour' is no filter here."),
    ("/instances?status=sad", 400, "is none of what can be chosen"),
    ("/instances?limit=0", 400, "'limit' is a number from 1 to 1000."),
    ("/instances?before=-1", 400, "is no number"),
    (f"/instances?before={2**63}", 400, "is more than"),
    ("/instances/1/rerun?from_seq=2000000001", 400, "is more than 2000000000"),
    ("/instances/1/rerun?from_seq=000000000099", 404, "99"),
    (f"/instances/1/rerun?from_seq={'9' * 5000}", 400, "is more than"),
    ("/attempts?since=soon", 400, "is no time"),
    ("/audit?actor=%00", 400, "it contains a NUL character"),
    ("/batches/Nope/why", 404, "There is no batch 'Nope'"),
    ("/instances/1/rerun?reason=x", 400, "is no field of this act"),
]


def test_addresses_that_name_nothing_are_problems(console: Console) -> None:
    browser = console.browser()
    for path, status, said in BAD_ADDRESSES:
        found = problem(browser.get(f"/api/v1{path}"))
        assert (found["status"], said in found["detail"]) == (status, True), (path, found)
    refused = problem(browser.get("/api/v1/instances/99"))
    assert (refused["code"][:2], refused["type"]) == ("BC", f"urn:batchctl:error:{refused['code']}")


def test_who_is_not_let_in_is_told_what_lets_in(night: Night, console: Console) -> None:
    stranger = problem(Browser(console.port).get("/api/v1/instances"))
    assert (stranger["status"], stranger["code"][:2]) == (401, "BC")
    assert "Authorization: Bearer TOKEN; batchctl web token add" in stranger["next"]
    token = night.json("web", "token", "add", "loader", "--role", "intake")["Token"]
    small = problem(Browser(console.port).get("/api/v1/instances", Authorization=f"Bearer {token}"))
    assert (small["status"], small["code"][:2]) == (403, "BC")
    assert small["next"].endswith("(who has a role that may: reader, operator, author, admin)")


def test_an_act_that_lacks_a_choice_says_which_member_is_needed(night: Night, console: Console) -> None:
    night.sql("UPDATE BatchControl SET Status = 'ready'")
    assert night("freeze", "--batch", "Late", "--reason", "x").returncode == 0
    browser = console.browser()
    unchosen = problem(post(browser, "/batches/Late/thaw", {"reason": "done"}))
    assert (unchosen["status"], "('release')" in unchosen["next"]) == (409, True)
    wrong = problem(post(browser, "/batches/Late/freeze", {"reason": "x", "until": "yesterday or so"}))
    assert (wrong["status"], "into 'until'" in wrong["next"]) == (400, True)


def test_methods_that_are_not_there_are_named_with_those_that_are(console: Console) -> None:
    browser = console.browser()
    for path, allowed in (
        ("/instances", "GET, HEAD"),
        ("/file-processes", "POST"),
        ("/instances/1/rerun", "GET, HEAD, POST"),
    ):
        answer = browser.ask("DELETE", f"/api/v1{path}", None, OWN)
        assert problem(answer)["status"] == 405
        assert sorted(answer.headers["allow"].split(", ")) == allowed.split(", ")


def test_without_a_session_or_from_another_site_nothing_is_answered(night: Night, console: Console) -> None:
    stranger = Browser(console.port)
    for path in ("/instances", "/openapi.json", "/instances/1/rerun"):
        answer = stranger.get(f"/api/v1{path}")
        assert (problem(answer)["status"], answer.headers["www-authenticate"]) == (401, "Bearer")
    browser = console.browser()
    assert problem(browser.get("/api/v1/instances", Authorization="Bearer made-up"))["status"] == 401
    for headers in ({}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://elsewhere.example"}):
        sent = {"Content-Type": "application/json", **headers}
        answer = browser.post("/api/v1/instances/1/cancel", b'{"reason": "x"}', sent)
        assert problem(answer)["status"] == 403, headers
    assert night.status_of(1) == "failed"


def test_the_description_names_all_that_is_answered(console: Console) -> None:
    found = get(console.browser(), "/openapi.json")
    assert found["openapi"] == "3.1.0"
    assert {path.partition("?")[0] for path in SAME if path.count("/") == 1} <= set(found["paths"])
    operations = [each["operationId"] for path in found["paths"].values() for each in path.values()]
    assert len(operations) == len(set(operations)) > 60
    rerun = found["paths"]["/instances/{key}/rerun"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert rerun["required"] == ["reason"]
    assert {"from_seq", "Data3", "reason", "dry_run"} <= set(rerun["properties"])

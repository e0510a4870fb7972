"""Users, roles, tokens and sessions of the console, and what a client that is no proxy may say of itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta

import pytest

from batchctl.operations.operators.console_users import hash_of
from batchctl.system.clock import SystemClock
from tests.acceptance.consoles import PASSWORD, Browser, Console, Served, add, choose, serving
from tests.acceptance.installation import StartBatchctl
from tests.acceptance.night import Night

MANY = 6
OTHER = "rain over seven harbours"


@pytest.fixture
def served(night: Night, start_batchctl: StartBatchctl) -> Iterator[Served]:
    """Anna is an admin without a password, who has `code`."""
    code = add(night, "anna", "admin")
    for one in serving(night, start_batchctl):
        one.code = code
        yield one


def anna(served: Served) -> Browser:
    return choose(served, "anna", served.code)


def test_a_new_user_comes_in_by_a_code_once_and_chooses_a_password_before_anything_else(served: Served) -> None:
    code = served.code
    browser = served.browser("anna", code)
    for path in ("/", "/instances/1", "/audit"):
        answer = browser.get(path)
        assert (answer.status, answer.headers["location"]) == (303, "/account")
    assert browser.post("/instances/1/cancel", {"reason": "x"}).headers["location"] == "/account"
    short = browser.post("/account/password", {"new": "too short"})
    assert (short.status, "it is shorter than 12 characters" in short.said) == (400, True)
    easy = browser.post("/account/password", {"new": "annapassword123"})
    assert "among the first that are guessed" in easy.said

    assert browser.post("/account/password", {"new": PASSWORD}).status == 303

    assert browser.get("/").status == 200
    assert Browser(served.port).post("/login", {"name": "anna", "password": code}).status == 403
    assert served.night.sql("SELECT CodeHash FROM WebUser") == [(None,)]
    ((kept,),) = served.night.sql("SELECT PasswordHash FROM WebUser")
    assert kept.startswith("$argon2id$")
    assert PASSWORD not in str(served.night.sql("SELECT * FROM AuditLog"))


def test_what_is_done_there_is_kept_under_the_name_of_the_person_and_the_login(served: Served) -> None:
    browser = anna(served)
    assert browser.act("/instances/1/cancel", reason="given up").status == 303

    ((who, host),) = served.night.sql("SELECT Actor, Host FROM AuditLog WHERE Action = 'cancel'")

    assert who == "anna"
    assert re.fullmatch(r"web \S+@\S+", host)
    acts = [action for (action,) in served.night.sql("SELECT Action FROM AuditLog WHERE Actor = 'anna'")]
    assert acts == ["login", "change password", "login", "cancel"]


RIGHTS = {
    ("reader", "GET /"): 200,
    ("reader", "GET /instances/1"): 200,
    ("reader", "GET /instances/1/cancel"): 403,
    ("reader", "POST /instances/1/cancel"): 403,
    ("reader", "GET /new/file-processes"): 403,
    ("reader", "GET /account"): 200,
    ("intake", "GET /"): 303,
    ("intake", "GET /instances/1"): 403,
    ("intake", "GET /instances/1/cancel"): 403,
    ("intake", "GET /new/file-processes"): 200,
    ("operator", "GET /audit"): 200,
    ("operator", "GET /instances/1/cancel"): 200,
    ("operator", "GET /new/freezes"): 200,
    ("operator", "GET /new/file-processes"): 200,
    ("author", "GET /batches"): 200,
    ("author", "POST /instances/1/cancel"): 403,
    ("admin", "GET /instances/1/cancel"): 200,
}


def test_each_role_does_what_it_may_and_nothing_else(served: Served) -> None:
    browsers = {}
    for role in ("reader", "intake", "operator", "author", "admin"):
        browsers[role] = choose(served, role, add(served.night, role, role))
    for (role, asked), wanted in RIGHTS.items():
        method, _, path = asked.partition(" ")
        answer = browsers[role].get(path) if method == "GET" else browsers[role].post(path, {"reason": "x"})
        assert (answer.status, role, asked) == (wanted, role, asked)
        if wanted == 403:
            assert f"which the role {role} does not have" in answer.said
    assert served.night.status_of(1) == "failed"
    for page in (
        "/",
        "/instances/1",
        "/instances?status=failed",
        "/batch?name=Late",
        "/batches",
        "/inbox",
        "/incidents",
    ):
        assert 'class="button"' not in browsers["reader"].get(page).text, page
    assert 'class="button"' not in browsers["reader"].get("/controllers").text


def test_one_who_only_submits_stays_where_rows_are_submitted(served: Served) -> None:
    carrier = choose(served, "carrier", add(served.night, "carrier", "intake"))
    assert carrier.get("/").headers["location"] == "/new/file-processes"
    page = carrier.get("/new/file-processes")
    assert re.findall(r'<li><a href="([^"]+)"', page.text) == ["/new/file-processes"]

    sent = carrier.act("/new/file-processes", entity="Late", file_name="third.csv")

    assert (sent.status, sent.headers["location"]) == (303, "/new/file-processes")
    assert "third.csv" in carrier.get("/new/file-processes").said


def test_a_tag_limits_acts_to_the_batches_that_have_it(served: Served) -> None:
    night = served.night
    browser = choose(served, "ben", add(night, "ben", "operator", "--tag", "Sales"))
    refused = browser.get("/instances/1/cancel")
    assert (refused.status, "only on batches with the tag Sales, and batch Late" in refused.said) == (409, True)
    assert night("run", "--once").returncode == 0
    ((incident,),) = night.sql("SELECT Incident_id FROM Incident WHERE BatchControl_id = 1")
    for answer in (
        browser.get(f"/incidents/{incident}/acknowledge"),
        browser.post(f"/incidents/{incident}/snooze", {"for": "1h", "form": "1", "look": "1"}),
        browser.get("/batches/Late/disable"),
        browser.get("/new/freezes"),
        browser.act("/new/file-processes", entity="Late"),
    ):
        assert (answer.status, "You act only on batches with the tag" in answer.said) == (409, True)
    assert browser.get("/instances/1").status == 200
    assert night.sql("SELECT count(*) FROM BatchFreeze") == [(0,)]

    assert not any(
        'class="button"' in browser.get(page).text for page in ("/instances/1", "/batch?name=Late", "/", "/inbox")
    )
    night.sql("UPDATE ProcessBatch SET Tags = 'night,sales'")
    assert 'href="/instances/1/rerun"' in browser.get("/instances/1").text
    assert 'href="/batches/Late/disable"' in browser.get("/batch?name=Late").text
    assert browser.act(f"/incidents/{incident}/snooze", **{"for": "1h"}, reason="later").status == 303
    assert browser.act(f"/incidents/{incident}/acknowledge", reason="mine").status == 303

    assert browser.act("/instances/1/cancel", reason="given up").status == 303
    assert night.status_of(1) == "cancelled"


def test_a_program_comes_in_by_its_token_and_does_what_its_role_may(served: Served) -> None:
    night = served.night
    token = night.json("web", "token", "add", "loader", "--role", "intake")["Token"]
    program, bearer = Browser(served.port), {"Authorization": f"Bearer {token}"}
    as_json = {**bearer, "Content-Type": "application/json"}
    assert program.get("/api/v1/instances").status == 401
    assert program.get("/api/v1/instances", **bearer).status == 403
    made = program.post("/api/v1/file-processes", b'{"entity": "Late", "file_name": "new.csv"}', as_json)
    assert made.status == 201, made.text
    assert night.sql("SELECT count(*) FROM FileProcess WHERE FileName = 'new.csv'") == [(1,)]
    made_elsewhere = {"Sec-Fetch-Site": "cross-site", **bearer}
    assert anna(served).post("/instances/1/cancel", {"reason": "x"}, made_elsewhere).status == 403
    other = {"Authorization": "Bearer " + "0" * 64}
    assert program.get("/api/v1/instances", **other).status == 401
    night("web", "token", "revoke", "loader", "--reason", "old")
    assert program.post("/api/v1/file-processes", b'{"entity": "Late"}', as_json).status == 401


def test_a_wrong_password_shuts_the_door_of_the_user_and_the_address_for_longer_each_time(served: Served) -> None:
    anna(served)
    stranger = Browser(served.port)
    for name in ("anna", "unknown"):
        wrong = stranger.post("/login", {"name": name, "password": "wrong wrong wrong"})
        assert (wrong.status, "not the name and password" in wrong.said) == (403, True)
        shut = stranger.post("/login", {"name": "anna", "password": PASSWORD})
        assert shut.status == 403, "the door is shut, also for what is right"
        served.night.sql("UPDATE LoginBackOff SET ShutUntil = '2020-01-01 00:00:00.000'")
    assert served.night.sql("SELECT Subject, Failures FROM LoginBackOff ORDER BY Subject") == [
        ("address:127.0.0.1", 2),
        ("user:anna", 1),
        ("user:unknown", 1),
    ]

    served.browser("anna")

    assert served.night.sql("SELECT Subject FROM LoginBackOff") == []


def test_a_session_ends_by_log_out_by_hand_by_disabling_and_by_itself(served: Served) -> None:
    night, first = served.night, anna(served)
    second = served.browser("anna")
    listed = night.json("web", "session", "list")
    assert [one["UserName"] for one in listed] == ["anna", "anna"]
    assert "TokenHash" not in listed[0]
    assert night("web", "session", "end", str(listed[1]["WebSession_id"])).returncode == 0
    assert second.get("/").headers["location"] == "/login"
    assert first.get("/").status == 200
    assert first.post("/logout", {}).status == 303
    assert first.get("/").headers["location"] == "/login"

    third = served.browser("anna")
    night.sql("UPDATE WebSession SET LastUsed = '2020-01-01 00:00:00.000'")
    assert third.get("/").headers["location"] == "/login"
    fourth = served.browser("anna")
    night.sql("UPDATE WebSession SET ExpiresTime = '2020-01-01 00:00:00.000'")
    assert fourth.get("/").headers["location"] == "/login"
    fifth = served.browser("anna")
    assert night("web", "user", "disable", "anna", "--reason", "left").returncode == 0
    assert fifth.get("/").headers["location"] == "/login"
    assert Browser(served.port).post("/login", {"name": "anna", "password": PASSWORD}).status == 403
    night.sql("DELETE FROM LoginBackOff")
    assert night("web", "user", "enable", "anna").returncode == 0
    sixth = served.browser("anna")
    assert night("web", "user", "remove", "anna", "--reason", "left").returncode == 0
    assert sixth.get("/").headers["location"] == "/login"


def test_no_page_waits_for_a_lock_to_write_down_that_it_was_seen(served: Served) -> None:
    night, browser = served.night, anna(served)
    token = night.json("web", "token", "add", "watch", "--role", "reader")["Token"]
    bearer = {"Authorization": f"Bearer {token}"}
    before = f"{SystemClock().now() - timedelta(minutes=5):%Y-%m-%d %H:%M:%S}.000"
    night.sql("UPDATE WebSession SET LastUsed = ?", before)
    with closing(night.database.hand()) as hand:
        hand.begin_writing()
        assert browser.get("/").status == 200
        assert Browser(served.port).get("/api/v1/instances", **bearer).status == 200
        hand.sql("ROLLBACK")
    used = "SELECT max(LastUsed) FROM WebSession UNION ALL SELECT LastUsed FROM ApiToken"
    assert night.sql(used) == [(before,), (None,)]

    assert browser.get("/").status == 200
    assert Browser(served.port).get("/api/v1/instances", **bearer).status == 200

    ((session,), (program,)) = night.sql(used)
    assert before < session
    assert program is not None


def own(served: Served, browser: Browser) -> str:
    token = hash_of(browser.cookies["__Host-batchctl"])
    ((number,),) = served.night.sql("SELECT WebSession_id FROM WebSession WHERE TokenHash = ?", token)
    return str(number)


def test_a_new_password_ends_all_sessions_and_a_user_ends_an_own_one(served: Served) -> None:
    first = anna(served)
    second = served.browser("anna")
    wrong = first.post("/account/password", {"old": "not the old one", "new": OTHER})
    assert (wrong.status, "The old password is not right" in wrong.said) == (409, True)
    served.night.sql("DELETE FROM LoginBackOff")
    assert first.post("/account/password", {"old": PASSWORD, "new": OTHER}).status == 303
    assert first.get("/").status == 200
    assert second.get("/").headers["location"] == "/login"

    third = served.browser("anna", OTHER)
    (mine,) = re.findall(r"/account/sessions/(\d+)", first.get("/account").text)[-1:]
    marked = re.findall(r"/account/sessions/(\d+).*?(\(this one\)|</form>)", first.get("/account").text, re.DOTALL)
    assert [number for number, said in marked if said == "(this one)"] == [own(served, first)]
    assert first.post(f"/account/sessions/{mine}", {}).status == 303
    assert third.get("/").headers["location"] == "/login"
    choose(served, "ben", add(served.night, "ben", "reader"))
    others = served.night.json("web", "session", "list")[-1]["WebSession_id"]
    assert first.post(f"/account/sessions/{others}", {}).status == 404


def test_a_code_opens_once_however_many_bring_it_at_once(served: Served) -> None:
    def enter(_: int) -> int:
        return Browser(served.port).post("/login", {"name": "anna", "password": served.code}).status

    with ThreadPoolExecutor(MANY) as pool:
        answers = [*pool.map(enter, range(MANY))]

    assert sorted(answers) == [303, *[403] * (MANY - 1)]
    assert served.night.sql("SELECT count(*) FROM WebSession") == [(1,)]


def test_an_old_password_is_guessed_no_faster_than_one_at_the_door(served: Served) -> None:
    browser = anna(served)
    refused = browser.post("/account/password", {"old": "not the old one", "new": OTHER})
    shut = browser.post("/account/password", {"old": PASSWORD, "new": OTHER})
    assert (refused.status, shut.status) == (409, 409), "also what is right is not looked at"
    assert "Too many wrong passwords" in shut.said
    assert served.night.sql("SELECT count(*) FROM AuditLog WHERE Action = 'login refused'") == [(1,)]
    subjects = served.night.sql("SELECT Subject FROM LoginBackOff ORDER BY Subject")
    assert subjects == [("address:127.0.0.1",), ("user:anna",)]

    served.night.sql("UPDATE LoginBackOff SET ShutUntil = '2020-01-01 00:00:00.000'")

    assert browser.post("/account/password", {"old": PASSWORD, "new": OTHER}).status == 303
    assert served.night.sql("SELECT Subject FROM LoginBackOff") == []


def test_who_logs_in_again_leaves_no_session_behind(served: Served) -> None:
    browser = anna(served)
    former = Browser(served.port, dict(browser.cookies))
    assert browser.post("/login", {"name": "anna", "password": PASSWORD}).status == 303
    assert browser.get("/").status == 200
    assert former.get("/").headers["location"] == "/login"
    assert len(served.night.json("web", "session", "list")) == 1


def test_what_a_client_that_is_no_proxy_says_of_itself_counts_for_nothing(served: Served) -> None:
    stranger = Browser(served.port)
    forged = {"X-Remote-User": "anna", "X-Forwarded-For": "10.1.2.3", "X-Forwarded-Proto": "https"}
    assert stranger.get("/", **forged).headers["location"] == "/login"
    stranger.post("/login", {"name": "anna", "password": "wrong"}, {"Sec-Fetch-Site": "same-origin", **forged})
    subjects = served.night.sql("SELECT Subject FROM LoginBackOff ORDER BY Subject")
    assert subjects == [("address:127.0.0.1",), ("user:anna",)]


def test_users_and_tokens_are_kept_without_their_secrets(night: Night) -> None:
    code = add(night, "anna", "operator", "--tag", "sales")
    token = night.json("web", "token", "add", "loader", "--role", "intake", "--days", "30")["Token"]
    kept = str([night.sql(f"SELECT * FROM {table}") for table in ("WebUser", "ApiToken", "AuditLog")])
    assert code not in kept
    assert token not in kept
    (user,) = night.json("web", "user", "list")
    assert (user["UserName"], user["Role"], user["Tag"], user["State"]) == (
        "anna",
        "operator",
        "sales",
        "has no password yet",
    )
    assert {"PasswordHash", "CodeHash"}.isdisjoint(user)
    assert night("web", "user", "add", "anna", "--role", "reader").returncode == 4
    assert "Did you mean 'anna'?" in night("web", "user", "disable", "ana", "--reason", "x").stderr
    assert night("web", "user", "change", "anna", "--role", "reader", "--reason", "moved").returncode == 0
    assert (
        "Note: No batch has the tag 'sale'."
        in night("web", "user", "add", "b", "--role", "reader", "--tag", "sale").stderr
    )
    assert "No batch has the tag" in night("web", "token", "add", "t", "--role", "intake", "--tag", "sale").stderr
    assert night("web", "token", "revoke", "t", "--reason", "old").returncode == 0
    assert night("web", "user", "disable", "b", "--reason", "left").returncode == 0
    reset = night("web", "user", "reset", "b", "--reason", "back")
    assert "Note: the user is disabled. To let it in: batchctl web user enable b" in reset.stderr
    assert "batchctl web session end" not in night("web", "session", "list").stdout
    assert night("web", "token", "revoke", "loader", "--reason", "old").returncode == 0
    assert {one["State"] for one in night.json("web", "token", "list")} == {"revoked"}
    own = "SELECT Action FROM AuditLog WHERE Target = 'WebUser:anna' ORDER BY AuditLog_id"
    audited = [row[0] for row in night.sql(own) if "web" in row[0]]
    assert audited == ["add web user", "change web user"]


def test_no_user_is_called_as_a_token_is(night: Night) -> None:
    refused = night("web", "user", "add", "token:loader", "--role", "reader")
    assert (refused.returncode, "has no colon" in refused.stderr) == (2, True)


def test_what_others_can_reach_needs_users_and_tls(night: Night) -> None:
    add(night, "anna", "admin")
    refused = night("web", "--host", "0.0.0.0")
    assert (refused.returncode, "passwords would go there in the clear" in refused.stderr) == (4, True)
    assert "ssh -L 8642:127.0.0.1:8642" in refused.stderr
    (night.folder / "cert.pem").write_text("", encoding="utf-8")
    half = night("web", "--tls-cert", str(night.folder / "cert.pem"))
    assert (half.returncode, "go together" in half.stderr) == (4, True)


def test_without_users_the_terminal_lets_in_an_admin(console: Console) -> None:
    browser = console.browser()
    assert "(admin)" in browser.get("/").said
    assert "This console has no users yet" in browser.get("/account").said


def test_a_session_by_the_code_ends_with_the_first_user(night: Night, console: Console) -> None:
    browser = console.browser()
    assert browser.get("/").status == 200
    add(night, "anna", "admin")
    assert browser.get("/").headers["location"] == "/login"
    assert browser.post("/instances/1/cancel", {"reason": "x"}).headers["location"].startswith("/login?")
    assert night("web", "user", "remove", "anna", "--reason", "left").returncode == 0
    assert browser.get("/").headers["location"] == "/login", "it is over"

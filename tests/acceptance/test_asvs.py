"""What docs/security.md claims of the console, line by line, by the numbers of OWASP ASVS 5.0; and what else is sent to it."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.routing import Mount, Route

from batchctl.app import App
from batchctl.domain.operators.logins import LONGEST_PASSWORD, RIGHTS, Right, Role, unfit_password, wait_after
from batchctl.system.remote.console_client import ROOT as RELAY_ROOT
from batchctl.web import guards, passwords
from batchctl.web.act_table import ACTS
from batchctl.web.doors import CodeDoor
from batchctl.web.forms import Forms
from batchctl.web.pages import PAGES
from batchctl.web.rest import openapi
from batchctl.web.rest.api import ROOT
from batchctl.web.rest.resources import RESOURCES
from batchctl.web.site import SUBMIT, THREADS, Console
from batchctl.web.wishes import Subject
from tests.acceptance.consoles import OWN, PASSWORD, Answer, Browser, Served, add, choose, failed_night, serving
from tests.acceptance.installation import RunBatchctl, StartBatchctl
from tests.acceptance.night import Night, a_file

PAST = "2020-01-01 00:00:00.000"
READS, WRITES = {"GET", "HEAD"}, {"POST"}


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, run_batchctl: RunBatchctl, start_batchctl: StartBatchctl
) -> Iterator[Served]:
    """Only Anna is there, an admin who has chosen a password."""
    night = failed_night(a_file(tmp_path_factory.mktemp("asvs")), run_batchctl)
    code = add(night, "anna", "admin")
    for one in serving(night, start_batchctl):
        choose(one, "anna", code)
        yield one


@pytest.fixture(scope="module")
def anna(served: Served) -> Browser:
    return served.browser("anna")


@pytest.fixture
def stranger(served: Served) -> Iterator[Browser]:
    """A browser that nothing is known of; what it was shut out for is forgotten after the test."""
    yield Browser(served.port)
    served.night.sql("DELETE FROM LoginBackOff")


@pytest.fixture(scope="module")
def people(served: Served) -> dict[Role, Browser]:
    """One of each role."""
    return {role: choose(served, f"one-{role}", add(served.night, f"one-{role}", role)) for role in Role}


def a_console() -> Console:
    """Return a console that finds an error wherever it looks into its database."""

    def broken() -> App:
        raise RuntimeError("nothing behind it")

    door = CodeDoor("x", lambda: datetime(2026, 1, 1, tzinfo=UTC), lambda size: "0" * size, lambda _: None)
    return Console(broken, door, guards.Proxies(), Forms(lambda size: "0" * size), guards.LOOPBACK)


def asked(console: Console, path: str, *, has_tls: bool = False) -> Answer:
    """Ask a console without a server; what it raises besides its answer is for the server's log."""
    sent: list[Any] = []
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
        "client": ("127.0.0.1", 1),
        "http_version": "1.1",
        "scheme": "http",
        "root_path": "",
    }

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    async def ask() -> None:
        await console.application(has_tls=has_tls)(scope, receive, send)

    with suppress(RuntimeError):
        asyncio.run(ask())
    headers = {name.decode(): text.decode() for name, text in sent[0]["headers"]}
    return Answer(sent[0]["status"], headers, b"".join(one.get("body", b"") for one in sent[1:]).decode())


def test_1_2_10_no_cell_of_a_csv_is_a_formula(served: Served, anna: Browser) -> None:
    served.night.arrive("Formula", "x.csv", CycleKey="=1+1")
    assert served.night("create").returncode == 0
    for shown in (anna.get("/inbox?format=csv").text, served.night("inbox", "--csv").stdout):
        assert ",'=1+1" in shown
        assert ",=" not in shown


def test_3_3_1_to_4_the_cookie_is_for_this_host_alone_and_no_script_reads_it(stranger: Browser) -> None:
    entered = stranger.post("/login", {"name": "anna", "password": PASSWORD})
    name, *attributes = entered.headers["set-cookie"].split("; ")
    assert re.fullmatch(r"__Host-batchctl=[0-9a-f]{64}", name)
    assert sorted(attributes) == ["HttpOnly", "Path=/", "SameSite=strict", "Secure"]
    assert "__Host-batchctl=" in stranger.post("/logout", {}).headers["set-cookie"]


ANSWERS = [
    *((200, "GET", page.path.replace("{number}", "1").replace("{name}", "console")) for page in PAGES),
    (200, "GET", "/instances/1/cancel"),
    (200, "GET", "/many/cancel?status=failed"),
    (200, "GET", "/account"),
    (200, "GET", "/login"),
    (200, "GET", "/static/console.css"),
    (200, "GET", f"{ROOT}/openapi.json"),
    (404, "GET", f"{ROOT}/nothing"),
    (404, "GET", "/nothing"),
    (404, "GET", "/static/nothing.css"),
    (405, "PUT", "/"),
    (405, "DELETE", "/static/console.css"),
    (403, "POST", "/logout"),
]
ANSWERED_WITHOUT_A_ROW = {"/batch", "/schedule", "/calendar", "/sql", "/file-processes/1", "/requests/1"}


@pytest.mark.parametrize(("status", "method", "path"), ANSWERS)
def test_3_4_3_to_6_and_14_3_2_every_answer_carries_the_headers(
    anna: Browser, status: int, method: str, path: str
) -> None:
    answer = anna.ask(method, path, None, {})
    if path not in ANSWERED_WITHOUT_A_ROW:
        assert answer.status == status, answer.said
    headers = {name.lower(): text for name, text in guards.HEADERS.items()}
    policy = headers.pop("content-security-policy")
    assert headers.items() <= answer.headers.items()
    assert answer.headers["content-security-policy"].startswith(policy)
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert "strict-transport-security" not in answer.headers


def test_3_4_1_with_tls_browsers_are_told_to_come_by_tls_only() -> None:
    for path in ("/static/console.css", "/nothing", "/login"):
        said = asked(a_console(), path, has_tls=True).headers["strict-transport-security"]
        assert said == "max-age=31536000"


@pytest.mark.parametrize("origin", [None, "own", "http://elsewhere.example", "null"])
@pytest.mark.parametrize("site", [None, "same-origin", "cross-site", "same-site", "none"])
def test_3_5_1_to_3_what_another_site_sends_does_nothing(anna: Browser, site: str | None, origin: str | None) -> None:
    headers = {} if site is None else {"Sec-Fetch-Site": site}
    if origin is not None:
        headers["Origin"] = f"http://127.0.0.1:{anna.port}" if origin == "own" else origin
    is_own = site == "same-origin" or (site is None and origin == "own")
    for path, wanted in (("/account/sessions/999", 404), (f"{ROOT}/instances/1/cancel", 400)):
        answer = anna.post(path, b"[", headers | {"Content-Type": "application/json"})
        assert answer.status == (wanted if is_own else 403), answer.text


@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=12, max_size=LONGEST_PASSWORD))
def test_6_2_1_to_9_passwords_have_a_length_and_no_rule_of_what_is_in_them(password: str) -> None:
    refused = unfit_password(password, "anna")
    assert refused is None or "first that are guessed" in refused
    left = re.sub("anna", "", password.casefold())
    assert refused is None or len(set(left)) < 12 or any(word in left for word in ("password", "batchctl"))


def test_6_2_1_to_9_a_password_counts_whole() -> None:
    sentence = "Ein Käse, 7 ruhige Pferde & 😀. "
    for length in (12, 64, LONGEST_PASSWORD):
        whole = (sentence * 40)[:length]
        assert unfit_password(whole, "anna") is None
        kept = passwords.hash_of(whole)
        assert kept.startswith("$argon2id$")
        assert passwords.is_right(whole, kept)
        assert not passwords.is_right(whole[:-1], kept)
        assert not passwords.is_right(whole.swapcase(), kept)
    assert unfit_password("x1y2z3 short", "anna") is None
    assert "shorter than 12" in (unfit_password("x1y2z3short", "anna") or "")
    assert "longer than 1024" in (unfit_password(sentence * 40, "anna") or "")


@pytest.mark.parametrize(
    "easy",
    ["anna" * 3, "passwordpassword", "qwertyuiopas", "123456789012", "098765432109", "0123456789" * 9, "abababababab"],
)
def test_6_2_12_a_pattern_the_name_or_a_usual_word_is_no_password(easy: str) -> None:
    assert "first that are guessed" in (unfit_password(easy, "anna") or "")


def test_6_3_1_the_wait_doubles_up_to_a_quarter_of_an_hour_and_locks_nobody_out(
    served: Served, stranger: Browser
) -> None:
    waits = [wait_after(many) for many in range(1, 12)]
    assert waits == [min(timedelta(seconds=2**many), timedelta(minutes=15)) for many in range(11)]
    assert wait_after(1_000_000) == timedelta(minutes=15)
    for many in (1, 2, 3):
        assert stranger.post("/login", {"name": "anna", "password": "wrong"}).status == 403
        kept = dict(served.night.sql("SELECT Subject, Failures FROM LoginBackOff"))
        assert kept == {"user:anna": many, "address:127.0.0.1": many}
        served.night.sql("UPDATE LoginBackOff SET ShutUntil = ?", PAST)
    served.browser("anna")
    assert served.night.sql("SELECT * FROM LoginBackOff") == []


def test_6_3_2_and_6_4_1_the_code_of_a_new_user_opens_once_within_a_day(served: Served, stranger: Browser) -> None:
    assert served.night.sql("SELECT UserName FROM WebUser WHERE UserName IN ('admin', 'root', 'batchctl')") == []
    code = add(served.night, "late", "reader")
    ((until, made),) = served.night.sql("SELECT CodeUntil, z_inserted FROM WebUser WHERE UserName = 'late'")
    lasts = datetime.fromisoformat(until) - datetime.fromisoformat(made)
    assert abs(lasts - timedelta(hours=24)) < timedelta(minutes=1)
    served.night.sql("UPDATE WebUser SET CodeUntil = ? WHERE UserName = 'late'", PAST)
    assert stranger.post("/login", {"name": "late", "password": code}).status == 403
    served.night.sql("DELETE FROM LoginBackOff")
    served.night.sql("UPDATE WebUser SET CodeUntil = ? WHERE UserName = 'late'", until)
    opened = served.browser("late", code)
    assert opened.get("/").headers["location"] == "/account"
    assert stranger.post("/login", {"name": "late", "password": code}).status == 403


def test_7_2_a_session_is_random_hashed_and_new_at_each_log_in(served: Served) -> None:
    tokens = [served.browser("anna").cookies["__Host-batchctl"] for _ in range(2)]
    assert len({*tokens}) == 2
    assert {len(bytes.fromhex(token)) for token in tokens} == {32}
    kept = str(served.night.sql("SELECT * FROM WebSession"))
    assert not any(token in kept for token in tokens)


@pytest.mark.parametrize("column", ["LastUsed", "ExpiresTime", "EndedTime"])
def test_7_3_and_7_4_a_session_ends_at_the_server(served: Served, column: str) -> None:
    browser = served.browser("anna")
    assert browser.get("/").status == 200
    newest = "(SELECT max(WebSession_id) FROM WebSession)"
    served.night.sql(f"UPDATE WebSession SET {column} = ? WHERE WebSession_id = {newest}", PAST)
    assert browser.get("/").headers["location"] == "/login"
    assert browser.get(f"{ROOT}/instances").status == 401


def test_7_4_2_the_session_of_a_removed_user_lets_nobody_in(served: Served) -> None:
    gone = choose(served, "gone", add(served.night, "gone", "admin"))
    assert gone.get("/").status == 200
    assert served.night("web", "user", "remove", "gone", "--reason", "left").returncode == 0
    assert gone.get("/").headers["location"] == "/login"
    assert gone.get(f"{ROOT}/instances").status == 401
    door = "/login?page=%2Finstances%2F1%2Fcancel"
    assert gone.post("/instances/1/cancel", {"reason": "x"}).headers["location"] == door


def filled(path: str) -> str:
    """Put something that can stand there into each place of a path."""
    return re.sub(r"{(\w+)(:path)?}", lambda found: {"action": "cancel", "name": "console"}.get(found[1], "1"), path)


@dataclass(frozen=True)
class Way:
    """What an address takes."""

    method: str
    path: str
    right: Right


def ways() -> Iterator[Way]:
    """Yield all that the tables of the console have, and the few routes besides, with the rights that they take."""
    yield from (Way("GET", page.path, Right.SEE) for page in PAGES)
    for (subject, name), act in ACTS.items():
        where = f"/new/{subject}" if act.makes_row else f"/{subject}/{{key:path}}/{name}"
        yield from (Way(method, where, act.right) for method in ("GET", "POST"))
        yield Way("POST", ROOT + openapi.path_of(act), act.right)
        if not act.makes_row:
            yield Way("GET", ROOT + openapi.path_of(act), act.right)
    yield from (Way("GET", ROOT + resource.path, Right.SEE) for resource in RESOURCES)
    for path in ("/many/{action}", "/many/{action}/{token}"):
        yield from (Way(method, path, Right.ACT) for method in ("GET", "POST"))
    yield Way("GET", "/events", Right.SEE)
    yield Way("GET", f"{ROOT}/openapi.json", Right.OWN)
    yield Way("GET", "/account", Right.OWN)
    yield from (Way("POST", path, Right.OWN) for path in ("/account/password", "/account/sessions/{number}", "/logout"))


OPEN = {("GET", "/login"), ("POST", "/login")}
FILES = {"/static", "/help-files"}


def test_8_1_1_every_route_of_the_console_takes_a_right() -> None:
    known = {(way.method, way.path) for way in ways()} | OPEN
    generic = {f"/{subject}/{{key:path}}/{{act}}" for subject in Subject}
    found = set()
    for route in a_console().pages().routes:
        if isinstance(route, Mount) and route.path == ROOT:
            inner = [(f"{ROOT}{one.path}", one) for one in route.routes if isinstance(one, Route)]
        elif isinstance(route, Mount) and route.path == RELAY_ROOT:
            # What each of these takes: test_agents_by_console.
            inner, doors = [], {one.path for one in route.routes if isinstance(one, Route)}
            assert doors == {"/poll", "/answers", "/agents", "/questions"}
        elif isinstance(route, Route):
            inner = [(route.path, route)]
        else:
            inner = []
            assert isinstance(route, Mount)
            assert type(route.app).__name__ == "StaticFiles"
        found |= {(method, path) for path, one in inner for method in (one.methods or set()) - {"HEAD"}}
    assert {one for one in found if one[1] not in generic} <= known
    assert {one for one in known if one[1].count("{key:path}") == 0 or one[1].startswith(ROOT)} <= found


@pytest.mark.parametrize("role", Role)
def test_8_2_1_and_8_3_1_every_role_passes_where_it_may_and_nowhere_else(
    served: Served, people: dict[Role, Browser], role: Role
) -> None:
    browser, wrong = people[role], []
    for way in sorted({*ways()}, key=lambda way: way.path):
        if way.path in {"/logout", "/events"} and way.right in RIGHTS[role]:
            continue
        if way.method == "GET":
            answer = browser.get(filled(way.path))
        else:
            answer = browser.post(filled(way.path), b"[", {**OWN, "Content-Type": "application/json"})
        # Who sees no page is led to the one where rows are submitted.
        is_kept_out = answer.status == 403 or (way.path, answer.headers.get("location")) == ("/", SUBMIT)
        if is_kept_out is (way.right in RIGHTS[role]) or answer.status in {401, 405, 500}:
            wrong.append((way, answer.status))
    assert wrong == []
    assert served.night.status_of(1) == "failed"


def test_14_2_1_no_token_stands_in_an_address(anna: Browser) -> None:
    token = anna.cookies["__Host-batchctl"]
    for path in ("/", "/account", "/instances/1", "/instances/1/cancel"):
        assert token not in anna.get(path).text
    other = Browser(anna.port)
    assert other.get(f"/?token={token}&__Host-batchctl={token}").headers["location"] == "/login"


def test_15_3_4_and_4_1_3_only_a_trusted_proxy_says_who_asks_and_from_where(
    tmp_path: Path, run_batchctl: RunBatchctl, start_batchctl: StartBatchctl, served: Served, stranger: Browser
) -> None:
    said = {"X-Remote-User": "anna", "X-Forwarded-For": "10.9.9.9, 10.1.2.3", **OWN}
    assert stranger.get("/", **said).headers["location"] == "/login"
    stranger.post("/login", {"name": "nobody", "password": "x"}, said)
    assert ("address:127.0.0.1",) in served.night.sql("SELECT Subject FROM LoginBackOff")

    night = failed_night(a_file(tmp_path / "behind"), run_batchctl)
    with (night.folder / "batchctl.toml").open("a", encoding="utf-8") as settings:
        settings.write('[web]\ntrusted_proxies = ["127.0.0.1"]\n')
    for name in ("anna", "gone"):
        add(night, name, "reader")
    assert night("web", "user", "disable", "gone", "--reason", "left").returncode == 0
    for behind in serving(night, start_batchctl):
        proxy = Browser(behind.port)
        assert "anna (reader)" in proxy.get("/", **said).said
        assert proxy.get("/instances/1/cancel", **said).status == 403
        for name in ("gone", "unknown", ""):
            assert proxy.get("/", **{"X-Remote-User": name}).headers["location"] == "/login"
        for name, following in (
            ("gone", "batchctl web user enable gone"),
            ("unknown", "batchctl web user add unknown"),
        ):
            door = proxy.get("/login", **{"X-Remote-User": name})
            assert (door.status, following in door.said) == (403, True)
        assert proxy.get(f"{ROOT}/instances", **{"X-Remote-User": "unknown"}).status == 401
        proxy.post("/login", {"name": "x", "password": "x"}, said)
        assert ("address:10.1.2.3",) in night.sql("SELECT Subject FROM LoginBackOff")


def test_4_1_3_of_two_headers_what_the_browser_may_have_sent_does_not_count() -> None:
    headers = [(b"x-remote-user", b"anna"), (b"x-remote-user", b"ben")]
    headers += [(b"x-forwarded-for", b"10.9.9.9"), (b"x-forwarded-for", b"10.8.8.8, 10.1.2.3")]
    request = Request({"type": "http", "headers": headers, "client": ("127.0.0.1", 1)})
    proxies = guards.Proxies(frozenset({"127.0.0.1"}), "X-Remote-User")
    assert proxies.user(request) is None
    assert proxies.address(request) == "10.1.2.3"
    assert guards.Proxies(frozenset({"127.0.0.2"}), "X-Remote-User").address(request) == "127.0.0.1"


def test_16_3_1_log_ins_and_refused_ones_are_kept_without_what_was_typed(served: Served, stranger: Browser) -> None:
    stranger.post("/login", {"name": "anna", "password": "secret that is wrong"})
    served.night.sql("DELETE FROM LoginBackOff")
    served.browser("anna")
    rows = served.night.sql("SELECT Action, Actor, Host FROM AuditLog ORDER BY AuditLog_id DESC LIMIT 2")
    assert [row[:2] for row in rows] == [("login", "anna"), ("login refused", "anna")]
    assert all(host.startswith("127.0.0.1 ") for _, _, host in rows)
    assert "secret that is wrong" not in str(served.night.sql("SELECT * FROM AuditLog"))


def test_16_5_1_an_error_of_the_console_shows_no_trace_and_has_the_headers() -> None:
    answer = asked(a_console(), "/login")
    assert (answer.status, "The console is broken here" in answer.said) == (500, True)
    assert not re.search(r"Traceback|File \"|RuntimeError|\.py", answer.text)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


BROKEN = [b"name=%FF%FE&password=x", b"\xff\xfe=x", b"name=a%00b&password=x", b"&" * 1_000, b"=" * 60_000]


@pytest.mark.parametrize("body", BROKEN)
def test_what_is_no_form_is_said_to_be_none(served: Served, stranger: Browser, body: bytes) -> None:
    answer = stranger.post("/login", body)
    assert answer.status in {400, 403}, answer.said
    assert Browser(served.port).get("/login").status == 200


@pytest.mark.parametrize("path", ["/login", "/account/password", "/instances/1/cancel", f"{ROOT}/instances/1/cancel"])
def test_a_body_of_10_mb_is_refused_in_words(anna: Browser, path: str) -> None:
    kind = "application/json" if path.startswith(ROOT) else "application/x-www-form-urlencoded"
    answer = anna.post(path, b"x" * 10_000_000, {**OWN, "Content-Type": kind})
    assert (answer.status, "is longer than" in answer.text) == (413, True)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/", READS),
        ("/login", READS | WRITES),
        ("/logout", WRITES),
        ("/many/cancel", READS | WRITES),
        ("/static/x", READS),
    ],
)
def test_a_method_that_is_not_possible_is_told_which_are(anna: Browser, path: str, allowed: set[str]) -> None:
    answer = anna.ask("PATCH", path, None, OWN)
    assert (answer.status, {*answer.headers["allow"].split(", ")}) == (405, allowed)
    assert "PATCH is not possible here" in answer.said


@pytest.mark.parametrize(
    "path", [f"/instances/{'9' * 30}", "/instances/%FF%FE", f"/{quote(chr(0x202E))}", "/help/nowhere"]
)
def test_addresses_of_nothing_are_not_found(anna: Browser, path: str) -> None:
    assert anna.get(path).status == 404


def test_a_token_of_another_database_lets_nobody_in(served: Served, tmp_path: Path, run_batchctl: RunBatchctl) -> None:
    other = Night(a_file(tmp_path / "other"), run_batchctl)
    token = other.json("web", "token", "add", "loader", "--role", "admin")["Token"]
    assert Browser(served.port).get(f"{ROOT}/instances", Authorization=f"Bearer {token}").status == 401


def test_a_database_that_is_away_is_waited_for(served: Served, anna: Browser) -> None:
    there = served.night.folder / "batchctl.db"
    away = there.rename(there.with_suffix(".away"))
    try:
        for browser, path in ((anna, "/"), (Browser(served.port), "/login")):
            answer = browser.get(path)
            assert (answer.status, answer.headers.get("refresh")) == (503, "5"), answer.said
        assert Browser(served.port).post("/login", {"name": "anna", "password": PASSWORD}).status == 503
        assert not there.exists()
    finally:
        away.rename(there)
    assert anna.get("/").status == 200


def test_acts_that_wait_for_a_lock_keep_no_page_waiting(served: Served, anna: Browser) -> None:
    forms = [anna.form("/instances/1/note") for _ in range(THREADS)]
    path = served.night.folder / "batchctl.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other, ThreadPoolExecutor(THREADS) as pool:
        other.execute("BEGIN IMMEDIATE")
        acts = [pool.submit(anna.post, "/instances/1/note", {"form": form, "text": "seen"}) for form in forms]
        shown = [anna.get(page).status for page in ("/", "/instances", "/instances/1", "/batches") * 3]
        waited = not any(act.done() for act in acts)
        other.execute("ROLLBACK")
    assert (shown, waited) == ([200] * 12, True)
    assert [act.result().status for act in acts] == [303] * THREADS


def test_a_schema_newer_than_the_program_is_said(
    tmp_path: Path, run_batchctl: RunBatchctl, start_batchctl: StartBatchctl
) -> None:
    night = Night(a_file(tmp_path / "newer"), run_batchctl)
    add(night, "anna", "admin")
    for served in serving(night, start_batchctl):
        ((now,),) = night.sql("SELECT version_num FROM alembic_version")
        night.sql("UPDATE alembic_version SET version_num = '9999'")
        answer = Browser(served.port).get("/login")
        assert (answer.status, "9999" in answer.said, answer.headers["refresh"]) == (503, True, "5")
        night.sql("UPDATE alembic_version SET version_num = ?", now)
        assert Browser(served.port).get("/login").status == 200

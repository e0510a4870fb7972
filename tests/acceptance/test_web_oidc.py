"""Coming into the console by OpenID Connect, from an issuer on loopback, and all that may be wrong with what that says."""

from __future__ import annotations

import gzip
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import parse_qs, urlencode, urlsplit

import anyio
import httpx2
import pytest

from batchctl.app import App
from batchctl.domain.errors import Busy, ConfigurationError, Refused
from batchctl.domain.operators.issuers import code_in, name_in
from batchctl.settings_sections import WebSettings
from batchctl.system.clock import SystemClock
from batchctl.web import oidc, server
from batchctl.web.oidc import issuer_client
from batchctl.web.oidc.issuer_client import IssuerClient
from batchctl.web.oidc.pending_logins import LASTS, PendingLogin, PendingLogins
from batchctl.web.oidc.registration import Registration
from tests.acceptance.consoles import Answer, Browser, Served, add, choose, failed_night, serving
from tests.acceptance.installation import RunBatchctl, StartBatchctl
from tests.acceptance.issuers import ANYTHING, CLIENT, PUBLISHED, SECRET, Issuer, a_key, an_issuer, with_issuer
from tests.acceptance.night import Night, a_file

BACK = "/login/oidc/back"
OIDC = "__Host-batchctl-oidc"
SESSION = "__Host-batchctl"


@pytest.fixture(scope="module")
def started() -> Iterator[Issuer]:
    with an_issuer() as made:
        yield made


@pytest.fixture
def issuer(started: Issuer, served: Served) -> Iterator[Issuer]:
    """An issuer that says that Anna comes."""
    started.says = {"preferred_username": "anna"}
    yield started
    started.forget()
    served.night.sql("DELETE FROM LoginBackOff")


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory,
    run_batchctl: RunBatchctl,
    start_batchctl: StartBatchctl,
    started: Issuer,
) -> Iterator[Served]:
    """Anna has a password, Olga has none, and Dora is disabled."""
    night = with_issuer(failed_night(a_file(tmp_path_factory.mktemp("oidc")), run_batchctl), started.address)
    code = add(night, "anna", "operator")
    for name in ("olga", "dora"):
        add(night, name, "reader")
    assert night("web", "user", "disable", "dora", "--reason", "left").returncode == 0
    for one in serving(night, start_batchctl):
        choose(one, "anna", code)
        yield one


@dataclass
class Way:
    """A browser on its way through the issuer."""

    browser: Browser
    back: str
    """The address, from its path on, with which the issuer sends it back."""

    def come_back(self) -> Answer:
        return self.browser.get(self.back)


def begun(served: Served, path: str = "/login/oidc") -> Way:
    """Go to the issuer."""
    browser = Browser(served.port)
    sent = browser.get(path)
    assert sent.status == 303, sent.said
    answer = httpx2.get(sent.headers["location"], trust_env=False)
    assert answer.status_code == 302
    back = urlsplit(answer.headers["location"])
    assert f"{back.scheme}://{back.netloc}{back.path}" == f"http://127.0.0.1:{served.port}{BACK}"
    return Way(browser, f"{back.path}?{back.query}")


def sessions(served: Served) -> int:
    ((many,),) = served.night.sql("SELECT count(*) FROM WebSession")
    return int(many)


def is_out(way: Way) -> bool:
    return SESSION not in way.browser.cookies and way.browser.get("/").headers["location"] == "/login"


def test_a_user_comes_in_by_the_issuer(served: Served, issuer: Issuer) -> None:
    shown = Browser(served.port).get("/login")
    assert 'href="/login/oidc"' in shown.text
    assert "Log in with Our company" in shown.said
    assert 'name="password"' in shown.text

    way = begun(served)
    entered = way.come_back()

    assert (entered.status, entered.headers["refresh"]) == (200, "0; url=/"), entered.said
    assert 'href="/"' in entered.text
    assert "anna (operator)" in way.browser.get("/").said
    ((by_issuer, token),) = served.night.sql(
        "SELECT ByIssuer, TokenHash FROM WebSession ORDER BY WebSession_id DESC LIMIT 1"
    )
    assert by_issuer == 1
    assert way.browser.cookies[SESSION] not in token
    newest = served.night.sql("SELECT Action, Actor, Target FROM AuditLog ORDER BY AuditLog_id DESC LIMIT 1")
    assert newest == [("login", "anna", "WebUser:anna")]
    assert way.browser.act("/instances/2/pause", reason="later").status == 303
    assert served.night.sql("SELECT Actor FROM AuditLog WHERE Action = 'pause'") == [("anna",)]

    assert way.browser.post("/logout", {}).headers["location"] == "/login"
    assert way.browser.get("/").headers["location"] == "/login"


@pytest.mark.parametrize(
    ("page", "gone_on_to"),
    [("/instances?status=failed", "/instances?status=failed"), ("//evil.example", "/"), ("/\\evil.example", "/")],
)
def test_who_comes_back_goes_on_to_the_page_that_was_asked_for(
    served: Served, issuer: Issuer, page: str, gone_on_to: str
) -> None:
    door = Browser(served.port).get(f"/login?{urlencode({'page': page})}").text
    (path,) = re.findall(r'href="(/login/oidc[^"]*)"', door)
    assert (path == "/login/oidc") is (gone_on_to == "/")

    entered = begun(served, f"/login/oidc?{urlencode({'page': page})}").come_back()

    assert (entered.status, entered.headers["refresh"]) == (200, f"0; url={gone_on_to}")
    assert f'href="{gone_on_to}"' in entered.text


def test_10_2_1_what_is_sent_to_the_issuer_binds_the_log_in(served: Served, issuer: Issuer) -> None:
    sent = Browser(served.port).get("/login/oidc")
    asked = parse_qs(urlsplit(sent.headers["location"]).query)
    name, *attributes = sent.headers["set-cookie"].split("; ")

    assert sorted(asked) == [
        "client_id",
        "code_challenge",
        "code_challenge_method",
        "nonce",
        "redirect_uri",
        "response_type",
        "scope",
        "state",
    ]
    assert (asked["response_type"], asked["code_challenge_method"]) == (["code"], ["S256"])
    assert asked["scope"] == ["openid profile email"]
    assert len({*asked["state"], *asked["nonce"], *asked["code_challenge"]}) == 3
    assert name.startswith(f"{OIDC}=")
    assert {one.partition("=")[0] for one in attributes} >= {"HttpOnly", "Secure", "Path", "Max-Age", "SameSite"}
    assert "SameSite=lax" in attributes
    assert "Domain" not in sent.headers["set-cookie"]


def test_a_user_without_a_password_comes_in_and_gets_none(served: Served, issuer: Issuer) -> None:
    issuer.says = {"preferred_username": "olga"}
    way = begun(served)
    assert way.come_back().status == 200
    assert "olga (reader)" in way.browser.get("/").said
    assert "You have no password here" in way.browser.get("/account").said
    refused = way.browser.post("/account/password", {"new": "four quiet horses graze"})
    assert (refused.status, "go past what it asks of you" in refused.said) == (409, True)
    assert served.night.sql("SELECT PasswordHash FROM WebUser WHERE UserName = 'olga'") == [(None,)]


NOW = int(time.time())
WRONG_CLAIMS: dict[str, dict[str, Any]] = {
    "another nonce": {"nonce": "0" * 64},
    "no nonce": {"nonce": ANYTHING},
    "for another client": {"aud": "another"},
    "for others": {"aud": ["another", "third"]},
    "for no client": {"aud": ANYTHING},
    "for several and handed to another": {"aud": [CLIENT, "another"], "azp": "another"},
    "for several and handed to none": {"aud": ["another", CLIENT]},
    "of another issuer": {"iss": "https://elsewhere.example"},
    "of no issuer": {"iss": ANYTHING},
    "expired": {"iat": NOW - 900, "exp": NOW - 300},
    "without an end": {"exp": ANYTHING},
    "an end that is no number": {"exp": "never"},
    "of the future": {"iat": NOW + 9_000, "exp": NOW + 9_900},
    "of no time": {"iat": ANYTHING},
    "of no subject": {"sub": ANYTHING},
}


def _mixed(issuer: Issuer, claims: dict[str, Any]) -> str:
    head, _, signature = issuer.signed(claims).split(".")
    return f"{head}.{issuer.signed({**claims, 'preferred_username': 'olga'}).split('.')[1]}.{signature}"


WRONG_SIGNATURES: dict[str, Callable[[Issuer, dict[str, Any]], str]] = {
    "not signed": Issuer.unsigned,
    "signed with the public key": Issuer.by_public_key,
    "signed with an unknown key": lambda issuer, claims: issuer.signed(claims, kid="unknown"),
    "signed by another under the same name": lambda _, claims: Issuer(key=a_key("first")).signed(claims),
    "changed behind its signature": _mixed,
    "no token": lambda _issuer, _claims: "not.a.token",
    "empty": lambda _issuer, _claims: "",
}


@pytest.mark.parametrize("wrong", WRONG_CLAIMS)
def test_10_5_1_and_4_a_token_with_a_wrong_claim_lets_nobody_in(served: Served, issuer: Issuer, wrong: str) -> None:
    issuer.says |= WRONG_CLAIMS[wrong]
    is_refused(served, "What the issuer has answered lets no user in")


@pytest.mark.parametrize("wrong", WRONG_SIGNATURES)
def test_10_5_4_a_token_with_a_wrong_signature_lets_nobody_in(served: Served, issuer: Issuer, wrong: str) -> None:
    issuer.sign = WRONG_SIGNATURES[wrong]
    is_refused(served, "What the issuer has answered lets no user in")


def is_refused(served: Served, why: str, status: int = 403) -> Answer:
    before, way = sessions(served), begun(served)
    answer = way.come_back()
    assert (answer.status, why in answer.said) == (status, True), answer.said
    assert re.search(r"Next: .* Code: BC15\d\d", answer.said)
    assert is_out(way)
    assert sessions(served) == before
    return answer


def test_tokens_that_differ_in_what_does_not_matter_are_taken(served: Served, issuer: Issuer) -> None:
    now = int(time.time())
    for fine in (
        {"aud": [CLIENT]},
        {"aud": [CLIENT, "another"], "azp": CLIENT},
        {"iat": now + 30, "exp": now + 90},
        {"exp": now - 30},
        {"amr": ["pwd"], "auth_time": now},
    ):
        issuer.says = {"preferred_username": "anna", **fine}
        assert begun(served).come_back().status == 200, fine


def test_a_key_that_is_new_is_asked_for_once(served: Served, issuer: Issuer) -> None:
    assert begun(served).come_back().status == 200
    issuer.paths.clear()
    assert begun(served).come_back().status == 200
    assert issuer.paths.count("/keys") == 0

    issuer.key = a_key("second")
    issuer.published.append(issuer.key)

    assert begun(served).come_back().status == 200
    assert (issuer.paths.count("/keys"), issuer.paths.count(PUBLISHED)) == (1, 0)


def test_an_issuer_that_takes_the_secret_in_the_form_only_gets_it_there() -> None:
    with an_issuer() as made:
        made.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
        made.says = {"preferred_username": "anna"}
        assert claims_from(made)["preferred_username"] == "anna"


def test_10_2_1_an_answer_is_taken_once_in_its_own_browser(served: Served, issuer: Issuer) -> None:
    first, second = begun(served), begun(served)
    other = Way(Browser(served.port), first.back)
    crossed = Way(second.browser, first.back)
    wrong = Way(first.browser, re.sub(r"state=\w+", f"state={'0' * 64}", first.back))
    none = Way(first.browser, BACK)
    kept = first.browser.cookies[OIDC]
    for way in (other, crossed, wrong, none):
        first.browser.cookies[OIDC] = kept
        answer = way.come_back()
        assert (answer.status, "was begun in another browser" in answer.said) == (403, True), answer.said
        assert is_out(way)
    first.browser.cookies[OIDC] = kept

    assert first.come_back().status == 200

    first.browser.cookies.pop(SESSION)
    assert first.browser.cookies[OIDC] in {"", '""'}
    first.browser.cookies[OIDC] = kept
    again = first.come_back()
    assert (again.status, "has ended already" in again.said) == (403, True)
    assert is_out(first)


def test_10_2_1_a_code_of_another_log_in_is_refused_by_its_verifier(served: Served, issuer: Issuer) -> None:
    first, second = begun(served), begun(served)
    code = parse_qs(urlsplit(first.back).query)["code"][0]
    second.back = re.sub(r"code=[\w-]+", f"code={code}", second.back)

    answer = second.come_back()

    assert (answer.status, "does not take the code: invalid_grant: *** is not good" in answer.said) == (403, True)
    assert is_out(second)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            {"error": "access_denied", "error_description": "no\x1b[31m"},
            "refused the log-in: access_denied: no\\x1b[31m.",
        ),
        ({"error": "server_error"}, "refused the log-in: server_error."),
        ({}, "has sent no code"),
        ({"code": ""}, "has sent no code"),
        ({"code": "x", "iss": "https://elsewhere.example"}, "has answered, but https://elsewhere.example"),
    ],
)
def test_10_2_2_an_answer_without_a_code_or_of_another_issuer_is_said_in_words(
    served: Served, issuer: Issuer, answer: dict[str, str], said: str
) -> None:
    way = begun(served)
    state = parse_qs(urlsplit(way.back).query)["state"][0]
    way.back = f"{BACK}?{urlencode({'state': state, **answer})}"
    shown = way.come_back()
    assert (shown.status, said in shown.said) == (403, True), shown.said
    assert is_out(way)


def test_who_is_no_user_is_told_how_to_become_one(served: Served, issuer: Issuer) -> None:
    hostile, other = "eve<b>\u202e'; --", "let the issuer give another name: [web] oidc_name_claim"
    for name, said, typed in (
        ("eve", "knows you as eve, and the console has no user", "batchctl web user add eve --role operator"),
        ("eve<b>", "the console has no user of that name", "batchctl web user add"),
        (hostile, "which can be the name of no user. The name of a user has 1 to 100 visible characters", other),
        ("idp:17", "which can be the name of no user. The name of a user has no colon", other),
        ("dora", "The user dora is disabled", "batchctl web user enable dora"),
    ):
        issuer.says = {"preferred_username": name}
        answer = is_refused(served, said)
        assert f"Next: {typed}" in answer.said
        assert "<b>" not in answer.text
        ((action, actor),) = served.night.sql("SELECT Action, Actor FROM AuditLog ORDER BY AuditLog_id DESC LIMIT 1")
        assert (action, actor[:3]) == ("login refused", name[:3])


@pytest.mark.parametrize("name", [ANYTHING, "", " ", 7, ["anna"], None])
def test_a_name_that_is_none_lets_nobody_in(served: Served, issuer: Issuer, name: object) -> None:
    issuer.says = {"preferred_username": name}
    answer = is_refused(served, "gives no name in the claim preferred_username")
    assert "oidc_name_claim" in answer.said


def test_what_is_refused_again_and_again_is_not_looked_at_for_a_while(served: Served, issuer: Issuer) -> None:
    issuer.says |= {"aud": "another"}
    is_refused(served, "lets no user in")
    rows = served.night.sql("SELECT Subject, Failures FROM LoginBackOff")
    assert rows == [("address:127.0.0.1", 1)]
    served.night.sql("UPDATE LoginBackOff SET ShutUntil = '9999-01-01 00:00:00.000'")
    issuer.forget()
    issuer.says = {"preferred_username": "anna"}
    asked = len(issuer.paths)
    answer = begun(served).come_back()
    assert (answer.status, "from this address was refused: look again" in answer.said) == (403, True)
    assert issuer.paths[asked:] == ["/authorize"]
    served.night.sql("UPDATE LoginBackOff SET ShutUntil = '2020-01-01 00:00:00.000'")
    assert begun(served).come_back().status == 200
    assert served.night.sql("SELECT * FROM LoginBackOff") == []


def test_secrets_and_codes_stand_nowhere(served: Served, issuer: Issuer) -> None:
    shown = ""
    for wrong in ({}, {"aud": "another"}, {"preferred_username": "eve"}):
        issuer.says = {"preferred_username": "anna", **wrong}
        served.night.sql("DELETE FROM LoginBackOff")
        way = begun(served)
        answer = way.come_back()
        shown += answer.text + str({name: value for name, value in answer.headers.items() if name != "set-cookie"})
    kept = str(served.night.dump())
    assert len(issuer.seen) > 6
    for secret in (SECRET, *filter(None, issuer.seen)):
        assert secret not in kept
        assert secret not in shown


def test_without_its_issuer_the_console_says_so_and_lets_users_in_by_password(
    tmp_path: Path, run_batchctl: RunBatchctl, start_batchctl: StartBatchctl
) -> None:
    with an_issuer() as gone:
        address = gone.address
    night = with_issuer(failed_night(a_file(tmp_path / "away"), run_batchctl), address)
    code = add(night, "anna", "operator")
    for away in serving(night, start_batchctl):
        answer = Browser(away.port).get("/login/oidc")
        assert (answer.status, f"The issuer {address} cannot be reached" in answer.said) == (503, True), answer.said
        assert "refresh" not in answer.headers
        assert 'name="password"' in answer.text
        assert choose(away, "anna", code).get("/account").status in {200, 303}


def test_a_console_with_an_issuer_alone_shows_no_code_and_asks_for_no_password(
    tmp_path: Path, run_batchctl: RunBatchctl, start_batchctl: StartBatchctl, started: Issuer
) -> None:
    night = with_issuer(Night(a_file(tmp_path / "alone"), run_batchctl), started.address)
    for alone in serving(night, start_batchctl):
        shown = Browser(alone.port).get("/login")
        assert "Log in with Our company" in shown.said
        assert "<input" not in shown.text
        assert Browser(alone.port).post("/login", {"code": ""}).status == 403
    refused = night("web", "--host", "0.0.0.0", "--port", "0")
    assert (refused.returncode, "in the clear" in refused.stderr) == (4, True), refused.stderr


BIG = b" " * 10_000_000
HOSTILE: dict[str, tuple[int, dict[str, str], bytes]] = {
    "10 MB": (200, {}, BIG),
    "10 MB without a length": (200, {"Content-Length": ""}, BIG),
    "packed": (200, {"Content-Encoding": "gzip"}, gzip.compress(BIG)),
    "no JSON": (200, {}, b"<html>"),
    "no object": (200, {}, b"[1]"),
    "deep": (200, {}, b"[" * 100_000),
    "no UTF-8": (200, {}, b"\xff\xfe\xfd"),
    "of another shape": (200, {}, b'{"issuer": 7, "keys": 7, "id_token": {"a": []}}'),
    "an error": (500, {}, b"broken"),
    "a redirect": (302, {"Location": "http://127.0.0.1:1/"}, b""),
}


@pytest.mark.parametrize("path", [PUBLISHED, "/keys", "/token"])
def test_a_hostile_answer_is_refused_in_words(path: str) -> None:
    with an_issuer() as made:
        made.says = {"preferred_username": "anna"}
        for kind, answer in HOSTILE.items():
            made.answers = {path: answer}
            with pytest.raises((Refused, Busy)) as caught:
                claims_from(made)
            assert len(caught.value.in_full) < 1_000, kind
            assert SECRET not in caught.value.in_full
        made.answers = {}
        assert claims_from(made)["preferred_username"] == "anna"


@pytest.mark.parametrize(
    ("published", "said"),
    [
        ({"issuer": "https://elsewhere.example"}, "is of another issuer: https://elsewhere.example"),
        ({"issuer": None}, "is of another issuer: nothing"),
        ({"token_endpoint": "http://elsewhere.example/token"}, "no address with TLS as token_endpoint"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "no address with TLS as authorization_endpoint"),
        ({"jwks_uri": "file:///etc/passwd"}, "no address with TLS as jwks_uri"),
        ({"jwks_uri": ["x"]}, "no address with TLS as jwks_uri"),
    ],
)
def test_10_5_3_what_an_issuer_publishes_has_to_be_its_own_and_with_tls(published: dict[str, Any], said: str) -> None:
    with an_issuer() as made:
        made.metadata = published
        with pytest.raises(Refused, match=re.escape(said)):
            claims_from(made)


def test_10_2_2_an_issuer_that_names_itself_has_to_do_so_each_time() -> None:
    with an_issuer() as made:
        made.metadata = {"authorization_response_iss_parameter_supported": True}
        client, _ = a_client(made)
        names_itself = anyio.run(client.names_itself, "http://127.0.0.1/back")
    with pytest.raises(Refused, match="has answered, but nothing"):
        code_in({"code": "x"}, made.address, names_itself=names_itself)
    assert code_in({"code": "x", "iss": made.address}, made.address, names_itself=names_itself) == "x"
    assert code_in({"code": "x"}, made.address, names_itself=False) == "x"


def test_an_issuer_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(issuer_client, "PATIENCE", 0.2)
    with an_issuer() as made:
        made.silent = True
        with pytest.raises(Busy, match="does not answer within"):
            claims_from(made)


def a_client(issuer: Issuer) -> tuple[IssuerClient, PendingLogin]:
    registration = Registration(issuer.address, CLIENT, SECRET, "preferred_username", "Our company")
    pending = PendingLogins(lambda size: "7" * size, SystemClock().now).begin()[1]
    return IssuerClient(registration, SystemClock().now), pending


def claims_from(issuer: Issuer) -> Any:
    """Go to the issuer and back, without a console."""
    client, pending = a_client(issuer)
    back = "http://127.0.0.1/back"

    async def go() -> Any:
        address = await client.address(pending, back)
        code = issuer.code_for({name: one[0] for name, one in parse_qs(urlsplit(address).query).items()})
        return await client.claims(code, pending, back)

    return anyio.run(go)


def test_a_log_in_lasts_ten_minutes_and_ends_once() -> None:
    clock, numbers = [datetime(2026, 1, 1, tzinfo=UTC)], iter(range(1_000))
    logins = PendingLogins(lambda size: f"{next(numbers):0{size}}", lambda: clock[0])
    kept, pending = logins.begin()
    assert logins.end(kept, "0" * 64) is None
    assert logins.end("", pending.state) is None
    assert logins.end(f"9{kept}", pending.state) is None
    assert PendingLogins(lambda size: "8" * size, lambda: clock[0]).end(kept, pending.state) is None
    clock[0] += LASTS - timedelta(seconds=1)
    assert logins.end(kept, pending.state) == pending
    assert logins.end(kept, pending.state) is None
    late, other = logins.begin()
    clock[0] += LASTS
    assert logins.end(late, other.state) is None


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('oidc_issuer = "http://elsewhere.example"\noidc_client_id = "x"', "write the address of the issuer, https://"),
        ('oidc_issuer = "https://a.example/?x=1"\noidc_client_id = "x"', "write the address of the issuer, https://"),
        ('oidc_issuer = "https://user@a.example"\noidc_client_id = "x"', "write the address of the issuer, https://"),
        ('oidc_issuer = "https://a.example"', "oidc_issuer and oidc_client_id go together"),
        ('oidc_client_id = "x"', "oidc_issuer and oidc_client_id go together"),
        (
            'oidc_issuer = "https://a.example"\noidc_client_id = "x"\noidc_client_secret = "hunter2-hunter2"',
            "write a reference and no secret",
        ),
        (
            'oidc_issuer = "https://a.example"\noidc_client_id = "x"\noidc_client_secret = "{secret:none}"',
            "Secret 'none' is not in the configuration",
        ),
    ],
)
def test_settings_that_cannot_work_are_refused_before_anything_is_served(
    tmp_path: Path, run_batchctl: RunBatchctl, lines: str, said: str
) -> None:
    night = Night(a_file(tmp_path / "wrong"), run_batchctl)
    (night.folder / "batchctl.toml").write_text(f"[web]\n{lines}\n", encoding="utf-8")
    done = night("web", "--port", "0")
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert "hunter2" not in done.stderr
    assert "Next:" in done.stderr


def test_the_address_of_an_email_counts_once_it_is_verified() -> None:
    assert name_in({"email": "anna@example.org", "email_verified": True}, "email") == "anna@example.org"
    for said in ({}, {"email_verified": False}, {"email_verified": "true"}):
        with pytest.raises(Refused, match="has not verified"):
            name_in({"email": "anna@example.org", **said}, "email")


def test_without_the_extra_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("opening", "issuer_entrance", "issuer_client", "id_tokens"):
        monkeypatch.delitem(sys.modules, f"batchctl.web.oidc.{name}", raising=False)
        monkeypatch.delattr(oidc, name, raising=False)
    monkeypatch.setitem(sys.modules, "authlib.oidc.core", None)
    web = WebSettings(oidc_issuer="https://issuer.example", oidc_client_id="x")
    app = cast(App, SimpleNamespace(settings=SimpleNamespace(web=web)))

    with pytest.raises(ConfigurationError, match="which is not installed") as caught:
        server.issuer_of(app, server.Reach("127.0.0.1", 0))

    assert "pip install 'batchctl[oidc]'" in caught.value.in_full

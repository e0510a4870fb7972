"""Agents on hosts that nothing connects to: they poll a console, over TLS, and controllers ask them there."""

from __future__ import annotations

import itertools
import json
import select
import signal
import socket
import socketserver
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any, ClassVar

import pytest

from batchctl.system.clock import SystemClock
from tests.acceptance.consoles import PASSWORD
from tests.acceptance.installation import RunBatchctl, StartBatchctl
from tests.acceptance.night import Night
from tests.acceptance.relayed import POOL, Relayed, python, relaying
from tests.control_databases import ControlDatabase
from tests.leftovers import end_supervisors
from tests.system.remote.agents import an_agent
from tests.system.watching import LIMIT


@pytest.fixture
def relayed(
    control_database: ControlDatabase, run_batchctl: RunBatchctl, start_batchctl: StartBatchctl, tmp_path: Path
) -> Iterator[Relayed]:
    with relaying(Night(control_database, run_batchctl), start_batchctl) as made:
        yield made
    end_supervisors(tmp_path)


def until(condition: Callable[[], object]) -> None:
    """Wait for what other processes do."""
    over = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < over
        Event().wait(0.05)


def far_batch(relayed: Relayed, *commands: str, **columns: object) -> None:
    """Register a batch whose steps agents carry, and let work come in."""
    relayed.night.batch("Far", *commands, Pool=POOL)
    for column, value in columns.items():
        relayed.night.sql(f"UPDATE ProcessControl SET {column} = ?", value)
    relayed.night.arrive("Far")


def attempts(relayed: Relayed) -> list[str]:
    return [
        str(status)
        for (status,) in relayed.night.sql("SELECT Status FROM BatchProcessHistory ORDER BY BatchProcessHistory_id")
    ]


def gate(folder: Path) -> str:
    """Return a command that waits for a file."""
    open_ = f"import pathlib,time\nwhile not pathlib.Path({str(folder / 'open')!r}).exists(): time.sleep(0.05)"
    return python(f"{open_}\nprint('done')")


def test_an_agent_says_what_it_has_and_carries_steps(relayed: Relayed) -> None:
    agent = relayed.agent("far", relayed.token("far", "agent"), "--slots", "2", "--resources", "GPU=1,MEMORY=8e9")
    until(lambda: "polls https://127.0.0.1" in agent.log)

    (found,) = relayed.night.json("pool", "test", POOL)
    assert (found["Slots"], found["Directory"], found["Failure"]) == (2, str(agent.folder), None)
    assert found["Resources"] == "GPU=1, MEMORY=8e+09"

    far_batch(relayed, "echo one", "echo two", Needs="GPU=1")
    done = relayed.night("run", "--until-idle", "1")
    assert done.returncode == 0, done.stderr
    rows = relayed.night.sql("SELECT Status, Output, CommandSpec, CommandText FROM BatchProcessHistory")
    assert [(status, output.strip()) for status, output, *_ in rows] == [("success", "one"), ("success", "two")]
    assert {json.loads(spec)["batchctl.agent"]["pool"] for *_, spec, _ in rows} == {POOL}
    assert all(str(agent.folder) in text for *_, text in rows)
    assert relayed.night.status_of(1) == "complete"
    assert agent.end() == 0
    assert "told to end" in agent.log


def test_steps_wait_in_line_for_what_an_agent_has_once_also_those_that_come_second_and_those_of_other_controllers(
    relayed: Relayed,
) -> None:
    relayed.agent("far", relayed.token("far", "agent"), "--slots", "4", "--resources", "GPU=1")
    until(lambda: relayed.night("pool", "test", POOL).returncode == 0)
    far_batch(relayed, "true", "sleep 0.3")
    relayed.night.sql("UPDATE ProcessControl SET Needs = 'GPU=1' WHERE ProcessControlSeq = 20")
    relayed.night.sql("UPDATE ProcessBatch SET MaxConcurrent = 6")
    for _ in range(5):
        relayed.night.arrive("Far")
    controllers = [
        relayed.start("run", "--slots", "4", cwd=relayed.night.folder, env=relayed.night.environment) for _ in range(2)
    ]
    relayed.started.extend(controllers)
    until(lambda: relayed.night.sql("SELECT count(*) FROM BatchControl WHERE Status = 'complete'") == [(6,)])
    for controller in controllers:
        controller.send_signal(signal.SIGTERM)
        controller.communicate(timeout=LIMIT)

    spans = relayed.night.sql(
        "SELECT StartTime, EndTime FROM BatchProcessHistory"
        " WHERE ProcessControlSeq = 20 AND Status = 'success' ORDER BY StartTime"
    )
    assert len(spans) == 6
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans)), "one after the other"
    assert set(attempts(relayed)) == {"success"}, "to have no slot is no failure, and costs no pause"


def test_an_agent_waits_for_a_console_that_is_away_and_a_step_for_one_that_comes_back(relayed: Relayed) -> None:
    token = relayed.token("far", "agent")
    relayed.end_console()
    agent = relayed.agent("far", token)
    until(lambda: "cannot be reached" in agent.log and "tried again every 1 s" in agent.log)
    relayed.serve()
    until(lambda: "polls https://" in agent.log)

    far_batch(relayed, gate(agent.folder))
    controller = relayed.start("run", cwd=relayed.night.folder, env=relayed.night.environment)
    relayed.started.append(controller)
    until(
        lambda: (
            attempts(relayed) == ["running"] and relayed.night.sql("SELECT 1 FROM BatchProcessHistory WHERE Pid > 0")
        )
    )
    relayed.end_console(signal.SIGKILL)
    (agent.folder / "open").touch()
    relayed.serve()
    until(lambda: attempts(relayed) == ["success"])
    controller.send_signal(signal.SIGTERM)
    controller.communicate(timeout=LIMIT)
    assert agent.end() == 0


def test_an_agent_that_is_told_to_end_takes_nothing_new_and_waits_for_its_steps(relayed: Relayed) -> None:
    token = relayed.token("far", "agent")
    agent = relayed.agent("far", token)
    far_batch(relayed, gate(agent.folder), "echo next")
    controller = relayed.start("run", cwd=relayed.night.folder, env=relayed.night.environment)
    relayed.started.append(controller)
    until(lambda: relayed.night.sql("SELECT 1 FROM BatchProcessHistory WHERE Pid > 0"))

    agent.process.send_signal(signal.SIGTERM)
    until(lambda: "steps that still run: 1" in agent.log)
    of_pool = "SELECT Agents FROM ControllerPool WHERE PoolName = ?"
    until(lambda: "it takes nothing new" in str(relayed.night.sql(of_pool, POOL)))
    (agent.folder / "open").touch()
    agent.process.communicate(timeout=LIMIT)
    assert agent.process.returncode == 0
    until(lambda: attempts(relayed)[0] == "success")
    assert relayed.night.status_of(1) != "complete"

    other = relayed.agent("other", token)
    until(lambda: relayed.night.status_of(1) == "complete")
    specs = [
        spec for (spec,) in relayed.night.sql("SELECT CommandSpec FROM BatchProcessHistory WHERE Status = 'success'")
    ]
    assert len({json.loads(spec)["batchctl.agent"]["agent"] for spec in specs}) == 2
    assert other.end() == 0


@pytest.mark.parametrize(("on_lost", "end"), [("rerun", "complete"), ("hold", "held")])
def test_what_a_killed_agent_carried_is_lost_and_on_lost_decides(relayed: Relayed, on_lost: str, end: str) -> None:
    token = relayed.token("far", "agent")
    first = relayed.agent("first", token)
    far_batch(relayed, gate(relayed.night.folder), OnLost=on_lost)
    controller = relayed.start("run", cwd=relayed.night.folder, env=relayed.night.environment)
    relayed.started.append(controller)
    until(lambda: relayed.night.sql("SELECT 1 FROM BatchProcessHistory WHERE Pid > 0"))

    first.end(signal.SIGKILL)
    (relayed.night.folder / "later").touch()
    second = relayed.agent("second", token)
    until(lambda: "lost" in attempts(relayed))
    (relayed.night.folder / "open").touch()
    until(lambda: relayed.night.status_of(1) == end)
    assert attempts(relayed) == (["lost", "success"] if on_lost == "rerun" else ["lost"])
    assert second.end() == 0


def test_another_controller_goes_on_with_what_an_agent_carries(relayed: Relayed) -> None:
    agent = relayed.agent("far", relayed.token("far", "agent"))
    far_batch(relayed, gate(agent.folder), OnLost="hold")
    first = relayed.start("run", cwd=relayed.night.folder, env=relayed.night.environment)
    until(lambda: relayed.night.sql("SELECT 1 FROM BatchProcessHistory WHERE Pid > 0"))
    first.kill()
    first.communicate(timeout=LIMIT)

    second = relayed.start("run", cwd=relayed.night.folder, env=relayed.night.environment)
    relayed.started.append(second)
    of_second = "SELECT 1 FROM BatchControl WHERE ClaimToken > 1"
    until(lambda: relayed.night.sql(of_second))
    (agent.folder / "open").touch()
    until(lambda: relayed.night.status_of(1) == "complete")
    assert attempts(relayed) == ["success"]
    second.send_signal(signal.SIGTERM)
    second.communicate(timeout=LIMIT)
    assert agent.end() == 0


def test_a_token_that_does_not_do_is_named_by_the_agent_which_tries_on(relayed: Relayed) -> None:
    wrong = relayed.agent("wrong", "nonsense")
    until(lambda: "The token lets no program in" in wrong.log)
    people = relayed.agent("people", relayed.token("people", "admin"))
    until(lambda: "takes a token of role agent, and token:people (admin) is none" in people.log)
    asker = relayed.agent("asker", relayed.token("asker", "controller"))
    until(lambda: "takes a token of role agent, and token:asker (controller) is none" in asker.log)
    relayed.night.sql("INSERT INTO Pool (PoolName, Kind) VALUES ('gpu', 'agents')")
    other = relayed.agent("other", relayed.token("other", "agent", "--pool", "gpu"))
    until(lambda: "token:other is for pool gpu, and not for pool ssis" in other.log)

    far = relayed.agent("far", relayed.token("far", "agent"))
    until(lambda: "polls https://" in far.log)
    assert relayed.night("web", "token", "revoke", "far", "--reason", "it was lost").returncode == 0
    until(lambda: "The token lets no program in" in far.log)
    assert all(one.process.poll() is None for one in (wrong, people, asker, other, far)), "they try on"
    assert {one.end() for one in (wrong, people, asker, other, far)} == {0}


def test_tokens_of_agents_and_controllers_open_no_other_door_and_other_tokens_not_theirs(relayed: Relayed) -> None:
    agent, asker, admin = (relayed.token(role, role) for role in ("agent", "controller", "admin"))
    for token in (agent, asker):
        for path in ("/batches", "/status", "/openapi.json"):
            assert relayed.ask(token, path, root="/api/v1")[0] == 403
    polled = {"name": "a", "session": "s", "pools": [POOL], "slots": 1, "resources": {}, "hold": 0, "takes_steps": True}
    asked = {"pool": POOL, "name": "a", "verb": "hello", "message": {}, "within": 1}
    doors = [
        ("/poll", polled, agent),
        ("/answers", {"name": "a", "session": "s", "number": 1, "answer": {}}, agent),
        (f"/agents?pool={POOL}", None, asker),
        ("/questions", asked, asker),
    ]
    for path, body, own in doors:
        assert relayed.ask("", path, body)[0] == 401
        for token in {agent, asker, admin} - {own}:
            status, found = relayed.ask(token, path, body)
            assert (status, "takes a token of role" in found["detail"]) == (403, True)
    for path, body in (("/agents?pool=gpu", None), ("/questions", {**asked, "pool": "gpu"})):
        status, found = relayed.ask(asker, path, body)
        assert (status, found["detail"]) == (403, "token:controller is for pool ssis, and not for pool gpu.")
    assert relayed.ask(agent, "/poll", polled)[0] == 200
    assert relayed.ask(asker, f"/agents?pool={POOL}")[1]["agents"] == [{"name": "a", "slots": 1, "resources": {}}]
    user = relayed.night("web", "user", "add", "bert", "--role", "agent")
    assert user.returncode == 2
    assert PASSWORD not in user.stderr


def test_what_cannot_be_understood_is_refused_and_what_is_too_long_too(relayed: Relayed) -> None:
    agent, asker = relayed.token("far", "agent"), relayed.token("asker", "controller")
    good = {"name": "a", "session": "s", "pools": [POOL], "slots": 1, "resources": {}, "hold": 0, "takes_steps": True}
    wrong: list[dict[str, object]] = [
        {"name": ""},
        {"name": "x" * 201},
        {"name": "a\n"},
        {"session": 5},
        {"pools": []},
        {"pools": "ssis"},
        {"slots": -1},
        {"slots": True},
        {"slots": "1"},
        {"resources": [1]},
        {"resources": {"GPU": -1}},
        {"resources": {"GPU": 10**400}},
        {"resources": {"\ud800": 1}},
        {"hold": -1},
    ]
    for bad in wrong:
        assert relayed.ask(agent, "/poll", {**good, **bad})[0] == 400, bad
    assert relayed.ask(agent, "/poll", b"{")[0] == 400
    for far in (b"1e999", b"Infinity", b"NaN"):
        offer = json.dumps({**good, "resources": {"GPU": 0}}).encode().replace(b'"GPU": 0', b'"GPU": ' + far)
        assert relayed.ask(agent, "/poll", offer)[0] == 400, far
    assert relayed.ask(agent, "/poll", b'{"name": "' + b"x" * 66_000 + b'"}')[0] == 413
    assert relayed.ask(agent, "/answers", b'{"name": "' + b"x" * 33_600_000 + b'"}')[0] == 413
    assert relayed.ask(agent, "/nowhere", {})[0] == 404

    status, found = relayed.ask(
        asker, "/questions", {"pool": POOL, "name": "gone", "verb": "hello", "message": {}, "within": 1}
    )
    assert (status, found["detail"]) == (404, "There is no agent gone in pool ssis now.")
    assert relayed.ask(agent, "/poll", good)[0] == 200
    status, found = relayed.ask(agent, "/poll", {**good, "session": "t"})
    assert (status, found["detail"]) == (409, "Another agent has the name a, and was there just now.")
    status, found = relayed.ask(agent, "/answers", {"name": "a", "session": "s", "number": 7, "answer": {}})
    assert (status, found["detail"]) == (404, "This answer is not waited for any more.")


def test_what_keeps_agents_from_being_looked_for_is_named(relayed: Relayed, run_batchctl: RunBatchctl) -> None:
    strange = relayed.configure(relayed.night.folder / "strange", f"pools.{POOL}", "x", kind="agents", ca_file="")
    assert run_batchctl("db", "upgrade", cwd=strange).returncode == 0
    done = run_batchctl("pool", "test", POOL, cwd=strange)
    assert done.returncode == 4
    assert "shows a certificate that is not trusted here" in done.stderr
    assert "as ca_file" in done.stderr

    relayed.configure(strange, f"pools.{POOL}", "x", kind="agents")
    done = run_batchctl("pool", "test", POOL, cwd=strange)
    assert "The token lets no program in" in done.stderr

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        relayed.configure(
            strange, f"pools.{POOL}", "x", kind="agents", server=f"https://127.0.0.1:{free.getsockname()[1]}"
        )
        done = run_batchctl("pool", "test", POOL, cwd=strange)
    assert "cannot be reached" in done.stderr
    assert "see that a console answers at https://127.0.0.1" in done.stderr

    none = relayed.night("pool", "test", POOL)
    assert none.returncode == 1
    assert "has no agent" in none.stderr


def test_an_agent_of_another_version_takes_no_steps_and_one_whose_clock_is_off_does(relayed: Relayed) -> None:
    token = relayed.token("near", "agent")
    former = an_agent(relayed.night.folder / "former", version="0.0.1")
    with relayed.linked(former, token, "former"):
        found = relayed.night("pool", "test", POOL)
        assert found.returncode == 1
        assert "it runs batchctl 0.0.1" in " ".join(found.stdout.replace("\n", " ").split())

    ahead = an_agent(relayed.night.folder / "ahead", now=lambda: SystemClock().now() + timedelta(hours=1))
    with relayed.linked(ahead, token, "ahead"):
        found = relayed.night("pool", "test", POOL)
        assert "the clock of ahead is" in found.stderr
        assert "ahead; its steps are timed by this one" in found.stderr


def test_what_is_asked_again_through_the_console_starts_nothing_twice(relayed: Relayed, tmp_path: Path) -> None:
    asker, near = relayed.token("asker", "controller"), an_agent(relayed.night.folder / "near")
    with relayed.linked(near, relayed.token("near", "agent")):
        until(lambda: relayed.ask(asker, f"/agents?pool={POOL}")[1]["agents"])
        whose = {"database": "a-database", "controller": "a-controller", "pool": POOL}

        def ask(verb: str, **message: object) -> dict[str, Any]:
            asked = {"pool": POOL, "name": "near", "verb": verb, "message": {**whose, **message}, "within": 20}
            status, found = relayed.ask(asker, "/questions", asked)
            assert status == 200
            answer: dict[str, Any] = found["answer"]
            return answer

        carrier = ask("hello")["carrier"]
        script = f"echo once >> {tmp_path / 'done'}"
        started: dict[str, object] = {
            "token": {"database": "a-database", "attempt": 1, "claim": 1},
            "type": "script",
            "rendered": {"text": script, "spec": {"script": script}, "brief": False},
            "lease_bound": False,
            "carrier": carrier,
            "until": time.monotonic() + LIMIT,
        }
        first, again = ask("start", **started), ask("start", **started)
        assert ("known" in first, again["known"]) == (False, True)
        until(lambda: ask("news", carrier=carrier, behind=0, wait=1, until=None, recorded=[])["reports"])
        assert (tmp_path / "done").read_text() == "once\n"
        assert "refused" in ask("nonsense")


def test_a_token_that_has_expired_lets_in_no_more(relayed: Relayed) -> None:
    agent = relayed.agent("far", relayed.token("far", "agent", "--pool", POOL, "--days", "1"))
    until(lambda: "polls https://" in agent.log)
    relayed.night.sql("UPDATE ApiToken SET ExpiresTime = '2020-01-01 00:00:00' WHERE TokenName = 'far'")
    until(lambda: "The token lets no program in: it is unknown, has expired, or was revoked" in agent.log)
    assert agent.end() == 0


def test_an_agent_goes_through_the_proxy_of_its_host(relayed: Relayed) -> None:
    Proxy.asked.clear()
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Proxy) as door:
        serving = threading.Thread(target=door.serve_forever)
        serving.start()
        proxy = {"HTTPS_PROXY": f"http://anna:word%20s@127.0.0.1:{door.server_address[1]}"}
        agent = relayed.agent("far", relayed.token("far", "agent"), env=proxy)
        until(lambda: "polls https://" in agent.log)
        (found,) = relayed.night.json("pool", "test", POOL)
        assert found["Failure"] is None
        assert agent.end() == 0
        door.shutdown()
        serving.join()
    asked = Proxy.asked
    assert asked[0].startswith(f"CONNECT 127.0.0.1:{relayed.port} HTTP/1.".encode())
    assert f"Proxy-Authorization: Basic {b64encode(b'anna:word s').decode()}".encode() in asked[0]


class Proxy(socketserver.BaseRequestHandler):
    """Connects through to what it is asked for, and notes that."""

    asked: ClassVar[list[bytes]] = []

    def handle(self) -> None:
        inside: socket.socket = self.request
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += inside.recv(1)
        self.asked.append(head)
        host, _, port = head.split()[1].decode().partition(":")
        with socket.create_connection((host, int(port))) as outside, suppress(OSError):
            inside.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
            while True:
                for one in select.select([inside, outside], [], [])[0]:
                    said = one.recv(65536)
                    if not said:
                        return
                    (outside if one is inside else inside).sendall(said)


@pytest.mark.parametrize(
    ("words", "section", "message"),
    [
        (("--server", "http://console.example.com"), "", "is no address of a console"),
        ((), "", "It is not said at which console the agent polls"),
        (("--server", "https://console.example.com"), "", "The agent has no token to show"),
        ((), 'token = "plain"', "write a reference and no secret"),
        ((), 'server = "ftp://console"', "write the address of the console"),
        (("--resources", "GPU"), "", "--resources has 'GPU'"),
        (
            ("--server", "https://console.example.com"),
            'token = "{secret:t}"\nca_file = "nowhere.pem"\n[secrets.t]\nfile = "batchctl.toml"',
            "correct ca_file of [agent]",
        ),
    ],
)
def test_an_agent_that_cannot_begin_says_what_to_write(
    run_batchctl: RunBatchctl, tmp_path: Path, words: tuple[str, ...], section: str, message: str
) -> None:
    (tmp_path / "batchctl.toml").write_text(f"[agent]\n{section}\n", encoding="utf-8")
    done = run_batchctl("agent", "--pool", POOL, *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--role", "agent"), "those of agents and controllers name at least one"),
        (("--role", "operator", "--pool", "ssis"), "A token of role operator names no pool"),
        (("--role", "agent", "--pool", "a,b"), "names without commas"),
    ],
)
def test_a_token_is_bound_to_pools_where_its_role_says_so(
    control_database: ControlDatabase, run_batchctl: RunBatchctl, words: tuple[str, ...], message: str
) -> None:
    night = Night(control_database, run_batchctl)
    done = night("web", "token", "add", "one", *words)
    assert done.returncode == 2
    assert message in done.stderr
    made = night("web", "token", "add", "far", "--role", "agent", "--pool", "SSIS", "--pool", "gpu")
    assert "Added: token far, agent, for the pools gpu,ssis." in made.stdout
    other = json.loads(night("web", "token", "add", "near", "--role", "agent", "--pool", "ssis", "--json").stdout)
    assert other["ApiToken_id"] == 2
    assert "there is no pool gpu of kind agents yet" in made.stderr
    listed, _ = night.json("web", "token", "list")
    assert (listed["Role"], listed["Pools"]) == ("agent", "gpu,ssis")


def test_check_says_what_the_host_of_an_agent_has_and_lacks(relayed: Relayed, run_batchctl: RunBatchctl) -> None:
    folder = relayed.configure(relayed.night.folder / "far", "agent", relayed.token("far", "agent"))
    words = ("agent", "--pool", POOL, "--resources", "GPU=1", "--check")
    done = run_batchctl(*words, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    for said in (
        relayed.server,
        "GPU=1",
        str(folder),
        "os_command",
        f"Next:batchctlagent--pool{POOL}",
        "takesthetoken",
    ):
        assert said in "".join(done.stdout.split())
    assert relayed.night("pool", "test", POOL).returncode == 1, "it takes no steps"
    seen = json.loads(run_batchctl(*words, "--json", cwd=folder).stdout)
    assert (seen["Pools"], seen["Resources"], seen["Findings"]) == ([POOL], ["GPU=1"], [])
    typed = ("agent", "--pool", f" {POOL.upper()}", "--check")
    assert f"batchctl agent --pool {POOL} ..." in run_batchctl(*typed, cwd=folder).stdout
    assert "--pool '' names no pool." in run_batchctl("agent", "--pool", "", "--check", cwd=folder).stderr
    assert "--json goes with --check" in run_batchctl("agent", "--pool", POOL, "--json", cwd=folder).stderr

    with (folder / "batchctl.toml").open("a", encoding="utf-8") as file:
        file.write('[secrets.gone]\nfile = "gone"\n')
    (folder / "agent-token").write_text("wrong", encoding="utf-8")
    done = run_batchctl(*words, cwd=folder)
    assert done.returncode == 6
    for said in ("The token lets no program in", "the file gone"):
        assert said in " ".join(done.stderr.split())
    assert done.stderr.count("Next: ") == 2
    assert "program in. (" not in done.stderr, "one sentence"
    seen = json.loads(run_batchctl(*words, "--json", cwd=folder).stdout)
    assert "The token lets no program in" in seen["Findings"][0]["Message"]


def test_what_an_agent_lacks_is_said_with_its_host(relayed: Relayed) -> None:
    relayed.agent("far", relayed.token("far", "agent"))
    until(lambda: relayed.night("pool", "test", POOL).returncode == 0)
    far_batch(relayed, "true", ProcessType="sql", Data1="shop", Data2="SELECT 1")
    relayed.night("run", "--once")

    ((message,),) = relayed.night.sql("SELECT Message FROM BatchProcessHistory")
    assert f"add [connections.shop] to batchctl.toml and restart the agent on {socket.gethostname()}" in message


def test_an_address_that_the_certificate_lacks_is_told_as_that(relayed: Relayed, run_batchctl: RunBatchctl) -> None:
    other = {"server": f"https://localhost:{relayed.port}"}
    folder = relayed.configure(relayed.night.folder / "far", "agent", relayed.token("far", "agent"), **other)
    done = run_batchctl("agent", "--pool", POOL, "--check", cwd=folder)
    assert done.returncode == 6
    assert "Next: write its address with a name that the certificate has" in done.stderr


def test_all_that_is_passed_on_at_once_has_a_bound(relayed: Relayed) -> None:
    asker = relayed.token("asker", "controller")
    question = {"pool": POOL, "name": "gone", "verb": "hello", "message": {}, "within": 1}
    assert relayed.ask(asker, "/questions", question)[0] == 404
    trusting = ssl.create_default_context(cafile=str(relayed.certificate))
    head = f"POST /agents/v1/questions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {asker}\r\n"
    with ExitStack() as opened:
        for _ in range(8):
            plain = opened.enter_context(socket.create_connection(("127.0.0.1", relayed.port)))
            sent = opened.enter_context(trusting.wrap_socket(plain, server_hostname="127.0.0.1"))
            sent.sendall(f"{head}Content-Length: {32 * 1024 * 1024}\r\n\r\n".encode())
        until(lambda: relayed.ask(asker, "/questions", question)[0] == 429)
    until(lambda: relayed.ask(asker, "/questions", question)[0] == 404)


def test_a_door_is_asked_in_its_own_way(relayed: Relayed) -> None:
    status, found = relayed.ask(relayed.token("far", "agent"), "/poll")
    assert status == 405
    assert found["detail"] == "GET is no way to ask here; agents and controllers ask below /agents/v1."

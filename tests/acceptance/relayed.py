"""A console that relays, over TLS; tokens for it; agents that poll there, and controllers that ask."""

from __future__ import annotations

import http.client
import json
import re
import shlex
import signal
import ssl
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from batchctl.system.remote.agent import Agent as CarryingAgent
from batchctl.system.remote.agent_link import AgentLink
from batchctl.system.remote.console_client import ConsoleAddress, ConsoleClient
from batchctl.system.remote.wire import Message
from tests.acceptance.installation import PATIENCE, StartBatchctl, Started
from tests.acceptance.night import Night
from tests.acceptance.test_web_tls import signed_by_itself
from tests.leftovers import end_supervisors

POOL = "ssis"


@dataclass
class Relayed:
    """A control database with a pool of kind agents, and a console before it."""

    night: Night
    start: StartBatchctl
    port: int
    certificate: Path
    key: Path
    console: Started | None = None
    started: list[Started] = field(default_factory=list)

    @property
    def server(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def serve(self) -> None:
        """Start the console, again at the same port."""
        words = ("--port", str(self.port), "--tls-cert", str(self.certificate), "--tls-key", str(self.key))
        self.console = self.start("web", *words, cwd=self.night.folder, env=self.night.environment)
        assert self.console.stdout is not None
        found = re.search(r"https://127\.0\.0\.1:(\d+)/", self.console.stdout.readline())
        assert found is not None
        self.port = int(found[1])

    def end_console(self, number: int = signal.SIGTERM) -> None:
        assert self.console is not None
        self.console.send_signal(number)
        self.console.communicate(timeout=PATIENCE)
        self.console = None

    def token(self, name: str, role: str, *more: str) -> str:
        """Make a token."""
        pools = ("--pool", POOL) if role in {"agent", "controller"} and not more else more
        return str(self.night.json("web", "token", "add", name, "--role", role, *pools)["Token"])

    def configure(self, folder: Path, section: str, token: str, **keys: str) -> Path:
        """Write a configuration that says how the console is reached."""
        folder.mkdir(exist_ok=True)
        (folder / f"{section}-token").write_text(token, encoding="utf-8")
        given = {"server": self.server, "token": "{secret:console}", "ca_file": str(self.certificate), **keys}
        lines = [
            'state_directory = "state"',
            "stop_grace = 0.5",
            "slots = 4",
            f"[{section}]",
            *(f"{name} = {json.dumps(value)}" for name, value in given.items() if value),
            "[secrets.console]",
            f'file = "{section}-token"',
        ]
        (folder / "batchctl.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return folder

    def agent(
        self, name: str, token: str, *more: str, pool: str = POOL, env: Mapping[str, str] | None = None, **keys: str
    ) -> Agent:
        """Start an agent with a folder of its own."""
        folder = self.configure(self.night.folder / name, "agent", token, **keys)
        words = ("agent", "--pool", pool, *more)
        with (folder / "log").open("w", encoding="utf-8") as log:
            process = self.start(*words, cwd=folder, env=env, stderr=log)
        self.started.append(process)
        return Agent(folder, process)

    @contextmanager
    def linked(self, agent: CarryingAgent, token: str, name: str = "near") -> Iterator[None]:
        """Let an agent of this process poll, and end it."""
        address = ConsoleAddress(self.server, token, str(self.certificate))
        offer: Message = {"name": name, "session": name, "pools": [POOL], "slots": 4, "resources": {}}
        with closing(ConsoleClient(address)) as client:
            link = AgentLink(agent, client, offer, lambda _: None)
            polling = threading.Thread(target=link.run)
            polling.start()
            yield
            link.stop()
            link.stop()
            polling.join()
            agent.close()
            end_supervisors(self.night.folder)

    def ask(
        self, token: str, path: str, body: Mapping[str, Any] | bytes | None = None, root: str = "/agents/v1"
    ) -> tuple[int, dict[str, Any]]:
        """Ask the console as a program of another make would."""
        trusting = ssl.create_default_context(cafile=str(self.certificate))
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=PATIENCE, context=trusting)
        sent = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection.request("GET" if sent is None else "POST", root + path, sent, {"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        found = json.loads(answer.read())
        connection.close()
        return answer.status, found


@dataclass
class Agent:
    """An agent at work."""

    folder: Path
    process: Started

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(encoding="utf-8")

    def end(self, number: int = signal.SIGTERM) -> int | None:
        self.process.send_signal(number)
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode


@contextmanager
def relaying(night: Night, start_batchctl: StartBatchctl) -> Iterator[Relayed]:
    """Serve a console whose control database has a pool of kind agents."""
    night.sql("INSERT INTO Pool (PoolName, Kind) VALUES (?, 'agents')", POOL)
    night.json("web", "user", "add", "anna", "--role", "admin")
    made = Relayed(night, start_batchctl, 0, *signed_by_itself(night.folder))
    made.serve()
    token = made.token("controllers", "controller")
    made.configure(night.folder, f"pools.{POOL}", token, kind="agents", lease="3s")
    yield made
    for process in made.started:
        if process.returncode is None:
            process.kill()
            process.communicate(timeout=PATIENCE)
    if made.console is not None:
        made.end_console()


def python(code: str) -> str:
    """Return a command that runs some Python."""
    return f"{sys.executable} -c {shlex.quote(code.replace('{', '{{').replace('}', '}}'))}"

"""The agents of a campaign with `--agents`, and the console at which they poll: all are killed and come again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from random import Random

from tests.chaos.carrying_side import POOL, CarryingNemesis, CarryingSide
from tests.chaos.fleet import ROOT, Fleet
from tests.chaos.processes import MARK
from tests.chaos.shop import Shop

AGENTS, SLOTS = 3, 2
KILLS = {"agent": 24, "console": 6}
OTHERS = {"agent stopped": 8, "agent told to end": 6, "console stopped": 3}
PATIENCE = 60
Process = subprocess.Popen[bytes]


@dataclass
class AgentSide(CarryingSide):
    """Starts what has ended, as whatever manages services does."""

    console: Process | None = None
    _agents: list[Process] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return "agents"

    @property
    def agents(self) -> list[int]:
        return [one.pid for one in self._agents if one.poll() is None]

    @property
    def there(self) -> list[int]:
        return [*self.agents, *([] if self.console is None else [self.console.pid])]

    def of_agent(self) -> str:
        return f"[agent]\n{self._reached('agent')}"

    def of_pool(self) -> str:
        return f'kind = "agents"\n{self._reached("controller")}'

    def _reached(self, role: str) -> str:
        """Return how the console is reached, with a token that is made for it."""
        words = ("web", "token", "add", f"chaos-{role}", "--role", role, "--pool", POOL, "--json")
        made = subprocess.run(
            self._command(*words), cwd=ROOT, env=self._of_console, capture_output=True, check=True, timeout=PATIENCE
        )
        file = self.shop.directory / f"{role}-token"
        file.write_text(json.loads(made.stdout)["Token"], encoding="utf-8")
        where = f'server = "http://127.0.0.1:{self.port}"\ntoken = "{{secret:relay}}"\n'
        return f"{where}[secrets.relay]\nfile = {json.dumps(str(file))}\n"

    @property
    def _of_console(self) -> dict[str, str]:
        return {**self.environment, **_outside(), "BATCHCTL_CONFIG": str(self.shop.directory / "batchctl.toml")}

    def keep(self) -> None:
        if self.console is None or self.console.poll() is not None:
            self.console = self._start("console", self._of_console, "web", "--port", str(self.port))
        self._agents = [one for one in self._agents if one.poll() is None]
        while len(self._agents) < AGENTS:
            words = ("agent", "--pool", POOL, "--slots", str(SLOTS))
            self._agents.append(self._start("agent", {**_outside(), **self.environment}, *words))

    def _start(self, name: str, environment: dict[str, str], *words: str) -> Process:
        with (self.shop.directory / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                self._command(*words), cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    @staticmethod
    def _command(*words: str) -> list[str]:
        return [sys.executable, "-m", "batchctl", *words]

    def end(self) -> None:
        for one in [*self._agents, *([] if self.console is None else [self.console])]:
            one.kill()
            one.wait()
        self._agents.clear()
        self.console = None


class AgentNemesis(CarryingNemesis):
    """Strikes at the agents and their console too."""

    side: AgentSide

    def __init__(self, fleet: Fleet, shop: Shop, random: Random, side: AgentSide) -> None:
        super().__init__(fleet, shop, random, side, KILLS, OTHERS)
        self._strikes |= {
            "agent": self.kill_agent,
            "console": self._kill_console,
            "agent stopped": self.stop_agent,
            "agent told to end": self._tell_agent_to_end,
            "console stopped": self._stop_console,
        }

    def _kill_console(self) -> bool:
        return self._signal_console(signal.SIGKILL)

    def _stop_console(self) -> bool:
        if self.side.console is None or self.side.console.pid in self.side.naps:
            return False
        return self.nap(self.side.console.pid)

    def _signal_console(self, number: int) -> bool:
        if self.side.console is None or self.side.console.poll() is not None:
            return False
        self.side.console.send_signal(number)
        return True

    def _tell_agent_to_end(self) -> bool:
        found = self.awake()
        if found:
            os.kill(self.random.choice(found), signal.SIGTERM)
        return bool(found)


def _outside() -> dict[str, str]:
    """Return the environment without settings of ours, and with the way to the product."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("BATCHCTL_", MARK))}
    return {**kept, "PYTHONPATH": str(ROOT)}

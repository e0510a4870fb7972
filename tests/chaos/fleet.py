"""The commands of a campaign: workers, people's commands and intake, started through the nursery and known by handle."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from tests.chaos.cuts import Cut
from tests.chaos.nursery import Order
from tests.chaos.processes import MARK

ROOT = Path(__file__).parents[2]
TIDY_CODES = (0, 1)
"""How a worker ends that was asked to, and that could."""
REFUSED = 4
"""How one ends that could not reach its database to the last."""


@dataclass(slots=True)
class Member:
    """A command that was started."""

    pid: int
    what: str = ""
    log: Path = Path()
    cut: Cut | None = None
    note: str = ""
    host: int | None = None
    killed: bool = False
    """True once the rig itself has killed it."""
    asked: bool = False
    """True once it was asked to end."""
    sleeps_until: float | None = None
    born: float = field(default_factory=monotonic)
    _handle: int | None = None

    def __post_init__(self) -> None:
        # One that has ended already has no handle, and needs none.
        with suppress(ProcessLookupError):
            self._handle = os.pidfd_open(self.pid)

    def signal(self, number: int) -> None:
        """Send a signal to this process and to no other that may have its number by now."""
        if self._handle is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, number)

    @property
    def printed(self) -> str:
        """What it has said so far."""
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""

    def forget(self) -> None:
        """Let go of the process."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    member: Member
    code: int

    @property
    def died_at_cut(self) -> bool:
        """Say whether it was a cut that killed it."""
        return self.code == -signal.SIGKILL and not self.member.killed

    @property
    def is_fair(self) -> bool:
        """Say whether the rig itself is to blame: a worker asked to end before it could hear may end like any program."""
        return self.member.killed or self.died_at_cut or (self.member.asked and self.code == -signal.SIGTERM)


@dataclass
class Fleet:
    """What runs at this moment."""

    mark: str
    directory: Path
    sabotage: str | None = None
    loaded: tuple[str, ...] = ()
    """What the commands need besides, and would load each by itself."""
    members: dict[int, Member] = field(default_factory=dict)
    ended: list[Ended] = field(default_factory=list)
    started: int = 0
    _read: bytes = b""
    _newest: list[Member] = field(default_factory=list)

    def __post_init__(self) -> None:
        outside = {name: value for name, value in os.environ.items() if not name.startswith("BATCHCTL_")}
        self._nursery = subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.nursery", *self.loaded],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**outside, "PYTHONPATH": str(ROOT), MARK: self.mark},
        )
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        self._orders, self._reports = self._nursery.stdin, self._nursery.stdout
        self._poll = select.poll()
        self._poll.register(self._reports, select.POLLIN)

    @property
    def pid(self) -> int:
        """The nursery's own."""
        return self._nursery.pid

    def workers(self) -> list[Member]:
        """Return the living workers, oldest first."""
        return [member for member in self.members.values() if member.what == "worker"]

    def start(
        self,
        what: str,
        *arguments: str,
        cut: Cut | None = None,
        installed: bool = False,
        note: str = "",
        host: int | None = None,
    ) -> Member:
        """Start a command and return it as soon as it has a process."""
        self.started += 1
        log = self.directory / "logs" / f"{self.started:05d}-{what}.log"
        said = None if cut is None else str(cut)
        order = Order(
            self.started, list(arguments), str(self.directory), str(log), said, self.sabotage, installed, host
        )
        self._orders.write(order.line())
        self._orders.flush()
        member = self._wait_for_newest()
        member.what, member.log, member.cut, member.note, member.host = what, log, cut, note, host
        return member

    def _wait_for_newest(self) -> Member:
        while not self._newest:
            self._hear(None)
        return self._newest.pop()

    def listen(self, seconds: float) -> None:
        """Let time pass, and take in what ends meanwhile."""
        until = monotonic() + seconds
        while (left := until - monotonic()) > 0:
            self._hear(left)

    def wait_for(self, members: list[Member], seconds: float) -> list[Member]:
        """Wait until all of these have ended; return those that have not in time."""
        until = monotonic() + seconds
        while (waiting := [one for one in members if one.pid in self.members]) and monotonic() < until:
            self._hear(until - monotonic())
        return waiting

    def take_ended(self) -> list[Ended]:
        """Return what has ended since this was last asked."""
        ended, self.ended = self.ended, []
        return ended

    def close(self) -> None:
        """End everything that was started."""
        for member in list(self.members.values()):
            member.killed = True
            member.signal(signal.SIGKILL)
        self._orders.close()
        self._nursery.wait()
        self._reports.close()
        for member in self.members.values():
            member.forget()

    def _hear(self, seconds: float | None) -> None:
        if not self._poll.poll(None if seconds is None else seconds * 1000):
            return
        said = os.read(self._reports.fileno(), 65536)
        if not said:
            raise RuntimeError(f"the nursery has ended with {self._nursery.wait()}")
        *lines, self._read = (self._read + said).split(b"\n")
        for line in lines:
            self._take(json.loads(line))

    def _take(self, report: dict[str, Any]) -> None:
        pid = report["pid"]
        if "code" not in report:
            self.members[pid] = Member(pid)
            self._newest.append(self.members[pid])
            return
        member = self.members.pop(pid)
        member.forget()
        self.ended.append(Ended(member, report["code"]))

"""Connects an agent with controllers by a console: it polls there for questions, and answers them. Nothing connects to it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from batchctl.domain.text import in_short
from batchctl.system.remote.agent import Agent
from batchctl.system.remote.console_client import ConsoleClient, ConsoleRefusedError
from batchctl.system.remote.relay import HELD
from batchctl.system.remote.transport import UnreachableError
from batchctl.system.remote.wire import Message, Received

ANSWERED_IN = 10.0
"""Seconds within which the console takes an answer."""
LATE = 10.0
"""Seconds by which the console may answer a poll later than it holds one."""
PAUSE = 1.0
"""Seconds between two tries."""
TURN = 0.2
"""Seconds between two looks whether an agent that is told to end still carries something."""
_TOO_LONG = 413


@dataclass(slots=True)
class AgentLink:
    """Polls until it is told to end, and carries nothing any more; told a second time, it waits no longer."""

    agent: Agent
    client: ConsoleClient
    offer: Message
    """What is said of the agent: its name, its pools, what it has."""
    tell: Callable[[str], None]
    """Tells a person at the host what has changed."""
    _shown: str = ""
    _stops: int = 0
    _changed: threading.Event = field(default_factory=threading.Event)
    _is_over: bool = False

    def try_console(self) -> None:
        """Poll once, as one that takes no steps; raises `UnreachableError`."""
        self.client.post("/poll", {**self.offer, "hold": 0.0, "takes_steps": False}, within=ANSWERED_IN)

    def stop(self) -> None:
        """Take nothing new, and end with the last step; told again, end now. May be called from a signal handler."""
        self._stops += 1
        self._changed.set()

    def run(self) -> None:
        """Poll until it is over."""
        polling = threading.Thread(target=self._poll_on, name="batchctl-poll", daemon=True)
        polling.start()
        while not self._stops:
            # With an end: on Windows no signal is heard by what waits without one.
            self._changed.wait(PAUSE)
        self._changed.clear()
        carried = self.agent.busy
        self._say(
            f"told to end, it takes nothing new; steps that still run: {carried} (told again, it waits no longer)"
        )
        # One that is held says that steps are taken: this one takes its place.
        polling_last = threading.Thread(target=self._poll_once, name="batchctl-last-poll", daemon=True)
        polling_last.start()
        while self._stops == 1 and not self.agent.is_done:
            self._changed.wait(TURN)
        if self._stops > 1 and self.agent.busy:
            self._say(
                f"ends now; steps whose commands go on alone, and are lost once their lease is over: {self.agent.busy}"
            )
        self._is_over = True
        polling_last.join(ANSWERED_IN)

    def _poll_once(self) -> None:
        try:
            self._take(self.client.post("/poll", self._message(hold=0.0), within=ANSWERED_IN))
        except UnreachableError as error:
            self._say(str(error))

    def _poll_on(self) -> None:
        while not self._is_over:
            try:
                self._take(self.client.post("/poll", self._message(hold=HELD), within=HELD + LATE))
            except Exception as error:  # noqa: BLE001 - what has answered may be no console
                shown = str(error) if isinstance(error, UnreachableError) else f"the answer is none: {in_short(error)}"
                self._say(f"{shown}; tried again every {PAUSE:g} s")
                self._changed.wait(PAUSE)
            else:
                if not self._stops:
                    self._say(f"polls {self.client.server}")

    def _message(self, *, hold: float) -> Message:
        return {**self.offer, "hold": hold, "takes_steps": not self._stops}

    def _take(self, found: Received) -> None:
        for question in found.get("questions", ()):
            with suppress(RuntimeError):  # The agent is closed: no answer of it arrives any more.
                self.agent.aside(partial(self._answer, question))

    def _answer(self, question: Mapping[str, Any]) -> None:
        """Answer one question; where the answer does not arrive, it is asked again."""
        answer = self.agent.answer(str(question["verb"]), question["message"])
        whose: Message = {"name": self.offer["name"], "session": self.offer["session"], "number": question["number"]}
        try:
            self.client.post("/answers", {**whose, "answer": answer}, within=ANSWERED_IN)
        except ConsoleRefusedError as error:
            if error.status == _TOO_LONG:
                self._say(str(error))
        except UnreachableError as error:
            self._say(str(error))

    def _say(self, text: str) -> None:
        """Tell what is not known yet: the same again and again helps no reader."""
        if text != self._shown and not self._is_over:
            self._shown = text
            self.tell(f"Agent {self.offer['name']}: {text}.")

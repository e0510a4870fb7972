"""Carries executions out on this host, or has agents do it, as their handlers say."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import cast

from batchctl.domain.outcomes import Rendered, StepOutcome
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import ControllerRow, HistoryEntry, HistoryId
from batchctl.plugin_api import StepHandler
from batchctl.ports import Finished, Notify, Report, StepRunner, Trace
from batchctl.system.remote import wire
from batchctl.system.remote.agent_handler import AgentHandler
from batchctl.system.remote.agent_pool import AgentPool
from batchctl.system.remote.followed_agent import RemoteAttempt
from batchctl.system.remote.transport import UnreachableError
from batchctl.system.remote.wire import AgentToken, Message, Received

EXAMINED_IN = 15.0
"""Seconds within which an agent says what has become of a step."""


class RoutedRunner:
    """The `StepRunner` of a controller that serves pools of agents."""

    def __init__(self, local: StepRunner, pools: Mapping[str, AgentPool], heard: deque[Report]) -> None:
        """Take what is carried out here, the pools by name, and where these put their reports."""
        self._local, self._pools, self._heard = local, pools, heard

    def start(self, key: HistoryId, handler: StepHandler, rendered: Rendered, *, lease_bound: bool = False) -> None:
        """Begin an execution."""
        if not isinstance(handler, AgentHandler):
            self._local.start(key, handler, rendered, lease_bound=lease_bound)
            return
        attempt = _attempt(key, handler, rendered, lease_bound=lease_bound)
        if not self._pools[handler.pool].start(handler.agent, attempt):
            self._local.refuse(key, f"not started: agent {handler.agent} of pool {handler.pool} is gone", put_back=True)

    def keep_lease(self, until: float) -> None:
        """Vouch for the lease-bound executions."""
        self._local.keep_lease(until)
        for pool in self._pools.values():
            pool.keep_lease(until)

    def recorded(self, keys: Collection[HistoryId]) -> None:
        """Take note that these ends are committed."""
        self._local.recorded(keys)
        for pool in self._pools.values():
            pool.recorded(keys)

    def refuse(self, key: HistoryId, reason: str, *, put_back: bool = False) -> None:
        """Report an execution that could not be rendered."""
        self._local.refuse(key, reason, put_back=put_back)

    def collect(self, wait: timedelta, notify: Notify | None = None) -> Sequence[Report]:
        """Return what has been reported."""
        here = self._local.collect(timedelta(0) if self._heard else wait, notify)
        return [*here, *self._drained()]

    def overhear(self) -> Sequence[Report]:
        """Return what has been reported meanwhile."""
        return [*self._local.overhear(), *self._drained()]

    def ask_for_output(self) -> bool:
        """Have what has been written reported; agents report it by themselves."""
        return self._local.ask_for_output()

    def hasten(self) -> Sequence[Report]:
        """Carry out at once what is known to take a moment only."""
        return self._local.hasten()

    def wake(self) -> None:
        """End a waiting `collect` early."""
        self._local.wake()

    def stop(self, key: HistoryId) -> None:
        """Tell an execution to stop."""
        self._local.stop(key)
        for pool in self._pools.values():
            pool.stop(key)

    def let_go(self, key: HistoryId) -> bool:
        """Stop watching an execution, which goes on."""
        # No more than one pool has it.
        return any(pool.let_go(key) for pool in self._pools.values()) or self._local.let_go(key)

    def is_gone(self, controller: ControllerRow) -> bool:
        """Say whether this host can prove that a controller is dead."""
        return self._local.is_gone(controller)

    def examine(self, entry: HistoryEntry, handler: StepHandler, rendered: Rendered) -> Trace:
        """Find out what has become of a dead worker's execution."""
        if not isinstance(handler, AgentHandler):
            return self._local.examine(entry, handler, rendered)
        try:
            answer = self._ask(handler, "examine", _of_entry(entry, handler, rendered))
        except UnreachableError:
            # What may be repeated is stopped when the lease of its dead controller is over.
            return Trace.UNSEEN
        return Trace.UNCLEAR if "refused" in answer else Trace(str(answer["trace"]))

    def seen_alive(self, entry: HistoryEntry) -> Sequence[int]:
        """Return the process ids of what is seen alive on this host of an execution."""
        return self._local.seen_alive(entry)

    def stop_left_over(self, entry: HistoryEntry, handler: StepHandler, rendered: Rendered) -> Sequence[int]:
        """Stop what is left over of an execution, where it is; raises `UnreachableError`."""
        if isinstance(handler, AgentHandler):
            answer = self._ask(handler, "stop_left_over", _of_entry(entry, handler, rendered))
            return [int(str(each)) for each in cast("list[JsonValue]", answer.get("stopped", []))]
        return self._local.stop_left_over(entry, handler, rendered)

    def adopt(
        self,
        key: HistoryId,
        handler: StepHandler,
        rendered: Rendered,
        entry: HistoryEntry,
        *,
        lease_bound: bool = False,
    ) -> None:
        """Take over an execution found adoptable."""
        if not isinstance(handler, AgentHandler):
            self._local.adopt(key, handler, rendered, entry, lease_bound=lease_bound)
            return
        attempt, message = (
            _attempt(key, handler, rendered, lease_bound=lease_bound),
            _of_entry(entry, handler, rendered),
        )
        if not self._pools[handler.pool].adopt(handler.agent, attempt, message):
            lost = StepOutcome(succeeded=False, lost=True, message=f"agent {handler.agent} is gone")
            self._heard.append(Finished(key, lost, None, may_go_on=True))

    def tidy(self, living: Collection[str], live: Collection[HistoryId]) -> None:
        """Forget the workers that are dead."""
        self._local.tidy(living, live)
        for pool in self._pools.values():
            pool.tidy(living, live)

    def close(self, *, leave: bool = False) -> None:
        """End: what agents carry is left to them."""
        for pool in self._pools.values():
            pool.close()
        self._local.close(leave=leave)

    def _ask(self, handler: AgentHandler, verb: str, message: Message) -> Received:
        return self._pools[handler.pool].ask(handler.agent, verb, message, within=EXAMINED_IN)

    def _drained(self) -> list[Report]:
        found = []
        while self._heard:
            found.append(self._heard.popleft())
        return found


def _attempt(key: HistoryId, handler: AgentHandler, rendered: Rendered, *, lease_bound: bool) -> RemoteAttempt:
    token = AgentToken(handler.database_id, key, handler.claim_token)
    what = token, handler.carried_type, rendered, lease_bound
    return RemoteAttempt(
        *what, needs=handler.needs, instance_id=handler.instance_id, goes_on_alone=handler.goes_on_alone
    )


def _of_entry(entry: HistoryEntry, handler: AgentHandler, rendered: Rendered) -> Message:
    return {
        "entry": wire.entry_message(entry),
        "type": handler.carried_type,
        "rendered": wire.rendered_message(rendered),
    }

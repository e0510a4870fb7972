"""One agent as one controller sees it: what it was told, what it has reported, and until when it may work unasked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

from batchctl.domain.operators.agents_seen import SeenAgent
from batchctl.domain.outcomes import Rendered, StepOutcome
from batchctl.domain.rows import HistoryId, InstanceId
from batchctl.domain.rule_texts import HostNeeds, taken_by
from batchctl.domain.text import in_short
from batchctl.ports import Finished, Report
from batchctl.system.remote import wire
from batchctl.system.remote.pool_loop import LoopOnThread, PoolLoop
from batchctl.system.remote.transport import AgentTransport, OfferedAgent, UnreachableError
from batchctl.system.remote.wire import AgentFacts, AgentToken, Message, Received

NEWS_WAIT = 1.0
ANSWERED_IN = 5.0
"""Seconds within which an agent answers anything else, beside what it waits."""
MET_IN = 30.0
"""Seconds within which an agent answers for the first time: it may have to load its plugins before."""
SILENT = 5.0
"""Seconds without an answer after which the lease of an agent is not renewed any more."""
LEAVING = "it takes nothing new, and ends with the last step that it carries"
PAUSE = 0.3
"""Seconds between two tries."""
MARGIN = 1.0
"""Seconds by which what an agent stops at the end of its lease may end later than its grace time says."""


UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What comes of reading an answer that is none: one of another version may answer in another way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolMeans:
    """What a controller has for all agents of a pool."""

    controller: str
    database_id: str
    pool: str = ""
    version: str
    lease: float
    """Seconds for which an agent may go on without hearing from the controller."""
    grace: float
    """Seconds that an agent takes at most to stop a step."""
    news_wait: float = NEWS_WAIT
    """Seconds that an agent waits with its answer as long as it has no news."""
    now: Callable[[], datetime]
    report: Callable[[Report], None]
    """Takes a report on any thread, and wakes the controller."""
    has_room: Callable[[], None] = lambda: None
    """Is told on any thread that an agent can take more than before."""
    monotonic: Callable[[], float] = time.monotonic
    """Seconds of this program that never jump."""
    loop: Callable[[str], PoolLoop] = LoopOnThread
    """Makes what a pool of some name talks with its agents on."""

    @property
    def message(self) -> Message:
        """Say who asks, about which database, for which pool: an agent of several pools keeps them apart."""
        return {"controller": self.controller, "database": self.database_id, "pool": self.pool}


@dataclass(slots=True)
class RemoteAttempt:
    """An attempt that an agent carries, as far as its controller knows."""

    token: AgentToken
    process_type: str
    rendered: Rendered
    lease_bound: bool
    needs: HostNeeds | None = None
    """What it needs of its agent, as long as it runs there."""
    instance_id: InstanceId | None = None
    """For which instance a slot is kept; None for one that needs none."""
    goes_on_alone: bool = False
    """True for what outlives its agent, so that another controller can go on with it."""
    carrier: str = ""
    """The mark of what was told to carry it."""
    until: float = 0.0
    """Until when that may have been told to go on, by this program's clock."""
    is_sent: bool = False
    """True as soon as its agent may have heard of it."""


@dataclass(slots=True)
class FollowedAgent:
    """Told and heard on the loop of its pool only; what is read elsewhere is replaced as a whole."""

    offer: OfferedAgent
    transport: AgentTransport
    means: PoolMeans
    lease_until: float
    """Until when the controller counts itself as alive."""
    facts: AgentFacts | None = None
    is_offered: bool = True
    is_left: bool = False
    """True once its controller ends: it is heard no more."""
    failure: str | None = None
    """Why it takes no steps, if it takes none."""
    attempts: dict[HistoryId, RemoteAttempt] = field(default_factory=dict)
    busy: int = 0
    """How many of its slots are taken, by whichever controllers, but for those that are kept for this one."""
    taken: Mapping[str, float] = field(default_factory=dict)
    """What is taken of what steps may need, in the same way."""
    full_until: float = 0.0
    """Until when it is left alone, because it had no slot where one was seen."""
    carrier: str = ""
    """The mark of what carries steps there for this controller: another one once the agent has begun anew."""
    _grace: float = 0.0
    """The longest time to stop a step that it was ever known to have."""
    _heard_at: float = 0.0
    _ahead: float = 0.0
    """How far its clock is ahead of this program's, at least."""
    _behind: int = 0
    """The number of the last report that was heard."""
    _heard_ends: set[HistoryId] = field(default_factory=set)
    """Attempts whose ends were heard, and are not known as committed."""
    _recorded: set[HistoryId] = field(default_factory=set)
    """Attempts whose ends are committed, as far as the agent has not heard of that."""
    given_up: set[HistoryId] = field(default_factory=set)
    """Attempts that were reported as lost here, and of whose end nothing was heard since."""

    @property
    def left(self) -> Mapping[str, float]:
        """Return what it has left of what steps may need, as far as this controller knows."""
        taken = self._taken
        return {
            name: self.offer.resources.get(name, 0) - taken.get(name, 0) for name in {*self.offer.resources, *taken}
        }

    @property
    def _taken(self) -> Mapping[str, float]:
        """Return what its steps take, as far as this controller knows."""
        own, said = taken_by(attempt.needs for attempt in [*self.attempts.values()]), self.taken
        return {name: max(own.get(name, 0), said.get(name, 0)) for name in {*own, *said}}

    @property
    def seen(self) -> SeenAgent:
        """Return what is known of it, for people."""
        silence = "it has not answered yet" if self.facts is None else f"it has not answered for {SILENT:.0f} s"
        failure = self.failure or (silence if self.is_silent else None)
        if failure is None and not self.is_offered:
            failure = LEAVING
        return SeenAgent(
            name=self.offer.name,
            slots=self.offer.slots,
            busy=max(len(self.attempts), self.busy),
            resources=self.offer.resources,
            taken=self._taken,
            failure=failure,
            is_heard=self.failure is None and not self.is_silent,
        )

    @property
    def is_silent(self) -> bool:
        """Say whether no answer has come for a while."""
        return self.facts is None or self.means.monotonic() - self._heard_at > SILENT

    @property
    def is_done_with(self) -> bool:
        """Say whether it is gone, and nothing of it is waited for; one that is there hears first what is recorded."""
        is_waited_for = self.attempts or (not self.is_silent and (self._heard_ends or self._recorded))
        return not (self.is_offered or is_waited_for)

    async def follow(self) -> None:
        """Hear what it reports, and renew its lease, until it is gone."""
        while not (self.is_done_with or self.is_left):
            try:
                if self.facts is None:
                    await self._meet()
                await self._hear()
            except UnreachableError as error:
                self.failure = str(error)
                await asyncio.sleep(PAUSE)
            except UNREADABLE as error:
                self.failure = _unreadable(error)
                await asyncio.sleep(PAUSE)
            self._give_up_lost()
        if self.is_left and self._recorded:
            with suppress(UnreachableError):
                await self.ask("news", self._asked_for_news(wait=0))

    def recorded(self, key: HistoryId) -> None:
        """Let it know, with the next question, that an end is committed; of what was given up, once that is heard, too."""
        self._heard_ends.discard(key)
        if key not in self.given_up:
            self._recorded.add(key)

    def take_up(self, attempt: RemoteAttempt) -> None:
        """Count an attempt as this agent's from now on."""
        attempt.carrier, attempt.until = self.carrier, self._may_go_on_until()
        self.attempts[attempt.token.history_id] = attempt

    async def start(self, attempt: RemoteAttempt) -> None:
        """Have an attempt begun: told again where no answer comes, for that begins nothing twice."""
        message = {"type": attempt.process_type, "rendered": wire.rendered_message(attempt.rendered)}
        answer = await self._tell("start", attempt, message)
        if "refused" in answer:
            self._end(attempt, StepOutcome(succeeded=False, fatal=True, message=str(answer["refused"])))
        elif "known" in answer and not answer.get("carried"):
            attempt.carrier = ""  # It was begun before, and is over: nothing vouches for it any more.
        elif "late" in answer:
            self._end(attempt, StepOutcome(succeeded=False, message="not started: it was told too late"), put_back=True)

    async def adopt(self, attempt: RemoteAttempt, message: Received) -> None:
        """Have an attempt of a dead controller gone on with."""
        answer = await self._tell("adopt", attempt, message)
        if {"refused", "elsewhere", "late"} & answer.keys():
            attempt.carrier = ""  # Nothing vouches for it any more.

    async def _tell(self, verb: str, attempt: RemoteAttempt, message: Received) -> Received:
        """Tell something about an attempt until it is answered, or the attempt is lost."""
        for each in self._of_same_carrier(attempt.carrier):
            # What is told of one renews the lease of all that this carries.
            each.until = max(each.until, attempt.until)
        told = {
            **message,
            "token": attempt.token.message,
            "lease_bound": attempt.lease_bound,
            "carrier": attempt.carrier,
            "instance": attempt.instance_id,
            "needs": None if attempt.needs is None else attempt.needs.text,
        }
        until = attempt.until
        while self._has(attempt):
            attempt.is_sent = True
            try:
                return await self.ask(verb, {**told, "until": until + self._ahead})
            except UnreachableError:
                await asyncio.sleep(PAUSE)
        return {}

    async def stop(self, key: HistoryId) -> None:
        """Have an attempt stopped; its end is reported as every other."""
        while (attempt := self.attempts.get(key)) is not None:
            try:
                await self.ask("stop", {"token": attempt.token.message})
            except UnreachableError:
                await asyncio.sleep(PAUSE)
            else:
                return

    async def ask(self, verb: str, message: Received, *, within: float = ANSWERED_IN) -> Received:
        """Ask it something; raises `UnreachableError` when no answer comes in time."""
        asked = {**self.means.message, **message}
        try:
            async with asyncio.timeout(within):
                answer = await self.transport.ask(self.offer.name, verb, asked, within=within)
        except TimeoutError:
            silence = f"no answer within {within:.0f} s"
            raise UnreachableError(silence) from None
        heard_at = self.means.monotonic()
        try:
            # It has read its clock before the answer came: what is reckoned by this is no later there than here.
            ahead, busy = float(answer["clock"]) - heard_at, int(answer["busy"])
            taken = {str(name): float(amount) for name, amount in answer["taken"].items()}
        except UNREADABLE as error:
            raise UnreachableError(_unreadable(error)) from error
        self._heard_at, self._ahead = heard_at, ahead
        gave_back = any(taken.get(name, 0) < amount for name, amount in self.taken.items())
        before, self.busy, self.taken = self.busy, busy, taken
        if busy < before or gave_back:
            self.means.has_room()
        return answer

    async def _meet(self) -> None:
        answer = await self.ask("hello", {}, within=MET_IN)
        if "refused" in answer:
            raise UnreachableError(str(answer["refused"]))
        facts = AgentFacts.of(answer["facts"])
        if facts.version != self.means.version:
            told = f"it runs batchctl {facts.version}, and its controller {self.means.version}"
            raise UnreachableError(told)
        self._grace = max(self._grace, facts.stop_grace)
        self.carrier, self._behind = str(answer["carrier"]), 0
        self.facts, self.failure = facts, None
        self.means.has_room()

    async def _hear(self) -> None:
        recorded = self._recorded.copy()
        asked = self._asked_for_news(wait=self.means.news_wait)
        answer = await self.ask("news", asked, within=self.means.news_wait + ANSWERED_IN)
        if "refused" in answer:
            raise UnreachableError(str(answer["refused"]))
        self._recorded -= recorded
        if answer["carrier"] != self.carrier:
            self.facts = None
            return
        self.failure = None
        now = self.means.now()
        for each in answer.get("reports", ()):
            self._take(wire.report_of(each, now))
        self._behind = int(str(answer["last"]))

    def _take(self, report: Report) -> None:
        """Pass on what is reported of an attempt of this agent; of one that was given up, only how it ended in the end."""
        if report.key in self.attempts:
            if isinstance(report, Finished):
                self._heard_ends.add(report.key)
                del self.attempts[report.key]
            self.means.report(report)
        elif report.key in self.given_up and isinstance(report, Finished):
            self.given_up.discard(report.key)
            self._recorded.add(report.key)
            self.means.report(report)

    def _asked_for_news(self, *, wait: float) -> Message:
        """Return what is asked, with what the agent is told: which ends are committed, and until when it may go on."""
        until = self._renewed_lease()
        return {
            "carrier": self.carrier,
            "behind": self._behind,
            "wait": wait,
            "until": None if until is None else until + self._ahead,
            "recorded": [*self._recorded],
        }

    def _renewed_lease(self) -> float | None:
        """Renew the lease of what it carries; what it was told under another mark has to end when its lease does."""
        own = self._of_same_carrier(self.carrier)
        if not own or self.is_silent:
            return None
        until = self._may_go_on_until()
        for each in own:
            each.until = max(each.until, until)
        return until

    def _of_same_carrier(self, carrier: str) -> list[RemoteAttempt]:
        return [each for each in [*self.attempts.values()] if each.carrier == carrier]

    def _may_go_on_until(self) -> float:
        return min(self.lease_until, self.means.monotonic() + self.means.lease)

    def _give_up_lost(self) -> None:
        """Report as lost what a silent agent, or one that has begun anew, cannot have running any more."""
        now = self.means.monotonic() - max(self._grace, self.means.grace) - MARGIN
        for attempt in [*self.attempts.values()]:
            if now < attempt.until:
                continue
            if not attempt.is_sent:
                outcome = StepOutcome(succeeded=False, message=f"not started: agent {self.offer.name} is gone")
                self._end(attempt, outcome, put_back=True)
            elif self.is_silent:
                why = "" if self.failure is None else f" ({self.failure})"
                self._lose(attempt, f"agent {self.offer.name} has not answered{why}")
            elif attempt.carrier != self.carrier:
                self._lose(attempt, f"agent {self.offer.name} carries it no more")

    def _lose(self, attempt: RemoteAttempt, message: str) -> None:
        self._end(attempt, StepOutcome(succeeded=False, lost=True, message=message))

    def _end(self, attempt: RemoteAttempt, outcome: StepOutcome, *, put_back: bool = False) -> None:
        """Report an end that is known here alone, unless the attempt has ended meanwhile."""
        if self._has(attempt):
            del self.attempts[attempt.token.history_id]
            if outcome.lost:
                self.given_up.add(attempt.token.history_id)
            ended = Finished(attempt.token.history_id, outcome, None, never_ran=put_back)
            self.means.report(replace(ended, may_end_later=outcome.lost))

    def _has(self, attempt: RemoteAttempt) -> bool:
        return self.attempts.get(attempt.token.history_id) is attempt


def _unreadable(error: Exception) -> str:
    return f"its answer cannot be read: {in_short(error)}"

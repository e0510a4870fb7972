"""A duty of the leader: once a day it sends the report of the night, at least once and, as far as possible, at most once.

It goes the way of the outbox: the report is claimed by a row, made and sent on a thread, and ticked off by another row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from typing import ClassVar

from batchctl.domain.alerting.night_schedule import (
    NightAct,
    NightTimes,
    claims,
    is_sent,
    may_be_sent,
    night_target,
)
from batchctl.domain.alerting.night_summary import NightSpan
from batchctl.domain.errors import BatchctlError, Busy, Conflict
from batchctl.domain.records import moment
from batchctl.domain.text import fitting, in_short
from batchctl.domain.values import named_value
from batchctl.logs import Event, Listener
from batchctl.ports import Answer, Boundary, Change, Clock, Inquiries, Transactions
from batchctl.store import Connection
from batchctl.store.maintenance import audit_entries
from batchctl.store.maintenance.audit_entries import By

EVERY = timedelta(seconds=5)
PARTING = timedelta(seconds=2)
"""How long a controller that stops waits for reports that are under way."""
TOO_LATE = 30.0
"""Seconds after which a claimed report is no longer begun: a controller that slept leaves it to others."""
_BOUNDARIES = frozenset({Boundary.ALERT})


@named_value
class NightSending:
    """A report on its way through a channel."""

    channel: str
    day: date
    night: NightSpan
    attempt: int

    @property
    def target(self) -> str:
        """Return how the audit log names it."""
        return fitting(night_target(self.day, self.channel))


@dataclass(slots=True, kw_only=True)
class NightMailing:
    """Sends the report of the last night through each of its channels; what keeps one of them waiting keeps no other."""

    transactions: Transactions
    """What has become of a report is written whether this controller leads still or not."""
    leaders: Transactions
    """Only the leader claims."""
    clock: Clock
    inquiries: Inquiries
    send: Callable[[str, NightSpan, date], None]
    """Make the report of a night and send it through a channel; any thread may call this."""
    times: NightTimes
    channels: Sequence[str]
    actor: str
    host: str
    controller: str
    listener: Listener
    _flying: dict[int, NightSending] = field(default_factory=dict)
    """What is being sent, by the place of its channel."""
    _ended: list[tuple[NightSending, str | None]] = field(default_factory=list)
    """Outcomes that are not written yet: why it could not be sent, or None."""
    _looked_at: float = -math.inf
    _sent: set[str] = field(default_factory=set)
    """What was sent of the last night, so that it need not be looked up again."""

    name: ClassVar[str] = "report"

    @property
    def is_busy(self) -> bool:
        """Say whether anything is under way."""
        return bool(self._flying or self._ended)

    def look(self, noticed: Change = Change.NOTHING) -> bool:  # noqa: ARG002 - it looks by the clock
        """Write what has come of reports, and begin to send what is due."""
        try:
            self._take_in(self.inquiries.answers(), nowait=True)
            now = self.clock.monotonic()
            if now - self._looked_at >= EVERY.total_seconds():
                self._looked_at = now
                self._begin_due(nowait=True)
        except Conflict:
            # Somebody keeps the rows locked; the next look comes soon.
            pass
        return False

    def finish(self) -> bool:
        """Send what is due, and wait for it within the time limits."""
        self._take_in(self.inquiries.answers(), nowait=False)
        self._begin_due(nowait=False)
        while self._flying:
            self.inquiries.wait()
            self._take_in(self.inquiries.answers(), nowait=False)
        return False

    def settle(self) -> None:
        """Wait a moment for what is under way, lest others send it again."""
        until = self.clock.monotonic() + PARTING.total_seconds()
        while self._flying and self.clock.monotonic() < until:
            self.inquiries.wait(PARTING)
            self._take_in(self.inquiries.answers(), nowait=False)

    def _begin_due(self, *, nowait: bool) -> None:
        night = self.times.last(self.clock.now())
        day = self.times.day_of(night)
        waiting = {sending.target for sending, _ in self._ended}
        self._sent &= {fitting(night_target(day, channel)) for channel in self.channels}
        for key, channel in enumerate(self.channels):
            sending = NightSending(channel=channel, day=day, night=night, attempt=0)
            if key in self._flying or sending.target in self._sent | waiting:
                continue
            with self.transactions.read() as connection:
                acts = audit_entries.of_target(connection, sending.target)
            if is_sent(acts):
                self._sent.add(sending.target)
            elif may_be_sent(acts, self.clock.now()):
                self._begin(key, sending, nowait=nowait)

    def _begin(self, key: int, sending: NightSending, *, nowait: bool) -> None:
        until = self.clock.monotonic() + TOO_LATE
        claimed = self.leaders.run(_BOUNDARIES, partial(self._claim, sending), nowait=nowait)
        if claimed is None:
            return
        self._flying[key] = claimed
        if not self.inquiries.ask(key, partial(self._send, claimed, until)):
            said = "It still hangs: an attempt that was given up has not ended."
            self._take_in([Answer(key, error=Busy(said))], nowait=nowait)

    def _claim(self, sending: NightSending, connection: Connection) -> NightSending | None:
        """Write that it is being sent, unless another controller has meanwhile."""
        acts = audit_entries.of_target(connection, sending.target)
        if not may_be_sent(acts, self.clock.now()):
            return None
        claimed = NightSending(channel=sending.channel, day=sending.day, night=sending.night, attempt=claims(acts) + 1)
        self._write(connection, claimed, NightAct.CLAIM, None)
        return claimed

    def _send(self, sending: NightSending, until: float) -> None:
        if self.clock.monotonic() > until:
            message = "This controller slept before it could send; it is tried again."
            raise Busy(message)
        self.send(sending.channel, sending.night, sending.day)

    def _take_in(self, answers: Sequence[Answer], *, nowait: bool) -> None:
        for answer in answers:
            sending = self._flying.pop(answer.key, None)
            if sending is not None:
                self._ended.append((sending, None if answer.error is None else _wording(answer.error)))
        while self._ended:
            sending, wording = self._ended[0]
            act = NightAct.SENT if wording is None else NightAct.FAILED
            work = partial(self._write, sending=sending, act=act, reason=wording)
            self.transactions.run(_BOUNDARIES, work, nowait=nowait)
            self._ended.pop(0)
            about = {"Channel": sending.channel, "Night": sending.day.isoformat()}
            if wording is None:
                self._sent.add(sending.target)
                self.listener(Event("report.sent", {**about}))
            else:
                self.listener(Event("report.trouble", {**about, "Message": wording}))

    def _write(self, connection: Connection, sending: NightSending, act: NightAct, reason: str | None) -> None:
        by = By(self.actor, self.host, self.clock.now())
        after = {
            "Channel": sending.channel,
            "Attempt": sending.attempt,
            "Since": moment(sending.night.since),
            "Until": moment(sending.night.until),
            "ControllerName": self.controller,
        }
        audit_entries.add(connection, by, act.value, sending.target, reason, None, after)


def _wording(error: Exception) -> str:
    return error.in_full if isinstance(error, BatchctlError) else in_short(error)

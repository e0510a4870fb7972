"""Sending what was written about incidents: each message is claimed by one controller, sent on a thread, and ticked off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from batchctl.control.alerting.incident_watch import STALE, FrozenWork
from batchctl.domain.alerting.alert_text import Notification
from batchctl.domain.alerting.alerts import GIVEN_UP_AFTER, taken_back, wait_after
from batchctl.domain.errors import BatchctlError, Busy
from batchctl.domain.text import in_short
from batchctl.logs import Event, EventValue, Listener
from batchctl.ports import Answer, Boundary, Clock, Inquiries, Transactions
from batchctl.store import Connection
from batchctl.store.alerting import alert_deliveries, incident_rows
from batchctl.store.alerting.alert_deliveries import Delivery, DeliveryId

PAGE = 200
"""Messages of a channel that are looked at."""
PARTING = timedelta(seconds=2)
"""How long a controller that stops waits for messages that are under way."""
TOO_LATE = 30.0
"""Seconds after which a claimed message is no longer begun to be sent: a controller that slept leaves it to others."""

_BOUNDARIES = frozenset({Boundary.ALERT})


@dataclass(slots=True)
class Outbox:
    """Sends, one message at a time through each channel: one that hangs keeps only its own messages waiting."""

    transactions: Transactions
    clock: Clock
    inquiries: Inquiries
    send: Callable[[str, Notification], None]
    """Send a notification through a channel; any thread may call this."""
    channels: Sequence[str]
    origin: str
    """The name of the control database among all others."""
    controller: str
    listener: Listener
    _flying: dict[int, Delivery] = field(default_factory=dict)
    """What is being sent, by the place of its channel."""
    _ended: list[tuple[Delivery, str | None]] = field(default_factory=list)
    """Outcomes of messages that are not written yet: why they could not be sent, or None."""

    @property
    def is_busy(self) -> bool:
        """Say whether anything is under way."""
        return bool(self._flying or self._ended)

    def look(self, *, nowait: bool = True) -> bool:
        """Write what has come of messages, and begin to send what is due; true when something was begun.

        Without nowait, wait for the locks of others.
        """
        self._take_in(self.inquiries.answers(), nowait=nowait)
        with self.transactions.read() as connection:
            now, begun = self.clock.now(), False
            # Of each channel by itself: whatever waits for one that delivers nothing hides no other's.
            each = (alert_deliveries.waiting_of(connection, channel, PAGE) for channel in self.channels)
            due = [one for of_channel in each for one in of_channel if self._may_be_sent(one, now)]
            waiting = list[tuple[Delivery, str | None]]()
            if due:
                frozen = FrozenWork.read(connection, now)
                about = {
                    one.incident_id: one for one in incident_rows.these(connection, [at.incident_id for at in due])
                }
                waiting = [
                    (at, taken_back(at.kind, about[at.incident_id], now))
                    for at in due
                    if not frozen.holds(about[at.incident_id])
                ]
        for one, why in waiting:
            if why is not None:
                # It was being sent in vain when that happened, or the controller that had claimed it died.
                self._withdraw(one, why, nowait=nowait)
            elif self._may_be_sent(one, now):
                begun |= self._begin(one, nowait=nowait)
        return begun

    def finish(self) -> None:
        """Send all that is due, and wait for it within the time limits."""
        while self.look(nowait=False) or self._flying:
            self.inquiries.wait()

    def settle(self) -> None:
        """Wait a moment for what is under way, lest others send it again; what takes longer is left to them."""
        until = self.clock.monotonic() + PARTING.total_seconds()
        while self._flying and self.clock.monotonic() < until:
            self.inquiries.wait(PARTING)
            self._take_in(self.inquiries.answers(), nowait=False)
        self._take_in((), nowait=False)

    def _may_be_sent(self, one: Delivery, now: datetime) -> bool:
        if one.channel not in self.channels or self.channels.index(one.channel) in self._flying:
            return False
        if one.next_attempt > now or one.delivery_id in {ended.delivery_id for ended, _ in self._ended}:
            return False
        return one.claimed_by is None or one.claimed_at is None or one.claimed_at < now - STALE

    def _begin(self, one: Delivery, *, nowait: bool) -> bool:
        def claim(connection: Connection) -> bool:
            return alert_deliveries.claim(connection, one, self.controller, self.clock.now())

        key = self.channels.index(one.channel)
        until = self.clock.monotonic() + TOO_LATE
        if not self.transactions.run(_BOUNDARIES, claim, nowait=nowait):
            return False
        self._flying[key] = one
        if not self.inquiries.ask(key, partial(self._send, one, until)):
            said = "It still hangs: an attempt that was given up has not ended."
            self._take_in([Answer(key, error=Busy(said))], nowait=nowait)
        return True

    def _withdraw(self, one: Delivery, why: str, *, nowait: bool) -> None:
        def withdraw(connection: Connection) -> None:
            now = self.clock.now()
            alert_deliveries.withdraw(connection, one.incident_id, why, now - STALE, now)

        self.transactions.run(_BOUNDARIES, withdraw, nowait=nowait)

    def _send(self, one: Delivery, until: float) -> DeliveryId:
        if self.clock.monotonic() > until:
            message = "This controller slept before it could send; it is tried again."
            raise Busy(message)
        notification = Notification(
            origin=self.origin, number=one.delivery_id, incident_id=one.incident_id, kind=one.kind, message=one.message
        )
        self.send(one.channel, notification)
        return one.delivery_id

    def _take_in(self, answers: Sequence[Answer], *, nowait: bool) -> None:
        for answer in answers:
            one = self._flying.pop(answer.key, None)
            if one is not None:
                self._ended.append((one, None if answer.error is None else _wording(answer.error)))
        while self._ended:
            one, said = self._ended[0]
            event = self.transactions.run(_BOUNDARIES, partial(self._tick_off, one, said), nowait=nowait)
            self._ended.pop(0)
            self.listener(event)

    def _tick_off(self, one: Delivery, wording: str | None, connection: Connection) -> Event:
        now = self.clock.now()
        about: dict[str, EventValue] = {"Incident_id": one.incident_id, "Channel": one.channel, "Kind": one.kind.value}
        if wording is None:
            alert_deliveries.set_sent(connection, one, self.controller, now)
            return Event("alert.sent", about)
        is_over = one.made_at < now - GIVEN_UP_AFTER
        following = None if is_over else now + wait_after(one.attempts + 1)
        alert_deliveries.put_back(connection, one, self.controller, wording, following, now)
        return Event("alert.trouble", {**about, "Message": wording})


def _wording(error: Exception) -> str:
    return error.in_full if isinstance(error, BatchctlError) else in_short(error)

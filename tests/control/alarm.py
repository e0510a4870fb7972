"""A leader's duty that tells people of problems, with channels that the test watches over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from batchctl.control.alerting.alerting import Alerting
from batchctl.control.alerting.incident_search import IncidentSearch
from batchctl.control.alerting.incident_watch import IncidentWatch
from batchctl.control.alerting.outbox import Outbox
from batchctl.domain.alerting.alert_text import Notification
from batchctl.domain.alerting.alerts import AlertRules, Audience
from batchctl.ports import Answer
from tests.control.world import World

RULES = AlertRules(channels=[Audience(name="mail")])


@dataclass
class AtOnce:
    """`Inquiries` that are answered at once, or not while the test says that they hang."""

    asked: dict[int, Callable[[], Any]] = field(default_factory=dict)
    hang: set[int] = field(default_factory=set)

    def ask(self, key: int, question: Callable[[], Any]) -> bool:
        """Keep a question."""
        if key in self.asked:
            return False
        self.asked[key] = question
        return True

    def answers(self) -> Sequence[Answer]:
        """Ask all that do not hang."""
        ready = {key: self.asked.pop(key) for key in list(self.asked) if key not in self.hang}
        return [self._answer(key, question) for key, question in ready.items()]

    def _answer(self, key: int, question: Callable[[], Any]) -> Answer:
        try:
            return Answer(key, question())
        except Exception as error:  # noqa: BLE001 - as the real ones
            return Answer(key, error=error)

    @property
    def is_busy(self) -> bool:
        """Say whether anything is asked."""
        return bool(self.asked)

    def wait(self, at_most: timedelta | None = None) -> None:
        """Nothing takes any time here."""


class Alarm:
    """One controller's duty, and what it has sent."""

    def __init__(
        self, world: World, rules: AlertRules = RULES, name: str | None = "c1", transactions: Any = None
    ) -> None:
        self.world = world
        self.sent: list[tuple[str, Notification]] = []
        self.broken: dict[str, str] = {}
        self.inquiries = AtOnce()
        used = transactions or world.transactions
        means = used, world.clock, world.events.append
        watch = IncidentWatch(*means, rules, IncidentSearch(world.clock, rules, name))
        outbox = Outbox(
            transactions=used,
            clock=world.clock,
            inquiries=self.inquiries,
            send=self._send,
            channels=[channel.name for channel in rules.channels],
            origin="test",
            controller=name or "watch",
            listener=world.events.append,
        )
        self.duty = Alerting(world.clock, watch, outbox)

    def _send(self, channel: str, notification: Notification) -> None:
        if channel in self.broken:
            raise OSError(self.broken[channel])
        self.sent.append((channel, notification))

    def announced(self) -> list[str]:
        """Look at once and in full; return the titles of what has been sent since the last time."""
        self.duty.finish()
        titles = [notification.message.title for _, notification in self.sent]
        self.sent.clear()
        return titles


def rules(**given: Any) -> AlertRules:
    """Return the usual rules with something else."""
    return replace(RULES, **given)

"""The report of the night is sent once a day by the leader, also when it was down at the time, and again when that failed."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from batchctl.control.alerting.night_sending import NightMailing
from batchctl.domain.alerting.night_schedule import STALE, NightTimes
from batchctl.domain.alerting.night_summary import NightSpan
from batchctl.domain.errors import BatchctlError, NotLeading
from batchctl.ports import Transactions
from tests.control.alarm import AtOnce
from tests.control.world import World

DUE = timedelta(hours=3, minutes=30)
"""The world begins on a Saturday at 03:00 UTC; the report is due at half past six."""
NIGHT = NightSpan(since=datetime(2026, 11, 20, 18, tzinfo=UTC), until=datetime(2026, 11, 21, 6, 30, tzinfo=UTC))


class Dispatched:
    """One controller's duty, and what it has sent."""

    def __init__(self, world: World, name: str = "c1", *channels: str, leaders: Any = None, zone: str = "UTC") -> None:
        self.world, self.sent = world, list[tuple[str, NightSpan, date]]()
        self.broken: set[str] = set()
        self.inquiries = AtOnce()
        self.duty = NightMailing(
            transactions=world.transactions,
            leaders=leaders or world.transactions,
            clock=world.clock,
            inquiries=self.inquiries,
            send=self._send,
            times=NightTimes(due="06:30", since="18:00", zone=zone),
            channels=channels or ("mail",),
            actor="batchctl",
            host="host1",
            controller=name,
            listener=world.events.append,
        )

    def _send(self, channel: str, night: NightSpan, day: date) -> None:
        if channel in self.broken:
            raise BatchctlError("The server does not answer.")
        self.sent.append((channel, night, day))

    def look(self, after: timedelta = timedelta(0)) -> list[str]:
        """Let time pass, look twice, and return the channels through which a report was sent."""
        self.world.clock.advance(after)
        before = len(self.sent)
        self.duty.look()
        self.duty.look()
        return [channel for channel, _, _ in self.sent[before:]]


def acts(world: World) -> list[tuple[str, str]]:
    return [
        (str(action), str(target))
        for action, target in world.sql(
            "SELECT Action, Target FROM AuditLog WHERE Action LIKE 'report%' ORDER BY AuditLog_id"
        )
    ]


def sent_before(world: World) -> None:
    """Let the report of the night before have been sent, as a controller that was there did."""
    duty = Dispatched(world)
    duty.look()
    assert [day for _, _, day in duty.sent] == [date(2026, 11, 20)]


def test_it_is_sent_when_it_is_due_and_once_only(world: World) -> None:
    sent_before(world)
    duty = Dispatched(world)

    assert duty.look(DUE - timedelta(seconds=6)) == []
    assert duty.look(timedelta(seconds=6)) == ["mail"]
    assert duty.sent == [("mail", NIGHT, date(2026, 11, 21))]
    assert [duty.look(timedelta(minutes=minutes)) for minutes in (1, 10, 60, 600)] == [[], [], [], []]
    assert acts(world)[2:] == [
        ("report claim", "Report:night 2026-11-21:mail"),
        ("report sent", "Report:night 2026-11-21:mail"),
    ]
    assert [event.name for event in world.events].count("report.sent") == 2

    assert duty.look(timedelta(days=1)) == ["mail"]
    assert duty.sent[-1][2] == date(2026, 11, 22)


@pytest.mark.parametrize("later", [timedelta(minutes=1), timedelta(hours=5, minutes=30), timedelta(hours=23)])
def test_a_controller_that_was_down_sends_it_then(world: World, later: timedelta) -> None:
    sent_before(world)
    world.clock.advance(DUE + later)

    started = Dispatched(world, "c2")

    assert started.look() == ["mail"]
    assert started.sent == [("mail", NIGHT, date(2026, 11, 21))]
    assert Dispatched(world, "c3").look(timedelta(minutes=10)) == []


def test_of_two_controllers_one_sends(world: World) -> None:
    first, second = Dispatched(world, "c1"), Dispatched(world, "c2")
    first.inquiries.hang.add(0)
    first.look()

    assert second.look() == []
    assert second.look(timedelta(seconds=20)) == []
    assert (first.sent, second.sent) == ([], [])
    first.inquiries.hang.clear()
    assert first.look() == ["mail"]
    assert second.look(timedelta(hours=1)) == []


def test_one_that_died_while_it_sent_leaves_it_to_the_next_after_a_while(world: World) -> None:
    dead = Dispatched(world, "c1")
    dead.inquiries.hang.add(0)
    dead.look()
    second = Dispatched(world, "c2")

    assert second.look(STALE - timedelta(seconds=6)) == []
    assert second.look(timedelta(seconds=10)) == ["mail"]
    said = world.one("SELECT ValuesAfter FROM AuditLog WHERE Action = 'report sent'")
    assert (json.loads(said)["Attempt"], json.loads(said)["ControllerName"]) == (2, "c2")


def test_a_channel_that_fails_is_tried_again_and_keeps_no_other_waiting(world: World) -> None:
    duty = Dispatched(world, "c1", "mail", "chat")
    duty.broken.add("mail")

    assert duty.look() == ["chat"]
    assert [event.name for event in world.events].count("report.trouble") == 1
    assert world.one("SELECT Reason FROM AuditLog WHERE Action = 'report failed'") == "The server does not answer."
    assert duty.look(timedelta(seconds=50)) == []
    assert [event.name for event in world.events].count("report.trouble") == 1
    assert duty.look(timedelta(seconds=15)) == []
    assert [event.name for event in world.events].count("report.trouble") == 2
    duty.broken.clear()
    assert duty.look(timedelta(minutes=1)) == []
    assert duty.look(timedelta(minutes=2)) == ["mail"]
    assert duty.look(timedelta(hours=1)) == []


def test_one_that_leads_no_more_claims_nothing(world: World) -> None:
    class Deposed:
        def run(self, *args: object, **options: object) -> None:
            raise NotLeading("another controller leads")

    leaders: Any = Deposed()
    late = Dispatched(world, leaders=leaders)

    with pytest.raises(NotLeading):
        late.duty.look()
    assert (late.sent, acts(world)) == ([], [])


def test_what_was_sent_is_written_though_another_leads_by_then(world: World) -> None:
    duty = Dispatched(world)
    duty.inquiries.hang.add(0)
    duty.look()
    duty.inquiries.hang.clear()
    transactions: Transactions = world.transactions

    class Deposed:
        read = transactions.read

        def run(self, *args: object, **options: object) -> None:
            raise NotLeading("another controller leads")

    leaders: Any = Deposed()
    duty.duty.leaders = leaders

    assert duty.look() == ["mail"]
    assert acts(world)[-1][0] == "report sent"


def test_a_single_round_sends_it_and_waits_for_that(world: World) -> None:
    duty = Dispatched(world, "c1", "mail", "chat")

    duty.duty.finish()

    assert [channel for channel, _, _ in duty.sent] == ["mail", "chat"]
    assert not duty.duty.is_busy


def test_the_night_goes_by_the_clocks_of_the_business(world: World) -> None:
    duty = Dispatched(world, zone="Europe/Amsterdam")
    duty.look()

    assert duty.look(DUE - timedelta(hours=1, seconds=6)) == []
    assert duty.look(timedelta(seconds=10)) == ["mail"]
    assert duty.sent[-1][1].until == datetime(2026, 11, 21, 5, 30, tzinfo=UTC)

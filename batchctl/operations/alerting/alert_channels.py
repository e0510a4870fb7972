"""The channels of the configuration: whether each can work, what went out last, and a message to try them with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Annotated

from batchctl.config import FILE_NAME, Settings
from batchctl.domain.alerting.alert_text import Message, Notification
from batchctl.domain.errors import BatchctlError, NotFound
from batchctl.domain.outcomes import HealthFinding, Result
from batchctl.domain.records import Apart
from batchctl.domain.status import DeliveryKind
from batchctl.domain.text import did_you_mean, visible
from batchctl.operations.alerting.incident_desk import last_deliveries
from batchctl.operations.column_lists import ColumnList, record
from batchctl.ports import Ids, Transactions
from batchctl.store.alerting.alert_deliveries import Delivery
from batchctl.system import alert_sinks
from batchctl.system.concurrency.time_limits import all_within

MARGIN = timedelta(seconds=5)
"""How much later than its own time limit a channel may end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelState:
    """A channel, and how it stands."""

    name: Annotated[str, "Channel"]
    kind: str
    on: str
    finding: Annotated[str | None, "Problem"]
    """Why it cannot work."""
    remedy: Apart[str]
    last: Apart[Delivery | None]

    @property
    def wrong(self) -> str | None:
        """Say why it cannot work, or why its last message did not."""
        return self.finding or (None if self.last is None else self.last.wording)


CHANNELS = ColumnList[ChannelState](
    "Channels",
    {**record(ChannelState), "LastDelivery": lambda one: one.last},
    {
        "name": "Channel",
        "kind": "Kind",
        "on": "On",
        "last message": lambda one: None if one.last is None else one.last.message.title,
        "": lambda one: None if one.last is None else one.last.status,
        "at (UTC)": lambda one: None if one.last is None else one.last.sent_at or one.last.made_at,
        "trouble": lambda one: one.wrong,
    },
)


def channels(transactions: Transactions, settings: Settings) -> tuple[ChannelState, ...]:
    """Return all channels."""
    given = settings.alerts.channels
    last = last_deliveries(transactions, [*given])
    found = []
    for name, one in given.items():
        wrong = alert_sinks.finding_of(settings, name)
        made = ChannelState(
            name=name,
            kind=one.kind,
            on=one.on,
            finding=None if wrong is None else wrong.message,
            remedy="" if wrong is None else wrong.next_step or "",
            last=last[name],
        )
        found.append(made)
    return tuple(found)


def findings(settings: Settings) -> Iterator[tuple[str, HealthFinding]]:
    """Yield the findings about the channels, for `doctor`."""
    for name, one in settings.alerts.channels.items():
        wrong = alert_sinks.finding_of(settings, name)
        if wrong is None:
            said = f"It can send, as far as that shows without sending anything ({visible(one.kind)})."
            yield f"alerts.channels.{name}", HealthFinding("channel", Result.OK, said)
        else:
            yield f"alerts.channels.{name}", HealthFinding("channel", Result.FAIL, wrong.message, wrong.next_step or "")


def report_findings(settings: Settings) -> Iterator[tuple[str, HealthFinding]]:
    """Yield what is wrong with the section that says when the report of the night is sent."""
    known = settings.alerts.channels
    for name in dict.fromkeys(settings.report.channels):
        if name not in known:
            said = f"There is no channel '{visible(name)}', so the report of the night does not go there."
            said += did_you_mean(name, known)
            mend = f"add [alerts.channels.NAME] to {FILE_NAME}, or correct channels of [report]"
            yield "report.channels", HealthFinding("report", Result.FAIL, visible(said), mend)


def check_channel(settings: Settings, name: str) -> None:
    """Refuse the name of a channel that is not in the configuration."""
    given = settings.alerts.channels
    if name not in given:
        known = did_you_mean(name, given)
        raise NotFound(f"There is no channel '{visible(name)}'.{visible(known)}", next_step="batchctl alert list")


def try_out(
    settings: Settings, send: Callable[[str, Notification], None], ids: Ids, only: str | None
) -> dict[str, str | None]:
    """Send a test message through a channel, or through all; return why it could not be sent, or None, of each."""
    given = settings.alerts.channels
    if only is not None and only not in given:
        known = did_you_mean(only, given)
        raise NotFound(f"There is no channel '{visible(only)}'.{visible(known)}", next_step="batchctl alert list")
    if not given:
        raise NotFound("No channel is configured.", next_step="add [alerts.channels.NAME] to batchctl.toml")
    names = [only] if only is not None else [*given]
    body = f"This is a test of batchctl by {visible(ids.user())} on {visible(ids.host())}. Nothing is the matter."
    message = Message(title="[TEST] batchctl can reach you", body=body)
    notification = Notification(
        origin=ids.controller_id(), number=0, incident_id=0, kind=DeliveryKind.ALERT, message=message
    )
    limit = timedelta(seconds=max(given[name].timeout for name in names)) + MARGIN
    found = all_within(limit, {name: partial(_try, send, name, notification) for name in names})
    return {name: found.get(name, "There was no answer in time.") for name in names}


def _try(send: Callable[[str, Notification], None], name: str, notification: Notification) -> str | None:
    try:
        send(name, notification)
    except BatchctlError as error:
        return error.in_full
    return None

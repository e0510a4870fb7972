"""Sending the report of a night through a channel for alerts: as text, and to mails as a page besides."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from html import escape

from batchctl import config
from batchctl.config import Settings
from batchctl.domain.alerting.alert_text import TITLE, Message, Notification
from batchctl.domain.errors import BatchctlError, ConfigurationError
from batchctl.domain.status import DeliveryKind
from batchctl.domain.text import shorten, typed, visible
from batchctl.operations.alerting.alert_channels import MARGIN
from batchctl.operations.reports import night_page
from batchctl.operations.reports.night_lists import NightReport
from batchctl.system.concurrency.time_limits import all_within
from batchctl.system.masking import masked, telling

Send = Callable[[str, Notification], None]


def masked_page(settings: Settings, report: NightReport) -> str:
    """Return the report as a page of HTML without what the configuration says is secret."""
    secrets = telling(config.known_secrets(settings))
    return masked(night_page.page(report), [*secrets, *map(escape, secrets)])


def notification(settings: Settings, report: NightReport, origin: str, name: str | None = None) -> Notification:
    """Return the report as it is sent; `name` says which one it is where it may have to be sent again."""
    secrets = telling(config.known_secrets(settings))
    page = masked_page(settings, report)
    body = masked(night_page.text(report), secrets)
    title = masked(shorten(visible(report.verdict), TITLE), secrets)
    return Notification(
        origin=origin,
        number=0,
        incident_id=0,
        kind=DeliveryKind.DIGEST,
        message=Message(title=title, body=body),
        name=name or f"night-{report.now:%Y%m%dT%H%M%S}.{report.now.microsecond // 1000:03}",
        html=page,
    )


def deliver(settings: Settings, send: Send, made: Notification, channel: str) -> None:
    """Send it, and wait for that as long as the channel may take; raises what keeps it from being sent."""
    limit = timedelta(seconds=settings.alerts.channels[channel].timeout) + MARGIN
    found = all_within(limit, {channel: partial(_try, send, channel, made)})
    error = found.get(channel, BatchctlError("There was no answer in time."))
    if isinstance(error, ConfigurationError):
        raise error
    if error is not None:
        message = f"The report could not be sent through {visible(channel)}: {error.message}"
        raise BatchctlError(message, next_step=f"batchctl alert test {typed(channel)}")


def _try(send: Send, channel: str, made: Notification) -> BatchctlError | None:
    try:
        send(channel, made)
    except BatchctlError as error:
        return error
    return None

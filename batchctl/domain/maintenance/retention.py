"""How long what is over is kept: as rows of `Setting` say, else for ever, except the scheduler log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated

from batchctl.domain.records import Apart
from batchctl.domain.rows import BatchId, InstanceId, IntakeId
from batchctl.domain.status import InstanceStatus, IntakeStatus
from batchctl.domain.text import did_you_mean, visible
from batchctl.domain.values import named_value

LOG_DAYS, AUDIT_DAYS, INBOX_DAYS, REQUEST_DAYS = "SchedulerLogDays", "AuditLogDays", "InboxDays", "RequestDays"
INCIDENT_DAYS = "IncidentDays"
OUTCOMES = {"CompleteDays": InstanceStatus.COMPLETE, "CancelledDays": InstanceStatus.CANCELLED}
KEEP_LAST = "KeepLast"
FAILED_DAYS = "FailedDays"
"""A name that somebody may look for: there is no such setting."""
HISTORY_ROWS = "HistoryRows"
"""From how many attempts on people are told that no rule deletes them."""
OF_A_BATCH = (*OUTCOMES, KEEP_LAST)
"""Settings also possible for one batch: `CompleteDays:LoadOrders`, which wins over the one for all."""
NAMES = (LOG_DAYS, AUDIT_DAYS, INBOX_DAYS, REQUEST_DAYS, INCIDENT_DAYS, HISTORY_ROWS, *OF_A_BATCH)
"""The names in `Setting`."""
FOREVER = "forever"
LONGEST = 36_500
"""Days; what is kept longer will not be asked for."""
MOST_KEPT = 10_000
"""Instances that may be kept of a batch and an outcome whatever their age."""
LONGEST_NUMBER = 12
TO_KEEP_SMALL = "give Setting CompleteDays a value such as 90, or forever   (docs/retention.md)"
FEWEST_NIGHTS, MOST_NIGHTS = timedelta(days=60), timedelta(days=100)
"""How long kept forecasts stay at least, so that they can be checked, and at most."""
LOG_USUALLY, LAST_USUALLY, ROWS_USUALLY = timedelta(days=30), 20, 1_000_000


@dataclass(frozen=True, slots=True)
class SettingFinding:
    """A setting that makes no sense: because of it nothing is purged, rather than too much."""

    name: str
    column: str
    message: str


@dataclass(frozen=True, slots=True)
class Keep:
    """Which instances of one batch and outcome stay: the last ones, and all that are not old enough."""

    age: timedelta
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """For how long everything is kept; None: for ever."""

    scheduler_log: timedelta | None = LOG_USUALLY
    audit_log: timedelta | None = None
    inbox: timedelta | None = None
    incidents: timedelta | None = None
    requests: timedelta | None = None
    """Those that are answered."""
    forecasts: timedelta = MOST_NIGHTS
    """Those of fixed hours: as long as complete instances, within bounds."""
    instances: Mapping[tuple[BatchId, InstanceStatus], Keep] = field(default_factory=dict)
    """Those that are purged at all, by batch and outcome."""
    findings: tuple[SettingFinding, ...] = ()


def rules_of(written: Mapping[str, str], batches: Mapping[str, BatchId]) -> Rules:
    """Read the rules from the settings, by name, for the batches that there are."""
    reading = _Reading(written)
    unclear = {right for name in written if (right := meant_setting(name)) not in (None, name.partition(":")[0])}
    log, audit, inbox, requests, incidents = (
        None if name in unclear else reading.age(name, LOG_USUALLY if name == LOG_DAYS else None)
        for name in (LOG_DAYS, AUDIT_DAYS, INBOX_DAYS, REQUEST_DAYS, INCIDENT_DAYS)
    )
    if HISTORY_ROWS in written and _many(written[HISTORY_ROWS]) is None:
        what = f"which is no whole number, so it is taken for {ROWS_USUALLY}"
        said = f"It says '{visible(written[HISTORY_ROWS])}', {what}."
        reading.findings.append(SettingFinding(HISTORY_ROWS, "Value", said))
    for name in written:
        setting, colon, _ = name.partition(":")
        if colon and setting in NAMES and setting not in OF_A_BATCH:
            said = f"{setting} cannot be set for one batch, so it has no effect: write {setting} alone, for all."
            reading.findings.append(SettingFinding(name, "Name", said))
    before = len(reading.findings)
    reading.findings.extend(_misspelt(written))
    for name in written:
        setting, colon, batch = name.partition(":")
        if colon and setting in OF_A_BATCH and batch not in batches:
            meant = visible(did_you_mean(batch, batches))
            # It may be meant to keep what another one would delete.
            said = f"There is no batch '{visible(batch)}', so no instance is purged at all.{meant}"
            reading.findings.append(SettingFinding(name, "Name", said))
    instances: dict[tuple[BatchId, InstanceStatus], Keep] = {}
    ages = {outcome: reading.age(name) for name, outcome in OUTCOMES.items()}
    usually = reading.number(KEEP_LAST, LAST_USUALLY)
    for batch, batch_id in batches.items():
        last = reading.number(f"{KEEP_LAST}:{batch}", usually)
        for name, outcome in OUTCOMES.items():
            age = reading.age(f"{name}:{batch}", ages[outcome])
            if age is not None:
                instances[batch_id, outcome] = Keep(age, last)
    if len(reading.findings) > before:
        instances = {}
    return Rules(
        scheduler_log=log,
        audit_log=audit,
        inbox=inbox,
        incidents=incidents,
        requests=requests,
        forecasts=max(min(ages[InstanceStatus.COMPLETE] or MOST_NIGHTS, MOST_NIGHTS), FEWEST_NIGHTS),
        instances=instances,
        findings=tuple(reading.findings),
    )


def overgrown(written: Mapping[str, str], attempts: int) -> str | None:
    """Return that the history has grown beyond a size and no rule deletes any of it; None where that is not so.

    A setting of `forever` counts as a rule.
    """
    if any(name.partition(":")[0] in OUTCOMES for name in written):
        return None
    given = _many(written.get(HISTORY_ROWS, ""))
    most = ROWS_USUALLY if given is None else given
    if attempts <= most:
        return None
    # Without their number: with it, the text would be another each time.
    return f"BatchProcessHistory holds more than {most} attempts, and no rule says when any of them go"


def _many(wording: str) -> int | None:
    wording = wording.strip()
    return int(wording) if wording.isascii() and wording.isdecimal() and len(wording) <= LONGEST_NUMBER else None


def meant_setting(name: str) -> str | None:
    """Return the setting that a name is, in any letter case, without its batch; None where it is none of these."""
    setting = name.partition(":")[0].strip().casefold()
    return next((each for each in NAMES if each.casefold() == setting), None)


def _misspelt(written: Iterable[str]) -> Iterator[SettingFinding]:
    """Yield settings in another letter case: what one is to keep must not be deleted because it was not recognised."""
    for name in written:
        setting, colon, batch = name.partition(":")
        right = meant_setting(name)
        if right is not None and right != setting:
            said = f"It is written {right}{colon}{visible(batch)}; until then nothing is purged that it may be there to keep."
            yield SettingFinding(name, "Name", said)


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads settings, and collects what is wrong with them."""

    written: Mapping[str, str]
    findings: list[SettingFinding] = field(default_factory=list)

    def age(self, name: str, usually: timedelta | None = None) -> timedelta | None:
        """Return an age; None, which keeps everything, also for what cannot be read."""
        said = self.written.get(name)
        if said is None:
            return usually
        if said.strip().lower() == FOREVER:
            return None
        days = _whole(said)
        if days is not None and 1 <= days <= LONGEST:
            return timedelta(days=days)
        self._refuse(name, said, f"a whole number of days from 1 to {LONGEST}, or {FOREVER}")
        return None

    def number(self, name: str, usually: int) -> int:
        """Return how many are kept."""
        said = self.written.get(name)
        if said is None:
            return usually
        many = _whole(said)
        if many is not None and many <= MOST_KEPT:
            return many
        self._refuse(name, said, f"a whole number from 0 to {MOST_KEPT}")
        return MOST_KEPT

    def _refuse(self, name: str, wording: str, wanted: str) -> None:
        what = "no instance is purged at all" if name.partition(":")[0] in OF_A_BATCH else "nothing is purged by it"
        self.findings.append(
            SettingFinding(name, "Value", f"It says '{visible(wording)}', which is not {wanted}, so {what}.")
        )


def _whole(wording: str) -> int | None:
    wording = wording.strip()
    return int(wording) if wording.isascii() and wording.isdecimal() and len(wording) <= len(str(LONGEST)) else None


@named_value
class Over:
    """An instance, and all that decides whether it may be purged."""

    instance_id: InstanceId
    intake_id: IntakeId
    batch_id: BatchId
    status: InstanceStatus
    changed_at: Annotated[datetime, "z_updated"]
    intake_status: IntakeStatus
    is_free: Apart[bool]
    """True when no other connection is about to change it, or its row."""
    is_wanted: Apart[bool]
    """A completion of it waits for others."""


def may_go(
    instances: Iterable[Over],
    rules: Rules,
    oldest_kept: Mapping[tuple[BatchId, InstanceStatus], InstanceId | None],
    now: datetime,
) -> bool:
    """Say whether a FileProcess row's instances may be purged: all of them, or none.

    If one of them stayed, and somebody ran it again, the missing ones of the row would be created anew.
    """
    return all(_may_go(one, rules, oldest_kept.get((one.batch_id, one.status)), now) for one in instances)


def _may_go(one: Over, rules: Rules, oldest_kept: InstanceId | None, now: datetime) -> bool:
    keep = rules.instances.get((one.batch_id, one.status))
    if keep is None or not one.status.is_final or one.intake_status is not IntakeStatus.COMPLETE:
        return False
    if not one.is_free or one.is_wanted or one.changed_at >= now - keep.age:
        return False
    return keep.last == 0 or (oldest_kept is not None and one.instance_id < oldest_kept)

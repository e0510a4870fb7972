"""Incidents that people have to know of, and what becomes of each: one incident from the first sign to the last."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Annotated

from batchctl.domain.operators.notes import Note
from batchctl.domain.records import Apart, Hidden, Mark
from batchctl.domain.rows import BatchId, IncidentId, InstanceId
from batchctl.domain.status import IncidentKind, IncidentStatus, InstanceStatus, Severity
from batchctl.domain.text import shorten, visible
from batchctl.domain.values import named_value, value

KEY_LENGTH = 200
LEAST_NAME = 3
"""Characters of a value by which a message names a row; a shorter value may stand in it for anything."""
SIGNATURE = 120
"""Characters of an error that distinguish it from others."""
OF_AN_INSTANCE = frozenset({IncidentKind.FAILED, IncidentKind.LOST, IncidentKind.HELD})
"""Kinds that are over only when the instance is: while it is run again, it is unknown whether they are."""
OF_RUNS = frozenset(
    {IncidentKind.FAILS_OFTEN, IncidentKind.TOO_SHORT, IncidentKind.STEP_FAILED, IncidentKind.UNUSUAL_ROWS}
)
"""Kinds that only another run of the step can end."""

NO_OTHERS: Mapping[IncidentId, Collection[InstanceId]] = MappingProxyType({})

_KNOWN_CODE = r"\b(?:ORA|PLS|TNS|RMAN|SP2|SQL|DSN|HY|IM|BC|DTS|SSIS|HTTP|MSG|ERR)-?\d{1,5}[A-Z]?\b(?!\.\w)"
_CODE_IN_FRONT = r"(?:^|(?<=: ))[A-Z]{2,}-?\d{1,5}[A-Z]?(?=:)"
"""Elsewhere two capitals and a number are mostly the name of an order, or of a file."""
_BEHIND_A_WORD = r"(?i:\b(?:error|errno|code|msg|sqlstate|signal|(?:exited|ended) with)\b[ :=#]*\d{1,5}\b)"
_NUMBERS = re.compile(
    rf"(?P<named>{_KNOWN_CODE}|{_CODE_IN_FRONT}|{_BEHIND_A_WORD})|(?i:0x[0-9a-f]+|\d+|\b[0-9a-f]{{8,}}\b)"
)
"""Numbers; those that name an error (ORA-00942, error 1205, exited with 7) in a group of their own."""
_FOLDER = re.compile(r".*[/\\]")


@named_value
class IncidentSign:
    """Something that is wrong now."""

    kind: IncidentKind
    about: tuple[object, ...] = ()
    """What makes it one incident of its kind: a sign of the same is no other."""
    subject: str
    """What it is about, by a name for people."""
    message: str
    severity: Severity = Severity.ERROR
    since: datetime
    detail: str | None = None
    next_step: str | None = None
    batch_id: BatchId | None = None
    seq: int | None = None
    instance_id: InstanceId | None = None
    evidence: int = 0
    """A number that grows whenever it happens once more."""
    is_over: bool = False
    """True of what can only be reported afterwards."""

    @property
    def key(self) -> str:
        """Return what makes it one incident, as its row has it."""
        return key_of(self.kind, *self.about)


@named_value
class Incident:
    """An `Incident` row."""

    incident_id: Annotated[IncidentId, "Incident_id"]
    kind: IncidentKind
    key: Annotated[str, "IncidentKey"]
    severity: Severity
    status: IncidentStatus
    subject: str
    message: str
    detail: str | None
    next_step: str | None
    batch_id: BatchId | None
    seq: int | None
    instance_id: InstanceId | None
    evidence: Hidden[int]
    occurrences: int
    opened_at: Annotated[datetime, "OpenedTime"]
    last_seen: datetime
    acknowledged_at: Annotated[datetime | None, "AcknowledgedTime"] = None
    acknowledged_by: str | None = None
    because: Annotated[str | None, "AcknowledgedReason", Mark.NO_COLUMN] = None
    """Why somebody takes care of it, or has put it off: the last reason in the audit log."""
    notes: Apart[tuple[Note, ...]] = ()
    """What people have written about it, where that was asked for."""
    snoozed_until: datetime | None = None
    alerts: Annotated[int, "AlertsMade"] = 0
    """How many messages were made about it, the first one included."""
    next_alert: Annotated[datetime | None, "NextAlertTime"] = None
    escalated_at: Annotated[datetime | None, "EscalatedTime"] = None
    resolved_at: Annotated[datetime | None, "ResolvedTime"] = None
    recovery_at: Annotated[datetime | None, "RecoveryTime"] = None
    """When people were told that it is over, or it was found that they need not be told."""

    @property
    def is_standing(self) -> bool:
        """Say whether it is not over."""
        return self.resolved_at is None

    @property
    def is_announced_afterwards(self) -> bool:
        """Say whether it was over when it was found: its end then takes back nothing of its messages."""
        return self.recovery_at is not None and (self.resolved_at is None or self.recovery_at < self.resolved_at)


@value
class InstanceUnderWay:
    """The state of an instance that an incident is about."""

    status: InstanceStatus
    last_seq: int


@named_value
class Review:
    """What has become of incidents since the last look."""

    opened: list[IncidentSign]
    changed: list[tuple[Incident, IncidentSign]]
    """Those that have happened once more, or whose message has changed."""
    resolved: list[Incident]
    superseded: list[Incident]
    """Those that another one has replaced: nothing was corrected, so no message says that it was."""
    quiet: frozenset[IncidentId]
    """Those about which somebody is doing something: no reminders of them are sent meanwhile."""


def review(
    signs: Iterable[IncidentSign],
    standing: Iterable[Incident],
    instances: Mapping[InstanceId, InstanceUnderWay],
    idle: Container[tuple[BatchId | None, int | None]] = (),
    *,
    others: Mapping[IncidentId, Collection[InstanceId]] = NO_OTHERS,
    is_partial: bool = False,
) -> Review:
    """Compare the present signs with the incidents that stand.

    `instances` are those that these are about, `others` those that had failed as well, `idle` the steps of which no
    run was seen. It `is_partial` while some instances that stand were not looked at: of what is not found, it is then
    unknown whether it is over, and which instance is the first.
    """
    found: dict[str, IncidentSign] = {}
    for sign in signs:
        found.setdefault(sign.key, sign)
    known = {incident.key: incident for incident in standing}
    places = {_place(sign) for sign in found.values()}
    broken = {(sign.batch_id, sign.seq) for sign in found.values() if sign.kind in OF_AN_INSTANCE}
    late = {sign.batch_id for sign in found.values() if sign.kind is IncidentKind.NOT_FINISHED}
    dealt_with = {(incident.batch_id, incident.seq) for incident in known.values() if incident.kind in OF_AN_INSTANCE}
    opened, changed, resolved, superseded = (
        list[IncidentSign](),
        list[tuple[Incident, IncidentSign]](),
        list[Incident](),
        list[Incident](),
    )
    quiet = set[IncidentId]()
    for key, sign in found.items():
        if key not in known:
            # That a step fails often is reported when what has failed there is over: before, it is the same incident.
            if sign.kind is not IncidentKind.FAILS_OFTEN or (sign.batch_id, sign.seq) not in dealt_with:
                opened.append(sign)
        elif not is_partial and _is_news(known[key], sign):
            changed.append((known[key], sign))
    for key, incident in known.items():
        if key in found:
            continue
        if _is_hidden(incident, broken, is_partial=is_partial):
            quiet.add(incident.incident_id)
        elif incident.kind is IncidentKind.AT_RISK and incident.batch_id in late:
            # What was feared has come.
            superseded.append(incident)
        elif _place(incident) in places and _is_about_the_same(incident, instances):
            superseded.append(incident)
        elif _is_undecided(incident, instances, idle) or _is_run_again(incident, instances, others):
            quiet.add(incident.incident_id)
        else:
            resolved.append(incident)
    return Review(opened=opened, changed=changed, resolved=resolved, superseded=superseded, quiet=frozenset(quiet))


def _is_hidden(incident: Incident, broken: Container[tuple[BatchId | None, int | None]], *, is_partial: bool) -> bool:
    """Say whether it may last unseen: steps that fail often are not reported where an instance stands failed."""
    is_often = incident.kind is IncidentKind.FAILS_OFTEN
    if is_partial and (is_often or incident.kind in OF_AN_INSTANCE):
        return True
    return is_often and (incident.batch_id, incident.seq) in broken


def _place(one: IncidentSign | Incident) -> tuple[str, int | None, int | None, str]:
    """Return where it is: of two incidents in one place, the later has replaced the earlier."""
    kind = "instance" if one.kind in OF_AN_INSTANCE else one.kind.value
    return kind, one.batch_id, one.seq, one.subject


def _is_about_the_same(incident: Incident, instances: Mapping[InstanceId, InstanceUnderWay]) -> bool:
    """Say whether another incident in its place can be about the same thing.

    Of two instances that failed at one step in two ways, the one that is run again takes nothing from the other.
    """
    if incident.kind not in OF_AN_INSTANCE:
        return incident.instance_id is None
    at = None if incident.instance_id is None else instances.get(incident.instance_id)
    return at is not None and at.status in _STANDING


_STANDING = frozenset({InstanceStatus.FAILED, InstanceStatus.HELD})


def _is_news(incident: Incident, sign: IncidentSign) -> bool:
    said = incident.message, incident.detail, incident.next_step, incident.instance_id, incident.severity
    says = sign.message, sign.detail, sign.next_step, sign.instance_id, sign.severity
    return sign.evidence > incident.evidence or said != says


def _is_undecided(
    incident: Incident,
    instances: Mapping[InstanceId, InstanceUnderWay],
    idle: Container[tuple[BatchId | None, int | None]],
) -> bool:
    """Say whether its instance has not passed the step at which it stood.

    Or, for a step of which something was unusual, whether it has not been run again.
    """
    if incident.kind not in OF_AN_INSTANCE:
        return incident.kind in OF_RUNS and (incident.batch_id, incident.seq) in idle
    at = None if incident.instance_id is None else instances.get(incident.instance_id)
    return at is not None and not at.status.is_final and at.last_seq < (incident.seq or 0)


def _is_run_again(
    incident: Incident,
    instances: Mapping[InstanceId, InstanceUnderWay],
    others: Mapping[IncidentId, Collection[InstanceId]],
) -> bool:
    """Say whether another instance that failed too is run again, or about to be, and has not passed the step."""
    failed = (instances[one] for one in others.get(incident.incident_id, ()) if one in instances)
    return any(
        not (at.status.is_final or at.status in _STANDING) and at.last_seq < (incident.seq or 0) for at in failed
    )


def signature(message: str | None, own: Iterable[str | None] = ()) -> str:
    """Return the part of an error's text that is the same on another day, and with another file.

    That is one line, with no numbers but those that name the error, and without the row's `own` values.
    """
    first = visible(next((line for line in (message or "").splitlines() if line.strip()), ""))
    for called in sorted({*_names(own)}, key=len, reverse=True):
        first = re.sub(rf"(?<!\w){re.escape(called)}(?!\w)", "#", first)
    return shorten(" ".join(_NUMBERS.sub(lambda number: number["named"] or "#", first).split()), SIGNATURE)


def _names(own: Iterable[str | None]) -> Iterator[str]:
    """Yield how a message may name a row: its values, of a path the file, and that without its ending.

    A plain word is left out: it may be the message's own.
    """
    for each in own:
        file = _FOLDER.sub("", each or "")
        for called in (each or "", file, file.partition(".")[0]):
            if len(called) >= LEAST_NAME and not called.isalpha():
                yield visible(called)


def key_of(kind: IncidentKind, *about: object) -> str:
    """Return the key of an incident."""
    return shorten(" ".join([kind.value, *(visible(str(part)) for part in about)]), KEY_LENGTH)


@named_value
class Policy:
    """When people are told, and how often."""

    repeat: timedelta = timedelta(minutes=30)
    repeat_warnings: timedelta = timedelta(days=1)
    escalate_after: int = 3
    """After how many repeats others are told too; 0 for never."""
    digest_over: int = 20
    """From how many messages on within `digest_window` all are sent as one."""
    digest_window: timedelta = timedelta(minutes=10)

    def interval(self, severity: Severity) -> timedelta:
        """Return after how long people are reminded."""
        return self.repeat if severity is Severity.ERROR else self.repeat_warnings

"""What people ask for by a row of `OperatorRequest`: what its columns mean, and what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, NewType

from batchctl.domain.errors import Refused
from batchctl.domain.maintenance.lengths import length_of
from batchctl.domain.operators.freezes import Scope
from batchctl.domain.operators.notes import NoteSubject
from batchctl.domain.operators.pools import Place
from batchctl.domain.operators.release import MOST_PER_MINUTE, Choice, Release
from batchctl.domain.rows import FreezeId, IncidentId, InstanceId, IntakeId
from batchctl.domain.status import RequestStatus
from batchctl.domain.text import nearest, shorten, visible
from batchctl.domain.values import named_value

RequestId = NewType("RequestId", int)

AGAIN = "insert another row that says it"
MOST_CHANGED = 5_000
"""How many instances one request may change: a controller has to give signs of life meanwhile."""
SHOWN = 100
"""How much of an unreadable text is shown in an answer."""
_DATA = {f"data{at}": f"Data{at}" for at in range(1, 7)}
_FROM, _THROTTLE = "from", "throttle"
_INCIDENT, _FOR = "incident", "for"
_FILE = "file"
_HOST, _POOL = "host", "pool"
_NUMBERS = dict.fromkeys((_FROM, "id", _INCIDENT, _FILE), 2**63 - 1) | {_THROTTLE: MOST_PER_MINUTE}
"""The arguments that are numbers, with their greatest values."""
_RELEASE = '"release" with all, latest or none, "throttle" with how many may start a minute'
_OF_INCIDENT = '"incident" with its number'
_OF_ROW = '"file" with the number of a FileProcess row'
_SNOOZED = '{"incident": 7, "for": "2h"}'


class Verb(StrEnum):
    """What may be asked for."""

    RERUN = "rerun"
    SKIP = "skip"
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    ENABLE = "enable"
    DISABLE = "disable"
    FREEZE = "freeze"
    THAW = "thaw"
    ACKNOWLEDGE = "acknowledge"
    SNOOZE = "snooze"
    RETRY = "retry"
    REJECT = "reject"
    RESEND = "resend"
    DRAIN = "drain"
    UNDRAIN = "undrain"
    NOTE = "note"
    CONFIRM = "confirm"
    REFUSE = "refuse"

    @property
    def is_of_batches(self) -> bool:
        """Say whether it is done to a batch."""
        return self in {Verb.ENABLE, Verb.DISABLE}

    @property
    def is_of_freezes(self) -> bool:
        """Say whether it is done to a batch, to those with a tag, or to all; the other verbs concern an instance."""
        return self in {Verb.FREEZE, Verb.THAW}

    @property
    def is_of_incidents(self) -> bool:
        """Say whether it is done to an incident, or to those about an instance."""
        return self in {Verb.ACKNOWLEDGE, Verb.SNOOZE}

    @property
    def is_of_rows(self) -> bool:
        """Say whether it is done to a FileProcess row."""
        return self in _OF_ROWS

    @property
    def is_of_places(self) -> bool:
        """Say whether it is done to a host or a pool."""
        return self in _OF_PLACES

    @property
    def needs_reason(self) -> bool:
        """Say whether it needs a reason."""
        of_instances = self in {Verb.RERUN, Verb.SKIP, Verb.CANCEL, Verb.REFUSE}
        of_others = self.is_of_freezes or self.is_of_incidents or self.is_of_rows or self.is_of_places
        return of_instances or of_others or self is Verb.NOTE


_OF_PLACES = (Verb.DRAIN, Verb.UNDRAIN)
_OF_ROWS = (Verb.RETRY, Verb.REJECT, Verb.RESEND)
_KNOWN = {
    Verb.RERUN: frozenset({_FROM, *_DATA}),
    Verb.ENABLE: frozenset({"release", _THROTTLE}),
    Verb.FREEZE: frozenset({"tag", "until"}),
    Verb.THAW: frozenset({"tag", "id", "release", _THROTTLE}),
    Verb.ACKNOWLEDGE: frozenset({_INCIDENT}),
    Verb.SNOOZE: frozenset({_INCIDENT, _FOR}),
    Verb.NOTE: frozenset({_INCIDENT}),
    **dict.fromkeys(_OF_ROWS, frozenset({_FILE})),
    **dict.fromkeys(_OF_PLACES, frozenset({_HOST, _POOL})),
}
_WORDING = {
    Verb.RERUN: '"from" with the number of a step, and Data1 to Data6 with a text or null',
    Verb.ENABLE: _RELEASE,
    Verb.FREEZE: '"tag" with the name of a tag, "until" with a time or a length of time',
    Verb.THAW: f'"tag" with the name of a tag, "id" with the number of a freeze, {_RELEASE}',
    Verb.ACKNOWLEDGE: _OF_INCIDENT,
    Verb.SNOOZE: f'{_OF_INCIDENT}, "for" with a length of time',
    Verb.NOTE: _OF_INCIDENT,
    **dict.fromkeys(_OF_ROWS, _OF_ROW),
    **dict.fromkeys(_OF_PLACES, '"host" with the name of a host, "pool" with the name of a pool'),
}
_SUCH_AS = {
    Verb.RERUN: '{"from": 20, "Data3": "2026-11-01"}',
    Verb.ENABLE: '{"release": "latest"}',
    Verb.FREEZE: '{"tag": "nightly", "until": "2h"}',
    Verb.THAW: '{"tag": "nightly", "release": "latest"}',
    Verb.ACKNOWLEDGE: '{"incident": 7}',
    Verb.SNOOZE: _SNOOZED,
    Verb.NOTE: '{"incident": 7}',
    **dict.fromkeys(_OF_ROWS, '{"file": 9}'),
    **dict.fromkeys(_OF_PLACES, '{"host": "etl2"}'),
}


@named_value
class Request:
    """An `OperatorRequest` row, as a person has written it."""

    request_id: Annotated[RequestId, "OperatorRequest_id"]
    action: str
    instance_id: int | None
    batch: Annotated[str | None, "ProcessBatchName"]
    arguments: str | None
    reason: str | None
    actor: str
    status: RequestStatus
    answer: str | None = None
    answered_by: str | None = None
    answered_at: Annotated[datetime | None, "AnsweredTime"] = None
    asked_at: Annotated[datetime, "z_inserted"]

    @property
    def is_of_incidents_unnamed(self) -> bool:
        """Say whether it asks for something to be done to all incidents that stand about an instance."""
        return self.instance_id is not None and self.action.strip().lower() in {Verb.ACKNOWLEDGE, Verb.SNOOZE}

    @property
    def of(self) -> str | int | None:
        """Return what it is about, as far as that can be read."""
        if self.instance_id is not None or self.batch is not None:
            return self.batch if self.instance_id is None else self.instance_id
        with suppress(Refused, ValueError):
            row = _arguments(Verb(self.action.strip().lower()), self.arguments).get(_FILE)
            return None if row is None else f"file:{row}"
        return None


@named_value
class AskedAct:
    """What a program asks for in a person's name, before it is a row."""

    verb: Verb
    instance_id: InstanceId | None = None
    batch: str | None = None
    arguments: Mapping[str, str | int | bool | None] = field(default_factory=dict)
    reason: str | None = None


@named_value
class OfInstance:
    """What is to be done to an instance."""

    verb: Verb
    instance_id: InstanceId
    reason: str | None
    from_seq: int | None = None
    corrections: Mapping[str, str | None]


@named_value
class OfBatch:
    """What is to be done to a batch."""

    verb: Verb
    batch: str
    reason: str | None
    choice: Choice | None = None


@named_value
class OfFreeze:
    """What is to be frozen or thawed."""

    verb: Verb
    scope: Scope | FreezeId
    reason: str
    until: str | None = None
    choice: Choice | None = None


@named_value
class OfIncident:
    """What is to be done to an incident, or to those about an instance."""

    verb: Verb
    incident_id: IncidentId | None
    instance_id: InstanceId | None
    reason: str
    length: timedelta | None
    """For how long; None where it has no length."""


@named_value
class OfRow:
    """What is to be done to a FileProcess row."""

    verb: Verb
    intake_id: IntakeId
    reason: str


@named_value
class OfPlace:
    """What is to be drained, or not any more."""

    verb: Verb
    place: Place
    reason: str


@named_value
class OfNote:
    """What is to be noted, and about what."""

    subject: NoteSubject
    text: str


Wish = OfInstance | OfBatch | OfFreeze | OfIncident | OfRow | OfPlace | OfNote


def wish_of(request: Request) -> Wish:
    """Read a request; raises `Refused` with what is wrong with it."""
    verb = _verb(request.action)
    if verb.needs_reason and not (request.reason or "").strip():
        raise Refused(f"'{verb}' needs a Reason.", next_step=AGAIN)
    given = _arguments(verb, request.arguments)
    if verb.is_of_freezes:
        if request.instance_id is not None:
            message = (
                f"'{verb}' is done to batches: ProcessBatchName or the tag in Arguments says to which, else to all."
            )
            raise Refused(message, next_step=AGAIN)
        return OfFreeze(
            verb=verb,
            scope=_scope(verb, request.batch, given),
            reason=request.reason or "",
            until=_text(given, "until"),
            choice=_choice(given),
        )
    if verb is Verb.NOTE:
        return _of_note(request, given)
    if verb.is_of_incidents:
        return _of_incident(verb, request, given)
    if verb.is_of_rows:
        number = _number(given, _FILE)
        if number is None or request.instance_id is not None or request.batch is not None:
            said = f"'{verb}' is done to a FileProcess row: Arguments name it, and nothing else."
            raise Refused(said, next_step=f"{AGAIN}, such as {_SUCH_AS[verb]}")
        return OfRow(verb=verb, intake_id=IntakeId(number), reason=request.reason or "")
    if verb.is_of_places:
        place = Place(_text(given, _HOST), _text(given, _POOL))
        if (place.host is None) is (place.pool is None) or request.instance_id is not None or request.batch is not None:
            said = f"'{verb}' is done to a host or a pool: Arguments name one of them, and nothing else."
            raise Refused(said, next_step=f"{AGAIN}, such as {_SUCH_AS[verb]}")
        return OfPlace(verb=verb, place=place, reason=request.reason or "")
    if verb.is_of_batches:
        if request.batch is None or request.instance_id is not None:
            raise Refused(
                f"'{verb}' is done to a batch: ProcessBatchName says to which, and nothing else.", next_step=AGAIN
            )
        return OfBatch(verb=verb, batch=request.batch, reason=request.reason, choice=_choice(given))
    if request.instance_id is None or request.batch is not None:
        raise Refused(
            f"'{verb}' is done to an instance: BatchControl_id says to which, and nothing else.", next_step=AGAIN
        )
    return OfInstance(
        verb=verb,
        instance_id=InstanceId(request.instance_id),
        reason=request.reason,
        from_seq=_number(given, _FROM),
        corrections={column: _text(given, name) for name, column in _DATA.items() if name in given},
    )


def _verb(action: str) -> Verb:
    said = action.strip().lower()
    try:
        return Verb(said)
    except ValueError:
        known = [each.value for each in Verb]
        near = nearest(said, known)
        meant = "" if near is None else f" Did you mean '{near}'?"
        message = f"Action '{visible(action)}' is none of {', '.join(known)}.{meant}"
        raise Refused(message, next_step=AGAIN) from None


def _of_incident(verb: Verb, request: Request, given: Mapping[str, object]) -> OfIncident:
    number, length = _number(given, _INCIDENT), _text(given, _FOR)
    if (number is None) == (request.instance_id is None) or request.batch is not None:
        said = f"'{verb}' is done to an incident: Arguments name it, or BatchControl_id the instance that it is about."
        raise Refused(said, next_step=f'{AGAIN}, such as Arguments {{"incident": 7}}')
    read = None if length is None else length_of(length)
    if verb is Verb.SNOOZE and read is None:
        raise Refused("'snooze' needs a length of time.", next_step=f"{AGAIN}, such as {_SNOOZED}")
    return OfIncident(
        verb=verb,
        incident_id=None if number is None else IncidentId(number),
        instance_id=None if request.instance_id is None else InstanceId(request.instance_id),
        reason=request.reason or "",
        length=read,
    )


def _of_note(request: Request, given: Mapping[str, object]) -> OfNote:
    number = _number(given, _INCIDENT)
    if sum(one is not None for one in (request.instance_id, request.batch, number)) != 1:
        said = "'note' is about one thing: BatchControl_id, ProcessBatchName, or an incident that Arguments name."
        raise Refused(said, next_step=f'{AGAIN}, such as Arguments {{"incident": 7}}; Reason is the text')
    subject = NoteSubject(
        instance_id=None if request.instance_id is None else InstanceId(request.instance_id),
        incident_id=None if number is None else IncidentId(number),
        batch=request.batch,
    )
    return OfNote(subject=subject, text=request.reason or "")


def _arguments(verb: Verb, text: str | None) -> dict[str, object]:
    """Return the members of Arguments, their names in lower case."""
    if text is None or not text.strip():
        return {}
    known = _KNOWN.get(verb)
    if known is None:
        raise Refused(f"'{verb}' takes no Arguments.", next_step=AGAIN)
    try:
        given = json.loads(text, object_pairs_hook=_members)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        message = f"Arguments '{visible(shorten(text, SHOWN))}' is no JSON object."
        raise Refused(message, next_step=f"{AGAIN}, such as {_SUCH_AS[verb]}")
    found = {name.strip().lower(): value for name, value in given.items()}
    for name, value in given.items():
        called, shown = name.strip().lower(), visible(shorten(name, SHOWN))
        if called not in known:
            raise Refused(f"Arguments: '{shown}' is none of {_WORDING[verb]}.", next_step=AGAIN)
        if not _is_fit(called, value):
            raise Refused(f"Arguments: '{shown}' has to be {_wanted(called)}.", next_step=AGAIN)
    return found


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the members of an object; refuse a name that stands there twice, as either could be meant."""
    names = [name.strip().lower() for name, _ in pairs]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise Refused(f"Arguments: '{visible(shorten(name, SHOWN))}' stands there twice.", next_step=AGAIN)
    return dict(pairs)


def _is_fit(name: str, value: object) -> bool:
    if name in _NUMBERS:
        if not isinstance(value, int) or isinstance(value, bool):
            return False
        return value <= _NUMBERS[name] and (name == _FROM or value > 0)
    return isinstance(value, str) or (value is None and name in _DATA)


def _wanted(name: str) -> str:
    if name in _NUMBERS:
        most = f"{MOST_PER_MINUTE} at most" if name == _THROTTLE else "that a row has"
        return f"a whole number without quotes, {most}"
    return "a text in quotes, or null" if name in _DATA else "a text in quotes"


def _number(given: Mapping[str, object], name: str) -> int | None:
    value = given.get(name)
    return value if isinstance(value, int) else None


def _text(given: Mapping[str, object], name: str) -> str | None:
    value = given.get(name)
    return value if isinstance(value, str) else None


def _scope(verb: Verb, batch: str | None, given: Mapping[str, object]) -> Scope | FreezeId:
    tag, freeze_id = _text(given, "tag"), _number(given, "id")
    if sum(one is not None for one in (batch, tag, freeze_id)) > 1:
        message = f"'{verb}' is done to a batch, to those with a tag or to all: name only one of these."
        raise Refused(message, next_step=AGAIN)
    return Scope(batch=batch, tag=tag) if freeze_id is None else FreezeId(freeze_id)


def _choice(given: Mapping[str, object]) -> Choice | None:
    release, per_minute = _text(given, "release"), _number(given, _THROTTLE)
    said = None if release is None else release.strip().lower()
    if per_minute is not None and said in {None, Release.THROTTLE.value}:
        return Choice(release=Release.THROTTLE, per_minute=per_minute, most=MOST_CHANGED)
    if said is None:
        return None
    if per_minute is not None or said not in {Release.ALL.value, Release.LATEST.value, Release.NONE.value}:
        message = f"Arguments: release '{visible(said)}' is none of all, latest, none; or say throttle with a number."
        raise Refused(message, next_step=AGAIN)
    return Choice(release=Release(said), most=MOST_CHANGED)

"""What people ask for by a row of `OperatorRequest`: what its columns mean, and what is wrong with them."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Annotated, NewType

from batchctl.domain.errors import Refused
from batchctl.domain.maintenance.lengths import length_of
from batchctl.domain.operators.freezes import Scope
from batchctl.domain.operators.notes import NoteSubject
from batchctl.domain.operators.pools import Place
from batchctl.domain.operators.release import Choice, Release
from batchctl.domain.operators.request_arguments import (
    AGAIN,
    BACKFILL,
    DATA,
    FILE,
    FOR,
    FROM,
    HOST,
    INCIDENT,
    MARK,
    MISSED,
    MOST_OPEN,
    POOL,
    SCHEDULE,
    SHOWN,
    STATUS,
    SURE,
    TAKES,
    THROTTLE,
    TO,
    Arguments,
    arguments_of,
)
from batchctl.domain.operators.request_verbs import (
    OfBackfill,
    OfBatch,
    OfFreeze,
    OfIncident,
    OfInstance,
    OfNote,
    OfPast,
    OfPlace,
    OfRow,
    OfSchedule,
    Verb,
    Wish,
)
from batchctl.domain.rows import FreezeId, IncidentId, InstanceId, IntakeId
from batchctl.domain.scheduling.schedules import BackfillId
from batchctl.domain.status import InstanceStatus, RequestStatus
from batchctl.domain.text import nearest, shorten, visible
from batchctl.domain.values import named_value

RequestId = NewType("RequestId", int)

MOST_CHANGED = 5_000
"""How many instances one request may change: a controller has to give signs of life meanwhile."""


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
            given = arguments_of(Verb(self.action.strip().lower()), self.arguments)
            row, schedule = given.number(FILE), given.text(SCHEDULE)
            if schedule is not None:
                return f"schedule:{schedule}"
            return None if row is None else f"file:{row}"
        return None


def wish_of(request: Request) -> Wish:
    """Read a request; raises `Refused` with what is wrong with it."""
    verb = _verb(request.action)
    if verb.needs_reason and not (request.reason or "").strip():
        raise Refused(f"'{verb}' needs a Reason.", next_step=AGAIN)
    given = arguments_of(verb, request.arguments)
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
            until=given.text("until"),
            choice=_choice(given),
        )
    if verb is Verb.NOTE:
        return _of_note(request, given)
    if verb.is_of_incidents:
        return _of_incident(verb, request, given)
    if verb.is_of_rows:
        number = given.number(FILE)
        if number is None or request.instance_id is not None or request.batch is not None:
            said = f"'{verb}' is done to a FileProcess row: Arguments name it, and nothing else."
            raise Refused(said, next_step=f"{AGAIN}, such as {TAKES[verb].example}")
        return OfRow(verb=verb, intake_id=IntakeId(number), reason=request.reason or "")
    if verb.is_of_places:
        place = Place(given.text(HOST), given.text(POOL))
        if (place.host is None) is (place.pool is None) or request.instance_id is not None or request.batch is not None:
            said = f"'{verb}' is done to a host or a pool: Arguments name one of them, and nothing else."
            raise Refused(said, next_step=f"{AGAIN}, such as {TAKES[verb].example}")
        return OfPlace(verb=verb, place=place, reason=request.reason or "")
    if verb.is_of_schedules:
        return _of_schedule(verb, request, given)
    if verb is Verb.CANCEL and (backfill := given.number(BACKFILL)) is not None:
        if request.instance_id is not None or request.batch is not None or STATUS in given.members:
            raise Refused("'cancel' of a backfill: Arguments name it, and nothing else.", next_step=AGAIN)
        return OfBackfill(backfill_id=BackfillId(backfill), reason=request.reason or "")
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
        from_seq=given.number(FROM),
        corrections={column: given.text(name) for name, column in DATA.items() if name in given.members},
        status=_status(given),
        mark=given.text(MARK),
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


def _of_incident(verb: Verb, request: Request, given: Arguments) -> OfIncident:
    number, length = given.number(INCIDENT), given.text(FOR)
    if (number is None) == (request.instance_id is None) or request.batch is not None:
        said = f"'{verb}' is done to an incident: Arguments name it, or BatchControl_id the instance that it is about."
        raise Refused(said, next_step=f'{AGAIN}, such as Arguments {{"incident": 7}}')
    read = None if length is None else length_of(length)
    if verb is Verb.SNOOZE and read is None:
        raise Refused("'snooze' needs a length of time.", next_step=f"{AGAIN}, such as {TAKES[verb].example}")
    return OfIncident(
        verb=verb,
        incident_id=None if number is None else IncidentId(number),
        instance_id=None if request.instance_id is None else InstanceId(request.instance_id),
        reason=request.reason or "",
        length=read,
    )


def _of_schedule(verb: Verb, request: Request, given: Arguments) -> OfSchedule | OfPast:
    schedule, first, last = given.text(SCHEDULE), given.text(FROM), given.text(TO)
    if schedule is None or request.instance_id is not None or request.batch is not None:
        said = f"'{verb}' is done to a schedule: Arguments name it, and nothing else."
        raise Refused(said, next_step=f"{AGAIN}, such as {TAKES[verb].example}")
    if verb is Verb.RUN:
        return OfSchedule(schedule=schedule, reason=request.reason or "")
    if first is None or last is None:
        said = "'backfill' needs to know from when to when."
        raise Refused(said, next_step=f"{AGAIN}, such as {TAKES[verb].example}")
    return OfPast(
        schedule=schedule,
        first=first,
        last=last,
        most_open=given.number(MOST_OPEN) or 1,
        missed=given.flag(MISSED),
        sure=given.flag(SURE),
        reason=request.reason,
    )


def _status(given: Arguments) -> InstanceStatus | None:
    """Return the status in which an instance has to stand."""
    said = given.text(STATUS)
    if said is None:
        return None
    try:
        return InstanceStatus(said.strip().lower())
    except ValueError:
        message = f"Arguments: status '{visible(shorten(said, SHOWN))}' is none of {', '.join(InstanceStatus)}."
        raise Refused(message, next_step=AGAIN) from None


def _of_note(request: Request, given: Arguments) -> OfNote:
    number = given.number(INCIDENT)
    if sum(one is not None for one in (request.instance_id, request.batch, number)) != 1:
        said = "'note' is about one thing: BatchControl_id, ProcessBatchName, or an incident that Arguments name."
        raise Refused(said, next_step=f'{AGAIN}, such as Arguments {{"incident": 7}}; Reason is the text')
    subject = NoteSubject(
        instance_id=None if request.instance_id is None else InstanceId(request.instance_id),
        incident_id=None if number is None else IncidentId(number),
        batch=request.batch,
    )
    return OfNote(subject=subject, text=request.reason or "")


def _scope(verb: Verb, batch: str | None, given: Arguments) -> Scope | FreezeId:
    tag, freeze_id = given.text("tag"), given.number("id")
    if sum(one is not None for one in (batch, tag, freeze_id)) > 1:
        message = f"'{verb}' is done to a batch, to those with a tag or to all: name only one of these."
        raise Refused(message, next_step=AGAIN)
    return Scope(batch=batch, tag=tag) if freeze_id is None else FreezeId(freeze_id)


def _choice(given: Arguments) -> Choice | None:
    release, per_minute = given.text("release"), given.number(THROTTLE)
    said = None if release is None else release.strip().lower()
    if per_minute is not None and said in {None, Release.THROTTLE.value}:
        return Choice(release=Release.THROTTLE, per_minute=per_minute, most=MOST_CHANGED)
    if said is None:
        return None
    if per_minute is not None or said not in {Release.ALL.value, Release.LATEST.value, Release.NONE.value}:
        message = f"Arguments: release '{visible(said)}' is none of all, latest, none; or say throttle with a number."
        raise Refused(message, next_step=AGAIN)
    return Choice(release=Release(said), most=MOST_CHANGED)

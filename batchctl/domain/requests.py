"""What somebody asks for by a row of `OperatorRequest`: what its columns mean, and what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NewType

from batchctl.domain.errors import Refused
from batchctl.domain.incidents import IncidentId
from batchctl.domain.lengths import length_of
from batchctl.domain.rows import InstanceId
from batchctl.domain.status import RequestStatus
from batchctl.domain.text import nearest, visible
from batchctl.domain.values import named_value

RequestId = NewType("RequestId", int)

AGAIN = "insert another row that says it"
_DATA = {f"data{at}": f"Data{at}" for at in range(1, 7)}
_FROM = "from"
_INCIDENT, _FOR = "incident", "for"
_FOR_EXAMPLE = ', "for": "2h"'
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
    ACKNOWLEDGE = "acknowledge"
    SNOOZE = "snooze"

    @property
    def is_of_batches(self) -> bool:
        """Say whether it is done to a batch; the others are done to an instance."""
        return self in {Verb.ENABLE, Verb.DISABLE}

    @property
    def is_of_incidents(self) -> bool:
        """Say whether it is done to an incident, or to those about an instance."""
        return self in {Verb.ACKNOWLEDGE, Verb.SNOOZE}

    @property
    def needs_reason(self) -> bool:
        """Say whether nobody may do it without saying why."""
        return self in {Verb.RERUN, Verb.SKIP, Verb.CANCEL, Verb.ACKNOWLEDGE, Verb.SNOOZE}


@named_value
class Request:
    """An `OperatorRequest` row, as somebody has written it."""

    request_id: RequestId
    action: str
    instance_id: int | None
    batch: str | None
    arguments: str | None
    reason: str | None
    actor: str
    status: RequestStatus
    asked_at: datetime
    answer: str | None = None
    answered_by: str | None = None
    answered_at: datetime | None = None


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


@named_value
class OfIncident:
    """What is to be done to an incident, or to those about an instance."""

    verb: Verb
    incident_id: IncidentId | None
    instance_id: InstanceId | None
    reason: str
    length: timedelta | None
    """For how long; None where that is no question."""


def wish_of(request: Request) -> OfInstance | OfBatch | OfIncident:
    """Read a request; raises `Refused`, which says what is wrong with it."""
    verb = _verb(request.action)
    if verb.needs_reason and not (request.reason or "").strip():
        raise Refused(f"Nobody may {verb} without a Reason.", next_step=AGAIN)
    if verb.is_of_incidents:
        return _of_incident(verb, request)
    from_seq, corrections = _arguments(verb, request.arguments)
    if verb.is_of_batches:
        if request.batch is None or request.instance_id is not None:
            raise Refused(
                f"'{verb}' is done to a batch: ProcessBatchName says to which, and nothing else.", next_step=AGAIN
            )
        return OfBatch(verb=verb, batch=request.batch, reason=request.reason)
    if request.instance_id is None or request.batch is not None:
        raise Refused(
            f"'{verb}' is done to an instance: BatchControl_id says to which, and nothing else.", next_step=AGAIN
        )
    return OfInstance(
        verb=verb,
        instance_id=InstanceId(request.instance_id),
        reason=request.reason,
        from_seq=from_seq,
        corrections=corrections,
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


def _of_incident(verb: Verb, request: Request) -> OfIncident:
    given = _object(request.arguments, f'such as {{"incident": 7{_FOR_EXAMPLE if verb is Verb.SNOOZE else ""}}}')
    number, length = given.pop(_INCIDENT, None), given.pop(_FOR, None) if verb is Verb.SNOOZE else None
    if given or isinstance(number, bool) or not (number is None or isinstance(number, int)):
        raise Refused(f"Arguments of '{verb}' say nothing but which incident it is.", next_step=AGAIN)
    if (number is None) == (request.instance_id is None) or request.batch is not None:
        said = f"'{verb}' is done to an incident: Arguments name it, or BatchControl_id the instance that it is about."
        raise Refused(said, next_step=f'{AGAIN}, such as Arguments {{"incident": 7}}')
    read = length_of(length) if isinstance(length, str) else None
    if verb is Verb.SNOOZE and read is None:
        raise Refused("Nobody may snooze without saying for how long.", next_step=f"{AGAIN}, such as {_SNOOZED}")
    return OfIncident(
        verb=verb,
        incident_id=None if number is None else IncidentId(number),
        instance_id=None if request.instance_id is None else InstanceId(request.instance_id),
        reason=request.reason or "",
        length=read,
    )


def _object(text: str | None, example: str) -> dict[str, object]:
    """Read Arguments, whose names are the same in any letter case."""
    if text is None or not text.strip():
        return {}
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        message = f"Arguments '{visible(text)}' is no JSON object."
        raise Refused(message, next_step=f"{AGAIN}, {example}")
    return {name.strip().lower(): value for name, value in given.items()}


def _arguments(verb: Verb, text: str | None) -> tuple[int | None, dict[str, str | None]]:
    """Return from which step on it is to run again, and corrected Data."""
    if text is None or not text.strip():
        return None, {}
    if verb is not Verb.RERUN:
        raise Refused(f"'{verb}' takes no Arguments.", next_step=AGAIN)
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        message = f"Arguments '{visible(text)}' is no JSON object."
        raise Refused(message, next_step=f'{AGAIN}, such as {{"from": 20, "Data3": "2026-11-01"}}')
    from_seq, corrections = None, dict[str, str | None]()
    for name, value in given.items():
        column = _DATA.get(name.strip().lower())
        if name.strip().lower() == _FROM and isinstance(value, int) and not isinstance(value, bool):
            from_seq = value
        elif column is not None and (value is None or isinstance(value, str)):
            corrections[column] = value
        else:
            known = '"from" with the number of a step, and Data1 to Data6 with a text or null'
            raise Refused(f"Arguments: '{visible(name)}' is none of {known}, or its value is not.", next_step=AGAIN)
    return from_seq, corrections

"""What may be asked for by a row of `OperatorRequest`: the verbs, and what each means once its row is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import timedelta
from enum import StrEnum

from batchctl.domain.operators.freezes import Scope
from batchctl.domain.operators.notes import NoteSubject
from batchctl.domain.operators.pools import Place
from batchctl.domain.operators.release import Choice
from batchctl.domain.rows import FreezeId, IncidentId, InstanceId, IntakeId
from batchctl.domain.scheduling.schedules import BackfillId
from batchctl.domain.status import InstanceStatus
from batchctl.domain.values import named_value


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
    RUN = "run"
    BACKFILL = "backfill"
    ACCEPT = "accept"

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
        return self in OF_ROWS

    @property
    def is_of_places(self) -> bool:
        """Say whether it is done to a host or a pool."""
        return self in OF_PLACES

    @property
    def is_of_schedules(self) -> bool:
        """Say whether it is done to a schedule."""
        return self in {Verb.RUN, Verb.BACKFILL}

    @property
    def needs_reason(self) -> bool:
        """Say whether it needs a reason."""
        of_instances = self in {Verb.RERUN, Verb.SKIP, Verb.CANCEL, Verb.REFUSE}
        of_others = self.is_of_freezes or self.is_of_incidents or self.is_of_rows or self.is_of_places
        return of_instances or of_others or self in {Verb.NOTE, Verb.RUN}


OF_PLACES = (Verb.DRAIN, Verb.UNDRAIN)
OF_ROWS = (Verb.RETRY, Verb.REJECT, Verb.RESEND, Verb.ACCEPT)


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
    status: InstanceStatus | None = None
    """In which status it has to stand still; None where it may be any."""
    mark: str | None = None
    """The mark that the instance, or its question, has to have still; None where it may be any."""


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
class OfSchedule:
    """Which schedule is to start its work now."""

    schedule: str
    reason: str


@named_value
class OfPast:
    """For which due times of the past a schedule is to start its work."""

    schedule: str
    first: str
    last: str
    most_open: int
    missed: bool
    sure: bool
    reason: str | None


@named_value
class OfBackfill:
    """Which backfill is to start nothing more."""

    backfill_id: BackfillId
    reason: str


@named_value
class OfNote:
    """What is to be noted, and about what."""

    subject: NoteSubject
    text: str


Wish = OfInstance | OfBatch | OfFreeze | OfIncident | OfRow | OfPlace | OfSchedule | OfPast | OfBackfill | OfNote

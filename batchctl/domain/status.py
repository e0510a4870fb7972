"""The words a row's state is written in, and the verbs that may move it."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

Word = TypeVar("Word", bound=StrEnum)


class IntakeStatus(StrEnum):
    """`FileProcess.Status`."""

    READY = "ready"
    PAUSED = "paused"
    COMPLETE = "complete"
    REJECTED = "rejected"
    DUPLICATE = "duplicate"


class InboxState(StrEnum):
    """Why a `FileProcess` row has not become work, or not all that it asks for."""

    UNTAKEN = "untaken"
    """No batch takes its entity."""
    NEW = "new"
    """No controller has made its instances yet."""
    PARTIAL = "partial"
    """It has instances, but not of every batch that takes its entity."""
    PAUSED = "paused"
    REJECTED = "rejected"
    DUPLICATE = "duplicate"


class InstanceStatus(StrEnum):
    """`BatchControl.Status`; `ready` is what the seed calls success: the instance may go on."""

    READY = "ready"
    RUNNING = "running"
    RETRY = "retry"
    FAILED = "failed"
    HELD = "held"
    PAUSING = "pausing"
    PAUSED = "paused"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"
    COMPLETE = "complete"

    @property
    def is_claimed(self) -> bool:
        """Say whether a controller owns the instance at this moment."""
        return self in CLAIMED

    @property
    def is_final(self) -> bool:
        """Say whether nothing more happens unless a person asks."""
        return self in FINAL


class HistoryStatus(StrEnum):
    """`BatchProcessHistory.Status`: how one attempt at a step stands or ended."""

    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    LOST = "lost"
    FENCED = "fenced"
    SKIPPED = "skipped"
    ASKED = "asked"
    """It asks people, and waits for their answer; nothing runs meanwhile."""

    @property
    def is_over(self) -> bool:
        """Say whether the attempt has ended, so that it has an EndTime."""
        return self not in {HistoryStatus.RUNNING, HistoryStatus.ASKED}


class ControllerStatus(StrEnum):
    """`Controller.Status`: whether a controller works, has ended by itself, or was found dead by another."""

    RUNNING = "running"
    STOPPED = "stopped"
    LOST = "lost"


class StopReason(StrEnum):
    """Why an attempt under way was told to stop."""

    TIMEOUT = "timeout"
    CANCEL = "cancel"
    SHUTDOWN = "shutdown"
    LEASE = "lease"
    FENCED = "fenced"


class Cause(StrEnum):
    """`BatchProcessHistory.Cause`: who or what asked for the attempt."""

    AUTO = "auto"
    RETRY = "retry"
    MANUAL = "manual"
    VERIFY = "verify"


class OnFailure(StrEnum):
    """`ProcessBatch.OnFailure`: what else waits while an instance stands failed."""

    HOLD_BATCH = "hold_batch"
    STOP_ALL = "stop_all"
    CONTINUE = "continue"


class OnLost(StrEnum):
    """`ProcessControl.OnLost`: what follows when the outcome of a started step cannot be known."""

    HOLD = "hold"
    RERUN = "rerun"
    VERIFY = "verify"


class OnStepFailure(StrEnum):
    """`ProcessControl.OnStepFailure`: what follows when a step has failed for good."""

    STOP = "stop"
    CONTINUE = "continue"
    """It stays recorded as failed, and the instance goes on with the next step."""


class OnRows(StrEnum):
    """`ProcessControl.OnRows`: what a number of rows below RowsMin or above RowsMax means."""

    FAIL = "fail"
    WARN = "warn"


class PoolKind(StrEnum):
    """`Pool.Kind`: what carries out the steps of a pool."""

    CONTROLLERS = "controllers"
    DASK = "dask"
    """Agents within the workers of a Dask cluster."""
    AGENTS = "agents"
    """Agents that ask the console for work, by HTTPS."""


class OnTimeout(StrEnum):
    """`Confirmation.OnTimeout`: what follows when a question had no answer in time."""

    FAIL = "fail"
    GO_ON = "go_on"
    INCIDENT = "incident"


class ConfirmationAnswer(StrEnum):
    """`Confirmation.Answer`: how a question ended."""

    CONFIRMED = "confirmed"
    REFUSED = "refused"
    EXPIRED = "expired"
    """It came to its time without one."""
    WITHDRAWN = "withdrawn"
    """The instance went on, or was cancelled, without an answer."""


class DependencyMode(StrEnum):
    """`ProcessBatch.DependencyMode`: whether all or any of the batches it depends on must complete."""

    ALL = "all"
    ANY = "any"


class SchedulerEvent(StrEnum):
    """`SchedulerLog.EventType`: what became of a reason to start work."""

    FIRED = "fired"
    SKIPPED = "skipped"
    COMPLETED = "completed"
    ERROR = "error"
    RESCUED = "rescued"


class PopulatorOn(StrEnum):
    """`ProcessBatch.PopulatorOn`: what the populator `pattern` searches instead of the name of the file."""

    FILENAME = "filename"
    DATA = "data"
    ENTITY = "entity"


class ProcessingMode(StrEnum):
    """`ProcessBatch.ProcessingMode`: what may start a batch besides people, files and what it depends on."""

    MANUAL = "manual"
    SCHEDULED = "scheduled"
    TRIGGERED = "triggered"


class ScheduleType(StrEnum):
    """`Schedule.ScheduleType`: the cadence a schedule goes by."""

    INTERVAL = "interval"
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    MONTHLY_DOW = "monthly_dow"
    ONCE = "once"
    CRON = "cron"


class GapPolicy(StrEnum):
    """`Schedule.GapPolicy`: what becomes of a time that clocks leave out when they are put forward."""

    RUN = "run"
    """It is due at the first moment after the gap."""
    SKIP = "skip"


class FoldPolicy(StrEnum):
    """`Schedule.FoldPolicy`: how often a time is due that comes twice when clocks are put back."""

    ONCE = "once"
    """The first time only."""
    TWICE = "twice"


class CatchUp(StrEnum):
    """`Schedule.CatchUp`: what becomes of the times at which no controller was there."""

    NONE = "none"
    LATEST = "latest"
    UP_TO = "up_to"
    """The newest of them, as many as CatchUpMost says."""


class Overlap(StrEnum):
    """`Schedule.Overlap`: what becomes of a time at which the work of the last one is not done yet."""

    QUEUE = "queue"
    SKIP = "skip"


class CalendarRule(StrEnum):
    """`Schedule.CalendarRule`: what a schedule's calendar does to a day."""

    BUSINESS_DAYS = "business_days"
    """Only business days count; on others it is skipped."""
    DAYS_OFF = "days_off"
    """Only days that are no business days count."""
    NEXT = "next"
    """What falls on a day off is shifted to the next business day."""
    PREVIOUS = "previous"
    """What falls on a day off is shifted to the business day before."""


class FireOutcome(StrEnum):
    """`ScheduleFire.Outcome`: what was decided about a due time."""

    FIRED = "fired"
    SKIPPED = "skipped"
    PURGED = "purged"
    """It fired, and its work ended so long ago that it was purged since."""


class BackfillStatus(StrEnum):
    """`ScheduleBackfill.Status`."""

    RUNNING = "running"
    COMPLETE = "complete"
    CANCELLED = "cancelled"


class RequestStatus(StrEnum):
    """`OperatorRequest.Status`."""

    REQUESTED = "requested"
    DONE = "done"
    REFUSED = "refused"


class IncidentKind(StrEnum):
    """`Incident.Kind`: what is wrong."""

    FAILED = "failed"
    LOST = "lost"
    HELD = "held"
    FAILS_OFTEN = "fails_often"
    """Too many of the last runs of a step failed, whatever came of the retries."""
    STEP_FAILED = "step_failed"
    """A step has failed for good, and OnStepFailure lets its instance go on."""
    UNUSUAL_ROWS = "unusual_rows"
    """A step with OnRows `warn` had fewer or more rows than it should."""
    UNANSWERED = "unanswered"
    """A question has no answer for longer than AlarmDuration, or past its time."""
    TOO_LONG = "too_long"
    TOO_SHORT = "too_short"
    NOT_ARRIVED = "not_arrived"
    NOT_STARTED = "not_started"
    NOT_FINISHED = "not_finished"
    AT_RISK = "at_risk"
    """A batch will probably not be ready by FinishBy, while there is time left."""
    FORECAST_MISSES = "forecast_misses"
    """What came of kept forecasts of a batch was too often later than they said."""
    DEPENDENCY_DEADLINE = "dependency_deadline"
    CALENDAR_ENDS = "calendar_ends"
    NO_WORKER = "no_worker"
    CHANNEL_FAILED = "channel_failed"
    UNREADABLE = "unreadable"
    """An unreadable row of the definitions."""
    REJECTED = "rejected"
    UNTAKEN = "untaken"
    """No batch takes an entity that something asks for."""
    NOT_STARTING = "not_starting"
    """A schedule, a trigger or a watch starts nothing because of an error."""
    NO_STEPS = "no_steps"
    HISTORY_GROWS = "history_grows"
    POOL_UNSERVED = "pool_unserved"
    """Instances wait for a step of a pool, and no controller serves it, or no agent could take the step."""
    NOBODY_LEADS = "nobody_leads"
    """Controllers work, and none of them makes instances or fires anything."""
    POPULATOR_HANGS = "populator_hangs"
    CONTROLLER_TROUBLE = "controller_trouble"
    """Something keeps a controller from its work, while it can still report that to the database."""


class IncidentStatus(StrEnum):
    """`Incident.Status`."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"


class Severity(StrEnum):
    """`Incident.Severity`."""

    WARNING = "warning"
    ERROR = "error"


class DeliveryKind(StrEnum):
    """`AlertDelivery.Kind`: what a message is about its incident."""

    ALERT = "alert"
    REPEAT = "repeat"
    ESCALATION = "escalation"
    RECOVERY = "recovery"
    DIGEST = "digest"
    """It is about many at once."""


class DeliveryStatus(StrEnum):
    """`AlertDelivery.Status`."""

    WAITING = "waiting"
    SENT = "sent"
    FAILED = "failed"
    """It was given up."""
    WITHDRAWN = "withdrawn"
    """It is not needed any more: what it is about was over before it was sent."""


class DuplicateKey(StrEnum):
    """`FileWatch.DuplicateKey`: by what a file counts as one that was there before."""

    NAME = "name"
    NAME_SIZE_TIME = "name_size_time"
    CONTENT = "content"


CLAIMED = frozenset({InstanceStatus.RUNNING, InstanceStatus.PAUSING, InstanceStatus.CANCELLING})
FINAL = frozenset({InstanceStatus.COMPLETE, InstanceStatus.CANCELLED})
STOPPED = frozenset({InstanceStatus.FAILED, InstanceStatus.HELD})
STANDING_FAILURE = STOPPED | {InstanceStatus.RETRY}


class InstanceVerb(StrEnum):
    """Everything that can happen to a `BatchControl` row."""

    CLAIM = "claim"
    TAKE_OVER = "take_over"
    ADVANCE = "advance"
    RELEASE = "release"
    FINISH = "finish"
    RETRY_AT = "retry_at"
    FAIL = "fail"
    HOLD = "hold"
    REQUEST_PAUSE = "request_pause"
    PAUSE = "pause"
    RESUME = "resume"
    RESUME_RETRY = "resume_retry"
    REQUEST_CANCEL = "request_cancel"
    CANCEL = "cancel"
    RERUN = "rerun"
    SKIP = "skip"
    ASK = "ask"
    ANSWER = "answer"


_S = InstanceStatus
_V = InstanceVerb

TRANSITIONS: dict[InstanceVerb, dict[InstanceStatus, InstanceStatus]] = {
    _V.CLAIM: {_S.READY: _S.RUNNING, _S.RETRY: _S.RUNNING},
    _V.TAKE_OVER: {_S.RUNNING: _S.RUNNING, _S.PAUSING: _S.PAUSING, _S.CANCELLING: _S.CANCELLING},
    _V.ADVANCE: {_S.RUNNING: _S.RUNNING},
    _V.RELEASE: {_S.RUNNING: _S.READY},
    _V.FINISH: dict.fromkeys((_S.RUNNING, _S.PAUSING, _S.CANCELLING, _S.PAUSED), _S.COMPLETE),
    _V.RETRY_AT: {_S.RUNNING: _S.RETRY},
    _V.FAIL: dict.fromkeys((_S.RUNNING, _S.PAUSING, _S.PAUSED), _S.FAILED),
    _V.HOLD: {_S.RUNNING: _S.HELD, _S.PAUSING: _S.HELD, _S.CANCELLING: _S.HELD},
    _V.REQUEST_PAUSE: {_S.RUNNING: _S.PAUSING},
    _V.PAUSE: {_S.READY: _S.PAUSED, _S.RETRY: _S.PAUSED, _S.PAUSING: _S.PAUSED},
    _V.RESUME: {_S.PAUSED: _S.READY, _S.PAUSING: _S.RUNNING},
    _V.RESUME_RETRY: {_S.PAUSED: _S.RETRY},
    _V.REQUEST_CANCEL: {_S.RUNNING: _S.CANCELLING, _S.PAUSING: _S.CANCELLING},
    _V.CANCEL: dict.fromkeys((_S.READY, _S.RETRY, _S.FAILED, _S.HELD, _S.PAUSED, _S.CANCELLING), _S.CANCELLED),
    _V.RERUN: dict.fromkeys((_S.READY, _S.RETRY, _S.FAILED, _S.HELD, _S.PAUSED, _S.CANCELLED, _S.COMPLETE), _S.READY),
    _V.SKIP: dict.fromkeys((_S.RETRY, _S.FAILED, _S.HELD, _S.PAUSED), _S.READY),
    _V.ASK: {_S.RUNNING: _S.PAUSED},
    _V.ANSWER: {_S.PAUSED: _S.READY},
}
"""For each verb the statuses it may find and the status it leaves. A skip past the last step goes on to `finish`'s end.

An answer fails or finishes what is paused, where that is its end.
"""


def word(kind: type[Word], text: str) -> Word:
    """Read a status word in any letter case."""
    return kind(text.strip().lower())

"""Calls jobs and populators, and turns whatever they do into an answer."""

from __future__ import annotations

import inspect
import time
import traceback
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from batchctl.domain.errors import PluginError
from batchctl.domain.outcomes import STOPPED_EARLY
from batchctl.plugin_api import (
    NO_DATA,
    AsksDatabase,
    BatchDefinition,
    CannotPopulate,
    FatalError,
    IntakeRow,
    Job,
    JobEnd,
    JobSignature,
    JsonValue,
    Populated,
    Populator,
    StepContext,
    Stopped,
    unfit,
    visible,
)

_VALUE_CAP = 64 * 1024
_LOOK = 0.1
"""Seconds between two looks of a waiting job whether it is to stop."""


class Listening:
    """Whether the called job asks if it is to stop, and was told so."""

    __slots__ = ("_is_announced", "asks", "has_learned")

    def __init__(self, is_announced: Callable[[], bool]) -> None:
        """Begin where the job has not asked yet."""
        self._is_announced = is_announced
        self.asks = False
        self.has_learned = False

    def ask(self, wait_seconds: float) -> bool:
        """Wait up to so many seconds until the job is to stop, and say whether it is. Any thread may ask."""
        self.asks = True
        until = time.monotonic() + wait_seconds
        # No event: a signal could set it while this thread holds the event's lock.
        while not self._is_announced() and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _LOOK))
        if self._is_announced():
            self.has_learned = True
        return self.has_learned


def call_job(job: Job, arguments: Mapping[str, JsonValue], listening: Listening) -> JobEnd:
    """Call a job with its arguments as keywords; catch everything it raises.

    A job that has learned that it is to stop has not succeeded, however it ends.
    """
    try:
        value = job.function(**arguments)
    except Stopped as error:
        return _stopped(listening, _wording(error))
    except BaseException as error:  # noqa: BLE001 - a job may raise anything and must harm no other
        return _failure(job, error)
    if listening.has_learned:
        return _stopped(listening, "" if value is None else str(shown(value)))
    return JobEnd(succeeded=True, value=shown(value))


def _stopped(listening: Listening, wording: str) -> JobEnd:
    """Return the end of a job that has ended early by itself."""
    message = f"{STOPPED_EARLY}: {wording}" if wording else STOPPED_EARLY
    return JobEnd(succeeded=False, stopped=listening.has_learned, message=message)


def shown(value: object) -> str | int | float | bool | None:
    """Return a job's value as it is when a row can show it, else its text."""
    if value is None or value is True or value is False or type(value) is float:
        return value
    if type(value) is int and value.bit_length() < 64:
        return value
    try:
        text = value if type(value) is str else repr(value)
    except BaseException as error:  # noqa: BLE001 - repr is the job's code too
        text = f"<a {type(value).__name__} whose repr raised {type(error).__name__}>"
    return (
        text if len(text) <= _VALUE_CAP else f"{text[:_VALUE_CAP]} [... {len(text) - _VALUE_CAP} characters left out]"
    )


def _failure(job: Job, error: BaseException) -> JobEnd:
    # Without a frame below ours the function was never entered: the arguments did not fit.
    inner = error.__traceback__.tb_next if error.__traceback__ else None
    if isinstance(error, TypeError) and inner is None:
        message = f"job '{visible(job.name)}' cannot be called so: {_wording(error)}. It is {_signature(job)}"
        return JobEnd(succeeded=False, fatal=True, message=message)
    if isinstance(error, SystemExit):
        message = f"the job called sys.exit({error.code!r}) instead of returning"
    elif isinstance(error, FatalError):
        message = _wording(error) or "the job failed for good"
    else:
        message = describe(error)
    return JobEnd(succeeded=False, message=message, output=trace(error, inner), fatal=isinstance(error, FatalError))


def describe(error: BaseException) -> str:
    """Name an exception and its message, on one line."""
    said = _wording(error)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _wording(error: BaseException) -> str:
    try:
        return visible(str(error))
    except BaseException as broken:  # noqa: BLE001 - __str__ of an exception is plugin code
        return f"(its message cannot be read: {type(broken).__name__})"


def trace(error: BaseException, below: TracebackType | None) -> str:
    """Write the traceback of plugin code, without the frames of ours above it."""
    try:
        return "".join(traceback.format_exception(type(error), error, below))
    except BaseException as broken:  # noqa: BLE001 - formatting calls plugin code
        return f"(the traceback cannot be written: {type(broken).__name__})"


def _signature(job: Job) -> str:
    try:
        return f"{job.name}{inspect.signature(job.function)}"
    except (TypeError, ValueError):
        return job.name


def signature_of(job: Job) -> JobSignature:
    """Return how a job may be called, as far as it can be known."""
    try:
        parameters = inspect.signature(job.function).parameters.values()
    except Exception:  # noqa: BLE001 - a function may claim anything about itself
        return JobSignature(in_process=job.in_process)
    kinds = inspect.Parameter
    single = [each for each in parameters if each.kind not in {kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD}]
    return JobSignature(
        in_process=job.in_process,
        required=frozenset(each.name for each in single if each.default is kinds.empty),
        accepted=frozenset(each.name for each in single if each.kind is not kinds.POSITIONAL_ONLY),
        takes_any=any(each.kind is kinds.VAR_KEYWORD for each in parameters),
    )


def answer_of(end: JobEnd) -> dict[str, JsonValue]:
    """Write a job's end as a message."""
    parts = ("succeeded", "message", "output", "value", "fatal", "stopped", "never_ran")
    return {name: getattr(end, name) for name in parts}


def call_populator(
    find: Callable[[], Populator], row: IntakeRow, batch: BatchDefinition, context: StepContext | None = None
) -> dict[str, JsonValue]:
    """Call a populator and answer with its values, or with the reason why there are none.

    `context` is what one that asks a database is given.
    """
    try:
        populator = find()
        if context is not None and isinstance(populator, AsksDatabase):
            return _values(populator.populate_from(row, batch, context))
        return _values(populator.populate(row, batch))
    except CannotPopulate as error:
        return {"reason": _wording(error) or "the populator gave no reason"}
    except PluginError as error:
        return {"reason": error.message}
    except BaseException as error:  # noqa: BLE001 - a populator may raise anything and must harm no other
        return {"reason": f"populator '{visible(batch.populator)}' raised {describe(error)}"}


def _values(populated: object) -> dict[str, JsonValue]:
    if not isinstance(populated, Populated):
        raise CannotPopulate(f"the populator returned {type(populated).__name__}, not Populated")
    # Nothing but the plugin's word says that the types are right.
    data: Any = populated.data
    if not isinstance(data, tuple):
        raise CannotPopulate(f"the populator returned {type(data).__name__} for Data1 to Data6, not a tuple")
    if len(data) != len(NO_DATA):
        raise CannotPopulate(f"the populator returned {len(data)} values for Data1 to Data6")
    named = {f"Data{at}": value for at, value in enumerate(data, start=1)} | {"CycleKey": populated.cycle_key}
    for name, value in named.items():
        if value is not None and type(value) is not str:
            raise CannotPopulate(f"the populator returned {type(value).__name__} for {name}, not text")
        if value is not None and (reason := unfit(value)):
            raise CannotPopulate(f"the populator's {name} cannot be stored: {reason}")
    return {"data": list(data), "cycle_key": populated.cycle_key}

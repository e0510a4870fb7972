"""What step handlers return and raise, as outcomes that can be recorded: nothing but a plugin's word says what they are."""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType

from batchctl.domain.errors import BatchctlError
from batchctl.domain.outcomes import StepOutcome
from batchctl.domain.text import visible
from batchctl.system.plugins.job_calls import describe, trace

_WHOLE = "int or None"
_PARTS: Sequence[tuple[str, tuple[type, ...], str]] = (
    ("succeeded", (bool,), "bool"),
    ("message", (str, NoneType), "str or None"),
    ("return_code", (int, NoneType), _WHOLE),
    ("error_code", (str, NoneType), "str or None"),
    ("error_line", (int, NoneType), _WHOLE),
    ("output", (str, NoneType), "str or None"),
    ("rows_affected", (int, NoneType), _WHOLE),
    ("value", (str, int, float, bool, NoneType), "str, int, float, bool or None"),
    ("fatal", (bool,), "bool"),
    ("stopped", (bool,), "bool"),
    ("lost", (bool,), "bool"),
    ("never_ran", (bool,), "bool"),
)
"""What the parts of an outcome may be."""
_LEAST, _MOST = -(2**63), 2**63 - 1
"""The numbers that a column can hold."""


def failure_of(error: BaseException) -> StepOutcome:
    """Return the outcome of an execution whose handler raised something."""
    if isinstance(error, BatchctlError):
        return StepOutcome(succeeded=False, message=error.in_full)
    below = error.__traceback__.tb_next if error.__traceback__ else None
    message = f"the handler itself broke: {describe(error)}"
    return StepOutcome(succeeded=False, message=message, output=trace(error, below))


def checked(handler: object, outcome: object) -> StepOutcome:
    """Return a handler's answer, if its parts have the right types: a database would store others in its own way."""
    if not isinstance(outcome, StepOutcome):
        raise TypeError(f"'{_name(handler)}' returned {type(outcome).__name__}, not StepOutcome")
    wrong = None if _is_plain(outcome) else _wrong_part(outcome)
    if wrong is not None:
        raise TypeError(f"'{_name(handler)}' returned an outcome {wrong}")
    return outcome


def _is_plain(outcome: StepOutcome) -> bool:
    """Say whether an outcome is a success without any text, as most are: every step's is looked through."""
    return (
        outcome.succeeded is True
        and outcome.message is outcome.output is outcome.value is None
        and outcome.return_code is outcome.rows_affected is None
        and outcome.error_code is None
        and outcome.error_line is None
        and outcome.fatal is outcome.stopped is outcome.lost is outcome.never_ran is False
    )


def _wrong_part(outcome: StepOutcome) -> str | None:
    """Return which part of an outcome has a wrong type or value."""
    for part, kinds, wanted in _PARTS:
        found = getattr(outcome, part)
        kind = type(found)  # What an object claims as its class may be wrong.
        # To Python, true is a number.
        if not issubclass(kind, kinds) or (kind is bool and bool not in kinds):
            return f"whose `{part}` is {kind.__name__}, not {wanted}"
        if wanted == _WHOLE and found is not None and not _LEAST <= found <= _MOST:
            return f"whose `{part}` is no number that fits in 64 bits"
    return None


def _name(handler: object) -> str:
    return visible(str(getattr(handler, "process_type", type(handler).__name__)))

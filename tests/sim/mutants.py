"""Plausible mistakes, made in the engine on purpose: the simulation has to find every one of them."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from batchctl.control import controller, creation, recording, rescue
from batchctl.domain import gates, liveness, moves
from batchctl.store import instances, transactions


@dataclass(frozen=True)
class Change:
    """In the source of a function, one text in the place of another."""

    function: Callable[..., Any]
    text: str
    instead: str


@dataclass(frozen=True)
class Mutant:
    """A mistake."""

    name: str
    changes: tuple[Change, ...]


def _mutant(name: str, *changes: tuple[Callable[..., Any], str, str]) -> Mutant:
    return Mutant(name, tuple(Change(*change) for change in changes))


_R, _C, _S = recording.Recorder, controller.Controller, rescue.Rescue
_OWN_ONLY = (
    "Occupancy(__import__('collections').Counter(one.batch_id for one in instances.claimed(connection)"
    " if one.claimed_by == self.controller), batches, limit)"
)
_COMMITS_HALF = (
    "__import__('batchctl.store.dialects').store.dialects.dialect_of(connection).commit(connection); "
    "__import__('batchctl.store.dialects').store.dialects.dialect_of(connection).begin_write(connection); self._close("
)

MUTANTS: tuple[Mutant, ...] = (
    _mutant(
        "ends are recorded whoever has the instance by then",
        (recording._is_ours, "found.claim_token == attempt.instance.claim_token and ", ""),
    ),
    _mutant(
        "a rescue does not look whether all is still as it was read",
        (_S._is_still, "return found is not None and", "return True or"),
        (_S._is_still, "if owner is not None:", "if False:"),
    ),
    _mutant(
        "a rescue does not look for a new sign of life",
        (_S._is_still, " or now_there.heartbeat_seq != owner.heartbeat_seq", ""),
    ),
    _mutant("the end of a step is committed in two parts", (_R._went, "self._close(", _COMMITS_HALF)),
    _mutant(
        "the clock of the host decides",
        (transactions.StoreTransactions._once, "if now is not None and self._synchronise", "if False and self._synchronise"),
    ),
    _mutant("OnLost is forgotten", (moves._after_lost, "on_lost is OnLost.HOLD or ", "")),
    _mutant(
        "a commit in doubt is tried again",
        (
            transactions.StoreTransactions.run,
            "if self._is_transient(error):",
            "if self._is_transient(error) or isinstance(error, OutcomeUnknown):",
        ),
    ),
    _mutant(
        "a commit in doubt is forgotten",
        (_C._wait_for_the_database, "self._unsettled |= isinstance(error, OutcomeUnknown)", "pass"),
    ),
    _mutant(
        "whatever was lost counts as never run",
        (_S._take_over, "never_ran, message = trace is Trace.NEVER_RAN,", "never_ran, message = True,"),
    ),
    _mutant("what is unclear counts as gone", (_S._take_over, "if trace is Trace.UNCLEAR:", "if False:")),
    _mutant(
        "an adoption takes no new token",
        (moves.taken_over, "claim_token=instance.claim_token + 1", "claim_token=instance.claim_token"),
    ),
    _mutant(
        "an adoption in doubt is forgotten",
        (_S._take_over_all, "if owner == self.recorder.controller and", "if False and"),
    ),
    _mutant("what another has adopted is stopped", (_C._look_after, "self._runner.let_go(key)", "self._runner.stop(key)")),
    _mutant(
        "a claim takes no new token",
        (moves.claimed, "claim_token=instance.claim_token + 1", "claim_token=instance.claim_token"),
    ),
    _mutant(
        "MaxConcurrent counts only what one's own program has claimed",
        (_R.claim, "limits.occupancy(connection, batches, limit)", _OWN_ONLY),
        (_R._claim_of, "limits.occupancy(connection, batches, limit)", _OWN_ONLY),
    ),
    _mutant(
        "a retry is not counted",
        (moves._after_failure, "retry_count=instance.retry_count - 1", "retry_count=instance.retry_count"),
    ),
    _mutant("a fatal failure is retried", (moves._after_failure, " or end.fatal", "")),
    _mutant(
        "NextRunTime is ignored",
        (gates._next_run_time, "if instance.next_run_time <= now:", "if True:"),
        (gates.makes_later_wait, "instance.next_run_time > now", "False"),
        (instances.claim, "_CLAIM(", "_MOVE("),
        (instances.claim, ", now=now)", ")"),
    ),
    _mutant("instances are not taken in order", (instances.open_of, "readable(rows, instance)", "readable(rows[::-1], instance)")),
    _mutant("the FileProcess row is not completed", (_R._went, "if after.status.is_final:", "if False:")),
    _mutant("duplicates are not looked for", (creation.Creator._write, "if check else None", "if False else None")),
    _mutant(
        "one row that nobody foresaw stops the others",
        (creation.Creator._create_alone, "except Exception as error:", "except ZeroDivisionError as error:"),
    ),
    _mutant(
        "what others may repeat is not leashed",
        (controller.Flight.is_leashed.fget, "return self.attempt.step.on_lost is OnLost.RERUN", "return False"),  # type: ignore[attr-defined]
    ),
    _mutant(
        "a step starts before its history row is committed",
        (_C._write, "        return written", "        self._start(written); return written"),
        (_C.turn, "self._start(written)", "pass"),
    ),
    _mutant(
        "what is under way is begun again after a commit in doubt",
        (_R.settle, "is_new = entry.history_id not in known and", "is_new ="),
    ),
    _mutant(
        "a controller counts as dead after one missed sign of life",
        (liveness.is_overdue, "rhythm.orphan_timeout", "rhythm.heartbeat_interval"),
    ),
    _mutant("claims of the dead are released whatever runs", (_S._release_claims, " and instance.instance_id not in busy", "")),
)


@contextmanager
def made(mutant: Mutant) -> Iterator[None]:
    """Make the mistake, and mend it at the end."""
    sources = {change.function: textwrap.dedent(inspect.getsource(change.function)) for change in mutant.changes}
    for change in mutant.changes:
        source = sources[change.function]
        assert change.text in source, f"{mutant.name}: {change.function.__qualname__} has no '{change.text}' any more"
        sources[change.function] = source.replace(change.text, change.instead)
    with ExitStack() as stack:
        for function, source in sources.items():
            # Whoever has imported the function gets the mistake too.
            stack.callback(setattr, function, "__code__", function.__code__)
            function.__code__ = _compiled(function, source).__code__
        yield


def _compiled(function: Callable[..., Any], source: str) -> Callable[..., Any]:
    lines = source.splitlines(keepends=True)
    while lines[0].startswith("@"):
        del lines[0]
    found: dict[str, Any] = {}
    code = compile("from __future__ import annotations\n" + "".join(lines), "<mutant>", "exec")
    exec(code, function.__globals__, found)  # noqa: S102 - this is what mutants are for
    made_anew: Callable[..., Any] = found[function.__name__]
    return made_anew

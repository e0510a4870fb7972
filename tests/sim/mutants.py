"""Plausible mistakes, made in the engine on purpose: the simulation has to find every one of them."""

from __future__ import annotations

import builtins
import dis
import inspect
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from batchctl.control import (
    backfilling,
    claiming,
    controller,
    creation,
    deciding,
    flights,
    incident_watch,
    outbox,
    purge,
    recording,
    rescue,
    sealing,
    takeover,
)
from batchctl.domain import backfill_turns, catch_up, gates, liveness, moves, retention
from batchctl.operations import freezing, release
from batchctl.store import (
    audit_seals,
    backfills,
    dependencies,
    finished_instances,
    history,
    instances,
    transactions,
    turns,
)


@dataclass(frozen=True)
class Change:
    """In the source of a module, one text in the place of another; `within` names the function where there are several."""

    module: ModuleType
    text: str
    instead: str
    within: str | None = None


@dataclass(frozen=True)
class Mutant:
    """A mistake."""

    name: str
    changes: tuple[Change, ...]


def _mutant(name: str, *changes: tuple[ModuleType, str, str] | tuple[ModuleType, str, str, str]) -> Mutant:
    return Mutant(name, tuple(Change(*change) for change in changes))


_OWN_ONLY = (
    "; look.room.occupancy.claimed.update((key, sum(1 for one in instances.claimed(connection) if one.batch_id == key"
    " and one.claimed_by == self.recorder.controller)) for key in batches)"
)
_LOOK = "look = _Look(connection, batches, limit, now, parked, page=places)"
_STARTS = "self._flights.add(written.committed().starts); self._flights.begin()"
_WRITES = "moved, closed = update_all(connection, moving), update_all(connection, closing)"
_COMMITS_HALF = (
    "moved = update_all(connection, moving)\n"
    "    from batchctl.store.dialects import dialect_of as of; of(connection).commit(connection)\n"
    "    of(connection).begin_write(connection)\n"
    "    closed = update_all(connection, closing)"
)

MUTANTS: tuple[Mutant, ...] = (
    _mutant(
        "ends are recorded whoever has the instance by then",
        (recording, "found.claim_token == attempt.instance.claim_token and ", ""),
        (history, " and found.claim_token == token", ""),
        (turns, " or closed < _count(closing)", ""),
    ),
    _mutant(
        "a rescue does not look whether all is still as it was read",
        (takeover, "return found is not None and", "return True or"),
        (takeover, "if owner is not None:", "if False:"),
    ),
    _mutant(
        "a rescue does not look for a new sign of life",
        (takeover, " or now_there.heartbeat_seq != owner.heartbeat_seq", ""),
    ),
    _mutant(
        "the end of a step is committed in two parts",
        (turns, _WRITES, _COMMITS_HALF),
    ),
    _mutant(
        "the clock of the host decides",
        (transactions, "tell=self._reading()", "tell=None"),
    ),
    _mutant("OnLost is forgotten", (moves, "on_lost is OnLost.HOLD or ", "")),
    _mutant(
        "a commit in doubt is tried again",
        (
            transactions,
            "if self._is_transient(error):",
            "if self._is_transient(error) or isinstance(error, OutcomeUnknown):",
        ),
    ),
    _mutant(
        "a commit in doubt is forgotten",
        (controller, "self._unsettled |= isinstance(error, OutcomeUnknown)", "pass"),
    ),
    _mutant(
        "whatever was lost counts as never run",
        (rescue, "never_ran = trace is Trace.NEVER_RAN", "never_ran = True"),
    ),
    _mutant(
        "what is left over is stopped before it is one's own",
        (rescue, "return self._taken_first(found, has_claim=has_claim) or Rescued()", "return found"),
    ),
    _mutant("what is unclear counts as gone", (rescue, "if trace is Trace.UNCLEAR or ", "if ")),
    _mutant(
        "an adoption takes no new token",
        (moves, "instance.claim_token + 1", "instance.claim_token + (verb is not InstanceVerb.TAKE_OVER)"),
    ),
    _mutant(
        "an adoption in doubt is forgotten",
        (rescue, "if owner == self.recorder.controller:", "if False:"),
    ),
    _mutant(
        "what another has adopted is stopped",
        (flights, "self._runner.let_go(key)", "self._runner.stop(key)"),
    ),
    _mutant(
        "a claim takes no new token",
        (moves, "instance.claim_token + 1", "instance.claim_token + (verb is not InstanceVerb.CLAIM)"),
    ),
    _mutant(
        "MaxConcurrent counts only what one's own program has claimed",
        (claiming, _LOOK, _LOOK + _OWN_ONLY),
        (claiming, "look = look.anew(batch)", "look = look.anew(batch)" + _OWN_ONLY),
    ),
    _mutant(
        "a retry is not counted",
        (moves, "retry_count=instance.retry_count - 1", "retry_count=instance.retry_count"),
    ),
    _mutant("a fatal failure is retried", (moves, " or end.fatal", "")),
    _mutant(
        "NextRunTime is ignored",
        (gates, "if instance.next_run_time <= now:", "if True:"),
        (gates, "instance.next_run_time > now", "False"),
        (instances, "    if claim:\n", "    if False:\n"),
    ),
    _mutant(
        "instances are not taken in order",
        (instances, "readable(rows, instance)", "readable(rows[::-1], instance)"),
    ),
    _mutant("the FileProcess row is not completed", (recording, "[one.after.intake_id for one in over]", "[]")),
    _mutant(
        "what completes is not offered to what depends on it",
        (recording, "if not completed:", "if True:"),
    ),
    _mutant(
        "a set starts before it is whole",
        (dependencies, "            return None\n", "            continue\n"),
        (dependencies, "    return whole\n", "    return whole or None\n"),
    ),
    _mutant(
        "only the last completion of a set is used",
        (dependencies, "whole.append(one)", "whole[:] = [one]"),
    ),
    _mutant("duplicates are not looked for", (creation, "if batch.duplicate_check else None", "if False else None")),
    _mutant(
        "one row that nobody foresaw stops the others",
        (creation, "except Exception as error:", "except ZeroDivisionError as error:"),
    ),
    _mutant(
        "what others may repeat is not leashed",
        (flights, "return self.attempt.step.on_lost is", "return False and self.attempt.step.on_lost is"),
    ),
    _mutant(
        "a step starts before its history row is committed",
        (controller, "self._flights.add(written.starts)", "pass"),
        (controller, "self._flights.begin()", "pass"),
        (controller, "        return written", f"        {_STARTS}; return written"),
        (controller, "        return made, written", f"        {_STARTS}; return made, written"),
    ),
    _mutant(
        "what is under way is begun again after a commit in doubt",
        (recording, " and not is_known(entry.history_id)", ""),
    ),
    _mutant(
        "a controller counts as dead after one missed sign of life",
        (liveness, "patience(row, rhythm)", "rhythm.heartbeat_interval"),
    ),
    _mutant(
        "what may go is not looked at again in the transaction that deletes it",
        (
            purge,
            "going = finished_instances.leaving(connection, likely.intake_ids, rules, now, locked=True)",
            "going = likely",
        ),
        (finished_instances, "_DELETE, named", "delete(batch_control).where(_c.BatchControl_id.in_(_THESE)), named"),
    ),
    _mutant(
        "a completion that waits goes with its instance",
        (retention, " or one.is_wanted", ""),
        (
            finished_instances,
            "_DELETE_COMPLETIONS, named",
            "delete(batch_completion).where(_o.BatchControl_id.in_(_THESE)), named",
        ),
    ),
    _mutant(
        "what is purged need not be old",
        (retention, " or one.changed_at >= now - keep.age", ""),
        (finished_instances, " if row.z_updated < before]", "]"),
    ),
    _mutant(
        "the last ones are purged too",
        (
            finished_instances,
            "return InstanceId(found[0].BatchControl_id) if found else None",
            "return LAST",
        ),
    ),
    _mutant(
        "claims of the dead are released whatever runs", (rescue, "if instance.instance_id not in busy", "if True")
    ),
    _mutant("a frozen batch goes on with its next step", (gates, " and freezes.holding(batch, now) is None", "")),
    _mutant(
        "what is let go is changed and nobody writes it down",
        (release, "actor.note_all(connection, map(_noted, changes), reason)", "pass"),
    ),
    _mutant(
        "a thaw has no row in the audit log",
        (freezing, 'self.actor.note(connection, "thaw", target(freeze), reason, was, became)', "pass"),
    ),
)

_GUARD = "if schedule is None or schedule != known.schedule or not _has_its_calendar(connection, known):"

_TOLD_FIRST = (
    "decision = catch_up.decide(schedule, undecided, now, self.grace);"
    " schedules.stand(connection, schedule.schedule_id, Standing(schedule"
    ".next_run_time, decision.decided_until, known.timing_hash), now);"
    " from batchctl.store.dialects import dialect_of as of; of(connection).commit(connection);"
    " of(connection).begin_write(connection)"
)

TIMED_MUTANTS: tuple[Mutant, ...] = (
    _mutant(
        "whoever wrote the schedule meanwhile is not looked at",
        (deciding, _GUARD, "if schedule is None:"),
        (
            deciding,
            "decision = catch_up.decide(schedule, undecided,",
            "decision = catch_up.decide(known.schedule, undecided,",
        ),
    ),
    _mutant(
        "what is decided is not written",
        (deciding, "for one in decision.in_order:", "for one in decision.in_order[1:]:"),
    ),
    _mutant(
        "how far all is decided is written first, in a transaction of its own",
        (
            deciding,
            "decision = catch_up.decide(schedule, undecided, now, self.grace, trouble)",
            _TOLD_FIRST,
        ),
    ),
    _mutant("once is never over", (deciding, "ScheduleType.ONCE and next_run is None", "ScheduleType.CRON")),
    _mutant("one too many is made up for", (catch_up, "CatchUp.LATEST: 1,", "CatchUp.LATEST: 2,")),
    _mutant("nothing is made up for", (catch_up, "CatchUp.LATEST: 1,", "CatchUp.LATEST: 0,")),
    _mutant(
        "what was missed is miscounted",
        (catch_up, "number, why = min(len(counted), COUNTED)", "number, why = min(len(counted), COUNTED) + 1"),
    ),
    _mutant("nobody is ever too late", (catch_up, "if at + grace < now]", "if False]")),
    _mutant(
        "a changed timing makes up for what was due before",
        (catch_up, "or is_changed or", "or"),
    ),
    _mutant(
        "what became due while a lock lasted counts as on time",
        (catch_up, "min(trouble.since, now)", "now"),
        (catch_up, "begin = max(after, now - grace - schedule.jitter - _TICK)", "begin = after", "_on_time"),
        (catch_up, "if at + grace >= now >= at and", "if now >= at and", "_on_time"),
    ),
    _mutant("a clock that was set back is not noticed", (catch_up, "schedule.decided_until > now + AHEAD", "False")),
)
"""Mistakes in what starts work because it is time."""

_DONE_FIRST = (
    "now, decided = self.clock.now(), Decided(schedule, [], [])",
    (
        "now, decided = self.clock.now(), Decided(schedule, [], []);"
        " early = _turn(connection, backfill, schedule, plan, now); _keep(connection, backfill, early, now);"
        " from batchctl.store.dialects import dialect_of as of; of(connection).commit(connection);"
        " of(connection).begin_write(connection)"
    ),
)

BACKFILL_MUTANTS: tuple[Mutant, ...] = (
    _mutant(
        "more is started than may be open",
        (
            backfilling,
            "room=max(0, backfill.most_open - backfills.count_open(connection, backfill.backfill_id))",
            "room=2",
        ),
    ),
    _mutant("what is open is not counted", (backfills, "return sum(", "return 0 and sum(")),
    _mutant(
        "a backfill that was cancelled meanwhile goes on",
        (backfilling, "backfill = backfills.load_locked(connection, found.backfill_id)", "backfill = found"),
    ),
    _mutant(
        "whether it still runs is not asked",
        (backfilling, "if backfill is None or backfill.status is not BackfillStatus.RUNNING:", "if backfill is None:"),
    ),
    _mutant(
        "the future is started too",
        (backfilling, "max(done_until, min(backfill.last, reach_of(schedule, now)))", "max(done_until, backfill.last)"),
    ),
    _mutant(
        "what the schedule has yet to decide is started",
        (backfill_turns, "if not schedule.enabled or schedule.decided_until is None:", "if True:"),
    ),
    _mutant(
        "what there was no room for is left out",
        (
            backfill_turns,
            "reached = max(done_until, due_of(instant) - TICK)",
            "reached = max(done_until, due_of(instant))",
        ),
    ),
    _mutant(
        "the first of its time is left out",
        (
            backfill_turns,
            "return backfill.done_until or max(backfill.first, _FIRST) - TICK",
            "return backfill.done_until or max(backfill.first, _FIRST)",
        ),
    ),
    _mutant(
        "what was decided before is started again",
        (backfill_turns, "if instant.key in self.keys:", "if False:"),
    ),
    _mutant("what was missed is started unasked", (backfill_turns, "if not missed and any(", "if False and any(")),
    _mutant("what was missed is never started", (backfill_turns, "if not missed and any(", "if any(")),
    _mutant(
        "it is complete although more is to come",
        (backfilling, "is_end=not is_own(schedule, plan, backfill.last, now)", "is_end=True"),
    ),
    _mutant("it is never complete", (backfilling, "if turn.is_complete:\n", "if False:\n")),
    _mutant(
        "what it has started is miscounted", (backfilling, "backfill.fired + len(turn.fires)", "backfill.fired + 1")
    ),
    _mutant("how far it has come is written first, in a transaction of its own", (backfilling, *_DONE_FIRST)),
    _mutant(
        "how far it has come is not written",
        (
            backfilling,
            'columns: dict[str, object] = {"DoneUntil": turn.done_until, "z_updated": now}',
            'columns: dict[str, object] = {"z_updated": now}',
        ),
    ),
    _mutant(
        "one whose schedule is disabled waits for ever",
        (
            backfilling,
            "_turn(connection, backfill, schedule, plan, now)",
            "_turn(connection, backfill, schedule, plan, now if schedule.enabled else begin_of(backfill))",
        ),
    ),
)
"""Mistakes in what starts work because somebody wants that of due times of the past."""

TELLING_MUTANTS: tuple[Mutant, ...] = (
    _mutant(
        "it is not told that a problem is over", (incident_watch, "is_told=one in seen.superseded", "is_told=True")
    ),
    _mutant("what is over stands", (incident_watch, "(*seen.resolved, *seen.superseded)", "seen.superseded")),
    _mutant(
        "who sends a message is taken for dead at once",
        (outbox, "one.claimed_by is None or one.claimed_at is None or one.claimed_at < now - STALE", "True"),
    ),
    _mutant("what was sent is not ticked off", (outbox, "if said is None:", "if False:")),
    _mutant(
        "what hangs is never sent by another",
        (outbox, "one.claimed_at < now - STALE", "one.claimed_at < now - 1000 * STALE"),
    ),
    _mutant(
        "acts are purged without a trace",
        (purge, 'self._audit(connection, LOG, None, {"Rows": len(going), NUMBERS: in_spans(going)}, None)', "pass"),
    ),
    _mutant("a seal does not go on from the one before", (audit_seals, "number + 1, digest", "number + 1, BEGINNING")),
    _mutant("the end of the audit log is not sealed", (sealing, "if page.open:", "if page.open and not page.is_last:")),
)
"""Mistakes in what people are told of problems, and in what becomes of the audit log."""


@contextmanager
def made(mutant: Mutant) -> Iterator[None]:
    """Make the mistake, and mend it at the end."""
    sources: dict[FunctionType, str] = {}
    for change in mutant.changes:
        functions = [one for one in _functions(change.module) if change.within in (None, one.__name__)]
        found = [one for one in functions if change.text in sources.get(one, _source(one))]
        assert found, f"{mutant.name}: there is no '{change.text}' in {change.module.__name__} any more"
        for function in found:
            sources[function] = sources.get(function, _source(function)).replace(change.text, change.instead)
    with ExitStack() as stack:
        for function, source in sources.items():
            # Whoever has imported the function gets the mistake too.
            stack.callback(setattr, function, "__code__", function.__code__)
            function.__code__ = _compiled(function, source)
            assert not (unknown := _unknown_names(function)), f"{mutant.name}: nobody knows {unknown}: it only crashes"
        yield


def _unknown_names(function: FunctionType) -> set[str]:
    """Return the global names that a function uses and that there are not."""
    used, codes = set[str](), [function.__code__]
    while codes:
        code = codes.pop()
        used |= {one.argval for one in dis.get_instructions(code) if one.opname == "LOAD_GLOBAL"}
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return used - function.__globals__.keys() - vars(builtins).keys()


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    owners = [module, *(one for one in vars(module).values() if isinstance(one, type))]
    for owner in owners:
        for value in vars(owner).values():
            function = (
                value.fget if isinstance(value, property) else inspect.unwrap(value) if callable(value) else value
            )
            if (
                isinstance(function, FunctionType)
                and function.__module__ == module.__name__
                and function.__qualname__ != "<lambda>"
            ):
                yield function


@cache
def _source(function: FunctionType) -> str:
    try:
        return textwrap.dedent(inspect.getsource(function))
    except OSError:
        return ""  # What dataclasses write themselves.


def _compiled(function: FunctionType, source: str) -> CodeType:
    lines = source.splitlines(keepends=True)
    while lines[0].startswith("@"):
        del lines[0]
    found: dict[str, Any] = {}
    code = compile("from __future__ import annotations\n" + "".join(lines), "<mutant>", "exec")
    exec(code, function.__globals__, found)
    made_anew: FunctionType = found[function.__name__]
    return made_anew.__code__

"""Plausible mistakes about what starts work because it is time, or was: schedules and backfills."""

from __future__ import annotations

from batchctl.control.scheduling import backfilling, deciding
from batchctl.domain.scheduling import backfill_turns, catch_up
from batchctl.operations.scheduling import backfiller, foresight, schedule_trial, timetable
from batchctl.store.scheduling import backfills
from tests.sim.mutating import Mutant, mutant

_GUARD = "if schedule is None or schedule != known.schedule or not _has_its_calendar(connection, known):"

_TOLD_FIRST = (
    "decision = catch_up.decide(schedule, undecided, now, self.grace);"
    " schedule_rows.stand(connection, schedule.schedule_id, ScheduleStanding(schedule"
    ".next_run_time, decision.decided_until, known.timing_hash), now);"
    " from batchctl.store.dialects import dialect_of as of; of(connection).commit(connection);"
    " of(connection).begin_write(connection)"
)

TIMED_MUTANTS: tuple[Mutant, ...] = (
    mutant(
        "whoever wrote the schedule meanwhile is not looked at",
        "timetable",
        (deciding, _GUARD, "if schedule is None:"),
        (
            deciding,
            "decision = catch_up.decide(schedule, undecided,",
            "decision = catch_up.decide(known.schedule, undecided,",
        ),
    ),
    mutant(
        "what is decided is not written",
        "timetable",
        (deciding, "for one in decision.in_order:", "for one in decision.in_order[1:]:"),
    ),
    mutant(
        "how far all is decided is written first, in a transaction of its own",
        "timetable",
        (
            deciding,
            "decision = catch_up.decide(schedule, undecided, now, self.grace, failure)",
            _TOLD_FIRST,
        ),
    ),
    mutant("once is never over", "I51", (deciding, "ScheduleType.ONCE and next_run is None", "ScheduleType.CRON")),
    mutant("one too many is made up for", "timetable", (catch_up, "CatchUp.LATEST: 1,", "CatchUp.LATEST: 2,")),
    mutant("nothing is made up for", "timetable", (catch_up, "CatchUp.LATEST: 1,", "CatchUp.LATEST: 0,")),
    mutant(
        "what was missed is miscounted",
        "timetable",
        (catch_up, "number, why = min(len(counted), COUNTED)", "number, why = min(len(counted), COUNTED) + 1"),
    ),
    mutant("nobody is ever too late", "timetable", (catch_up, "if at + grace < now]", "if False]")),
    mutant(
        "a changed timing makes up for what was due before",
        "timetable",
        (catch_up, "or is_changed or", "or"),
    ),
    mutant(
        "what became due while a lock lasted counts as on time",
        "timetable",
        (catch_up, "min(failure.since, now)", "now"),
        (catch_up, "begin = max(after, now - grace - schedule.jitter - _TICK)", "begin = after", "_on_time"),
        (catch_up, "if at + grace >= now >= at and", "if now >= at and", "_on_time"),
    ),
    mutant(
        "a clock that was set back is not noticed",
        "timetable",
        (catch_up, "schedule.decided_until > now + AHEAD", "False"),
    ),
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
    mutant(
        "more is started than may be open",
        "backfill",
        (
            backfilling,
            "room=max(0, backfill.most_open - backfills.count_open(connection, backfill.backfill_id))",
            "room=2",
        ),
    ),
    mutant("what is open is not counted", "backfill", (backfills, "return sum(", "return 0 and sum(")),
    mutant(
        "a backfill that was cancelled meanwhile goes on",
        "backfill",
        (backfilling, "backfill = backfills.load_locked(connection, found.backfill_id)", "backfill = found"),
    ),
    mutant(
        "whether it still runs is not asked",
        "backfill",
        (backfilling, "if backfill is None or backfill.status is not BackfillStatus.RUNNING:", "if backfill is None:"),
    ),
    mutant(
        "the future is started too",
        "backfill",
        (backfilling, "max(done_until, min(backfill.last, reach_of(schedule, now)))", "max(done_until, backfill.last)"),
    ),
    mutant(
        "what the schedule has yet to decide is started",
        "backfill",
        (backfill_turns, "if not schedule.enabled or schedule.decided_until is None:", "if True:"),
    ),
    mutant(
        "what there was no room for is left out",
        "backfill",
        (
            backfill_turns,
            "reached = max(done_until, due_of(instant) - TICK)",
            "reached = max(done_until, due_of(instant))",
        ),
    ),
    mutant(
        "the first of its time is left out",
        "backfill",
        (
            backfill_turns,
            "return backfill.done_until or max(backfill.first, _FIRST) - TICK",
            "return backfill.done_until or max(backfill.first, _FIRST)",
        ),
    ),
    mutant(
        "what was decided before is started again",
        "I35",
        (backfill_turns, "if before is not None:", "if False:"),
    ),
    mutant(
        "what was missed is started unasked",
        "backfill",
        (backfill_turns, "if not missed and any(", "if False and any("),
    ),
    mutant("what was missed is never started", "backfill", (backfill_turns, "if not missed and any(", "if any(")),
    mutant(
        "it is complete although more is to come",
        "backfill",
        (backfilling, "is_end=not is_own(schedule, plan, backfill.last, now)", "is_end=True"),
    ),
    mutant("it is never complete", "I35", (backfilling, "if turn.is_complete:\n", "if False:\n")),
    mutant(
        "what it has started is miscounted",
        "backfill",
        (backfilling, "backfill.fired + len(turn.fires)", "backfill.fired + 1"),
    ),
    mutant(
        "how far it has come is written first, in a transaction of its own", "backfill", (backfilling, *_DONE_FIRST)
    ),
    mutant(
        "how far it has come is not written",
        "I35",
        (
            backfilling,
            'columns: dict[str, object] = {"DoneUntil": turn.done_until, "z_updated": now}',
            'columns: dict[str, object] = {"z_updated": now}',
        ),
    ),
    mutant(
        "one whose schedule is disabled waits for ever",
        "I35",
        (
            backfilling,
            "_turn(connection, backfill, schedule, plan, now)",
            "_turn(connection, backfill, schedule, plan, now if schedule.enabled else begin_of(backfill))",
        ),
    ),
)
"""Mistakes in what starts work because somebody wants that of due times of the past."""

PREVIEW_MUTANTS: tuple[Mutant, ...] = (
    mutant(
        "a preview gives what is late no grace",
        "preview",
        (
            timetable,
            "catch_up.decide(schedule, undecided, context.now, grace)",
            "catch_up.decide(schedule, undecided, context.now, grace - grace)",
        ),
    ),
    mutant(
        "a preview takes what a clock was set back behind for decided",
        "preview",
        (foresight, "and not self._is_to_be_decided(instant.due)", ""),
    ),
    mutant(
        "a trial takes no notice of Overlap",
        "preview",
        (schedule_trial, "bool(decision.fires) and blocker is None", "bool(decision.fires)"),
    ),
    mutant(
        "a dry run of a backfill names what was missed",
        "preview",
        (
            backfiller,
            "fate_of(instant, before, stretches, missed=missed)",
            "fate_of(instant, before, (), missed=missed)",
        ),
    ),
    mutant(
        "a dry run of a backfill names what was started",
        "preview",
        (backfiller, "fate_of(instant, before, stretches,", "fate_of(instant, None, stretches,"),
    ),
)
"""Mistakes in what people are told before it happens."""

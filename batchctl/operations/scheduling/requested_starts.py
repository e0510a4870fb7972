"""Work that people ask for by rows to be started: a schedule's work now, due times of the past."""

from __future__ import annotations

from batchctl.domain.operators.request_verbs import OfBackfill, OfPast, OfSchedule
from batchctl.domain.text import visible
from batchctl.operations.operators.acts import Actor
from batchctl.operations.scheduling import schedule_keeper
from batchctl.operations.scheduling.backfiller import Backfiller, Span, end_of


def started(actor: Actor, wish: OfSchedule | OfPast | OfBackfill, zone: str) -> str:
    """Do what is asked for, and say what was done."""
    match wish:
        case OfSchedule():
            ran = schedule_keeper.run_now(actor, wish.schedule, zone=zone, reason=wish.reason)
            return f"FileProcess {ran.intake_id} is there: {visible(ran.schedule.entity)}, CycleKey {ran.cycle_key}."
        case OfPast():
            span = Span(first=end_of(wish.first, "from"), last=end_of(wish.last, "to"))
            begun = Backfiller(actor=actor, default_zone=zone).begin(
                wish.schedule,
                span,
                most_open=wish.most_open,
                missed=wish.missed,
                sure=wish.sure,
                reason=wish.reason,
            )
            of = f"of schedule {visible(wish.schedule)}"
            return f"ScheduleBackfill {begun.backfill_id} starts work for {begun.to_fire} due times {of}."
        case OfBackfill():
            ended = Backfiller(actor=actor, default_zone=zone).cancel(wish.backfill_id, reason=wish.reason)
            fired = f"after work was started for {ended.fired} due times"
            return f"ScheduleBackfill {ended.backfill_id} is cancelled, {fired}."

"""Plausible mistakes that only more variety shows: settings that differ, rows that several batches take, late answers."""

from __future__ import annotations

from batchctl.control import asked_rows, back_off, claiming, intake_writing, membership, recording, rescue
from batchctl.control.operators import answering
from batchctl.domain import moves
from batchctl.operations import intervene
from batchctl.store.definitions import definitions
from tests.sim.mutating import Mutant, mutant

VARIED_MUTANTS: tuple[Mutant, ...] = (
    mutant(
        "a turn waits for a populator",
        "turn",
        (
            asked_rows,
            "ask_populator(self.populators, row, batch)",
            "self.populators.populate(batch.populator, row, batch)",
        ),
    ),
    mutant("what hangs is asked about for ever", "I35", (asked_rows, "if row.tries >= MOST_TRIES:", "if False:")),
    mutant(
        "a row of which an answer is awaited may be complete",
        "intake",
        (asked_rows, "return max(self.row.tries, 1) if self.awaits else 0", "return 0"),
    ),
    mutant(
        "what populators answer is dropped",
        "I01",
        (asked_rows, "asked.populated[answer.batch_id] = answer.values", "pass"),
    ),
    mutant(
        "the next run is reckoned from the beginning of the attempt",
        "retry",
        (
            recording,
            "move = moves.after_step(found, batch, ended, now=now,",
            "move = moves.after_step(found, batch, ended, now=end.attempt.started_at,",
        ),
    ),
    mutant(
        "the lease is reckoned from the answer",
        "lease",
        (membership, "self.lease_until = sent + ", "self.lease_until = self.clock.monotonic() + "),
    ),
    mutant(
        "a populator that refuses keeps the other batches of the row from their instances",
        "intake",
        (intake_writing, 'reasons.append(f"batch {visible(batch.name)}: {values}")', "reasons.append(values); break"),
    ),
    mutant(
        "a commit in doubt is forgotten at the next trouble",
        "slots",
        (
            back_off,
            "self.is_open |= isinstance(error, OutcomeUnknown)",
            "self.is_open = isinstance(error, OutcomeUnknown)",
        ),
    ),
    mutant("what is unclear counts as gone", "I31", (rescue, "if trace is Trace.UNCLEAR or ", "if ")),
    mutant("a check that cannot tell is asked again", "verify", (moves, " or end.undecidable", "")),
    mutant(
        "a row stays complete although an instance of it is run again",
        "I02",
        (intervene, "intake.reopen(connection, after.intake_id, now)", "pass"),
    ),
    mutant(
        "a row whose cancelled instance is run again stays complete",
        "I02",
        (
            intervene,
            "intake.reopen(",
            "before.status is InstanceStatus.COMPLETE and intake.reopen(",
        ),
    ),
    mutant(
        "success does not bring the retries back",
        "retry",
        (
            moves,
            "retry_count=batch.retries_after(end.seq)",
            "retry_count=instance.retry_count if goes_on else batch.retries_after(end.seq)",
        ),
    ),
    mutant(
        "a released instance does not get its retries back",
        "retry",
        (
            moves,
            "retry_count=batch.retries_after(end.seq)",
            "retry_count=batch.retries_after(end.seq) if goes_on or next_step is None else instance.retry_count",
        ),
    ),
    mutant(
        "the last retry is not made",
        "retry",
        (moves, "if instance.retry_count <= 0 or end.fatal", "if instance.retry_count <= 1 or end.fatal"),
    ),
    mutant(
        "a retry does not wait",
        "retry",
        (moves, "next_run_time=now + retry_wait(batch, step, instance.retry_count)", "next_run_time=now"),
    ),
    mutant(
        "a time-out is not retried",
        "retry",
        (
            moves,
            "if instance.retry_count <= 0 or end.fatal",
            "if instance.retry_count <= 0 or end.fatal or end.status is HistoryStatus.TIMEOUT",
        ),
    ),
    mutant(
        "one instance more is claimed than there are slots",
        "slots",
        (claiming, "most = min(places - len(written.started), ", "most = min(places + 1 - len(written.started), "),
    ),
    mutant(
        "duplicates are looked for where nobody wants it",
        "intake",
        (intake_writing, "if batch.duplicate_check else None", "if True else None"),
    ),
    mutant(
        "what repeats another row for one batch is kept from all",
        "intake",
        (intake_writing, "repeats[batch.name] = first\n", "repeats[batch.name] = first; break\n"),
    ),
    mutant(
        "a batch with an entity of another gets no row of it",
        "intake",
        (
            definitions,
            "entity=name if row.Entity is None else row.Entity",
            "entity=name",
        ),
    ),
)
"""Mistakes that only settings show which differ, and what several want of the same row."""

_ACTS_FIRST = (
    "status, said = self._outcome(connection, request)",
    (
        "status, said = self._outcome(connection, request); from batchctl.store.dialects import dialect_of as of;"
        " of(connection).commit(connection); of(connection).begin_write(connection)"
    ),
)

REQUEST_MUTANTS: tuple[Mutant, ...] = (
    mutant(
        "what was answered is carried out again",
        "C11",
        (
            answering,
            "operator_requests.waiting(connection, after, PAGE)",
            "[one for one in operator_requests.newest(connection, PAGE, only_open=False) if one.request_id > after]",
        ),
        (answering, "request is None or request.status is not RequestStatus.REQUESTED", "request is None"),
    ),
    mutant(
        "a request that somebody took back meanwhile is carried out",
        "C11",
        (answering, "request is None or request.status is not RequestStatus.REQUESTED", "request is None"),
    ),
    mutant("a request is answered in another transaction than its act", "C11", (answering, *_ACTS_FIRST)),
    mutant(
        "who was frozen answers although another leads",
        "lead",
        (answering, "self.transactions.run(_BOUNDARIES", "self.transactions.transactions.run(_BOUNDARIES"),
    ),
    mutant(
        "a request that could not be answered at once is forgotten",
        "C11",
        (answering, "self._last = 0\n", "self._last = last\n"),
    ),
    mutant(
        "what is refused is not answered",
        "C11",
        (answering, "return RequestStatus.REFUSED, error.in_full", "raise"),
    ),
    mutant(
        "what is refused counts as done",
        "C11",
        (answering, "return RequestStatus.REFUSED, error.in_full", "return RequestStatus.DONE, error.in_full"),
    ),
)
"""Mistakes about what people ask for by rows."""

"""Plausible mistakes about steps that say for themselves how often they are tried, and what follows when they have failed."""

from __future__ import annotations

from batchctl.control import recording
from batchctl.domain import moves
from batchctl.domain.definitions import row_guard
from batchctl.operations import intervene
from batchctl.store import instances
from tests.sim.mutating import Mutant, mutant

STEP_MUTANTS: tuple[Mutant, ...] = (
    mutant(
        "an instance goes past a step that may be tried again",
        "past",
        (
            moves,
            "if instance.retry_count <= 0 or end.fatal:",
            "if instance.retry_count <= 0 or end.fatal or (step is not None and step.may_be_passed):",
        ),
    ),
    mutant(
        "a step that has failed ends its instance whatever OnStepFailure says",
        "past",
        (moves, "if step is not None and step.may_be_passed:", "if False:"),
    ),
    mutant(
        "every step that has failed is gone past",
        "past",
        (moves, "if step is not None and step.may_be_passed:", "if step is not None:"),
    ),
    mutant(
        "what an instance went past is not counted",
        "I07",
        (moves, "(instance.steps_failed or 0) + 1 if move.passed else instance.steps_failed", "instance.steps_failed"),
    ),
    mutant(
        "a rerun counts the failures of steps that it runs again",
        "I60",
        (intervene, "after = decisions.recounted(after, history.of_instance(connection, instance_id)[0])", "pass"),
    ),
    mutant(
        "a step begins with the retries of the one before",
        "retry",
        (moves, "batch.retries_after(end.seq)", "batch.retries_after(instance.last_seq)"),
    ),
    mutant(
        "the first step has the retries of its batch",
        "retry",
        (instances, "batch.retries_after(0)", "batch.retry_count"),
    ),
    mutant("the wait for a retry does not grow", "retry", (moves, "max(allowed - left, 0)", "0")),
    mutant(
        "whatever RetryOn says is tried again",
        "retry",
        (moves, "fatal = not step.retry_on.covers(*codes)", "fatal = False"),
    ),
    mutant("the number of rows is not looked at", "rows", (recording, "if not step.counts_rows or", "if True or")),
    mutant(
        "a step with OnRows warn fails",
        "rows",
        (row_guard, "if step.on_rows is OnRows.WARN:", "if False:"),
    ),
)

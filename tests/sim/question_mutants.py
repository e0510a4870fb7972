"""Plausible mistakes about what steps ask people, and how that is answered."""

from __future__ import annotations

from batchctl.control import recording
from batchctl.control.operators import answer_times
from batchctl.domain import moves
from batchctl.operations import intervene
from batchctl.store.operators import confirmation_rows
from tests.sim.mutating import Mutant, mutant

QUESTION_MUTANTS: tuple[Mutant, ...] = (
    mutant(
        "what asks stays ready, and is begun again",
        "I11",
        (moves, "_INSTEAD.get(instance.status, InstanceVerb.ASK)", "InstanceVerb.RETRY_AT"),
    ),
    mutant("a question is not written down", "I98", (recording, "if asks is not None and", "if asks is None and")),
    mutant(
        "what is being cancelled asks all the same",
        "I96",
        (
            moves,
            "if end.status is not HistoryStatus.ASKED or instance.status not in _INSTEAD:",
            "if True:",
        ),
    ),
    mutant(
        "how long a question waits is forgotten",
        "question",
        (confirmation_rows, "None if asks.wait is None else now + asks.wait", "None"),
    ),
    mutant(
        "a question ends before its time",
        "question",
        (
            answer_times,
            "confirmation_rows.due(connection, self.clock.now(), PAGE + self._left)",
            "confirmation_rows.open_ones(connection, PAGE)",
        ),
    ),
    mutant(
        "no question ends by its time",
        "I35",
        (answer_times, "confirmation_rows.due(connection, self.clock.now(), PAGE + self._left)", "[]"),
    ),
    mutant(
        "an answer leaves its question open",
        "I96",
        (
            confirmation_rows,
            "return _ANSWER(connection, _answered(given, by, reason, now), confirmation_id=",
            "return bool(",
        ),
    ),
    mutant(
        "what is refused is gone past",
        "question",
        (moves, "passed = not confirmed and step is not None and step.may_be_passed", "passed = not confirmed"),
    ),
    mutant(
        "a question that ends by its time lets the instance go on",
        "question",
        (intervene, "confirmed=asked.on_timeout is OnTimeout.GO_ON", "confirmed=True"),
    ),
    mutant(
        "what people do instead leaves the question open",
        "I96",
        (
            intervene,
            "confirmation_rows.withdraw(connection, before.instance_id, self.who, said, now)",
            "pass",
        ),
    ),
    mutant(
        "a look that was lost waits for a person",
        "question",
        (moves, "if step is not None and step.asks_people:", "if False:"),
    ),
    mutant(
        "the attempt that asked is not ended by the answer",
        "I98",
        (confirmation_rows, "for history_id in found:", "for history_id in []:"),
    ),
)

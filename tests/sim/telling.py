"""What people are told: letters go out of a program, or out of a dying one, and the chain of the audit log holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from batchctl.control.alerting.incident_watch import STALE
from batchctl.domain.alerting.alert_text import Notification
from batchctl.domain.alerting.night_schedule import NightTimes, night_target
from batchctl.domain.maintenance.audit_chain import Anchor
from batchctl.operations.maintenance import audit_trail
from batchctl.ports import Answer
from tests.sim.laws import Broken

if TYPE_CHECKING:
    from tests.sim.programs import Program
    from tests.sim.world import World

CHANNEL = "night"
NIGHTS = NightTimes(due="03:02", since="18:00", zone="UTC")
"""It becomes due while programs work, and that of the day before is due when they begin."""
_MANNERS = 4
"""Of so many letters one goes at once, the others when the program looks again, and one not at the first attempt."""


class ScriptedInquiries:
    """The threads that letters are sent on: what is sent is gone, whatever becomes of the program that sent it."""

    def __init__(self, world: World, program: Program) -> None:
        self._world = world
        self._program = program
        self._asked: dict[int, Callable[[], Any]] = {}
        self._answers: list[Answer] = []

    @property
    def is_busy(self) -> bool:
        """Say whether answers are still to come."""
        return bool(self._asked or self._answers)

    def ask(self, key: int, question: Callable[[], Any]) -> bool:
        """Ask, at once or when the answer is fetched."""
        self._program.call("send")
        self._asked[key] = question
        if self._world.letters_begun % _MANNERS == 0:
            self._carry_out()
        self._world.letters_begun += 1
        return True

    def answers(self) -> Sequence[Answer]:
        """Return what has come of everything that was asked."""
        self._program.stay_alive()
        self._carry_out()
        came, self._answers = self._answers, []
        return came

    def wait(self, at_most: timedelta | None = None) -> None:
        """Nothing: an answer is there when somebody fetches it."""

    def _carry_out(self) -> None:
        while self._asked:
            key, question = self._asked.popitem()
            try:
                self._answers.append(Answer(key, found=question()))
            except Exception as error:  # noqa: BLE001 - whatever the question raises is its answer
                self._answers.append(Answer(key, error=error))


def send(world: World, program: Program, letter: Notification) -> None:
    """Let a letter arrive, unless the channel has a bad moment; nobody gets twice what is known to have been sent."""
    before = world.letters.setdefault(letter.number, [])
    ((status, attempts),) = world.rows(
        "SELECT Status, Attempts FROM AlertDelivery WHERE AlertDelivery_id = ?", letter.number
    )
    world.tell(program.name, "sends", {"letter": letter.number, "kind": letter.kind, "attempt": attempts})
    if not world.is_healed and letter.number % _MANNERS == 3 and attempts == 1:
        raise OSError("the channel has a bad moment")
    if status != "waiting":
        raise Broken("C15", f"message {letter.number} is {status}, and {program.name} sends it")
    for name, seconds in before:
        age = world.time.seconds - seconds
        if not world.is_dead(name) and age < STALE.total_seconds() and world.goes_by_clocks:
            raise Broken(
                "C15", f"message {letter.number} was sent by {name}, and again by {program.name} after {age} s"
            )
    world.happened["Sent"] += 1
    world.happened["Sent again"] += bool(before)
    before.append((program.name, world.time.seconds))


def send_report(world: World, program: Program, day: date) -> None:
    """Let the report of a night arrive, unless the channel has a bad moment; it is sent once a day by those who live."""
    target = night_target(day, CHANNEL)
    acts = [action for (action,) in world.rows("SELECT Action FROM AuditLog WHERE Target = ?", target)]
    world.tell(program.name, "reports", {"day": str(day), "attempt": acts.count("report claim")})
    if not world.is_healed and world.options.luck % 2 and acts.count("report claim") == 1:
        raise OSError("the channel has a bad moment")
    if "report claim" not in acts or "report sent" in acts:
        raise Broken("C15", f"the report of {day} has {acts}, and {program.name} sends it")
    before = world.reports.setdefault(target, [])
    for name, seconds in before:
        age = world.time.seconds - seconds
        if not world.is_dead(name) and age < STALE.total_seconds() and world.goes_by_clocks:
            raise Broken("C15", f"the report of {day} was sent by {name}, and again by {program.name} after {age} s")
    world.happened["Reported"] += 1
    world.happened["Reported again"] += bool(before)
    before.append((program.name, world.time.seconds))


_UNKNOWN = """
SELECT c.BatchControl_id, b.ProcessBatchName, c.Status FROM BatchControl c
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE c.Status IN ('failed', 'held') AND NOT EXISTS (SELECT 1 FROM Incident i
    WHERE i.ResolvedTime IS NULL AND i.ProcessBatch_id = c.ProcessBatch_id AND i.Kind IN ('failed', 'lost', 'held'))
"""
_OVER = """
SELECT i.Incident_id, i.Kind FROM Incident i WHERE i.ResolvedTime IS NULL AND i.Kind IN ('failed', 'lost', 'held')
"""
_NOT_SENT = """
SELECT d.AlertDelivery_id, d.Kind FROM AlertDelivery d WHERE d.Status = 'waiting'
AND d.NextAttemptTime <= ? AND coalesce(d.ClaimedTime, '') <= ?
"""
_NEVER_TOLD = """
SELECT i.Incident_id FROM Incident i WHERE i.ResolvedTime IS NOT NULL AND i.Kind <> 'no_worker'
AND EXISTS (SELECT 1 FROM AlertDelivery d WHERE d.Incident_id = i.Incident_id AND d.Kind = 'alert' AND d.Status = 'sent')
AND NOT EXISTS (SELECT 1 FROM AlertDelivery d WHERE d.Incident_id = i.Incident_id AND d.Kind = 'recovery')
AND NOT EXISTS (SELECT 1 FROM Incident o WHERE o.Incident_id > i.Incident_id
    AND (o.ProcessBatch_id = i.ProcessBatch_id OR (i.ProcessBatch_id IS NULL AND o.Subject = i.Subject)))
"""


def check_rest(world: World) -> None:
    """Ask whether somebody knows of everything that waits for a person."""
    if world.options.tells:
        for row, name, status in world.rows(_UNKNOWN):
            raise Broken("C15", f"instance {row} of {name} is {status}, and there is no incident")


def check_finished(world: World) -> None:
    """Ask whether all is known to be over, everybody was told of it, and the audit log is whole."""
    if not world.options.tells:
        return
    for incident, kind in world.rows(_OVER):
        raise Broken("C15", f"incident {incident} ({kind}) stands, and nothing is the matter")
    now = world.time.database_now()
    for letter, kind in world.rows(_NOT_SENT, _text(now), _text(now - STALE)):
        raise Broken("C15", f"message {letter} ({kind}) is due, and nobody sends it")
    for (incident,) in world.rows(_NEVER_TOLD):
        raise Broken("C15", f"incident {incident} is over, and nobody was told")
    if world.options.reports:
        target = night_target(NIGHTS.day_of(NIGHTS.last(now)), CHANNEL)
        if not world.rows("SELECT AuditLog_id FROM AuditLog WHERE Target = ? AND Action = 'report sent'", target):
            raise Broken("C15", f"{target} is due, and was not sent")
    verdict = audit_trail.verify(world.person.transactions, world.person.clock, tuple(world.anchors))
    for finding in verdict.findings:
        raise Broken("C16", f"audit verify: {finding}")
    if verdict.unsealed:
        raise Broken("C16", f"{verdict.unsealed} rows of the audit log are not sealed")


def anchor_in(fields: Any) -> Anchor:
    """Return how far the chain reaches, as it was told."""
    return Anchor(int(fields["SealNo"]), str(fields["RecordHash"]))


def _text(moment: Any) -> str:
    return str(moment.strftime("%Y-%m-%d %H:%M:%S.000"))

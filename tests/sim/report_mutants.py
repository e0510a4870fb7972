"""Plausible mistakes about the report of the night: it is sent twice, or by no controller."""

from __future__ import annotations

from batchctl.control.alerting import night_sending
from batchctl.domain.alerting import night_schedule
from tests.sim.mutating import Mutant, mutant

_CLAIM = "claimed = self.leaders.run(_BOUNDARIES, partial(self._claim, sending), nowait=nowait)"

REPORT_MUTANTS: tuple[Mutant, ...] = (
    mutant(
        "who sends a report is taken for dead at once",
        "C15",
        (night_schedule, "(STALE if last.action == NightAct.CLAIM else wait_after(claims(acts)))", "0 * STALE"),
    ),
    mutant(
        "what is written of a report that was sent is that it failed",
        "C15",
        (night_sending, "NightAct.SENT if wording is None else NightAct.FAILED", "NightAct.FAILED"),
    ),
    mutant(
        "a report whose sender has died is sent by no other",
        "C15",
        (night_schedule, "STALE if last.action == NightAct.CLAIM", "1000 * STALE if last.action == NightAct.CLAIM"),
    ),
    mutant(
        "a report is sent before its claim is written",
        "C15",
        (night_sending, _CLAIM, f"self.send(sending.channel, sending.night, sending.day); {_CLAIM}"),
    ),
)

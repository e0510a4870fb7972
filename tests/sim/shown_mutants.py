"""Plausible mistakes about what is shown of steps that run."""

from __future__ import annotations

from batchctl.control import live_output
from batchctl.store import history, turns
from batchctl.system.commands import shown_output
from tests.sim.mutating import Mutant, mutant

SHOWN_MUTANTS: tuple[Mutant, ...] = (
    mutant(
        "who was fenced stores what its step writes",
        "writer",
        (live_output, "if not history.is_live(connection, key, one.token):", "if False:"),
    ),
    mutant(
        "what was shown stays when its step has ended",
        "I93",
        (turns, "history.forget_output(connection, turn.endings)", "pass"),
    ),
    mutant(
        "what was shown of a lost attempt stays",
        "I93",
        (history, "forget_output(connection, endings)", "pass", "close_entries"),
    ),
    mutant(
        "there is no bound to what is shown",
        "bounded",
        (live_output, "if room < 0 or number < kept[0][0] - 1:", "if number < kept[0][0] - 1:"),
    ),
    mutant(
        "of what is shown less is kept than there is room for",
        "newest",
        (live_output, "if room < 0 or", "if room < KEPT // 2 or"),
    ),
    mutant(
        "that something is left out cannot be told",
        "gap",
        (live_output, "self.last += 2 if self.is_cut else 1", "self.last += 1"),
    ),
    mutant(
        "what is shown is stored at each turn",
        "often",
        (live_output, "< SHOWN_EVERY.total_seconds()", "< 0"),
    ),
    mutant(
        "what a commit in doubt may have stored is stored again",
        "newest",
        (live_output, "if step_outputs.last_number(connection, key) < part.number:", "if True:"),
    ),
    mutant(
        "what a lost connection kept from being stored is left out",
        "gap",
        (live_output, "self._tell(error.in_full)", "self._settle(parts)", "_send"),
    ),
    mutant(
        "a secret that is written in two parts is shown",
        "secret",
        (shown_output, "safe = left_open(text, self._forms)", "safe = len(text)"),
    ),
    mutant(
        "secrets are shown while a step runs",
        "secret",
        (shown_output, "masked(cut + text[:safe], self._secrets) if safe else cut", "cut + text[:safe]"),
    ),
)

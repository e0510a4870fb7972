"""Plausible mistakes about agents: each is found by schedules in which wires fail, and agents and controllers die."""

from __future__ import annotations

from batchctl.store import history
from batchctl.system.remote import agent, agent_news, agent_room, carrier, followed_agent, routed_runner, token_journal
from tests.sim.mutating import Mutant, mutant

_SUCCESS = "\"UPDATE BatchProcessHistory SET Status = 'success' WHERE BatchProcessHistory_id = \""
CARRIED_MUTANTS: tuple[Mutant, ...] = (
    mutant(
        "a token is written after its step was started",
        "I30",
        (agent, "is_new = tokens.enter(token)", "is_new = True"),
        (
            agent,
            "carrier.start(token.history_id, handler, rendered, lease_bound=bound, needs=needs)",
            "carrier.start(token.history_id, handler, rendered, lease_bound=bound, needs=needs); tokens.enter(token)",
        ),
    ),
    mutant(
        "the same token starts a step again",
        "I30",
        (agent, "if tokens.knows(token):", "if False:"),
        (agent, "is_new = tokens.enter(token)", "is_new = tokens.enter(token) is not None"),
    ),
    mutant(
        "an agent obeys an older claim",
        "claim",
        (token_journal, "if token.claim_token < newest:", "if False:"),
        (agent, "if until <= self._means.monotonic():", "if False:"),
    ),
    mutant(
        "the lease of an agent counts from the answer",
        "lease of agent",
        (
            followed_agent,
            "asked = {**self.means.message, **message}",
            "asked, asked_at = {**self.means.message, **message}, self.means.monotonic()",
        ),
        (followed_agent, 'float(answer["clock"]) - heard_at', 'float(answer["clock"]) - asked_at'),
    ),
    mutant(
        "a controller does not reckon with the lease that it has renewed",
        "lease of agent",
        (followed_agent, "each.until = max(each.until, until)", "pass"),
    ),
    mutant(
        "an attempt is lost before its agent has had the time to stop it",
        "lost early",
        (followed_agent, " - max(self._grace, self.means.grace) - MARGIN", ""),
    ),
    mutant(
        "the attempts of an agent that is silent are lost at once",
        "lost early",
        (followed_agent, "if now < attempt.until:", "if now < attempt.until and not self.is_silent:"),
    ),
    mutant(
        "the attempts of an agent that was started again are lost at once",
        "lost early",
        (followed_agent, "if now < attempt.until:", "if now < attempt.until and attempt.carrier == self.carrier:"),
    ),
    mutant(
        "an agent without a lease goes on with what others may repeat",
        "lost alive",
        (carrier, "if self._lease_bound and self._monotonic() >= self._until:", "if False:"),
    ),
    mutant(
        "an agent without a lease stops everything",
        "stop",
        (carrier, "if lease_bound:", "if True:"),
    ),
    mutant(
        "an end is forgotten when its answer is lost",
        "I35",
        (
            agent_news,
            "taken, at = self._taken(), now()",
            "taken, at = [self._kept.popleft() for _ in self._taken()], now()",
        ),
    ),
    mutant(
        "a late end takes the place of the lost one",
        "I12",
        (
            history,
            "connection.execute(_NOTE_LATE",
            f"connection.exec_driver_sql({_SUCCESS} + str(history_id)); connection.execute(_NOTE_LATE",
        ),
    ),
    mutant(
        "slots that are kept for steps made ready count as free",
        "slots",
        (agent_room, "held = [*self.carried(), *(its for _, its in self._kept.values())]", "held = [*self.carried()]"),
    ),
    mutant(
        "a step begins although others have its slot",
        "slots",
        (agent_room, "self.monotonic() + RESERVED", "self.monotonic()"),
        (agent_room, "return is_kept or self._has(needs)", "return True"),
    ),
    mutant(
        "what other controllers' steps need of an agent is not counted",
        "needs",
        (agent_room, "taken = taken_by(held)", "taken = {}"),
    ),
    mutant(
        "an agent that does not answer counts as one that knows of nothing",
        "I31",
        (routed_runner, "return Trace.UNSEEN", "return Trace.GONE"),
    ),
    mutant(
        "an agent goes on for a dead controller, beside another",
        "I34",
        (agent, 'self._leave(str(message["database"]), str(message["pool"]), left.entry.claimed_by or "")', "pass"),
    ),
)

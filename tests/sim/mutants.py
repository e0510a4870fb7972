"""Plausible mistakes, made in the engine on purpose: the simulation has to find every one of them, by the law that it names."""

from __future__ import annotations

from batchctl.control import (
    claiming,
    controller,
    creation,
    in_flight,
    intake_writing,
    leadership,
    recording,
    rescue,
    takeover,
)
from batchctl.control.alerting import incident_watch, outbox
from batchctl.control.maintenance import purge, sealing
from batchctl.domain import gates, liveness, moves
from batchctl.domain.maintenance import retention
from batchctl.operations.operators import freezing, releasing
from batchctl.store import history, instances, leading, transactions, turns
from batchctl.store.dependencies import dependencies
from batchctl.store.maintenance import audit_seals, finished_instances
from tests.sim.mutating import Mutant, mutant

_OWN_ONLY = (
    "; look.room.occupancy.claimed.update((key, sum(1 for one in instances.claimed(connection) if one.batch_id == key"
    " and one.claimed_by == self.recorder.controller)) for key in batches)"
)
_LOOK = "look = _Look(connection, batches, limit, now, parked, self._turns, self.recorder, page=places)"
_STARTS = "self._in_flight.add(written.committed().starts); self._in_flight.begin()"
_WRITES = "moved, closed = update_all(connection, moving), update_all(connection, closing)"
_COMMITS_HALF = (
    "moved = update_all(connection, moving)\n"
    "    from batchctl.store.dialects import dialect_of as of; of(connection).commit(connection)\n"
    "    of(connection).begin_write(connection)\n"
    "    closed = update_all(connection, closing)"
)

MUTANTS: tuple[Mutant, ...] = (
    mutant(
        "ends are recorded whoever has the instance by then",
        "I05",
        (recording, "found.claim_token == attempt.instance.claim_token and ", ""),
        (history, " and found.claim_token == token", ""),
        (turns, " or closed < _count(closing)", ""),
    ),
    mutant(
        "a leader does not look at its fence",
        "lead",
        (leadership, "if self._fence is None or fence != self._fence:", "if False:"),
    ),
    mutant("the fence does not grow", "lead", (leading, "found.fence % HIGHEST_FENCE + 1", "found.fence")),
    mutant(
        "a rescue does not look whether all is still as it was read",
        "I05",
        (takeover, "return found is not None and", "return True or"),
        (takeover, "if owner is not None:", "if False:"),
    ),
    mutant(
        "a rescue does not look for a new sign of life",
        "lease",
        (takeover, " or now_there.heartbeat_seq != owner.heartbeat_seq", ""),
    ),
    mutant(
        "the end of a step is committed in two parts",
        "I02",
        (turns, _WRITES, _COMMITS_HALF),
    ),
    mutant(
        "the clock of the host decides",
        "purge",
        (transactions, "tell=self._reading()", "tell=None"),
    ),
    mutant("OnLost is forgotten", "I30", (moves, "on_lost is OnLost.HOLD or ", "")),
    mutant(
        "a commit in doubt is tried again",
        "I35",
        (
            transactions,
            "if self._is_transient(error):",
            "if self._is_transient(error) or isinstance(error, OutcomeUnknown):",
        ),
    ),
    mutant(
        "a commit in doubt is forgotten",
        "slots",
        (controller, "self._doubt.meet(error)", "pass"),
    ),
    mutant(
        "whatever was lost counts as never run",
        "I30",
        (rescue, "never_ran = trace is Trace.NEVER_RAN", "never_ran = True"),
    ),
    mutant(
        "what is left over is stopped before it is one's own",
        "I34",
        (rescue, "return self._taken_first(found, has_claim=has_claim) or Rescued()", "return found"),
    ),
    mutant(
        "an adoption takes no new token",
        "I34",
        (moves, "instance.claim_token + 1", "instance.claim_token + (verb is not InstanceVerb.TAKE_OVER)"),
    ),
    mutant(
        "an adoption in doubt is forgotten",
        "I35",
        (rescue, "if owner == self.recorder.controller:", "if False:"),
    ),
    mutant(
        "what another has adopted is stopped",
        "I34",
        (in_flight, "self._runner.let_go(key)", "self._runner.stop(key)"),
    ),
    mutant(
        "a claim takes no new token",
        "I34",
        (moves, "instance.claim_token + 1", "instance.claim_token + (verb is not InstanceVerb.CLAIM)"),
    ),
    mutant(
        "MaxConcurrent counts only what one's own program has claimed",
        "I43",
        (claiming, _LOOK, _LOOK + _OWN_ONLY),
        (claiming, "look = locked", "look = locked" + _OWN_ONLY),
    ),
    mutant(
        "a retry is not counted",
        "retry",
        (moves, "retry_count=instance.retry_count - 1", "retry_count=instance.retry_count"),
    ),
    mutant("a fatal failure is retried", "retry", (moves, " or end.fatal", "")),
    mutant(
        "NextRunTime is ignored",
        "walk",
        (gates, "if instance.next_run_time <= now:", "if True:"),
        (gates, "instance.next_run_time > now", "False"),
        (instances, "    if claim:\n", "    if False:\n"),
    ),
    mutant(
        "instances are not taken in order",
        "walk",
        (instances, "readable(rows, instance)", "readable(rows[::-1], instance)"),
    ),
    mutant("the FileProcess row is not completed", "I02", (recording, "[one.after.intake_id for one in over]", "[]")),
    mutant(
        "what completes is not offered to what depends on it",
        "I45",
        (recording, "if not completed:", "if True:"),
    ),
    mutant(
        "a set starts before it is whole",
        "I22",
        (dependencies, "            return None\n", "            continue\n"),
        (dependencies, "    return whole\n", "    return whole or None\n"),
    ),
    mutant(
        "only the last completion of a set is used",
        "I22",
        (dependencies, "whole.append(one)", "whole[:] = [one]"),
    ),
    mutant(
        "duplicates are not looked for",
        "I56",
        (intake_writing, "if batch.duplicate_check else None", "if False else None"),
    ),
    mutant(
        "one row that nobody foresaw stops the others",
        "I01",
        (creation, "except Exception as error:", "except ZeroDivisionError as error:"),
    ),
    mutant(
        "what others may repeat is not leashed",
        "I31",
        (in_flight, "return self.attempt.step.on_lost is", "return False and self.attempt.step.on_lost is"),
    ),
    mutant(
        "a step starts before its history row is committed",
        "I30",
        (controller, "self._in_flight.add(written.starts)", "pass"),
        (controller, "self._in_flight.begin()", "pass"),
        (controller, "        return written", f"        {_STARTS}; return written"),
        (controller, "        return made, written", f"        {_STARTS}; return made, written"),
    ),
    mutant(
        "what is under way is begun again after a commit in doubt",
        "I30",
        (recording, " and mark in marks", ""),
    ),
    mutant(
        "a controller counts as dead after one missed sign of life",
        "lease",
        (liveness, "patience(row, rhythm)", "rhythm.heartbeat_interval"),
    ),
    mutant(
        "what may go is not looked at again in the transaction that deletes it",
        "C13",
        (
            purge,
            "going = finished_instances.leaving(connection, likely.intake_ids, rules, now, locked=True)",
            "going = likely",
        ),
        (finished_instances, "_DELETE, named", "delete(batch_control).where(_c.BatchControl_id.in_(_THESE)), named"),
    ),
    mutant(
        "a completion that waits goes with its instance",
        "purge",
        (retention, " or one.is_wanted", ""),
        (
            finished_instances,
            "_DELETE_COMPLETIONS, named",
            "delete(batch_completion).where(_o.BatchControl_id.in_(_THESE)), named",
        ),
    ),
    mutant(
        "what is purged need not be old",
        "purge",
        (retention, " or one.changed_at >= now - keep.age", ""),
        (finished_instances, " if changed < before]", "]"),
    ),
    mutant(
        "the last ones are purged too",
        "purge",
        (
            finished_instances,
            "return InstanceId(found[0].BatchControl_id) if found else None",
            "return InstanceId(LARGEST_ID)",
        ),
    ),
    mutant(
        "claims of the dead are released whatever runs",
        "I05",
        (rescue, "if instance.instance_id not in busy", "if True"),
    ),
    mutant(
        "a frozen batch goes on with its next step", "freeze", (gates, " and freezes.holding(batch, now) is None", "")
    ),
    mutant(
        "what is let go is changed and nobody writes it down",
        "C11",
        (releasing, "actor.note_all(connection, map(_noted, changes), reason)", "pass"),
    ),
    mutant(
        "a thaw has no row in the audit log",
        "C11",
        (freezing, 'self.actor.note(connection, "thaw", target(freeze), reason, was, became)', "pass"),
    ),
)

TELLING_MUTANTS: tuple[Mutant, ...] = (
    mutant(
        "it is not told that a problem is over",
        "C15",
        (incident_watch, "is_announced=one in seen.superseded", "is_announced=True"),
    ),
    mutant("what is over stands", "I35", (incident_watch, "(*seen.resolved, *seen.superseded)", "seen.superseded")),
    mutant(
        "who sends a message is taken for dead at once",
        "C15",
        (outbox, "one.claimed_by is None or one.claimed_at is None or one.claimed_at < now - STALE", "True"),
    ),
    mutant("what was sent is not ticked off", "C15", (outbox, "if wording is None:", "if False:")),
    mutant(
        "what hangs is never sent by another",
        "C15",
        (outbox, "one.claimed_at < now - STALE", "one.claimed_at < now - 1000 * STALE"),
    ),
    mutant(
        "acts are purged without a trace",
        "C16",
        (purge, 'self._audit(connection, LOG, None, {"Rows": len(going), NUMBERS: in_spans(going)}, None)', "pass"),
    ),
    mutant(
        "a seal does not go on from the one before", "C16", (audit_seals, "number + 1, digest", "number + 1, BEGINNING")
    ),
    mutant(
        "the end of the audit log is not sealed",
        "C16",
        (sealing, "if page.open:", "if page.open and not page.is_last:"),
    ),
)
"""Mistakes in what people are told of problems, and in what becomes of the audit log."""

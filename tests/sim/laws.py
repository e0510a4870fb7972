"""The laws, asked after every commit, at every start of an execution, and at the end."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy.dialects import sqlite

from batchctl.domain.status import CLAIMED, TRANSITIONS, InstanceStatus, InstanceVerb
from batchctl.ports import Boundary
from batchctl.store.invariants import INVARIANTS
from tests.sim import stepwise
from tests.sim.hosts import Running
from tests.sim.pooled import NEXT_POOL

if TYPE_CHECKING:
    from tests.sim.faults import Actor
    from tests.sim.programs import Program
    from tests.sim.world import World

AT_EVERY_COMMIT = frozenset(
    {
        *("I02", "I03", "I04", "I05", "I06", "I11", "I12", "I14", "I15", "I21", "I28", "I60"),
        *(
            "I24",
            "I41",
            "I42",
            "I43",
            "I48",
            "I49",
            "I50",
            "I51",
            "I52",
            "I53",
            "I54",
            "I55",
            "I56",
            "I91",
            "I92",
            "I93",
        ),
        *("I96", "I97", "I98", "I99"),
    }
)
GO_BY_CLOCKS = frozenset({"I10", "I11", "I18", "I55"})
"""These compare times; when the clock of the database is set back they say nothing."""
_PERSONS = frozenset(
    {
        InstanceVerb.RERUN,
        InstanceVerb.SKIP,
        InstanceVerb.REQUEST_PAUSE,
        InstanceVerb.REQUEST_CANCEL,
        InstanceVerb.RESUME,
        InstanceVerb.RESUME_RETRY,
        InstanceVerb.PAUSE,
        InstanceVerb.CANCEL,
        InstanceVerb.FINISH,
        InstanceVerb.ANSWER,
    }
)
_ENGINES = frozenset(InstanceVerb) - _PERSONS | {
    InstanceVerb.PAUSE,
    InstanceVerb.CANCEL,
    InstanceVerb.FINISH,
    InstanceVerb.ANSWER,
}


class Broken(BaseException):
    """A law is broken: nothing of the engine may catch this."""

    def __init__(self, law: str, message: str) -> None:
        super().__init__(f"{law}: {message}")
        self.law = law


def _moves(verbs: Collection[InstanceVerb]) -> frozenset[tuple[str, str]]:
    return frozenset((source.value, target.value) for verb in verbs for source, target in TRANSITIONS[verb].items())


MOVES_OF_PERSONS = _moves(_PERSONS) | {(status.value, "complete") for status in InstanceStatus} | {("paused", "failed")}
"""A skip of the last step goes on to the end; what a person refuses has failed."""
MOVES_OF_THE_ENGINE = _moves(_ENGINES)
_CLAIMED = frozenset(status.value for status in CLAIMED)
FAILED = frozenset({"failed", "timeout"})
_KNOWN_ENDS = frozenset({"success", "failed", "timeout", "cancelled"})


def _asked(codes: Collection[str]) -> str:
    """Return one statement that asks some of the laws of `fsck`."""
    parts = []
    for invariant in INVARIANTS:
        if invariant.code in codes:
            compiled = invariant.broken.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True})
            parts.append(f"SELECT '{invariant.code}', * FROM ({compiled})")
    return " UNION ALL ".join(parts)


CHEAP = _asked(AT_EVERY_COMMIT)
ALL = [_asked({one.code}) for one in INVARIANTS if one.code != "I01"]
"""I01 depends on the time and is asked where everything has come to rest."""


def check_commit(world: World, actor: Actor, boundaries: Collection[str], seen: list[tuple[Any, ...]]) -> None:
    """Ask what must hold after every commit, and whether each of its changes was a legal one."""
    purged = [one for one in seen if one[0] in {"purged", "forgotten"}]
    seen = [one for one in seen if one[0] not in {"purged", "forgotten"}]
    _check_purged(world, boundaries, purged)
    if Boundary.OPERATOR in boundaries:
        _check_audited(world, seen)
    if Boundary.POPULATE in boundaries or (actor is not world.person and any(one[0] == "answer" for one in seen)):
        _check_lead(world, actor)
    if Boundary.FORECAST in boundaries:
        _check_lead(world, actor)
        _check_forecasts(world)
    for what, row, *_ in seen:
        if what == "begun frozen":
            raise Broken("freeze", f"attempt {row} is begun although its batch is frozen")
        if what == "begun drained":
            raise Broken("drain", f"attempt {row} is begun although its pool or its host is drained")
        world.happened["Drained"] += what == "drain"
    seen = [one for one in seen if one[0] in {"instance", "attempt"}]
    # A sign of life that has changed nothing else breaks none of them.
    is_quiet = not seen and frozenset(boundaries) == {Boundary.HEARTBEAT}
    for code, row in () if is_quiet else world.raw.execute(CHEAP):
        if code in GO_BY_CLOCKS and not world.goes_by_clocks:
            continue
        raise Broken(code, f"row {row} after {sorted(boundaries)} of {actor.name}")
    by_person = Boundary.OPERATOR in boundaries
    claimed = [
        row for what, row, was, became, *_ in seen if what == "instance" and became in _CLAIMED and was not in _CLAIMED
    ]
    if claimed and not by_person:
        _check_claims(world, claimed)
    failed = {int(owner) for what, _, _, became, *_, owner, _, _, _ in seen if what == "attempt" and became in FAILED}
    for what, row, was, became, seq_was, seq, token_was, token, owner_was, owner, retries_was, retries in seen:
        said = f"{what} {row} went from {was} to {became} by {actor.name}"
        if what == "attempt":
            _check_attempt(said, was, became, token_was, token)
            continue
        legal = MOVES_OF_PERSONS if by_person else MOVES_OF_THE_ENGINE
        if was != became and (was, became) not in legal:
            raise Broken("I32", said)
        if seq < seq_was and not by_person:
            raise Broken("I33", f"{said}, and from step {seq_was} back to {seq}")
        if row in failed and became == "retry" and retries != retries_was - 1:
            raise Broken("retry", f"{said} after a failure, and from {retries_was} retries to {retries}")
        if token < token_was:
            raise Broken("I34", f"{said}, and from token {token_was} back to {token}")
        if became in _CLAIMED and was not in _CLAIMED and token == token_was:
            raise Broken("I34", f"{said} without a new token")
        if became in _CLAIMED and was in _CLAIMED and owner != owner_was and token == token_was:
            raise Broken("I34", f"{said} and from {owner_was} to {owner} without a new token")
        if Boundary.TAKEOVER in boundaries and owner_was != actor.name and world.is_trusted(owner_was):
            raise Broken("lease", f"{said} while the lease of {owner_was} lasts")
        others = owner_was not in (None, actor.name) and Boundary.TAKEOVER not in boundaries
        if others and not by_person and (became not in _CLAIMED or owner != owner_was or seq != seq_was):
            raise Broken("I34", f"{said}, though it belonged to {owner_was}")


_TARGETS = {"instance": "BatchControl", "freeze": "BatchFreeze", "drain": "Drain"}


def _check_audited(world: World, seen: list[tuple[Any, ...]]) -> None:
    """Ask whether all that a person does is written down in the transaction that does it: C11."""
    audited = {was for what, _, was, *_ in seen if what == "audit"}
    for what, row, *_ in seen:
        target = f"{_TARGETS.get(what)}:{row}"
        if what in _TARGETS and target not in audited:
            raise Broken("C11", f"{target} is changed by a person and no row of the audit log says so")
        world.happened["Audited"] += what == "freeze"
    asked = {host for what, _, _, host, *_ in seen if what == "audit"}
    answered = {f"OperatorRequest:{row}" for what, row, *_ in seen if what == "answer"}
    for host in asked - answered:
        if host.startswith("OperatorRequest:"):
            raise Broken("C11", f"what {host} asks for is done, and not answered in the same transaction")
    for what, row, was, became, *_ in seen:
        if what == "answer" and (was != "requested" or (became == "done") != (f"OperatorRequest:{row}" in asked)):
            raise Broken("C11", f"request {row} went from {was} to {became}; written down was what {sorted(asked)} did")
        world.happened["Answered"] += what == "answer"


def _check_lead(world: World, actor: Actor) -> None:
    """Ask whether who creates instances or answers is the one that leads, however long it was suspended before it did."""
    for (leader,) in world.rows("SELECT ControllerName FROM Leader"):
        if leader != actor.name:
            raise Broken("lead", f"{actor.name} creates instances or answers although {leader} leads")


_NONSENSE = """
SELECT k.KeptForecast_id FROM KeptForecast k
WHERE k.P90 < k.P50 OR k.P50 < k.MadeOn OR k.FinishBy <= k.MadeOn OR k.ReadyOn <= k.MadeOn OR (k.KeptFor > k.MadeOn)
    OR (SELECT count(*) FROM KeptForecast o WHERE o.ProcessBatch_id = k.ProcessBatch_id AND o.KeptFor IS NULL) > 1
"""


def _check_forecasts(world: World) -> None:
    """Ask whether forecasts say what can be: C17."""
    for (row,) in world.rows(_NONSENSE):
        raise Broken("C17", f"KeptForecast {row} says what cannot be")
    world.happened["Forecasts"] += 1


_LEFT_OF_ROW = "SELECT count(*) FROM BatchControl WHERE FileProcess_id = ?"
_NEWER = "SELECT count(*) FROM BatchControl WHERE ProcessBatch_id = ? AND Status = ? AND BatchControl_id > ?"


def _check_purged(world: World, boundaries: Collection[str], purged: list[tuple[Any, ...]]) -> None:
    """Ask whether what is gone might go: C13."""
    options = world.options
    for what, row, was, became, batch, intake, _, _, changed, *_ in purged:
        said = f"{what} {row}, which was {was}"
        if Boundary.PURGE not in boundaries:
            raise Broken("purge", f"{said}, is deleted in {sorted(boundaries)}")
        if what == "forgotten":
            if was is None:
                raise Broken("purge", f"completion {row} waited, and is gone")
            continue
        world.happened["Purged"] += 1
        if was not in {"complete", "cancelled"} or became != "complete":
            raise Broken("C13", f"{said}, of a row that was {became}")
        if world.rows(_LEFT_OF_ROW, intake) != [(0,)]:
            raise Broken("purge", f"{said}, and others of its row are left")
        if world.rows(_NEWER, batch, was, row)[0][0] < options.keep_last:
            raise Broken("purge", f"{said}, and is one of the last {options.keep_last}")
        age = world.time.database_now() - datetime.fromisoformat(changed).replace(tzinfo=UTC)
        # Here the database's clock shows whole seconds, and commits take parts of one.
        if options.kept_for is None or age.total_seconds() <= options.kept_for - 1:
            raise Broken("purge", f"{said}, is gone after {age}")


_OVERALL = """
SELECT count(*) FROM BatchControl c, Setting s WHERE s.Name = 'MaxConcurrent'
AND c.Status IN ('running', 'pausing', 'cancelling') HAVING count(*) > CAST(max(s.Value) AS integer)
"""
_WAITS_FOR_AN_AGENT = """EXISTS (SELECT 1 FROM ProcessControl g
    WHERE g.ProcessBatch_id = e.ProcessBatch_id AND g.Needs IS NOT NULL
        AND g.ProcessControlSeq = (SELECT min(n.ProcessControlSeq) FROM ProcessControl n
            WHERE n.ProcessBatch_id = e.ProcessBatch_id AND n.ProcessControlSeq > coalesce(e.PrevProcessControlSeq, 0)))"""
"""Whether an instance waits in line for an agent that has what its next step needs: those behind it that need less may pass."""
_CLAIMS = f"""
SELECT c.BatchControl_id, CASE
    WHEN c.NextRunTime > ? THEN 'before its NextRunTime ' || c.NextRunTime
    WHEN b.Enabled = 0 THEN 'although its batch is disabled'
    WHEN b.OnFailure <> 'continue' AND EXISTS (SELECT 1 FROM BatchControl e WHERE e.ProcessBatch_id = c.ProcessBatch_id
        AND e.BatchControl_id < c.BatchControl_id AND (e.Status IN ('retry', 'failed', 'held')
        OR e.Status = 'ready' AND b.OnFailure <> 'stop_all' AND coalesce(c.NextPool, 'default') = ({NEXT_POOL})
        AND NOT {_WAITS_FOR_AN_AGENT}))
        THEN 'before an earlier one of its batch'
    WHEN EXISTS (SELECT 1 FROM BatchControl s JOIN ProcessBatch p ON p.ProcessBatch_id = s.ProcessBatch_id
        WHERE p.OnFailure = 'stop_all' AND s.Status IN ('failed', 'held')) THEN 'although a failure stops everything'
    END AS Wrong
FROM BatchControl c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE c.BatchControl_id IN (SELECT value FROM json_each(?)) AND Wrong IS NOT NULL
"""


def _check_claims(world: World, claimed: list[int]) -> None:
    """Ask whether what was claimed might be: due by the database's clock, in its turn, and not too many at once."""
    now = world.time.database_now().strftime("%Y-%m-%d %H:%M:%S.000")
    for row, wrong in world.rows(_CLAIMS, now, str(claimed)):
        raise Broken("walk", f"instance {row} is claimed {wrong}")
    for (count,) in world.rows(_OVERALL):
        raise Broken("walk", f"{count} instances are claimed, which is more than there may be of all batches together")


def _check_attempt(said: str, was: str, became: str, token: int, token_of_instance: int) -> None:
    if was not in {"running", "asked", became}:
        raise Broken("I12", f"{said}, though it had ended")
    if was == "running" and became in _KNOWN_ENDS and token != token_of_instance:
        raise Broken("I34", f"{said} under token {token}, though the instance has {token_of_instance}")


def check_start(world: World, new: Running) -> None:
    """Ask whether an execution may begin: I30 and I31."""
    now = world.time.seconds
    ((status, spawned),) = world.rows(
        "SELECT Status, Spawned FROM BatchProcessHistory WHERE BatchProcessHistory_id = ?", new.key
    )
    if status == "lost" and spawned is None:
        raise Broken("I30", f"attempt {new.key} starts after it was recorded that it never ran")
    for other in world.executions:
        if other.key == new.key:
            raise Broken("I30", f"attempt {new.key} is started twice")
        if other.instance == new.instance and other.is_alive(now) and not _is_out_of_sight(world, other, new):
            raise Broken("I31", f"attempt {new.key} starts while {other.key} of instance {new.instance} is alive")
    if new.checks:
        return
    before = {
        one.key: one
        for one in world.executions
        if (one.instance, one.seq) == (new.instance, new.seq) and not one.checks
    }
    if not before:
        return
    ((on_lost, kind),) = world.rows(
        "SELECT p.OnLost, p.ProcessType FROM BatchProcessHistory h JOIN ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id"
        " AND p.ProcessControlSeq = h.ProcessControlSeq WHERE h.BatchProcessHistory_id = ?",
        new.key,
    )
    statuses = world.rows(
        "SELECT BatchProcessHistory_id, Status FROM BatchProcessHistory"
        " WHERE BatchProcessHistory_id IN (SELECT value FROM json_each(?))",
        str([*before]),
    )
    for key, ended in statuses:
        if asked(world, new.instance, key):
            continue
        if ended in FAILED and stepwise.is_final(world, key):
            raise Broken("retry", f"step {new.seq} of instance {new.instance} starts again after a fatal failure")
        may_again = ended in ("failed", "timeout") or (ended == "lost" and (on_lost == "rerun" or kind == "confirm"))
        may_again = may_again or (
            ended == "lost" and on_lost == "verify" and checked(world, new.instance, new.seq, key)
        )
        may_again = may_again or (
            ended == "cancelled" and kind == "confirm" and asked(world, new.instance, key, "resume")
        )
        if not may_again:
            raise Broken(
                "I30", f"step {new.seq} of instance {new.instance} starts again although attempt {key} is {ended}"
            )


def _is_out_of_sight(world: World, other: Running, new: Running) -> bool:
    """Say whether an execution lives where nobody can know of it: its supervisor, or its agent, was killed or stood still."""
    if world.agents.has(other):
        return world.agents.laws.is_out_of_sight(other)
    return other.host is not new.host and other.key in world.supervisors[other.owner].unwatched


def check_adoption(world: World, program: Program, key: int) -> None:
    """Ask whether whoever adopts an execution may: it has the claim, and the execution is one that was begun.

    Who froze between its last look at its lease and this call watches only; what it must not do then, it is not exempt of.
    """
    ((owner, status),) = world.rows(
        "SELECT c.ClaimedBy, h.Status FROM BatchProcessHistory h JOIN BatchControl c ON c.BatchControl_id ="
        " h.BatchControl_id WHERE h.BatchProcessHistory_id = ?",
        key,
    )
    if owner != program.name and status == "running" and world.is_trusted(program.name):
        raise Broken("I34", f"attempt {key} is adopted by {program.name}, though it belongs to {owner}")
    if all(one.key != key for one in world.executions):
        raise Broken("I30", f"attempt {key} is adopted, though it never ran")


def check_stop(world: World, program: Program, running: Running) -> None:
    """Ask whether whoever stops an execution may: it has not been adopted by another."""
    for (owner,) in world.rows(
        "SELECT c.ClaimedBy FROM BatchProcessHistory h JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id"
        " WHERE h.BatchProcessHistory_id = ? AND h.Status = 'running' AND h.ClaimToken = c.ClaimToken AND c.ClaimedBy <> ?",
        running.key,
        program.name,
    ):
        if not running.lease_bound:
            raise Broken("I34", f"{program.name} stops attempt {running.key}, which {owner} has adopted")


def asked(world: World, instance: int, after: int, action: str = "rerun") -> bool:
    """Say whether a person asked for an act on an instance after one of its attempts had begun."""
    return bool(
        world.rows(
            "SELECT 1 FROM AuditLog a, BatchProcessHistory h WHERE a.Target = 'BatchControl:' || ? AND a.Action = ?"
            " AND h.BatchProcessHistory_id = ? AND (a.z_inserted >= h.StartTime OR NOT ?)",
            instance,
            action,
            after,
            world.goes_by_clocks,
        )
    )


def checked(world: World, instance: int, seq: int, after: int) -> bool:
    """Say whether a check has said, after an attempt, that the step was not done."""
    return bool(
        world.rows(
            "SELECT 1 FROM BatchProcessHistory WHERE BatchControl_id = ? AND ProcessControlSeq = ?"
            " AND BatchProcessHistory_id > ? AND Cause = 'verify' AND Status = 'failed'",
            instance,
            seq,
            after,
        )
    )


_NEVER_OFFERED = """
SELECT DISTINCT s.Row, d.ProcessBatch_id FROM temp.Seen s JOIN BatchControl c ON c.BatchControl_id = s.Row
JOIN BatchDependency d ON d.DependsOnBatch_id = c.ProcessBatch_id
WHERE s.What = 'instance' AND s.Became = 'complete' AND NOT EXISTS
    (SELECT 1 FROM BatchCompletion o WHERE o.ProcessBatch_id = d.ProcessBatch_id AND o.BatchControl_id = s.Row)
"""
_NEVER_COMPLETE = """
SELECT o.BatchControl_id, o.ProcessBatch_id FROM BatchCompletion o WHERE NOT EXISTS
    (SELECT 1 FROM temp.Seen s WHERE s.What = 'instance' AND s.Row = o.BatchControl_id AND s.Became = 'complete')
"""
_STANDING = """
SELECT o.ProcessBatch_id, o.CycleKey, count(DISTINCT o.DependsOnBatch_id) FROM BatchCompletion o
JOIN BatchControl c ON c.BatchControl_id = o.BatchControl_id AND c.Status = 'complete'
WHERE o.FileProcess_id IS NULL GROUP BY 1, 2
"""
_STARTED = """
SELECT f.FileProcess_id, b.ProcessBatchName, b.ProcessBatch_id, b.DependencyMode, count(o.BatchCompletion_id) AS Members
FROM FileProcess f JOIN ProcessBatch b ON b.ProcessBatchName = f.Entity
LEFT JOIN BatchCompletion o ON o.FileProcess_id = f.FileProcess_id AND o.ProcessBatch_id = b.ProcessBatch_id
WHERE b.ProcessBatchName LIKE 'D%' GROUP BY 1, 2, 3, 4
"""


def check_dependents(world: World) -> None:
    """Ask whether every whole set of completions has started what depends on it, and nothing else has."""
    for instance, batch in world.rows(_NEVER_OFFERED):
        raise Broken("I45", f"instance {instance} has completed, and batch {batch} was never offered that")
    for instance, batch in world.rows(_NEVER_COMPLETE):
        raise Broken("I23", f"batch {batch} was offered instance {instance}, which has never completed")
    wanted = dict(world.rows("SELECT ProcessBatch_id, count(*) FROM BatchDependency GROUP BY 1"))
    mode = dict(world.rows("SELECT ProcessBatch_id, DependencyMode FROM ProcessBatch"))
    for batch, cycle_key, waiting in world.rows(_STANDING):
        if waiting == wanted[batch] or mode[batch] == "any":
            raise Broken("I46", f"a whole set waits to start batch {batch} for {cycle_key}")
    for row, name, batch, how, members in world.rows(_STARTED):
        # Completions go with their instances.
        whole = 1 if how == "any" else wanted[batch]
        if members > whole or (members < whole and not world.happened["Purged"]):
            raise Broken("I22", f"FileProcess {row} has started {name} with {members} completions")


def check_all(world: World) -> None:
    """Ask everything that `fsck` asks."""
    for statement in ALL:
        for code, row in world.raw.execute(statement):
            if code in GO_BY_CLOCKS and not world.goes_by_clocks:
                continue
            raise Broken(code, f"row {row} at the end")


def check_end(world: World) -> None:
    """Ask whether what the history says did happen."""
    from tests.sim import questioned  # noqa: PLC0415 - it goes by these laws

    by_key = {one.key: one for one in world.executions}
    for key, status, message in world.rows("SELECT BatchProcessHistory_id, Status, Message FROM BatchProcessHistory"):
        if key <= world.past:
            continue
        execution = by_key.get(key)
        if execution is not None and execution.outcome.asks is not None:
            if status == "success" and not questioned.let_go_on(world, key):
                raise Broken("question", f"attempt {key} is a success, and no answer says so")
            continue
        if status == "success" and (execution is None or not (execution.outcome.succeeded or execution.checks)):
            raise Broken("I30", f"attempt {key} is a success, but nothing of it succeeded")
        if (
            status in ("failed", "timeout")
            and execution is not None
            and execution.outcome.succeeded
            and not execution.checks
            and not stepwise.is_outside(world, key)
        ):
            raise Broken("I30", f"attempt {key} is {status} ({message}), but it succeeded")
        if status == "running":
            raise Broken("I35", f"attempt {key} is still running")

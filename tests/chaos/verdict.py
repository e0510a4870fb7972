"""What must be so in the end: asked of the ledger, of the tables, and of the lines that the steps themselves have left."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tests.chaos.hosts import HOSTS, POOLS, pool_of
from tests.chaos.shop import DEPENDENCIES, FINAL, MAX_CONCURRENT, ON_LOST, SCHEDULED, STEPS, Shop


@dataclass(frozen=True, slots=True)
class Violation:
    """A promise that was not kept: which, and the rows that show it."""

    promise: str
    rows: tuple[object, ...]

    def __str__(self) -> str:
        shown = "\n".join(f"    {row}" for row in self.rows[:20])
        return f"{self.promise}: {len(self.rows)}\n{shown}"


@dataclass(slots=True)
class Execution:
    """One start of a step, as its own lines tell it; `at` are the numbers of these lines."""

    instance: int
    seq: int
    attempt: int
    pid: int
    wording: str = ""
    at: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"instance {self.instance} step {self.seq} history {self.attempt} pid {self.pid} said {self.wording}"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A row of the history."""

    history: int
    instance: int
    batch: str
    seq: int
    number: int
    cause: str
    status: str
    spawned: bool | int = True
    """False, or 0, when it is written that it was never started."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that is known once all is quiet."""

    executions: tuple[Execution, ...]
    attempts: tuple[Attempt, ...]
    instances: dict[int, tuple[str, str]]
    """Batch and status by instance."""

    def starts(self) -> dict[int, list[Execution]]:
        """Return the executions by the attempt they belong to."""
        found: dict[int, list[Execution]] = defaultdict(list)
        for one in self.executions:
            if "S" in one.wording:
                found[one.attempt].append(one)
        return found


def gather(shop: Shop) -> Evidence:
    """Read all there is."""
    instances = shop.sql(
        "SELECT c.BatchControl_id, b.ProcessBatchName, c.Status FROM BatchControl c"
        " JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id"
    )
    attempts = shop.sql(
        "SELECT h.BatchProcessHistory_id, h.BatchControl_id, b.ProcessBatchName, h.ProcessControlSeq, h.AttemptNo,"
        " h.Cause, h.Status, CASE WHEN h.Spawned IS NULL THEN 0 ELSE 1 END FROM BatchProcessHistory h"
        " JOIN ProcessBatch b ON b.ProcessBatch_id = h.ProcessBatch_id"
        " ORDER BY h.BatchControl_id, h.ProcessControlSeq, h.AttemptNo"
    )
    return Evidence(
        tuple(read_effects(shop)),
        tuple(Attempt(*row) for row in attempts),
        {row[0]: (row[1], row[2]) for row in instances},
    )


def read_effects(shop: Shop) -> Iterator[Execution]:
    """Put the lines of each execution together, in the order of their first lines."""
    found: dict[tuple[str, str], Execution] = {}
    for number, line in enumerate(shop.effects()):
        word, instance, seq, attempt, pid = line.split()
        one = found.setdefault((attempt, pid), Execution(int(instance), int(seq), int(attempt), int(pid)))
        one.wording += word
        one.at.append(number)
    yield from found.values()


def judge(shop: Shop, seen: Evidence) -> list[Violation]:
    """Return what was promised and is not so."""
    findings: dict[str, list[object]] = {
        "lost: a row that was handed in is not there": list(lost_rows(shop)),
        "lost: a row that was handed in has no instance, or one that is not over": list(unfinished_rows(shop)),
        "lost: an instance is complete and a step of it has left no last line": list(missing_effects(seen)),
        "lost: the history says success and the step has left no last line": list(false_successes(seen)),
        "doubled: a step that may have run was started again unasked": list(unasked_starts(seen)),
        "doubled: a step that was started is said never to have run": list(denied_starts(seen)),
        "doubled: one attempt was started more than once": list(repeated_starts(seen)),
        "doubled: two executions of an instance overlapped": [
            one.name for one in seen.executions if "O" in one.wording
        ],
        "lost: a whole set of completions has not started what depends on it": list(idle_sets(shop)),
        "doubled: what completions have started was not started by one of each batch": list(odd_sets(shop)),
        "lost: a due time that has come has started nothing": list(idle_schedules(shop)),
        "doubled: a due time has started more than one row, or a row stands for no due time": list(odd_schedules(shop)),
        "lost: a due time that a backfill wanted has started nothing": list(idle_backfills(shop)),
        "doubled: a due time of a backfill has started more than one row, or one that nobody wanted": list(
            odd_backfills(shop)
        ),
        "lost: a message that counts as sent never was": list(untold_messages(shop)),
        "doubled: a message was sent more often than it was claimed": list(repeated_messages(shop)),
        "a step was started without its row in the history": list(unrecorded_starts(seen)),
        "a step was started before the one before it had ended well": list(early_starts(seen)),
        "more instances of a batch ran at once than MaxConcurrent allows": list(crowds(seen)),
        "outside: a step ran where its pool is not served": list(strays(shop.places())),
        "outside: more steps of a pool ran at once than its MaxConcurrent allows": list(crowded_pools(seen))
        if shop.has_pools
        else [],
    }
    return [Violation(promise, tuple(rows)) for promise, rows in findings.items() if rows]


def lost_rows(shop: Shop) -> Iterator[str]:
    there = {row[0] for row in shop.sql("SELECT FileName FROM FileProcess")}
    yield from sorted(shop.acknowledged - there)


def untold_messages(shop: Shop) -> Iterator[int]:
    notifications = shop.notifications()
    sent = shop.sql("SELECT AlertDelivery_id FROM AlertDelivery WHERE Status = 'sent'")
    yield from (number for (number,) in sent if not notifications[number])


def repeated_messages(shop: Shop) -> Iterator[tuple[int, int, int]]:
    notifications = shop.notifications()
    for number, claims in shop.sql("SELECT AlertDelivery_id, Attempts FROM AlertDelivery"):
        if notifications[number] > claims:
            yield number, claims, notifications[number]


def unfinished_rows(shop: Shop) -> Iterator[object]:
    yield from shop.sql(
        "SELECT f.FileProcess_id, f.FileName, f.Status, f.Message, c.BatchControl_id, c.Status FROM FileProcess f"
        " LEFT JOIN BatchControl c ON c.FileProcess_id = f.FileProcess_id"
        f" WHERE c.Status IS NULL OR c.Status NOT IN ('{FINAL[0]}', '{FINAL[1]}') OR f.Status <> 'complete'"
    )


def idle_sets(shop: Shop) -> Iterator[object]:
    yield from shop.sql(
        "SELECT b.ProcessBatchName, o.CycleKey FROM BatchCompletion o"
        " JOIN ProcessBatch b ON b.ProcessBatch_id = o.ProcessBatch_id"
        " JOIN BatchControl c ON c.BatchControl_id = o.BatchControl_id AND c.Status = 'complete'"
        " WHERE o.FileProcess_id IS NULL GROUP BY b.ProcessBatchName, b.ProcessBatch_id, o.CycleKey"
        " HAVING count(DISTINCT o.DependsOnBatch_id) ="
        " (SELECT count(*) FROM BatchDependency d WHERE d.ProcessBatch_id = b.ProcessBatch_id)"
    )
    yield from shop.sql(
        "SELECT c.BatchControl_id, d.ProcessBatch_id FROM BatchControl c"
        " JOIN BatchDependency d ON d.DependsOnBatch_id = c.ProcessBatch_id WHERE c.Status = 'complete' AND NOT EXISTS"
        " (SELECT 1 FROM BatchCompletion o WHERE o.BatchControl_id = c.BatchControl_id AND o.ProcessBatch_id = d.ProcessBatch_id)"
    )


def odd_sets(shop: Shop) -> Iterator[object]:
    for entity, others in DEPENDENCIES.items():
        yield from shop.sql(
            "SELECT f.FileProcess_id, f.Entity, count(o.BatchCompletion_id) FROM FileProcess f LEFT JOIN BatchCompletion o"
            " ON o.FileProcess_id = f.FileProcess_id WHERE f.Entity = ? GROUP BY f.FileProcess_id, f.Entity"
            " HAVING count(o.BatchCompletion_id) <> ? OR count(DISTINCT o.DependsOnBatch_id) <> ?",
            entity,
            len(others),
            len(others),
        )


def idle_schedules(shop: Shop) -> Iterator[object]:
    fired = "SELECT ScheduleName FROM Schedule s JOIN ScheduleFire f ON f.Schedule_id = s.Schedule_id"
    yield from sorted(shop.scheduled - {row[0] for row in shop.sql(f"{fired} WHERE f.Outcome = 'fired'")})
    yield from shop.sql("SELECT Schedule_id, ScheduleName, RunAt FROM Schedule WHERE Enabled = 1")


def odd_schedules(shop: Shop) -> Iterator[object]:
    yield from shop.sql(
        "SELECT f.Source, count(*), count(DISTINCT o.ScheduleFire_id) FROM FileProcess f"
        " LEFT JOIN ScheduleFire o ON o.FileProcess_id = f.FileProcess_id"
        " WHERE f.Entity = ? AND f.Source NOT LIKE 'schedule p%' GROUP BY f.Source"
        " HAVING count(*) <> 1 OR count(DISTINCT o.ScheduleFire_id) <> 1",
        SCHEDULED,
    )


_DAYS = (
    "SELECT f.Source, f.CycleKey, count(*), count(DISTINCT o.ScheduleFire_id), count(DISTINCT b.ScheduleBackfill_id)"
    " FROM FileProcess f LEFT JOIN ScheduleFire o ON o.FileProcess_id = f.FileProcess_id AND o.Outcome = 'fired'"
    " LEFT JOIN ScheduleBackfill b ON b.ScheduleBackfill_id = o.ScheduleBackfill_id"
    " AND o.DueTime BETWEEN b.FromTime AND b.UntilTime"
    " WHERE f.Source LIKE 'schedule p%' GROUP BY f.Source, f.CycleKey"
)
"""Each day of each schedule that backfills have started work for: rows, due times, and backfills that wanted them."""


def idle_backfills(shop: Shop) -> Iterator[object]:
    started = {(source, day) for source, day, *_ in shop.sql(_DAYS)}
    wanted = {(f"schedule {name}", day) for name, days in shop.backfilled.items() for day in days}
    yield from sorted(wanted - started)
    yield from shop.sql(
        "SELECT ScheduleBackfill_id, Status, DoneUntil FROM ScheduleBackfill WHERE Status <> 'complete'"
    )


def odd_backfills(shop: Shop) -> Iterator[object]:
    yield from (row for row in shop.sql(_DAYS) if row[2:] != (1, 1, 1))
    yield from shop.sql(
        "SELECT b.ScheduleBackfill_id, b.Fired FROM ScheduleBackfill b WHERE b.Fired <>"
        " (SELECT count(*) FROM ScheduleFire f WHERE f.ScheduleBackfill_id = b.ScheduleBackfill_id)"
    )


def missing_effects(seen: Evidence) -> Iterator[str]:
    done = {(one.instance, one.seq) for one in seen.executions if "E" in one.wording}
    done |= {(one.instance, one.seq) for one in seen.attempts if one.status == "skipped"}
    for instance, (batch, status) in seen.instances.items():
        for seq in STEPS[batch]:
            if status == "complete" and (instance, seq) not in done:
                yield f"instance {instance} of {batch}, step {seq}"


def false_successes(seen: Evidence) -> Iterator[Attempt]:
    well = {one.attempt for one in seen.executions if "E" in one.wording}
    done = {(one.instance, one.seq) for one in seen.executions if "E" in one.wording}
    for attempt in seen.attempts:
        is_true = (attempt.instance, attempt.seq) in done if attempt.cause == "verify" else attempt.history in well
        if attempt.status == "success" and not is_true:
            yield attempt


def unasked_starts(seen: Evidence) -> Iterator[str]:
    """Yield every second start of a step that neither a known failure, nor a person, nor OnLost asked for."""
    starts = seen.starts()
    last: Attempt | None = None
    between: list[Attempt] = []
    for attempt in seen.attempts:
        if last is not None and (last.instance, last.seq) != (attempt.instance, attempt.seq):
            last = None
        between = [*between, attempt] if last is not None else [attempt]
        if attempt.history not in starts:
            continue
        if last is not None and not _was_asked(last, between):
            yield f"{attempt} after {last}"
        last, between = attempt, []


def _was_asked(first: Attempt, since: list[Attempt]) -> bool:
    if any(one.cause == "manual" for one in since):
        return True
    if first.status in {"failed", "timeout"}:
        return True
    match ON_LOST[first.batch]:
        case "rerun":
            return first.status == "lost"
        case "verify":
            return first.status == "lost" and any(one.cause == "verify" and one.status == "failed" for one in since)
        case _:
            return False


def denied_starts(seen: Evidence) -> Iterator[Attempt]:
    """Yield the lost attempts of which it is written that they never ran, so that they may be made again, and that did."""
    starts = seen.starts()
    for attempt in seen.attempts:
        if attempt.status == "lost" and not attempt.spawned and attempt.history in starts:
            yield attempt


def repeated_starts(seen: Evidence) -> Iterator[str]:
    for executions in seen.starts().values():
        if len(executions) > 1:
            yield "; ".join(one.name for one in executions)


def unrecorded_starts(seen: Evidence) -> Iterator[str]:
    known = {one.history: (one.instance, one.seq) for one in seen.attempts}
    for one in seen.executions:
        if known.get(one.attempt) != (one.instance, one.seq):
            yield one.name


def early_starts(seen: Evidence) -> Iterator[str]:
    skipped = {(one.instance, one.seq) for one in seen.attempts if one.status == "skipped"}
    ended: dict[tuple[int, int], int] = {}
    for one in seen.executions:
        if "E" in one.wording:
            ended[one.instance, one.seq] = min(ended.get((one.instance, one.seq), one.at[-1]), one.at[-1])
    for one in seen.executions:
        before = (one.instance, one.seq - 10)
        if "S" in one.wording and one.seq > 10 and before not in skipped and ended.get(before, one.at[0]) >= one.at[0]:
            yield one.name


def crowds(seen: Evidence) -> Iterator[str]:
    """Yield the starts beside which too many others of the batch ran: these have left lines both before and after it."""
    running: dict[str, list[Execution]] = defaultdict(list)
    for one in seen.executions:
        if "S" not in one.wording or one.instance not in seen.instances:
            continue
        batch = seen.instances[one.instance][0]
        running[batch] = [other for other in running[batch] if other.at[-1] > one.at[0]] + [one]
        beside = {other.instance for other in running[batch]}
        if len(beside) > MAX_CONCURRENT[batch]:
            yield f"{batch}: instances {sorted(beside)} when {one.name}"


def strays(places: Iterable[str]) -> Iterator[str]:
    """Yield the steps that have left a line from where their pool is not served."""
    served = {host.name: host.pools for host in HOSTS}
    for line in places:
        instance, seq, host = line.split()
        if pool_of(int(seq)) not in served.get(host, ()):
            yield f"instance {instance}, step {seq} on {host}"


def crowded_pools(seen: Evidence) -> Iterator[str]:
    """Yield the starts beside which too many others of the pool ran, as `crowds` does of batches."""
    running: dict[str, list[Execution]] = defaultdict(list)
    for one in seen.executions:
        pool = pool_of(one.seq)
        most = POOLS.get(pool)
        if "S" not in one.wording or most is None:
            continue
        running[pool] = [other for other in running[pool] if other.at[-1] > one.at[0]] + [one]
        beside = {other.instance for other in running[pool]}
        if len(beside) > most:
            yield f"{pool}: instances {sorted(beside)} when {one.name}"


def statuses(seen: Evidence) -> Counter[str]:
    """Count how attempts ended."""
    return Counter(one.status for one in seen.attempts)

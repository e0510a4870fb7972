"""When the batches of the night will be ready: the read models behind `forecast`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time

from batchctl.domain.dependencies import odds, what_ifs
from batchctl.domain.dependencies.virtual_night import Replayed, StartCause
from batchctl.domain.dependencies.what_ifs import Suppositions, UnfitWhatIf
from batchctl.domain.errors import InvalidInput, Refused
from batchctl.domain.maintenance.lengths import for_people
from batchctl.domain.rows import NEVER, BatchDefinition, BatchId, BatchInstance
from batchctl.domain.scheduling.column_text import UnfitText, time_of_day
from batchctl.domain.text import typed, visible
from batchctl.operations.column_lists import Column, ColumnList
from batchctl.operations.dependencies.tonight import AHEAD, TICK, Tonight, next_time, read_tonight
from batchctl.operations.presence import Presence
from batchctl.operations.scheduling.timetable import Timetable
from batchctl.store.alerting import evidence

_NO_WAITS = {StartCause.COMES, StartCause.AFTER}
"""What an instance starts by that waits for nothing else."""
_DECIDES_IN = 0.1
"""In which share of the nights something has to decide to be named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnTheWay:
    """Something that decides when a batch is ready, and in which share of the nights."""

    what: str
    share: float
    seq: int | None = None
    """The step of a batch that takes longest there, in most nights."""
    cause: StartCause | None = None
    """What was waited for; None of a batch."""
    name: str | None = None
    """That of what was waited for."""

    @property
    def wording(self) -> str:
        """Say it in a line."""
        step = "" if self.seq is None else f" (step {self.seq} takes longest)"
        return f"{visible(self.what)}{step}: {self.share:.0%}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchForecast:
    """When an instance of a batch will be ready."""

    batch: str
    cycle_key: str | None
    median: datetime | None
    """p50; None where more than every second night needs a person, or what is under way has run longer than ever."""
    nearly: datetime | None
    """p90; None where too many nights need a person, or fewer than 20 nights are known."""
    by: datetime | None
    chance: float | None
    """Of being ready by then."""
    failing: float
    """In which share of the nights it does not get ready without a person."""
    nights: int
    """How many past nights at least are known of each step on the way that has ever run."""
    replays: int
    is_idle: bool = False
    """That no controller works now: it is supposed that one begins at once."""
    standing: tuple[BatchInstance, ...] = ()
    """What needs a person on the way, where any night does."""
    decides: tuple[OnTheWay, ...] = ()
    not_known: tuple[str, ...] = ()


def _share(share: float) -> float:
    return round(share, 3)


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{share:.0%}"


FORECASTS = ColumnList[BatchForecast](
    "Tonight",
    {
        "ProcessBatchName": lambda one: one.batch,
        "CycleKey": lambda one: one.cycle_key,
        "P50": lambda one: one.median,
        "P90": lambda one: one.nearly,
        "By": lambda one: one.by,
        "Chance": Column(lambda one: one.chance, _share),
        "NeedsPerson": Column(lambda one: one.failing, _share),
        "Nights": lambda one: one.nights,
        "Replays": lambda one: one.replays,
        "Standing": lambda one: [
            {"BatchControl_id": each.instance_id, "Status": each.status.value} for each in one.standing
        ],
        "Decides": lambda one: [
            {"What": each.what, "ProcessControlSeq": each.seq, "Share": _share(each.share)} for each in one.decides
        ],
        "NotKnown": lambda one: one.not_known,
    },
    {
        "batch": "ProcessBatchName",
        "CycleKey": "CycleKey",
        "p50 (UTC)": "P50",
        "p90 (UTC)": "P90",
        "by (UTC)": "By",
        "chance#": lambda one: _percent(one.chance),
        "needs a person#": lambda one: _percent(one.failing) if one.failing else None,
        "nights#": "Nights",
    },
)


@dataclass(frozen=True, slots=True)
class Forecaster:
    """Reads what is known, and replays the night."""

    timetable: Timetable
    presence: Presence
    what_ifs: Sequence[str] = ()
    by: str | None = None
    _suppose: Suppositions = field(init=False)

    def __post_init__(self) -> None:
        """Read what is supposed; raises `InvalidInput`."""
        try:
            object.__setattr__(self, "_suppose", Suppositions([what_ifs.read(each) for each in self.what_ifs]))
            if self.by is not None:
                time_of_day(self.by)
        except UnfitWhatIf as error:
            raise InvalidInput(f"{error}", next_step=f"--what-if {what_ifs.FORMS}") from None
        except UnfitText as error:
            raise InvalidInput(f"--by: {error}", next_step="--by 06:00") from None

    def of(self, name: str, cycle_key: str | None = None) -> BatchForecast:
        """Return when a batch will be ready; raises `Refused` where nothing starts it."""
        tonight = read_tonight(self.timetable, self.presence, name)
        batch = next(one for one in tonight.batches.values() if one.name == name)
        replays = self._replays(tonight)
        key, is_there = key_of(replays, batch.batch_id, cycle_key)
        by = self._by(tonight, batch.batch_id)
        if not is_there and (kept := kept_from_coming(tonight, batch, by, len(replays), cycle_key)) is not None:
            return kept
        if not is_there:
            of_key = "" if cycle_key is None else f" for the CycleKey {visible(cycle_key)}"
            message = f"Nothing of batch {visible(name)} is open{of_key}, and nothing starts it within 24 hours."
            raise Refused(message, next_step=f"batchctl why batch:{typed(name)}")
        return forecast_of(tonight, batch, key, replays, by)

    def everything(self) -> tuple[BatchForecast, ...]:
        """Return the same for each batch of which something is open, or comes within 24 hours; the soonest first."""
        tonight = read_tonight(self.timetable, self.presence, None)
        replays = self._replays(tonight)
        made = list[BatchForecast]()
        for batch in tonight.batches.values():
            key, is_there = key_of(replays, batch.batch_id, None)
            by = self._by(tonight, batch.batch_id)
            kept = None if is_there else kept_from_coming(tonight, batch, by, len(replays))
            if is_there:
                made.append(forecast_of(tonight, batch, key, replays, by))
            elif kept is not None:
                made.append(kept)
        return tuple(sorted(made, key=lambda one: (one.median is None, one.median or NEVER, one.batch)))

    def _replays(self, tonight: Tonight) -> list[Replayed]:
        try:
            self._suppose.check(tonight.batches.values(), tonight.night)
        except UnfitWhatIf as error:
            raise InvalidInput(f"{error}", next_step="batchctl batches") from None
        return [*tonight.replays(self._suppose)]

    def _by(self, tonight: Tonight, batch_id: BatchId) -> datetime | None:
        """Return by when a batch has to be ready: as was asked, or as its FinishBy says."""
        if self.by is None:
            return tonight.finish_by.get(batch_id)
        by = next_time(tonight.clock, tonight.now, time_of_day(self.by))
        # What is ready for that day already has to be ready again by that time of the next one.
        return next_time(tonight.clock, by, time_of_day(self.by)) if self._is_ready(tonight, batch_id, by) else by

    def _is_ready(self, tonight: Tonight, batch_id: BatchId, by: datetime) -> bool:
        day = tonight.clock.day_of(by)
        begins = tonight.clock.meant(datetime.combine(day, time()))
        with self.timetable.transactions.read() as connection:
            return evidence.finished(connection, batch_id, begins, day)


def forecast_of(
    tonight: Tonight, batch: BatchDefinition, key: str | None, replays: Sequence[Replayed], by: datetime | None
) -> BatchForecast:
    """Return what replays of a night say of an instance of a batch."""
    numbers = [number_of(one, batch.batch_id, key) for one in replays]
    ends = [None if number is None else one.ends[number] for one, number in zip(replays, numbers, strict=True)]
    ways = [
        [*one.way_to(number)]
        for one, number in zip(replays, numbers, strict=True)
        if number is not None and one.ends[number] is not None
    ]
    on_way = {
        one.instances[at].batch_id
        for one, number in zip(replays, numbers, strict=True)
        if number is not None
        for at in one.way_to(number)
    }
    nights = tonight.nights(on_way)
    end_by = None if by is None else (by - tonight.now) // TICK
    nearly = odds.at_rank(ends, odds.NEARLY, nights) if nights >= odds.ENOUGH else None
    median = odds.at_rank(ends, odds.MEDIAN, nights)
    unknown = sum(number in one.unknown for one, number in zip(replays, numbers, strict=True))
    failing = (ends.count(None) - unknown) / len(ends)
    return BatchForecast(
        batch=batch.name,
        cycle_key=key,
        median=tonight.moment(median),
        nearly=tonight.moment(nearly),
        by=by,
        chance=None if end_by is None else odds.share_by(ends, end_by),
        failing=failing,
        nights=nights,
        replays=len(replays),
        is_idle=tonight.night.slots is None,
        standing=_standing(tonight, batch.batch_id) if failing else (),
        decides=tuple(_decides(tonight, replays, numbers)) if ways else (),
        not_known=tuple(_not_known(tonight, on_way, nights)),
    )


def kept_from_coming(
    tonight: Tonight, batch: BatchDefinition, by: datetime | None, replays: int, cycle_key: str | None = None
) -> BatchForecast | None:
    """Return the forecast of a batch that does not even come, because what it waits for stands; None where nothing does."""
    standing = [one for one in _standing(tonight, batch.batch_id) if cycle_key is None or one.cycle_key == cycle_key]
    if not standing:
        return None
    return BatchForecast(
        batch=batch.name,
        cycle_key=standing[0].cycle_key,
        median=None,
        nearly=None,
        by=by,
        chance=None if by is None else 0.0,
        failing=1.0,
        nights=tonight.nights({batch.batch_id, *(one.batch_id for one in standing)}),
        replays=replays,
        is_idle=tonight.night.slots is None,
        standing=tuple(standing),
    )


def _standing(tonight: Tonight, batch_id: BatchId) -> tuple[BatchInstance, ...]:
    return tuple(tonight.standing[at] for at in tonight.standing_before(batch_id))


def key_of(replays: Sequence[Replayed], batch_id: BatchId, wanted: str | None) -> tuple[str | None, bool]:
    """Return the CycleKey of the instance of a batch that is ready first, and whether there is one."""
    for one in replays:
        of_batch = [
            (one.ends[at] is None, one.ends[at] or 0, at)
            for at in one.of_batch.get(batch_id, ())
            if (wanted is None or one.instances[at].cycle_key == wanted)
            and one.instances[one.first_of(at)].comes <= AHEAD // TICK
        ]
        if of_batch:
            return one.instances[min(of_batch)[2]].cycle_key, True
    return wanted, False


def number_of(one: Replayed, batch_id: BatchId, key: str | None) -> int | None:
    """Return the number of the instance of a batch and CycleKey in a replay that is ready first, if there is one."""
    of_key = [
        (one.ends[at] is None, one.ends[at] or 0, at)
        for at in one.of_batch.get(batch_id, ())
        if one.instances[at].cycle_key == key
    ]
    return min(of_key)[2] if of_key else None


def _decides(tonight: Tonight, replays: Sequence[Replayed], numbers: Sequence[int | None]) -> Iterator[OnTheWay]:
    """Yield what lies on the way to the end, the most frequent first."""
    batches, waits, many = Counter[BatchId](), Counter[tuple[StartCause, str | None]](), 0
    longest: dict[BatchId, Counter[int]] = {}
    for one, number in zip(replays, numbers, strict=True):
        if number is None or one.ends[number] is None:
            continue
        many += 1
        way = [*one.way_to(number)]
        batches.update({one.instances[at].batch_id for at in way})
        met = ((one.reasons[at].cause, one.reasons[at].name) for at in way)
        waits.update({wait for wait in met if wait[0] not in _NO_WAITS})
        for at in way:
            if (seq := one.longest[at]) is not None:
                longest.setdefault(one.instances[at].batch_id, Counter())[seq] += 1
    for batch_id, count in batches.most_common():
        if count / many >= _DECIDES_IN:
            steps = longest.get(batch_id, Counter()).most_common(1)
            yield OnTheWay(what=tonight.batches[batch_id].name, share=count / many, seq=steps[0][0] if steps else None)
    for (cause, name), count in waits.most_common():
        if count / many >= _DECIDES_IN:
            what = cause.value if name is None else f"{cause} {visible(name)}"
            yield OnTheWay(what=what, share=count / many, cause=cause, name=name)


def _not_known(tonight: Tonight, on_way: Collection[BatchId], nights: int) -> Iterator[str]:
    if nights < odds.ENOUGH:
        known = "1 night is" if nights == 1 else f"{nights} nights are"
        yield f"p90: {known} known of the step with the fewest, and {odds.ENOUGH} are needed"
    yield from dict.fromkeys(_outrun(tonight, on_way))
    for batch_id in sorted(on_way):
        batch = tonight.batches[batch_id]
        for step in batch.steps:
            if tonight.past.few((batch_id, step.seq)):
                continue
            expected = step.expected_duration
            used = "0 s was used" if expected is None else f"ExpectedDuration {expected.total_seconds():g} s was used"
            yield f"{visible(batch.name)}, step {step.seq} {visible(step.name)} has never run: {used}"


def _outrun(tonight: Tonight, on_way: Collection[BatchId]) -> Iterator[str]:
    """Yield what has run longer than ever before: nothing says when it ends."""
    for one in tonight.night.instances:
        step = None if one.under_way is None else tonight.batches[one.batch_id].step_at(one.under_way)
        if step is None or one.batch_id not in on_way:
            continue
        place = (one.batch_id, step.seq)
        longest = tonight.past.outrun(place, one.elapsed, one.failures)
        if longest is not None:
            batch, ran = visible(tonight.batches[one.batch_id].name), for_people(one.elapsed * TICK)
            than, most = ("ever before", "longest") if tonight.past.few(place) else ("expected", "ExpectedDuration")
            yield (
                f"{batch}, step {step.seq} {visible(step.name)} has run longer than {than}: {ran},"
                f" {most} {for_people(longest * TICK)}"
            )

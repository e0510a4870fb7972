"""Finding what is wrong now, as far as the rows say: what incidents are compared with."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from batchctl.control import dead_end_watch
from batchctl.control.alerting.step_past import StepPast
from batchctl.control.alerting.unserved_pools import UnservedPools
from batchctl.domain.alerting import forecast_causes, incident_causes, step_causes
from batchctl.domain.alerting.alerts import TOO_OFTEN, AlertRules
from batchctl.domain.alerting.expectations import Expected
from batchctl.domain.alerting.incident_causes import Undelivered
from batchctl.domain.alerting.incidents import OF_AN_INSTANCE, Incident, IncidentSign
from batchctl.domain.dependencies.forecast_record import KeptForecast
from batchctl.domain.dependencies.forecast_scores import LEAST_COVERAGE, TO_JUDGE
from batchctl.domain.gates import locks
from batchctl.domain.locked_rows import LEAD, culprits, is_of_locks
from batchctl.domain.maintenance.retention import FEWEST_NIGHTS
from batchctl.domain.rows import (
    MOST_TRIES,
    BatchDefinition,
    BatchId,
    ControllerRow,
    HistoryId,
    InstanceId,
    IntakeRow,
)
from batchctl.domain.scheduling.schedules import Calendar
from batchctl.domain.scheduling.wall_clock import clock_of
from batchctl.domain.status import ControllerStatus, DeliveryStatus, InstanceStatus
from batchctl.expected_work import ExpectedWork
from batchctl.ports import Clock
from batchctl.store import Connection, controllers, history, instances, leading, reports
from batchctl.store.alerting import alert_deliveries, evidence
from batchctl.store.alerting.alert_deliveries import Delivery
from batchctl.store.definitions import definitions
from batchctl.store.dependencies import completions, dependencies, kept_forecasts
from batchctl.store.dependencies.kept_forecasts import CoveredForecasts
from batchctl.store.intake import intake
from batchctl.store.operators import confirmation_rows
from batchctl.store.scheduling import calendars

MOST = 500
"""Attempts under way, waits and messages that are looked at."""
STANDING = 10_000
"""Instances that have failed or are held, and are looked at."""
AT_ONCE = 500
"""How many instances not met before have their cause read at one look, the newest first; the others wait."""
LATELY = 20
"""Messages of each channel, on average, that are looked at."""
PATIENCE = timedelta(seconds=3)
"""How long a single round reads the past."""
SOMETIMES = timedelta(seconds=30)
"""How often the definitions and the newest attempts are read, as long as nothing else is wrong."""
SLOWLY = timedelta(minutes=10)
"""How often what changes slowly is read: how long steps take, and which days are business days."""

LOCKED = timedelta(minutes=1)
"""How long somebody may keep rows locked before people are told."""
SOON_AFTER = timedelta(minutes=5)
"""Controllers that meet locks within this time are taken to have met the same one, where no text names the holder."""

_Seen = tuple[int, InstanceStatus, int, datetime, bool]


@dataclass(slots=True)
class IncidentSearch:
    """Looks at the rows. It remembers what it has found of those that stay as they are."""

    clock: Clock
    rules: AlertRules
    name: str | None
    """The controller that looks; None for a caller that only looks whether there is one."""
    awaited: ExpectedWork = field(init=False)
    _standing: dict[_Seen, IncidentSign] = field(default_factory=dict)
    _calendars: list[Calendar] = field(default_factory=list)
    _batches: dict[BatchId, BatchDefinition] = field(default_factory=dict)
    _expected: list[Expected] = field(default_factory=list)
    _forecasts: list[KeptForecast] = field(default_factory=list)
    _covered: list[CoveredForecasts] = field(default_factory=list)
    _dead_ends: list[IncidentSign] = field(default_factory=list)
    _of_steps: list[IncidentSign] = field(default_factory=list)
    """What the newest runs of steps show although their instances went on."""
    _stepless: Collection[BatchId] = frozenset()
    """Batches without steps that have work: people are told without delay that nothing comes of it."""
    _mends: Mapping[BatchId, str] = field(default_factory=dict)
    """What mends each batch that cannot be read: before that a rerun is refused."""
    _past: StepPast = field(init=False)
    _unserved: UnservedPools = field(init=False)
    idle: set[tuple[BatchId | None, int | None]] = field(default_factory=set)
    """Steps of which no attempt is among the newest: nothing new is known of them."""
    is_partial: bool = False
    """True while some instances that stand were not looked at yet."""
    _words: dict[str, Delivery | None] = field(default_factory=dict)
    _locked_since: Mapping[str, float] = field(default_factory=dict)
    """Since when each controller has been kept from its work by rows that somebody keeps locked."""
    _defined_at: float = -math.inf
    _read_at: float = -math.inf
    _has_looked: bool = False
    _waited_since: datetime | None = None
    """Since when work had waited before this program itself began to do it."""

    def __post_init__(self) -> None:
        """Begin to learn when files come."""
        self.awaited = ExpectedWork(self.rules)
        self._unserved = UnservedPools(self.rules.unserved_after)
        self._past = StepPast(least=max(self.rules.norms.samples, self.rules.norms.runs))

    def signs(self, connection: Connection, now: datetime) -> list[IncidentSign]:
        """Return everything that is wrong."""
        self._read_what_is_slow(connection)
        batches = self._batches
        names = {batch.batch_id: batch.name for batch in batches.values() if batch.enabled}
        standing = self._of_instances(connection, batches)
        at = {(one.batch_id, one.seq) for one in standing if one.batch_id is not None}
        norms = self.rules.norms
        found = [*standing, *self._too_long(connection, batches, now), *self._unanswered(connection, now)]
        # How long people take, and what they refuse, says nothing of a step.
        ran = [one for one in self._past.attempts if not self._asks_people(one.batch_id, one.seq)]
        found += incident_causes.too_short(ran, names, self._past.lengths, norms)
        if not self.is_partial:
            found += incident_causes.fails_often(ran, names, norms, at)
        found += [one for one in self._of_steps if (one.batch_id, one.seq) not in at]
        found += self._overdue(connection, batches, now)
        found += self._ending(connection, now)
        found += self._undelivered(connection)
        found += self._missed(connection, now)
        found += self._at_risk(connection, now)
        found += self._missing(now)
        found += self._nobody(connection, now)
        found += self._leaderless(connection, now)
        found += self._failing(connection, now)
        found += self._unserved.signs(connection, self._batches, now)
        found += _hanging(connection)
        found += self._dead_ends
        return found

    @property
    def is_behind(self) -> bool:
        """Say whether the past is still being read."""
        return self.is_partial or self.awaited.is_learning

    def failed_with(self, incident: Incident) -> set[InstanceId]:
        """Return the instances that failed at the step of an incident, up to the last attempt that it knows of."""
        if incident.kind not in OF_AN_INSTANCE:
            return set()
        return {
            one.instance_id
            for one in self._past.attempts
            if (one.batch_id, one.seq) == (incident.batch_id, incident.seq)
            and one.history_id <= incident.evidence
            and one.has_failed
        }

    def look_back(self, connection: Connection, now: datetime) -> None:
        """Note what waits, before any of it is begun: at the first look nothing may wait any more."""
        self._waited_since = evidence.gap(connection, now, self.name).waiting_since

    def read_anew(self) -> None:
        """Read again at the next look whatever is read only sometimes: something is about to be written."""
        self._defined_at = -math.inf

    def learn(self, connection: Connection) -> None:
        """Prepare a single look: read all of the past at once, or as much of it as takes a moment only.

        A single look is started by a clock: that no controller worked since the clock last struck is as it should be.
        """
        self._has_looked = True
        self._remember_locks(connection)
        until = self.clock.monotonic() + PATIENCE.total_seconds()
        now, at = self.clock.now(), self.clock.monotonic()
        self.awaited.learn(connection, now, at, lambda: self.clock.monotonic() >= until)

    def _remember_locks(self, connection: Connection) -> None:
        """Learn since when controllers that have ended had met the locks that this controller meets."""
        everyone = controllers.everyone(connection)
        own = next((row for row in everyone if row.name == self.name and is_of_locks(row.failure)), None)
        if own is None:
            return
        ended = [row for row in everyone if row.status is not ControllerStatus.RUNNING]
        ago = self.clock.now() - _locked_since(own, sorted(ended, key=lambda row: row.heartbeat, reverse=True))
        self._locked_since = {own.name: self.clock.monotonic() - ago.total_seconds(), **self._locked_since}

    def settle(self) -> None:
        """Take note that what was found is written."""
        self._has_looked = True

    def _read_what_is_slow(self, connection: Connection) -> None:
        monotonic = self.clock.monotonic()
        stepless = instances.without_steps(connection)
        if stepless != self._stepless:
            self._stepless, self._defined_at = stepless, -math.inf
        if monotonic - self._defined_at >= SOMETIMES.total_seconds():
            self._defined_at = monotonic
            defined = definitions.read(connection)
            self._batches = {batch.batch_id: batch for batch in defined.batches}
            self._expected = evidence.expected(connection)
            self._forecasts = kept_forecasts.newest(connection)
            self._mends = {row.batch_id: row.mend for row in defined.unreadable if row.batch_id is not None}
            now = self.clock.now()
            self._dead_ends = dead_end_watch.read(connection, defined, self._expected, stepless, now)
            self._past.read_attempts(connection)
            self._of_steps = list(self._newest_runs(connection))
            self._words.clear()
            self.idle = {(batch.batch_id, step.seq) for batch in self._batches.values() for step in batch.steps}
            self.idle -= {(one.batch_id, one.seq) for one in self._past.attempts}
            self.awaited.read_anew()
        if monotonic - self._read_at >= SLOWLY.total_seconds():
            self._read_at = monotonic
            self._past.read_lengths(connection)
            self._calendars = calendars.everything(connection)
            since = self.clock.now() - FEWEST_NIGHTS
            self._covered = kept_forecasts.covered(connection, since, TO_JUDGE)

    def _newest_runs(self, connection: Connection) -> Iterator[IncidentSign]:
        for one, batch, step in step_causes.to_look_at(self._past.attempts, self._batches):
            entry = history.load(connection, HistoryId(one.history_id))
            sign = None if entry is None else step_causes.of_newest(entry, batch, step)
            if sign is not None:
                yield sign

    def _of_instances(self, connection: Connection, batches: Mapping[BatchId, BatchDefinition]) -> list[IncidentSign]:
        stand = reports.open_in(connection, (InstanceStatus.FAILED, InstanceStatus.HELD), STANDING)
        # A batch that is not known yet is read soon, and then has a name.
        keys = [
            (one.instance_id, one.status, one.claim_token, one.updated_at, one.batch_id in batches) for one in stand
        ]
        before, self._standing = self._standing, {}
        new = [key for key in keys if key not in before]
        read = frozenset(new[-AT_ONCE:])
        self.is_partial = len(new) > len(read)
        for key, one in zip(keys, stand, strict=True):
            if key in before:
                self._standing[key] = before[key]
            elif key in read:
                last = history.last_entry(connection, one.instance_id)
                self._standing[key] = incident_causes.standing(
                    one, batches.get(one.batch_id), last, self._mends.get(one.batch_id)
                )
        return incident_causes.gathered(self._standing.values())

    def _too_long(
        self, connection: Connection, batches: Mapping[BatchId, BatchDefinition], now: datetime
    ) -> list[IncidentSign]:
        entries = reports.live_entries(connection, MOST)
        norms = self.rules.norms
        self._past.ask_of(connection, entries)
        found = [
            incident_causes.too_long(one, batches.get(one.batch_id), self._past.lengths, norms, now) for one in entries
        ]
        return [one for one in found if one is not None]

    def _asks_people(self, batch_id: BatchId, seq: int) -> bool:
        batch = self._batches.get(batch_id)
        step = None if batch is None else batch.step_at(seq)
        return step is not None and step.asks_people

    def _unanswered(self, connection: Connection, now: datetime) -> list[IncidentSign]:
        """Return the questions that people have to know of."""
        questions = {one.instance_id: one for one in confirmation_rows.open_ones(connection, instances.MOST_LOADED)}
        waiting = instances.these(connection, [*questions]) if questions else []
        signs = (
            incident_causes.unanswered(questions[one.instance_id], one, self._batches.get(one.batch_id), now)
            for one in waiting
        )
        return [sign for sign in signs if sign is not None]

    def _overdue(
        self, connection: Connection, batches: Mapping[BatchId, BatchDefinition], now: datetime
    ) -> list[IncidentSign]:
        waiting = [one for one in completions.waiting(connection, MOST) if one.overdue is not None]
        waits = dependencies.reasons_of(connection, batches, waiting, now)
        return [incident_causes.overdue(wait) for wait in waits]

    def _ending(self, connection: Connection, now: datetime) -> list[IncidentSign]:
        used = evidence.calendars_in_use(connection)
        used |= {one.calendar for one in self._expected if one.calendar is not None}
        today = clock_of(self.rules.zone).day_of(now)
        found = [incident_causes.ending(one, today, now) for one in self._calendars if one.name in used]
        return [one for one in found if one is not None]

    def _undelivered(self, connection: Connection) -> list[IncidentSign]:
        """Return the channels through which no message gets out: tried too often, or given up and no success since."""
        configured = [channel.name for channel in self.rules.channels]
        if not configured:  # SQL Server fetches at least one row, or refuses (error 10744)
            return []
        words = dict[str, Delivery | None]()
        for one in alert_deliveries.newest(connection, LATELY * len(configured)):
            if one.status in alert_deliveries.TRIED:
                words.setdefault(one.channel, one)
        found = list[Undelivered]()
        # What waits for a channel that no longer exists is not worth an incident.
        for name in configured:
            last = words[name] if name in words else self._last_word(connection, name)
            waiting = (one for one in alert_deliveries.waiting_of(connection, name, MOST) if _is_tried_in_vain(one))
            silent = last if last is not None and last.status is DeliveryStatus.FAILED else next(waiting, None)
            if silent is not None:
                found.append(_undelivered(silent))
        return [incident_causes.silent_channel(one) for one in found]

    def _last_word(self, connection: Connection, channel: str) -> Delivery | None:
        """Return the last outcome of a message of a channel that does not occur among many messages of others."""
        if channel not in self._words:
            self._words[channel] = alert_deliveries.last_word(connection, channel)
        return self._words[channel]

    def _at_risk(self, connection: Connection, now: datetime) -> list[IncidentSign]:
        """Return the batches that will probably be late, as the newest forecast said, and have not become ready since."""
        risky = [one for one in self._forecasts if one.is_at_risk(now) and one.batch_id in self._batches]
        late = [
            one for one in risky if kept_forecasts.end_of(connection, one.batch_id, one.cycle_key, one.made_on) is None
        ]
        return [forecast_causes.at_risk(one, self._batches[one.batch_id].name, self.rules.zone) for one in late]

    def _missing(self, now: datetime) -> list[IncidentSign]:
        """Return the batches whose forecasts are not to be relied on."""
        return [
            forecast_causes.misses(one.batch_id, self._batches[one.batch_id].name, one.many, one.covered, now)
            for one in self._covered
            if one.many >= TO_JUDGE and one.covered < LEAST_COVERAGE * one.many and one.batch_id in self._batches
        ]

    def _missed(self, connection: Connection, now: datetime) -> list[IncidentSign]:
        return self.awaited.missed(connection, self._expected, self._calendars, now, self.clock.monotonic())

    def _leaderless(self, connection: Connection, now: datetime) -> list[IncidentSign]:
        """Return that none of the working controllers leads, where one did, or where something waits for a leader."""
        lead, patience = leading.load(connection), self.rules.lease
        if lead.leads(now) is not None or not evidence.works(connection, now - patience):
            return []
        since = lead.until if lead.controller is not None else evidence.ready_since(connection)
        if since is None or since > now - patience:
            return []
        locked = locks(controllers.running(connection), [LEAD])
        return [incident_causes.no_leader(lead.controller, since, locked)]

    def _failing(self, connection: Connection, now: datetime) -> list[IncidentSign]:
        """Return that something keeps controllers from their work; each writes that with its sign of life.

        That somebody keeps rows locked is worth telling once it lasts: most statements of people take seconds.
        """
        rows = [
            row for row in controllers.running(connection) if row.failure and row.heartbeat > now - self.rules.lease
        ]
        at, before = self.clock.monotonic(), self._locked_since
        self._locked_since = {row.name: before.get(row.name, at) for row in rows if is_of_locks(row.failure)}
        lasting = [row for row in rows if at - self._locked_since.get(row.name, -math.inf) >= LOCKED.total_seconds()]
        return [incident_causes.of_controllers(lasting)] if lasting else []

    def _nobody(self, connection: Connection, now: datetime) -> list[IncidentSign]:
        """Return that no controller works; one that works reports once, at its first look, that none did before."""
        if self._has_looked and self.name is not None:
            return []
        gap = evidence.gap(connection, now, self.name)
        waits = [since for since in (gap.waiting_since, self._waited_since) if since is not None]
        gap = replace(gap, waiting_since=min(waits, default=None))
        sign = incident_causes.no_worker(gap, now, self.rules.no_worker_after, is_over=self.name is not None)
        return [] if sign is None else [sign]


def _locked_since(last: ControllerRow, ended: Iterable[ControllerRow]) -> datetime:
    """Return since when the locks that `last` met have been held, going back through the `ended`, the latest first."""
    met_none_between = False
    for row in ended:
        if not is_of_locks(row.failure):
            met_none_between = True
            continue
        named, also_named = culprits(row.failure), culprits(last.failure)
        is_soon = last.heartbeat - row.heartbeat <= SOON_AFTER and not met_none_between
        # A transaction that is open still has kept its locks, also from a controller that met other rows meanwhile.
        if not (named & also_named if named and also_named else is_soon):
            break
        last, met_none_between = row, False
    return last.heartbeat


def _hanging(connection: Connection) -> list[IncidentSign]:
    """Return, by entity, the rows about which populators were asked in vain."""
    rows = [row for row in intake.awaiting(connection, MOST) if row.tries >= MOST_TRIES]
    by_entity: dict[str, list[IntakeRow]] = {}
    for row in rows:
        by_entity.setdefault(row.entity, []).append(row)
    return [incident_causes.populator_hangs(some) for some in by_entity.values()]


def _is_tried_in_vain(one: Delivery) -> bool:
    return one.attempts >= TOO_OFTEN and one.wording is not None


def _undelivered(one: Delivery) -> Undelivered:
    return Undelivered(channel=one.channel, since=one.made_at, attempts=one.attempts, wording=one.wording)

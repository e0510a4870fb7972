"""What works: creates instances, carries out steps, does a controller's duties. Commands that only look do without."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path

from batchctl import __version__
from batchctl.app import App
from batchctl.carrying import Carrying, carrying
from batchctl.control.alerting.alerting import Alerting
from batchctl.control.alerting.incident_search import IncidentSearch
from batchctl.control.alerting.incident_watch import IncidentWatch
from batchctl.control.alerting.night_sending import NightMailing
from batchctl.control.alerting.outbox import Outbox
from batchctl.control.attempts import PassReport
from batchctl.control.controller import Controller
from batchctl.control.creation import CreationReport, Creator
from batchctl.control.dependencies.dependency_watch import DependencyWatch
from batchctl.control.dependencies.forecast_keeping import ForecastKeeping
from batchctl.control.handler_watch import HandlerWatch
from batchctl.control.intake.file_watching import FileWatching, WatchMeans
from batchctl.control.intake.triggering import Triggering
from batchctl.control.leadership import Leadership, LeadersTransactions
from batchctl.control.maintenance.purge import Purge, Retention
from batchctl.control.maintenance.sealing import Sealing
from batchctl.control.membership import Membership
from batchctl.control.operators.answer_times import AnswerTimes
from batchctl.control.operators.answering import Answering
from batchctl.control.recording import Recorder
from batchctl.control.rescue import Rescue
from batchctl.control.scheduling.backfilling import Backfilling
from batchctl.control.scheduling.deciding import Deciding
from batchctl.control.scheduling.firing import Firing
from batchctl.control.scheduling.zone_keeping import ZoneKeeping
from batchctl.control.served_pools import ServedPools
from batchctl.control.worker import Duty, Leading, Worker
from batchctl.domain.alerting.night_schedule import NightTimes
from batchctl.domain.errors import BatchctlError, PluginError
from batchctl.domain.outcomes import Rendered, StepOutcome
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import BatchDefinition, HistoryId, InstanceId, IntakeId
from batchctl.domain.scheduling.wall_clock import clock_of
from batchctl.domain.text import in_short
from batchctl.logs import Event, Listener
from batchctl.operations import copies, planning
from batchctl.operations.alerting.incident_desk import IncidentDesk
from batchctl.operations.dependencies.foretelling import Foretelling
from batchctl.operations.intervene import Operator
from batchctl.operations.operators.acts import checked_reason
from batchctl.operations.operators.pooling import servable
from batchctl.operations.requested import Proxy
from batchctl.plugin_api import Populator
from batchctl.populators.pattern import PatternPopulator
from batchctl.ports import Clock, Finished, Transactions
from batchctl.step_context import target_of
from batchctl.step_running import plugin_processes, runner_of
from batchctl.store import identity
from batchctl.store.operators.confirmation_rows import BY_ITSELF
from batchctl.system.commands.environment import take_secrets
from batchctl.system.folders import ThreadFolders
from batchctl.system.plugins.populating import ProcessPopulatorRunner
from batchctl.system.runner import ThreadStepRunner
from batchctl.system.sightings import SightingsFile
from batchctl.system.zone_rules import zone_rules

LeadersMeans = tuple[LeadersTransactions, Clock, Listener]
IDLE_WAIT = timedelta(milliseconds=100)
EXPRESSION_TIMEOUT = timedelta(seconds=2)
"""How long a regular expression may look through one file name."""


class Node:
    """One batchctl that works on a control database, for one pass or as a controller."""

    def __init__(self, app: App) -> None:
        """Take everything from the application; the caller closes it."""
        self._app = app
        take_secrets(app.settings)
        self._settings, self._transactions = app.settings, app.transactions
        self._clock, self._ids, self._listener = app.clock, app.ids, app.listener
        self._stop_by: float | None = None
        self._stop_announced = False
        self._controller: Controller | None = None

    def create(self) -> CreationReport:
        """Run one creation pass."""
        copies.settle(self._transactions, self._clock)
        with self._populators() as populators:
            return self._creator(populators).create_instances()

    def plan_creations(self, most: int) -> tuple[planning.PlannedCreation, ...]:
        """Return what a creation pass would begin with; the populators are asked."""
        with self._populators() as populators:
            return planning.creations(self._transactions, populators, most)

    def accept(self, intake_id: IntakeId, reason: str) -> CreationReport:
        """Take in a rejected or duplicate row on purpose."""
        with self._populators() as populators:
            creator = self._creator(populators)
            acting = self._app.acting(dry_run=False)
            return creator.accept(intake_id, actor=acting["user"], host=acting["host"], reason=reason)

    def purge(self, reason: str) -> Purge:
        """Delete at once all that is old enough; return what has gone, and what could not."""
        checked_reason(reason)
        user, host = self._ids.user(), self._ids.host()
        made = Purge(transactions=self._transactions, clock=self._clock, actor=user, host=host, patient=True)
        made.everything(reason)
        return made

    def look_for_nobody(self) -> tuple[str, ...]:
        """Where no controller works, report that and all else that is wrong in its place; return those that work."""
        with self._transactions.read() as connection:
            living = self._app.presence.living(connection, self._clock.now())
        if not living or self._app.leader() is None:
            self._alerting(works=False).finish()
        return tuple(row.name for row in living)

    def incident_desk(self, *, dry_run: bool) -> IncidentDesk:
        """Return where the user of this process looks after incidents."""
        return IncidentDesk(**self._app.acting(dry_run=dry_run), notice=self.notice)

    def notice(self, instance_id: InstanceId) -> None:
        """Open the incident about an instance that has just failed, if it is not open yet."""
        self._alerting(works=False).watch.look_at(instance_id)

    def seal(self) -> None:
        """Seal at once what is unsealed in the audit log."""
        Sealing(self._transactions, self._clock, self._listener).finish()

    def process(self) -> PassReport:
        """Run one processing pass: every enabled batch, until nothing more may start now."""
        copies.settle(self._transactions, self._clock)
        self._keep_jobs()
        with self._runner() as runner, self._worker(runner) as worker:
            return self._work_off(worker)

    def run(self, *, once: bool = False, until_idle: timedelta | None = None) -> PassReport:
        """Create and process, again and again; `once` for one round, `until_idle` until idle for so long."""
        copies.settle(self._transactions, self._clock)
        self._keep_jobs()
        with (
            self._runner() as runner,
            self._populators(runner.wake) as populators,
            self._app.folders(runner.wake) as folders,
        ):
            name = self._ids.controller_id()
            leadership = Leadership(self._transactions, self._clock, self._listener, name, self._app.rhythm)
            means = LeadersTransactions(self._transactions, leadership), self._clock, self._listener
            creator = self._creator(populators, means[0], gives_up=once)
            handlers = HandlerWatch(lambda: self._app.handler_calls.hangs, self._transactions)
            own_duties = handlers, *self._scheduling(runner, creator)
            alerting = self._alerting(runner.wake)
            duties = self._duties(means, runner, folders, alerting)
            alerting.begin()
            mailings = self._night_mailings(means, runner.wake)
            upkeep: tuple[Duty, ...] = (
                self._forecasts(means[0], runner.wake),
                alerting,
                *self._upkeep(means),
                *mailings,
            )
            leading = Leading(leadership, creator, self._app.poll_interval, duties, upkeep, alerting)
            with self._worker(runner, leading, own_duties, patient=not once) as worker:
                self._announce("controller.started")
                try:
                    done = self._one_round(worker) if once else self._work_on(worker, until_idle)
                finally:
                    alerting.settle()
                    for mailing in mailings:
                        mailing.settle()
                self._announce("controller.stopped")
                return done

    def stop(self) -> None:
        """Start nothing more and end once the running steps have ended or their time is up; asked again, end at once.

        Steps that can go on alone then do so, and whichever controller comes next takes them over; the others are stopped.

        May be called from a signal handler.
        """
        grace = 0.0 if self._stop_by is not None else self._settings.shutdown_grace
        self._stop_by = self._clock.monotonic() + grace
        if self._controller is not None:
            self._controller.request_stop()

    def run_job(self, name: str, arguments: Mapping[str, JsonValue]) -> StepOutcome:
        """Call a registered job as a step would, without a step."""
        spec: dict[str, JsonValue] = {"job": name, "arguments": dict(arguments)}
        with self._runner(outliving=False) as runner:
            runner.start(HistoryId(0), self._app.registry.handler("python"), Rendered("", spec))
            while True:
                for report in runner.collect(IDLE_WAIT):
                    if isinstance(report, Finished):
                        return report.outcome

    def _one_round(self, worker: Worker) -> PassReport:
        """Start work, process it, and then keep the tables in order, even if the rest failed."""
        try:
            worker.lead()
            return self._work_off(worker)
        finally:
            worker.keep_up()

    def _work_off(self, worker: Worker) -> PassReport:
        """Turn until nothing more may start now, or the database fails while nothing is under way."""
        controller = worker.controller
        while not worker.is_idle:
            self._turn(worker)
            if controller.failure is not None and not controller.is_working:
                raise controller.failure
        return controller.tally.report()

    def _work_on(self, worker: Worker, until_idle: timedelta | None) -> PassReport:
        """Turn until told to stop, or until nothing was to do for long enough."""
        controller = worker.controller
        idle_since = self._clock.monotonic()
        while self._stop_by is None or controller.is_working:
            self._turn(worker)
            now = self._clock.monotonic()
            # Looking again is no work yet: whether there is any, the next turn finds out.
            if not worker.is_idle:
                idle_since = now
            elif until_idle is not None and now - idle_since >= until_idle.total_seconds():
                # Report everything before ending: it may be long until another controller looks.
                worker.keep_up()
                break
        return controller.tally.report()

    def _turn(self, worker: Worker) -> None:
        controller = worker.controller
        self._app.service_manager.live()
        worker.turn(IDLE_WAIT)
        if self._stop_by is not None and not self._stop_announced:
            self._stop_announced = True
            self._announce("controller.stopping")
        if self._stop_by is not None and self._clock.monotonic() >= self._stop_by:
            controller.leave_steps()
            if controller.blocker is not None and not controller.is_flying:
                # What could not be recorded is lost with this process; another controller reports that.
                raise controller.blocker

    @contextmanager
    def _worker(
        self,
        runner: ThreadStepRunner,
        leading: Leading | None = None,
        own_duties: Sequence[Duty] = (),
        *,
        patient: bool = False,
    ) -> Iterator[Worker]:
        """Lend a worker that has entered the database, and leaves it at the end.

        With `patient`, it waits from then on for a database that goes away; a single pass ends.
        """
        with self._transactions.read() as connection:
            identity.verify(connection)
            pools = servable(connection, self._app.pools, self._app.settings.agent_pools)
        with (
            self._app.handler_calls.guarding(self._state_directory),
            carrying(self._app, runner) as carried,
            self._entered(carried, pools, leading, own_duties, patient=patient) as worker,
        ):
            yield worker

    @contextmanager
    def _entered(
        self,
        carried: Carrying,
        pools: frozenset[str],
        leading: Leading | None,
        own_duties: Sequence[Duty],
        *,
        patient: bool,
    ) -> Iterator[Worker]:
        name, host = self._ids.controller_id(), self._ids.host()
        membership = Membership(
            transactions=self._transactions,
            clock=self._clock,
            listener=self._listener,
            name=name,
            host=host,
            process=self._ids.process(),
            slots=self._app.slots,
            version=__version__,
            rhythm=self._app.rhythm,
            scheduler_zone=self._settings.business_time_zone if self._settings.scheduler.enabled else None,
            left_out=" ".join(self._app.worked_without.values()) or None,
            plugins=self._app.registry.plugins(),
            pools=pools,
            agents=carried.pools,
        )
        runner = carried.runner
        serves = ServedPools(self._app.pools, host, carried.pools)
        recorder = Recorder(carried.preparer, name, host, membership.plugins, serves)
        controller = Controller(
            transactions=self._transactions,
            clock=self._clock,
            runner=runner,
            recorder=recorder,
            listener=self._listener,
            slots=self._app.slots,
            is_trusted=membership.is_trusted,
        )
        noted = None if patient else SightingsFile(self._state_directory)
        rescue = Rescue(self._transactions, self._clock, runner, recorder, self._listener, self._app.rhythm, noted)
        worker = Worker(controller, membership, rescue, runner, self._clock, self._listener, leading, own_duties)
        self._controller = controller
        worker.begin(patient=patient)
        if self._stop_by is not None:
            controller.request_stop()
        try:
            with _spared_by_collections():
                yield worker
        finally:
            worker.end()

    def _look_closely(self) -> None:
        if self._controller is not None:
            self._controller.look_closely()

    def _duties(
        self, means: LeadersMeans, runner: ThreadStepRunner, folders: ThreadFolders, alerting: Alerting
    ) -> tuple[Duty, ...]:
        """Return what the leader does besides creating instances."""
        carry_out = Proxy(self._clock, self._app.preparer, self._app.settings.zone).carry_out
        answering = Answering(*means, carry_out, self._ids.controller_id(), self._look_closely, alerting.review)
        watch = DependencyWatch(*means, self._app.poll_interval)
        inquiries = self._app.inquiries(runner.wake)
        transactions, clock, listener = means
        triggering = Triggering(
            transactions, clock, inquiries, self._app.count_pending, listener, self._app.poll_interval
        )
        watching = WatchMeans(transactions, clock, folders, listener, self._app.poll_interval)
        zones = ZoneKeeping(*means, self._settings.business_time_zone)
        by_itself = Operator(
            transactions=transactions,
            clock=clock,
            preparer=self._app.preparer,
            user=BY_ITSELF,
            host=self._ids.host(),
        )
        times = AnswerTimes(*means, by_itself.end_unanswered, self._look_closely)
        return answering, times, watch, triggering, FileWatching(watching, self._settings.directory), zones

    def _scheduling(self, runner: ThreadStepRunner, creator: Creator) -> tuple[Duty, ...]:
        """Return the duties of every node whose scheduler is enabled, leader or not."""
        if not self._settings.scheduler.enabled:
            return ()
        grace = timedelta(seconds=self._settings.scheduler.grace)
        deciding = Deciding(self._clock, creator, lambda batch: self._harmless(batch) is not None, grace, zone_rules())
        means = self._transactions, self._clock, deciding, self._listener, self._settings.poll_interval
        zone = self._settings.business_time_zone
        return Firing(*means, zone, runner.wake), Backfilling(*means, zone, runner.wake)

    def _alerting(self, wake: Callable[[], None] = lambda: None, *, works: bool = True) -> Alerting:
        """Return the alerting; with `works` false it does not count this program as a working controller."""
        rules, name = self._app.alert_rules(), self._ids.controller_id()
        means = self._transactions, self._clock, self._listener
        watch = IncidentWatch(*means, rules, IncidentSearch(self._clock, rules, name if works else None))
        outbox = Outbox(
            transactions=self._transactions,
            clock=self._clock,
            inquiries=self._app.notifications(wake),
            send=self._app.send_alert,
            channels=[*self._settings.alerts.channels],
            origin=self._app.database_id,
            controller=name,
            listener=self._listener,
        )
        return Alerting(self._clock, watch, outbox)

    def _night_mailings(self, means: LeadersMeans, wake: Callable[[], None]) -> tuple[NightMailing, ...]:
        """Return what sends the report of the night, where the settings say when."""
        given = self._settings.report
        if given.night is None:
            return ()
        leaders, clock, listener = means
        mailing = NightMailing(
            transactions=self._transactions,
            leaders=leaders,
            clock=clock,
            inquiries=self._app.night_mails(wake),
            send=self._app.send_night,
            times=NightTimes(due=given.night, since=given.since, zone=self._settings.business_time_zone),
            channels=[*dict.fromkeys(given.channels)],
            actor=self._ids.user(),
            host=self._ids.host(),
            controller=self._ids.controller_id(),
            listener=listener,
        )
        return (mailing,)

    def _upkeep(self, means: LeadersMeans) -> tuple[Duty, ...]:
        """Return what the leader does to keep the tables in order."""
        return Retention(*means, actor=self._ids.user(), host=self._ids.host()), Sealing(*means)

    def _forecasts(self, transactions: Transactions, wake: Callable[[], None]) -> ForecastKeeping:
        rules = self._app.alert_rules()
        return ForecastKeeping(
            transactions=transactions,
            clock=self._clock,
            make=Foretelling(self._app.timetable(), self._app.presence).pieces,
            interval=rules.forecast_interval,
            hours=rules.forecast_hours,
            wall_clock=clock_of(rules.zone),
            wake=wake,
        )

    def _creator(
        self, populators: ProcessPopulatorRunner, transactions: Transactions | None = None, *, gives_up: bool = True
    ) -> Creator:
        """Return what creates instances; a starting controller asks once more about rows that others gave up."""
        transactions = transactions or self._transactions
        means = transactions, self._clock, populators, self._settings.zone, self._listener
        return Creator(*means, gives_up=gives_up, plugins=self._app.registry.plugins())

    def _keep_jobs(self) -> None:
        """Write the rows of jobs; an error in that keeps this controller from nothing else."""
        try:
            self._app.reconciler().reconcile()
        except Exception as error:  # noqa: BLE001 - constraints and triggers of others refuse with whatever they please
            said = error.in_full if isinstance(error, BatchctlError) else in_short(error)
            message = f"{said} The rows of jobs stay as they are until: batchctl job reconcile"
            self._listener(Event("job.trouble", {"Message": message}))

    def _populators(self, wake: Callable[[], None] = lambda: None) -> closing[ProcessPopulatorRunner]:
        """Lend what asks populators."""
        runner = ProcessPopulatorRunner(
            plugin_processes(self._app, self._ids.controller_id()),
            time_limit=timedelta(seconds=self._settings.populate_timeout),
            own_limits={PatternPopulator.name: EXPRESSION_TIMEOUT},
            harmless=self._harmless,
            target=partial(target_of, self._settings),
            wake=wake,
        )
        return closing(runner)

    def _harmless(self, batch: BatchDefinition) -> Populator | None:
        """Return a batch's populator if it only takes a file name apart; a regular expression may take for ever."""
        if batch.populator != PatternPopulator.name or batch.populator_args:
            return None
        with suppress(PluginError):  # Another package may offer a populator of that name: the child process reports it.
            return self._app.registry.populator(batch.populator)
        return None

    @contextmanager
    def _runner(self, *, outliving: bool = True) -> Iterator[ThreadStepRunner]:
        """Lend the runner of executions; those that are `outliving` are remembered on this host for the next worker."""
        state = self._state_directory if outliving else None
        runner = runner_of(self._app, self._ids.controller_id(), state, slots=self._app.slots)
        try:
            yield runner
        finally:
            # However this controller ends, what can go on without it does.
            runner.close(leave=True)

    @property
    def _state_directory(self) -> Path:
        # Executions are remembered by number, and every database counts from one.
        return self._settings.directory / self._settings.state_directory / self._app.database_id

    def _announce(self, name: str) -> None:
        self._listener(Event(name, {"ClaimedBy": self._ids.controller_id()}))


@contextmanager
def _spared_by_collections() -> Iterator[None]:
    """Let no garbage collection look through what existed before the work began: it stays as long as the work lasts."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()

"""The composition root: settings become a working engine. The only module that names every layer."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date, timedelta
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batchctl import __version__, config
from batchctl.control.backfilling import Backfilling
from batchctl.control.controller import Controller
from batchctl.control.creation import CreationReport, Creator
from batchctl.control.deciding import Deciding
from batchctl.control.dependency_watch import DependencyWatch
from batchctl.control.file_watching import FileWatching, Means
from batchctl.control.firing import Firing
from batchctl.control.membership import Membership
from batchctl.control.purge import Purge
from batchctl.control.recording import Recorder
from batchctl.control.rescue import Rescue
from batchctl.control.retention import Retention
from batchctl.control.tally import PassReport
from batchctl.control.triggering import Triggering
from batchctl.control.worker import Duty, Leading, Worker
from batchctl.domain.errors import BatchctlError, ConfigurationError, PluginError, SchemaMismatch, StepRefused
from batchctl.domain.liveness import Rhythm
from batchctl.domain.outcomes import Connection, JobSignature, JsonValue, Rendered, StepOutcome, Surroundings
from batchctl.domain.rows import BatchDefinition, DataTrigger, HistoryId, IntakeId
from batchctl.domain.text import visible
from batchctl.domain.triggers import Counted
from batchctl.logs import Event, Listener, silent
from batchctl.plugin_api import Populator
from batchctl.populators.pattern import PatternPopulator
from batchctl.ports import Boundary, Files, Finished, Ids, LeaderLock
from batchctl.preparation import Preparer
from batchctl.registry import Registry
from batchctl.store import engine, identity, schema
from batchctl.store.dialects import dialect_of
from batchctl.store.leader_lock import SessionLeaderLock
from batchctl.store.transactions import StoreTransactions
from batchctl.system.clock import SystemClock
from batchctl.system.controllers import is_gone
from batchctl.system.files import SystemFiles
from batchctl.system.folders import ThreadFolders
from batchctl.system.ids import SystemIds
from batchctl.system.inquiries import ThreadInquiries
from batchctl.system.jobs import signature_of
from batchctl.system.lock import FileLeaderLock
from batchctl.system.plugin_process import PluginProcess
from batchctl.system.populating import ProcessPopulatorRunner
from batchctl.system.runner import ThreadStepRunner
from batchctl.system.sightings import SightingsFile
from batchctl.system.zone_rules import zone_rules

if TYPE_CHECKING:
    from batchctl.operations import checking, doctor, planning, watches
    from batchctl.operations.presence import Presence
    from batchctl.operations.reconciler import Reconciler
    from batchctl.operations.roster import Roster
    from batchctl.operations.schedule_trial import ScheduleBench
    from batchctl.operations.timetable import Timetable
    from batchctl.operations.trial import Bench

IDLE_WAIT = timedelta(milliseconds=100)
CONNECT_SECONDS = 10
"""After how many an attempt to connect to a staging table's database is given up."""


class App:
    """One start of batchctl on one control database. What is not needed is not made."""

    def __init__(self, settings: config.Settings, listener: Listener = silent) -> None:
        """Keep the settings; the database is opened at first use."""
        self.settings = settings
        self.listener = listener
        self.slots = settings.slots
        """How many steps may be under way at once."""
        self.clock = SystemClock()
        self.ids: Ids = SystemIds()
        self._stop_by: float | None = None
        self._stop_told = False
        self._controller: Controller | None = None

    @cached_property
    def transactions(self) -> StoreTransactions:
        """The way to the control database."""
        opened = engine.open_engine(partial(config.database_url, self.settings), self.settings.directory)
        return StoreTransactions(opened, self.clock.reading)

    @cached_property
    def registry(self) -> Registry:
        """The plugins."""
        return Registry.load(self.settings.modules, self._plugin_path)

    @cached_property
    def surroundings(self) -> Surroundings:
        """What the configuration offers to steps."""
        return Surroundings(
            connections=connections_of(self.settings),
            jobs=self._jobs(),
            secrets={name: secret.source for name, secret in self.settings.secrets.items()},
            secret_is_set=self._secret_is_set,
            directory=str(self.settings.directory),
            read_text=partial(read_below, self.settings.directory),
            batchctl_command=command_of(self.settings),
            unloaded={one.message: one.next_step or "" for one in self.registry.module_problems().values()},
        )

    @cached_property
    def preparer(self) -> Preparer:
        """Makes steps ready to run."""
        handlers = cache(self.registry.handler)
        return Preparer(handlers, self.surroundings, self.ids.user(), self.ids.host(), self._database_id)

    @cached_property
    def _database_id(self) -> str:
        with self.transactions.read() as connection:
            return identity.database_id(connection)

    @property
    def _state_directory(self) -> Path:
        # Executions are remembered by number, and every database counts from one.
        return self.settings.directory / self.settings.state_directory / self._database_id

    @cached_property
    def rhythm(self) -> Rhythm:
        """How often controllers give a sign of life, and how long they wait for one of another."""
        return Rhythm(
            heartbeat_interval=timedelta(seconds=self.settings.heartbeat_interval),
            orphan_timeout=timedelta(seconds=self.settings.orphan_timeout),
            stop_grace=timedelta(seconds=self.settings.stop_grace),
        )

    @cached_property
    def presence(self) -> Presence:
        """Looks which controllers work on the database."""
        from batchctl.operations.presence import Presence  # noqa: PLC0415 - the engine does without

        return Presence(self.rhythm, is_gone)

    @cached_property
    def leader_lock(self) -> LeaderLock:
        """Says which controller leads."""
        directory = self.settings.directory
        path = engine.lock_path(self.settings.database_url, directory)
        if path is None:
            return SessionLeaderLock(engine.open_engine(partial(config.database_url, self.settings), directory))
        return FileLeaderLock(str(path))

    def create(self) -> CreationReport:
        """Run one creation pass."""
        with self._populators() as populators:
            return self._creator(populators).create_instances()

    def plan_creations(self, most: int) -> tuple[planning.Creation, ...]:
        """Return what a creation pass would begin with; the populators are asked."""
        from batchctl.operations import planning  # noqa: PLC0415 - only a dry run needs it

        with self._populators() as populators:
            return planning.creations(self.transactions, populators, most)

    def check(self) -> tuple[checking.Finding, ...]:
        """Return everything that is wrong with the definitions."""
        from batchctl.operations import checking  # noqa: PLC0415 - the engine does without

        with self._folders() as folders:
            return checking.check(
                self.transactions, self.registry, self.surroundings, folders, self.timetable(), self.registry
            )

    def rehearse_watch(self, name: str, most: int) -> watches.Rehearsal:
        """Walk once through the folder of a watch, and submit nothing."""
        from batchctl.operations import watches  # noqa: PLC0415 - as above

        with self._folders() as folders:
            return watches.rehearse(self.transactions, folders, self.settings.directory, name, most)

    def accept(self, intake_id: IntakeId, reason: str) -> CreationReport:
        """Take in a rejected or duplicate row on purpose."""
        with self._populators() as populators:
            creator = self._creator(populators)
            return creator.accept(intake_id, actor=self.ids.user(), host=self.ids.host(), reason=reason)

    def purge(self, reason: str) -> Purge:
        """Delete at once all that is old enough; return what has gone, and what could not."""
        from batchctl.operations.intervene import checked_reason  # noqa: PLC0415 - the engine does without

        checked_reason(reason)
        user, host = self.ids.user(), self.ids.host()
        made = Purge(transactions=self.transactions, clock=self.clock, actor=user, host=host, patient=True)
        made.everything(reason)
        return made

    def process(self) -> PassReport:
        """Run one processing pass: every enabled batch, until nothing more may start now."""
        self._keep_jobs()
        with self._runner() as runner, self._worker(runner) as worker:
            return self._work_off(worker)

    def run(self, *, once: bool = False, until_idle: timedelta | None = None) -> PassReport:
        """Create and process, again and again; `once` for one round, `until_idle` until nothing was to do for so long."""
        self._keep_jobs()
        with self._runner() as runner, self._populators() as populators, self._folders(runner.wake) as folders:
            creator = self._creator(populators)
            duties, own_duties = self._duties(runner, folders), self._scheduling(runner, creator)
            leading = Leading(self.leader_lock, creator, self._poll_interval, duties, [self._retention()])
            with self._worker(runner, leading, own_duties, patient=not once) as worker:
                self._announce("controller.started")
                done = self._one_round(worker) if once else self._work_on(worker, until_idle)
                self._announce("controller.stopped")
                return done

    def stop(self) -> None:
        """Start nothing more and end once the running steps have ended or their time is up; asked again, end at once.

        Steps that can go on alone then do so, and whichever controller comes next takes them over; the others are stopped.

        May be called from a signal handler.
        """
        grace = 0.0 if self._stop_by is not None else self.settings.shutdown_grace
        self._stop_by = self.clock.monotonic() + grace
        if self._controller is not None:
            self._controller.request_stop()

    def close(self) -> None:
        """Close the database."""
        if "transactions" in self.__dict__:
            self.transactions.close()

    def run_job(self, name: str, arguments: Mapping[str, JsonValue]) -> StepOutcome:
        """Call a registered job as a step would, without a step."""
        spec: dict[str, JsonValue] = {"job": name, "arguments": dict(arguments)}
        with self._runner(outliving=False) as runner:
            runner.start(HistoryId(0), self.registry.handler("python"), Rendered("", spec))
            while True:
                for report in runner.collect(IDLE_WAIT):
                    if isinstance(report, Finished):
                        return report.outcome

    def _one_round(self, worker: Worker) -> PassReport:
        """Start work, process it, and then keep the tables in order, whatever has become of the rest."""
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
            if controller.trouble is not None and not controller.is_working:
                raise controller.trouble
        return controller.tally.report()

    def _work_on(self, worker: Worker, until_idle: timedelta | None) -> PassReport:
        """Turn until told to stop, or until nothing was to do for long enough."""
        controller = worker.controller
        idle_since = self.clock.monotonic()
        while self._stop_by is None or controller.is_working:
            self._turn(worker)
            now = self.clock.monotonic()
            # Looking again is no work yet: whether there is any, the next turn finds out.
            if not worker.is_idle:
                idle_since = now
            elif until_idle is not None and now - idle_since >= until_idle.total_seconds():
                break
        return controller.tally.report()

    def _turn(self, worker: Worker) -> None:
        controller = worker.controller
        worker.turn(IDLE_WAIT)
        if self._stop_by is not None and not self._stop_told:
            self._stop_told = True
            self._announce("controller.stopping")
        if self._stop_by is not None and self.clock.monotonic() >= self._stop_by:
            controller.leave_steps()
            if controller.obstacle is not None and not controller.is_flying:
                # What could not be recorded is lost with this process; another controller says so.
                raise controller.obstacle

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

        One that is `patient` waits from then on for a database that goes away; a single pass ends.
        """
        with self.transactions.read() as connection:
            identity.verify(connection)
        name, host = self.ids.controller_id(), self.ids.host()
        membership = Membership(
            transactions=self.transactions,
            clock=self.clock,
            listener=self.listener,
            name=name,
            host=host,
            process=self.ids.process(),
            slots=self.slots,
            version=__version__,
            rhythm=self.rhythm,
            scheduler_zone=self.settings.business_time_zone if self.settings.scheduler.enabled else None,
        )
        recorder = Recorder(self.preparer, name, host)
        controller = Controller(
            transactions=self.transactions,
            clock=self.clock,
            runner=runner,
            recorder=recorder,
            listener=self.listener,
            slots=self.slots,
            is_trusted=membership.is_trusted,
        )
        noted = None if patient else SightingsFile(self._state_directory)
        rescue = Rescue(self.transactions, self.clock, runner, recorder, self.listener, self.rhythm, noted)
        worker = Worker(controller, membership, rescue, runner, self.clock, self.listener, leading, own_duties)
        self._controller = controller
        worker.begin(patient=patient)
        if self._stop_by is not None:
            controller.request_stop()
        try:
            with _spared_by_collections():
                yield worker
        finally:
            worker.end()

    def _duties(self, runner: ThreadStepRunner, folders: ThreadFolders) -> tuple[Duty, ...]:
        """Return what the leader does besides creating instances."""
        watch = DependencyWatch(self.transactions, self.clock, self.listener, self._poll_interval)
        return watch, self._triggering(runner), self._file_watching(folders)

    def _scheduling(self, runner: ThreadStepRunner, creator: Creator) -> tuple[Duty, ...]:
        """Return what every node does whose scheduler is enabled, whoever leads."""
        if not self.settings.scheduler.enabled:
            return ()
        grace = timedelta(seconds=self.settings.scheduler.grace)
        deciding = Deciding(self.clock, creator, lambda batch: self._harmless(batch) is not None, grace, zone_rules())
        means = self.transactions, self.clock, deciding, self.listener, self.settings.poll_interval
        zone = self.settings.business_time_zone
        return Firing(*means, zone, runner.wake), Backfilling(*means, zone, runner.wake)

    def _retention(self) -> Retention:
        return Retention(self.transactions, self.clock, self.listener, actor=self.ids.user(), host=self.ids.host())

    @property
    def _poll_interval(self) -> timedelta:
        return timedelta(seconds=self.settings.poll_interval)

    def _creator(self, populators: ProcessPopulatorRunner) -> Creator:
        return Creator(self.transactions, self.clock, populators, self.settings.zone, self.listener)

    def _triggering(self, runner: ThreadStepRunner) -> Triggering:
        inquiries = ThreadInquiries(self._trigger_limit, runner.wake)
        return Triggering(
            self.transactions, self.clock, inquiries, self.count_pending, self.listener, self._poll_interval
        )

    def count_pending(self, trigger: DataTrigger, ago: timedelta | None) -> Counted:
        """Count what waits in a trigger's staging table; any thread may call this."""
        from batchctl.store.staging import StagingTables  # noqa: PLC0415 - who has no trigger does without

        limit = timedelta(seconds=self.settings.trigger_timeout)
        tables = StagingTables(partial(config.connection_url, self.settings), self.settings.directory, limit)
        return tables.count(trigger, ago)

    def trigger_bench(self) -> Bench:
        """Return what tries a trigger out."""
        from batchctl.operations.trial import Bench  # noqa: PLC0415 - the engine does without

        return Bench(
            transactions=self.transactions,
            clock=self.clock,
            inquiries=ThreadInquiries(self._trigger_limit),
            count=self.count_pending,
            poll_interval=self._poll_interval,
        )

    def schedule_bench(self) -> ScheduleBench:
        """Return what tries a schedule out."""
        from batchctl.operations.schedule_trial import ScheduleBench  # noqa: PLC0415 - as above

        return ScheduleBench(
            table=self.timetable(),
            grace=timedelta(seconds=self.settings.scheduler.grace),
            fires_here=self.settings.scheduler.enabled,
        )

    def timetable(self) -> Timetable:
        """Return what looks at schedules."""
        from batchctl.operations.timetable import Timetable  # noqa: PLC0415 - as above

        return Timetable(transactions=self.transactions, clock=self.clock, zone=self.settings.business_time_zone)

    @property
    def _trigger_limit(self) -> timedelta:
        # To connect takes its time too.
        return timedelta(seconds=self.settings.trigger_timeout + CONNECT_SECONDS)

    def reconciler(self) -> Reconciler:
        """Return what writes the rows of jobs as their code says."""
        from batchctl.operations.reconciler import Reconciler  # noqa: PLC0415 - most commands do without

        return Reconciler(
            transactions=self.transactions,
            clock=self.clock,
            plugins=self.registry,
            host=self.ids.host(),
            listener=self.listener,
            default_zone=self.settings.business_time_zone,
        )

    def roster(self) -> Roster:
        """Return what looks at jobs."""
        from batchctl.operations.roster import Roster  # noqa: PLC0415 - as above

        return Roster(
            transactions=self.transactions,
            clock=self.clock,
            plugins=self.registry,
            default_zone=self.settings.business_time_zone,
        )

    def _keep_jobs(self) -> None:
        """Write the rows of jobs; whatever keeps this controller from that, it does everything else."""
        try:
            self.reconciler().reconcile()
        except Exception as error:  # noqa: BLE001 - constraints and triggers of others refuse with whatever they please
            said = error.in_full if isinstance(error, BatchctlError) else f"{type(error).__name__}: {error}"
            message = f"{said} The rows of jobs stay as they are until: batchctl job reconcile"
            self.listener(Event("job.trouble", {"Message": message}))

    def _jobs(self) -> dict[str, JobSignature]:
        """Return the jobs by name, with how each may be called; a broken one fails only when it is used."""
        jobs: dict[str, JobSignature] = {}
        for name in self.registry.job_names:
            jobs[name] = JobSignature()
            with suppress(PluginError):
                jobs[name] = signature_of(self.registry.job(name))
        return jobs

    def _secret_is_set(self, name: str) -> bool:
        try:
            self._secret(name)
        except ConfigurationError:
            return False
        return True

    def _secret(self, name: str) -> str:
        return config.secret(self.settings, name)

    @contextmanager
    def _populators(self) -> Iterator[ProcessPopulatorRunner]:
        limit = timedelta(seconds=self.settings.populate_timeout)
        runner = ProcessPopulatorRunner(self._plugin_process, time_limit=limit, harmless=self._harmless)
        try:
            yield runner
        finally:
            runner.close()

    def _harmless(self, batch: BatchDefinition) -> Populator | None:
        """Return a batch's populator if it only takes a file name apart; a regular expression may take for ever."""
        if batch.populator != PatternPopulator.name or batch.populator_args:
            return None
        with suppress(PluginError):  # Somebody else may offer one of that name: the child process says so.
            return self.registry.populator(batch.populator)
        return None

    @contextmanager
    def _folders(self, wake: Callable[[], None] = lambda: None) -> Iterator[ThreadFolders]:
        folders = ThreadFolders(wake)
        try:
            yield folders
        finally:
            folders.close()

    def _file_watching(self, folders: ThreadFolders) -> FileWatching:
        means = Means(self.transactions, self.clock, folders, self.listener, self._poll_interval)
        return FileWatching(means, self.settings.directory)

    @contextmanager
    def _runner(self, *, outliving: bool = True) -> Iterator[ThreadStepRunner]:
        """Carry executions; those that are `outliving` are remembered on this host for the next worker."""
        runner = ThreadStepRunner(
            controller_id=self.ids.controller_id(),
            plugin_process=self._plugin_process,
            jobs=self.registry.jobs,
            connections=connections_of(self.settings),
            secrets=self._secret,
            slots=self.slots,
            clock=self.clock,
            stop_grace=timedelta(seconds=self.settings.stop_grace),
            output_cap=self.settings.output_limit,
            state_directory=self._state_directory if outliving else None,
        )
        try:
            yield runner
        finally:
            # Whatever ends this controller, what can go on without it does.
            runner.close(leave=True)

    def _plugin_process(self) -> PluginProcess:
        return PluginProcess(
            controller_id=self.ids.controller_id(),
            plugin_modules=self.settings.modules,
            sys_path=self._plugin_path,
            cap=self.settings.output_limit,
        )

    @property
    def _plugin_path(self) -> list[str]:
        return [str(self.settings.directory)]

    def _announce(self, name: str) -> None:
        self.listener(Event(name, {"ClaimedBy": self.ids.controller_id()}))


def open_app(config_file: str | None) -> App:
    """Read the settings and open the control database, refusing one this version cannot work with."""
    app = App(config.load(config_file))
    with app.transactions.read() as connection:
        schema.verify(connection)
    return app


def examine(config_file: str | None) -> tuple[doctor.Line, ...]:
    """Look whether the control database, the connections and this host are sound; nothing of it need be."""
    app = App(config.load(config_file))
    from batchctl.operations import doctor  # noqa: PLC0415 - no other command needs it, and it imports much

    return doctor.Doctor(app.settings, SystemClock().now, app.presence).examine()


def upgrade_database(
    config_file: str | None, beside: Callable[[Sequence[str]], None] | None = None
) -> tuple[str | None, str]:
    """Create the control database or bring it up to date; return its schema's revision before and after.

    Whose tables are there already, `beside` hears before any is made.
    """
    from batchctl.store import examination  # noqa: PLC0415 - few commands need it

    app = App(config.load(config_file))
    url = partial(config.database_url, app.settings)
    transactions = StoreTransactions(engine.open_engine(url, app.settings.directory, may_create=True))
    try:
        with transactions.read() as connection:
            dialect_of(connection).lock_schema(connection)
            schema.check_upgradable(connection)
            if beside is not None:
                beside(schema.tables_of_others(connection))
            if schema.revision_of(connection) != schema.newest_revision():
                examination.check_may_make_tables(connection)
                _check_nobody_works(app, connection)
            dialect_of(connection).prepare(connection)
        before = transactions.run(frozenset({Boundary.MIGRATION}), _upgrade)
        return before, schema.newest_revision()
    finally:
        transactions.close()


def check_may_upgrade(config_file: str | None) -> Sequence[str]:
    """Refuse a control database that may not be upgraded now: a controller works on it. Return the tables of others."""
    app = App(config.load(config_file))
    try:
        with app.transactions.read() as connection:
            _check_nobody_works(app, connection)
            return schema.tables_of_others(connection)
    finally:
        app.close()


def _check_nobody_works(app: App, connection: Any) -> None:
    from batchctl.operations import presence  # noqa: PLC0415 - the engine does without
    from batchctl.store import examination  # noqa: PLC0415 - few commands need it

    if schema.revision_of(connection) is not None:
        now = examination.now(connection) or app.clock.now()
        presence.check_nobody_works(connection, app.presence, app.leader_lock, now)


def _upgrade(connection: Any) -> str | None:
    # What was found before the transaction began, somebody else may have upgraded meanwhile.
    before = schema.revision_of(connection)
    schema.upgrade(connection)
    return before


def verify_database(config_file: str | None) -> str:
    """Compare the database's schema with this version's; return its revision, raise `SchemaMismatch` if they differ."""
    app = open_app(config_file)
    try:
        with app.transactions.read() as connection:
            found = schema.differences(connection)
            if found:
                message = f"The control database is not as batchctl made it: {'; '.join(found)}."
                raise SchemaMismatch(
                    message, next_step="compare with: batchctl db script; then restore what was changed by hand"
                )
            identity.verify(connection)
    finally:
        app.close()
    return schema.newest_revision()


def schema_script(dialect: str) -> str:
    """Return the SQL that builds the schema, for a DBA."""
    return schema.script(dialect)


def connections_of(settings: config.Settings) -> dict[str, Connection]:
    """Return the target databases the configuration names."""
    return {
        name: Connection(name, absolute_url(given.url, settings.directory), given.procedures)
        for name, given in settings.connections.items()
    }


def holidays_of(
    country: str | None, subdivision: str | None, market: str | None, years: range
) -> tuple[Mapping[date, str], str]:
    """Return the holidays of a country, a part of it or a market, and what to call the list."""
    from batchctl.system import holiday_lists  # noqa: PLC0415 - only an import needs it

    if country is None:
        return holiday_lists.of_market(market or "", years), f"closed days of {market}"
    where = country if subdivision is None else f"{country}, {subdivision}"
    return holiday_lists.of_country(country, subdivision, years), f"public holidays of {where}"


def absolute_url(url: str, directory: Path) -> str:
    """Let the file of a SQLite URL begin where the configuration lies."""
    prefix, relative = "sqlite:///", url.removeprefix("sqlite:///")
    if not url.startswith(prefix) or not relative or Path(relative).is_absolute():
        return url
    return f"{prefix}{directory / relative}"


def command_of(settings: config.Settings) -> tuple[str, ...]:
    """Return how this batchctl, with this configuration, is called from a shell."""
    command = (sys.executable, "-m", "batchctl")
    return command if settings.file is None else (*command, "--config", str(settings.file))


@contextmanager
def _spared_by_collections() -> Iterator[None]:
    """Let no garbage collection look through what was there before the work began: it stays as long as the work lasts."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def read_below(directory: Path, name: str) -> str:
    """Read a text file below a directory; anything outside is refused."""
    path = (directory / name).resolve()
    if not path.is_relative_to(directory.resolve()):
        message = f"'{visible(name)}' lies outside the directory of the configuration."
        raise StepRefused(message)
    files: Files = SystemFiles()
    try:
        return files.read_text(str(path))
    except (OSError, UnicodeDecodeError) as error:
        message = f"'{visible(name)}' cannot be read: {error}."
        raise StepRefused(message) from None

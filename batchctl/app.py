"""The composition root: settings become a working engine. The only module that names every layer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import date, timedelta
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from batchctl import config
from batchctl.domain.errors import BatchctlError
from batchctl.domain.liveness import Rhythm
from batchctl.domain.operators import pools
from batchctl.logs import Event, LineFormat, Listener, line, silent, to_all
from batchctl.ports import Ids
from batchctl.store import database_roles, engine, identity
from batchctl.store.maintenance import schema
from batchctl.store.transactions import StoreTransactions
from batchctl.system.clock import SystemClock
from batchctl.system.ids import SystemIds

if TYPE_CHECKING:
    from batchctl.domain.alerting.alert_text import Notification
    from batchctl.domain.alerting.alerts import AlertRules
    from batchctl.domain.alerting.night_summary import NightSpan
    from batchctl.domain.intake.triggers import Counted
    from batchctl.domain.outcomes import HealthFinding, RowFinding, StepContext
    from batchctl.domain.rows import BatchDefinition, DataTrigger, IntakeRow, Populated
    from batchctl.operations.definitions.reconciler import Reconciler
    from batchctl.operations.intake.inbox import InboxReader
    from batchctl.operations.intake.trial import Bench
    from batchctl.operations.intervene import Operator
    from batchctl.operations.maintenance.service_files import Service
    from batchctl.operations.operators.acts import Actor
    from batchctl.operations.presence import Presence
    from batchctl.operations.scheduling.schedule_trial import ScheduleBench
    from batchctl.operations.scheduling.timetable import Timetable
    from batchctl.preparation import Preparer
    from batchctl.registry import Registry
    from batchctl.system.folders import ThreadFolders
    from batchctl.system.plugins.handler_calls import HandlerCalls
    from batchctl.system.plugins.inquiries import ThreadInquiries
    from batchctl.system.service_manager import ServiceManager

MEGABYTE = 1_000_000
CONNECT_SECONDS = 10
"""Seconds after which an attempt to connect to a staging table's database is given up."""
READING = 60
"""How many seconds it may take at most to read the report of a night."""
MARGIN = 5
"""Seconds after its own time limit within which a channel for alerts has to have ended."""


class Acting(TypedDict):
    """What everything that acts for a person is made with: where, by which clock, for whom, and whether really."""

    transactions: StoreTransactions
    clock: SystemClock
    user: str
    host: str
    dry_run: bool


class App:
    """One start of batchctl on one control database. What is not needed is not made."""

    def __init__(self, settings: config.Settings, listener: Listener = silent) -> None:
        """Keep the settings; the database is opened at first use."""
        self.settings = settings
        self.listener = listener
        self.slots = settings.slots
        """How many steps may be under way at once."""
        self.pools = pools.served_by(settings.served_pools) | settings.agent_pools.keys()
        self.clock = SystemClock()
        self.ids: Ids = SystemIds()
        self.person: str | None = None
        """Who acts through the console; None where the user of this process does."""
        self.only_tag: str | None = None
        """Acts are for batches with this tag only."""

    @cached_property
    def transactions(self) -> StoreTransactions:
        """The way to the control database."""
        config.refuse_wrong_folder(self.settings)
        opened = engine.open_engine(partial(config.database_url, self.settings), self.settings.directory)
        return StoreTransactions(opened, self.clock.reading)

    @cached_property
    def registry(self) -> Registry:
        """The plugins."""
        from batchctl.registry import Registry

        return Registry(self.settings.modules, self.plugin_path, lambda: self.left_out)

    @cached_property
    def modules(self) -> Mapping[str, str | None]:
        """The plugin modules that there are, each with the package that it comes from if it is installed."""
        from batchctl.registry import installed_modules

        return dict.fromkeys(self.settings.modules) | installed_modules()

    @property
    def worked_without(self) -> Mapping[str, str]:
        """The messages about the plugin modules that cannot be imported, and about those that are left out."""
        broken = {name: finding.message for name, finding in self.registry.failed_modules().items()}
        return {**broken, **self.left_out}

    @cached_property
    def left_out(self) -> Mapping[str, str]:
        """The messages about plugin modules that would end or hang the program that imports them; each is tried once.

        Those of others' packages are tried as well as those that the settings list.
        """
        if not self.modules:
            return {}
        from batchctl.system.commands import environment
        from batchctl.system.plugins import module_trial

        limit = min(module_trial.LIMIT, timedelta(seconds=self.settings.populate_timeout))
        found = module_trial.left_out(
            [*self.modules],
            self.plugin_path,
            controller_id=self.ids.controller_id(),
            # What a module finds here it also finds where it is used.
            environment=environment.of_steps(self.settings),
            limit=limit,
        )
        return {
            module: module_trial.message_of(module, reason, self.modules[module]) for module, reason in found.items()
        }

    @cached_property
    def context(self) -> StepContext:
        """What the configuration offers to steps."""
        from batchctl.step_context import context_of

        return context_of(self.settings, self.registry)

    @cached_property
    def preparer(self) -> Preparer:
        """Makes steps ready to run."""
        from batchctl.preparation import Preparer

        handlers = cache(self.registry.handler)
        where = self.ids.user(), self.ids.host(), self.database_id
        return Preparer(handlers, self.context, *where, self.handler_calls.ask)

    @cached_property
    def handler_calls(self) -> HandlerCalls:
        """Asks step handlers that come from plugins, none of them for long."""
        from batchctl.system.plugins import handler_calls

        # While one handler answers, there must be time left for signs of life.
        most = min(handler_calls.LIMIT, self.rhythm.lease / 4)
        limit = min(most, timedelta(seconds=self.settings.populate_timeout))
        return handler_calls.HandlerCalls(limit)

    @cached_property
    def database_id(self) -> str:
        """What tells the control database from all others."""
        with self.transactions.read() as connection:
            return identity.database_id(connection)

    @cached_property
    def may_change_work(self) -> bool:
        """Whether the login may change work itself; one that may not asks for it by rows."""
        with self.transactions.read() as connection:
            return database_roles.may_change_work(connection)

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
        from batchctl.operations.presence import Presence
        from batchctl.system.host.gone_controllers import is_gone

        return Presence(self.rhythm, is_gone)

    def acting(self, *, dry_run: bool) -> Acting:
        """Return what is common to all that acts for the user of this process, or for who acts through the console."""
        user, host = self.ids.user(), self.ids.host()
        return Acting(
            transactions=self.transactions,
            clock=self.clock,
            user=self.person or user,
            host=host if self.person is None else f"web {user}@{host}",
            dry_run=dry_run,
        )

    @contextmanager
    def acting_for(self, person: str | None, only_tag: str | None) -> Iterator[None]:
        """Act for a person whom the console has let in; each of its threads has an App of its own."""
        self.person, self.only_tag = person or self.ids.user(), only_tag
        try:
            yield
        finally:
            self.person = self.only_tag = None

    def actor(self, *, dry_run: bool) -> Actor:
        """Return what acts on definitions for the user of this process."""
        from batchctl.operations.operators.acts import Actor

        return Actor(**self.acting(dry_run=dry_run))

    def operator(self, *, dry_run: bool) -> Operator:
        """Return what acts on instances and batches for the user of this process."""
        from batchctl.operations.intervene import Operator

        return Operator(**self.acting(dry_run=dry_run), preparer=self.preparer)

    def inbox(self) -> InboxReader:
        """Return what reads the rows that did not become work."""
        from batchctl.operations.intake.inbox import InboxReader
        from batchctl.system import glance

        return InboxReader(
            transactions=self.transactions,
            leader=self.leader,
            living=lambda connection: self.presence.living(connection, self.clock.now()),
            glance=glance.missing,
        )

    def leader(self) -> str | None:
        """Name the controller that leads, if any does."""
        from batchctl.store import leading

        with self.transactions.read() as connection:
            return leading.load(connection).leads(self.clock.now())

    def check(self, *, at_length: bool = False) -> tuple[RowFinding, ...]:
        """Return everything that is wrong with the definitions; with `at_length` SQL Server reads every row for it."""
        from batchctl.operations.definitions import checking

        with self.folders() as folders:
            known = (self.transactions, self.registry, self.context)
            others = (folders, self.timetable(), self.registry)
            kinds = self.settings.pool_kinds
            found = checking.check(*known, *others, ask=self.handler_calls.ask, kinds=kinds, at_length=at_length)
        return (*found, *checking.of_settings(self.settings))

    def full_disks(self) -> tuple[HealthFinding, ...]:
        """Return which disks of this host are so full that nothing may be recorded soon."""
        from batchctl.domain.outcomes import Result
        from batchctl.operations.maintenance import installation

        with suppress(OSError):  # What keeps this program from looking, doctor reports.
            found = installation.disks(installation.places_of(self.settings))
            return tuple(reading for reading in found if reading.result is Result.FAIL)
        return ()

    @cached_property
    def service_manager(self) -> ServiceManager:
        """The service manager that started this process, if one did."""
        from batchctl.system.service_manager import ServiceManager

        return ServiceManager()

    def log_line(self, event: Event) -> str:
        """Write an event as a line of the log."""
        return line(LineFormat(self.settings.log.format), self.clock.now(), self.ids.controller_id(), event)

    @contextmanager
    def logging(self, show: Listener) -> Iterator[Listener]:
        """Lend a listener that shows events, writes them to the log file if any, and tells the service manager."""
        path = self.log_file
        if path is None:
            yield to_all(show, self.service_manager.hear)
            return
        from batchctl.system.event_file import EventFile

        def warn(wording: str) -> None:
            show(Event("log.trouble", {"FileName": str(path), "Message": wording}))

        given = self.settings.log
        file = EventFile(path, most_bytes=int(given.rotate_mb * MEGABYTE), kept=given.keep, warn=warn)
        try:
            yield to_all(show, lambda event: file.add(self.log_line(event)), self.service_manager.hear)
        finally:
            file.close()

    @property
    def log_file(self) -> Path | None:
        """Where events are written besides standard error."""
        named = self.settings.log.file
        return None if named is None else self.settings.directory / named

    def another(self) -> App:
        """Return one with the same settings and a connection of its own, for another thread."""
        return App(self.settings, self.listener)

    def verified(self) -> App:
        """Return this one, refusing a database that this version cannot work with."""
        with self._closed_where_refused(), self.transactions.read() as connection:
            schema.verify(connection)
        return self

    def unchanged(self, revision: str) -> App:
        """Return this one, refusing a database that has another schema than when the program began."""
        with self._closed_where_refused():
            self.refuse_changed_database(revision)
        return self

    @contextmanager
    def _closed_where_refused(self) -> Iterator[None]:
        try:
            yield
        except BatchctlError:
            self.close()
            raise

    def refuse_changed_database(self, revision: str) -> None:
        """Refuse to go on with a file that was replaced, or a database that has another schema than when this began."""
        self.transactions.refuse_another_file()
        with self.transactions.read() as connection:
            schema.refuse_upgraded(connection, revision)

    def close(self) -> None:
        """Close the database."""
        if "transactions" in self.__dict__:
            self.transactions.close()

    @property
    def poll_interval(self) -> timedelta:
        """How long to wait before looking again."""
        return timedelta(seconds=self.settings.poll_interval)

    @property
    def grace(self) -> timedelta:
        """How long after it a due time of a schedule is on time."""
        return timedelta(seconds=self.settings.scheduler.grace)

    def count_pending(self, trigger: DataTrigger, ago: timedelta | None) -> Counted:
        """Count what waits in a trigger's staging table; any thread may call this."""
        from batchctl.store.intake.staging import StagingTables

        limit = timedelta(seconds=self.settings.trigger_timeout)
        tables = StagingTables(partial(config.connection_url, self.settings), self.settings.directory, limit)
        return tables.count(trigger, ago)

    def check_of_tasks(self, row: IntakeRow, batches: Sequence[BatchDefinition]) -> None:
        """Refuse a row of a task that names a connection which is not known."""
        from batchctl.operations import task_connections

        def populate(intake: IntakeRow, batch: BatchDefinition) -> Populated:
            from batchctl.populators.pattern import PatternPopulator  # only a task is asked for what it will be

            return PatternPopulator().populate(intake, batch)

        task_connections.check(row, batches, known=self.settings.connections, populate=populate)

    def trigger_bench(self) -> Bench:
        """Return what tries a trigger out."""
        from batchctl.operations.intake.trial import Bench

        return Bench(
            transactions=self.transactions,
            clock=self.clock,
            inquiries=self.inquiries(),
            count=self.count_pending,
            poll_interval=self.poll_interval,
        )

    def alert_rules(self) -> AlertRules:
        """Return the rules: when people are told of what."""
        from batchctl.alert_settings import alert_rules_of

        return alert_rules_of(self.settings)

    def send_alert(self, channel: str, notification: Notification) -> None:
        """Send a notification through a channel; any thread may call this."""
        from batchctl.system import alert_sinks

        alert_sinks.send(self.settings, channel, notification)

    def schedule_bench(self) -> ScheduleBench:
        """Return what tries a schedule out."""
        from batchctl.operations.scheduling.schedule_trial import ScheduleBench

        return ScheduleBench(table=self.timetable(), fires_here=self.settings.scheduler.enabled)

    def timetable(self) -> Timetable:
        """Return what looks at schedules."""
        from batchctl.operations.scheduling.timetable import Timetable

        return Timetable(
            transactions=self.transactions, clock=self.clock, zone=self.settings.business_time_zone, grace=self.grace
        )

    def inquiries(self, wake: Callable[[], None] = lambda: None) -> ThreadInquiries:
        """Return what asks staging tables."""
        from batchctl.system.plugins.inquiries import ThreadInquiries

        # To connect takes its time too.
        return ThreadInquiries(timedelta(seconds=self.settings.trigger_timeout + CONNECT_SECONDS), wake)

    def notifications(self, wake: Callable[[], None] = lambda: None) -> ThreadInquiries:
        """Return what sends notifications, through all channels at once."""
        from batchctl.system.plugins.inquiries import ThreadInquiries

        channels = self.settings.alerts.channels
        limit = max((channel.timeout for channel in channels.values()), default=0.0)
        # A sending that ends by itself, in time, gives its reason.
        return ThreadInquiries(timedelta(seconds=limit + MARGIN), wake, max(len(channels), 1))

    def night_mails(self, wake: Callable[[], None] = lambda: None) -> ThreadInquiries:
        """Return what makes and sends the report of the night, through all of its channels at once."""
        from batchctl.system.plugins.inquiries import ThreadInquiries

        channels = self.settings.alerts.channels
        limit = max((channel.timeout for channel in channels.values()), default=0.0)
        return ThreadInquiries(timedelta(seconds=limit + READING), wake, max(len(self.settings.report.channels), 1))

    def send_night(self, channel: str, night: NightSpan, day: date) -> None:
        """Make the report of a night and send it through a channel; any thread may call this."""
        from batchctl.operations.reports import night_mail, night_reading

        with closing(self.another()) as app:
            reader = night_reading.NightReader(app.timetable(), app.presence, app.alert_rules())
            made = night_mail.notification(app.settings, reader.of(night), app.database_id, f"night-{day}")
            app.send_alert(channel, made)

    def reconciler(self) -> Reconciler:
        """Return what writes the rows of jobs as their code says."""
        from batchctl.operations.definitions.reconciler import Reconciler

        return Reconciler(
            transactions=self.transactions,
            clock=self.clock,
            plugins=self.registry,
            host=self.ids.host(),
            listener=self.listener,
            default_zone=self.settings.business_time_zone,
        )

    def folders(self, wake: Callable[[], None] = lambda: None) -> closing[ThreadFolders]:
        """Lend what looks into folders."""
        from batchctl.system.folders import ThreadFolders

        return closing(ThreadFolders(wake))

    @property
    def plugin_path(self) -> list[str]:
        """Where plugins that are not installed are looked for."""
        return [str(self.settings.directory)]


def open_app(config_file: str | None) -> App:
    """Open the control database, refusing one this version cannot work with."""
    return App(config.load(config_file)).verified()


def examine(config_file: str | None) -> tuple[HealthFinding, ...]:
    """Examine the control database, the connections and this host; works even if none of them is usable."""
    app = App(config.load(config_file))
    from batchctl.operations.maintenance import doctor

    try:
        return doctor.Doctor(
            app.settings, SystemClock().now, app.presence, app.check, lambda: app.worked_without, [*app.modules]
        ).examine()
    finally:
        app.close()


def describe_service(config_file: str | None, name: str, user: str | None, words: Sequence[str]) -> Service:
    """Say how a controller, or an agent, with these settings is started by a service manager, with which words."""
    from batchctl.operations.maintenance.service_files import Service
    from batchctl.system.runner import longest_stop

    settings = config.load(config_file)
    file = None if settings.file is None else str(settings.file)
    command = (sys.executable, "-m", "batchctl", *(() if file is None else ("--config", file)), *words)
    needed = {secret.env for secret in settings.secrets.values() if secret.env is not None}
    return Service(
        name=name,
        what="agent" if words[0] == "agent" else "controller",
        argv=command,
        directory=str(settings.directory),
        user=user or SystemIds().user(),
        config=file,
        longest_end=settings.shutdown_grace + longest_stop(timedelta(seconds=settings.stop_grace)).total_seconds(),
        variables=tuple(sorted(needed | set(config.variables_set()))),
    )


def holidays_of(
    country: str | None, subdivision: str | None, market: str | None, years: range, by_hand: str
) -> tuple[Mapping[date, str], str]:
    """Return the holidays of a country, a part of it or a market, and what to call the list.

    `by_hand` is what to type where the list cannot be had.
    """
    from batchctl.system import holiday_lists

    if country is None:
        return holiday_lists.of_market(market or "", years, by_hand), f"closed days of {market}"
    where = country if subdivision is None else f"{country}, {subdivision}"
    return holiday_lists.of_country(country, subdivision, years, by_hand), f"public holidays of {where}"

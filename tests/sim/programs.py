"""The programs of a schedule: a worker on a host, and the person with the command line."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from batchctl.agent_pools import RoutedPreparer
from batchctl.control.alerting.alerting import Alerting
from batchctl.control.alerting.incident_search import IncidentSearch
from batchctl.control.alerting.incident_watch import IncidentWatch
from batchctl.control.alerting.night_sending import NightMailing
from batchctl.control.alerting.outbox import Outbox
from batchctl.control.controller import Controller
from batchctl.control.creation import Creator
from batchctl.control.dependencies.dependency_watch import DependencyWatch
from batchctl.control.dependencies.forecast_keeping import ForecastKeeping
from batchctl.control.leadership import Leadership, LeadersTransactions
from batchctl.control.maintenance.purge import Retention
from batchctl.control.maintenance.sealing import Sealing
from batchctl.control.membership import Membership
from batchctl.control.operators.answer_times import AnswerTimes
from batchctl.control.operators.answering import Answering
from batchctl.control.recording import Recorder
from batchctl.control.rescue import Rescue
from batchctl.control.scheduling.backfilling import Backfilling
from batchctl.control.scheduling.deciding import Deciding
from batchctl.control.scheduling.firing import Firing
from batchctl.control.served_pools import ServedPools
from batchctl.control.worker import Duty, Leading, Worker
from batchctl.domain.alerting.alerts import AlertRules, Audience
from batchctl.domain.commands import Identity
from batchctl.domain.errors import BatchctlError, PluginError, Refused
from batchctl.domain.liveness import Rhythm
from batchctl.domain.operators.freezes import Scope
from batchctl.domain.operators.pools import served_by
from batchctl.domain.operators.release import Choice, Release
from batchctl.domain.operators.request_verbs import Verb
from batchctl.domain.operators.requests import Request
from batchctl.domain.rows import BatchDefinition, ControllerRow, InstanceId
from batchctl.domain.scheduling.schedules import BackfillId, ScheduleId
from batchctl.domain.scheduling.wall_clock import clock_of
from batchctl.logs import Listener
from batchctl.operations.dependencies.foretelling import Foretelling
from batchctl.operations.intake.submission import Submission, submit
from batchctl.operations.intervene import Operator
from batchctl.operations.operators import acts
from batchctl.operations.operators.freezing import Freezer
from batchctl.operations.operators.pooling import Drainer
from batchctl.operations.presence import Presence
from batchctl.operations.requested import Proxy
from batchctl.operations.scheduling.backfiller import Backfiller, Span
from batchctl.operations.scheduling.timetable import Timetable
from batchctl.plugin_api import StepHandler
from batchctl.ports import Boundary, Report, StepRunner
from batchctl.preparation import Preparer
from batchctl.store import Connection, controllers
from batchctl.store.scheduling import backfills, schedule_rows
from batchctl.store.statements import RowInsert
from batchctl.store.tables import operator_request
from batchctl.system.remote.agent_pool import AgentPool
from batchctl.system.remote.followed_agent import FollowedAgent, PoolMeans
from batchctl.system.remote.routed_runner import RoutedRunner
from batchctl.testing import context
from tests.sim import pooled, telling
from tests.sim.agent_processes import DATABASE
from tests.sim.agent_processes import GRACE as GRACE_OF_AGENTS
from tests.sim.clock import HostClock
from tests.sim.database import EdgedTransactions
from tests.sim.faults import Actor, Crashed
from tests.sim.hosts import Host, Running
from tests.sim.laws import Broken
from tests.sim.passing import PassingLoop, TurnedLoop
from tests.sim.populating import Populators
from tests.sim.runner import HANDLERS, ScriptedRunner
from tests.sim.script import Ask, Backfill, Drain, Freeze, MoveStep, Operate, Retime, Submit, Switch, Thaw, Undrain
from tests.sim.wires import WiredTransport

if TYPE_CHECKING:
    from tests.sim.world import World

POLL_INTERVAL = 15.0
GRACE = 60.0
ZONE = ZoneInfo("Europe/Amsterdam")
AROUND = context("/work")
ASKING = RowInsert(operator_request)
OF_BATCHES = (Verb.ENABLE, Verb.DISABLE, Verb.FREEZE, Verb.THAW)
ALL = Choice(release=Release.ALL)
"""What a person chooses here who enables a batch."""


class Program(Actor):
    """A start of the worker on a host: it lives until it is killed, and what it knew is gone then."""

    def __init__(self, world: World, place: int, name: str, host: Host) -> None:
        super().__init__(world, name)
        self.place = place
        self.host = host
        self.clock = HostClock(world.time, host.ahead, host.booted)
        self.loops: list[TurnedLoop] = []
        self.scripted = ScriptedRunner(world, self)
        self.pools, self._heard = self._pools_of_agents(), deque[Report]()
        self.runner: StepRunner = self.scripted
        if self.pools:
            self.runner = RoutedRunner(self.scripted, self.pools, self._heard)
        self.populators = Populators(self)
        self.transactions = EdgedTransactions(world.engine, self, self.clock.reading)
        self.worker = self._worker()
        self._has_begun = False

    def turn(self) -> None:
        """Make one pass of the loop; a program that cannot begin ends."""
        self.world.acting(self, self._pass)

    def terminate(self) -> None:
        """End in good order: what can go on alone does so."""
        self.world.acting(self, self._end)

    def die(self) -> None:
        """Lose everything that is only in memory; commands go on under their supervisor."""
        if not self.dead:
            self.dead = True
            self.world.died(self)

    def check_adoption(self, key: int) -> None:
        """See that this program may adopt an execution."""
        self.world.check_adoption(self, key)

    def check_stop(self, running: Running) -> None:
        """See that this program may stop an execution."""
        self.world.check_stop(self, running)

    def pool_agents(self, name: str) -> Sequence[FollowedAgent]:
        """Return the agents of a name that it knows."""
        return [agent for pool in self.pools.values() for agent in pool.agents if agent.offer.name == name]

    def end_loops(self) -> None:
        """Let everything end that goes on by itself."""
        for loop in self.loops:
            loop.end()
        self.loops.clear()

    @property
    def has_news(self) -> bool:
        """Say whether the next turn has anything to do, as far as is known without looking into the database."""
        # Who leaves the database alone for a while has something to do afterwards.
        has_news = self.scripted.has_news or bool(self._heard) or self.populators.has_answers
        return not self._has_begun or has_news or self.worker.controller.failure is not None

    def _pass(self) -> None:
        try:
            if not self._has_begun:
                self.worker.begin(patient=True)
                self._has_begun = True
            self.worker.turn(timedelta(0))
        except Crashed:
            self.die()
        except BatchctlError as error:
            self.world.tell(self.name, "program.ended", {"Message": error.message})
            self.die()

    def _end(self) -> None:
        controller = self.worker.controller
        try:
            controller.request_stop()
            controller.leave_steps()
            for _ in range(5):
                if self._has_begun and controller.is_working:
                    self.worker.turn(timedelta(0))
            if self._has_begun:
                self.worker.end()
            self.runner.close()
        except (Crashed, BatchctlError):
            pass
        self.die()

    def _worker(self) -> Worker:
        options, listener = self.world.options, self.world.listener(self.name)
        rhythm = options.rhythms[self.place]
        membership = Membership(
            transactions=self.transactions,
            clock=self.clock,
            listener=listener,
            name=self.name,
            host=self.host.name,
            process=Identity(pid=self.place, pid_start=self.name, boot_id=self.host.boot_id),
            slots=options.slots,
            version="simulated",
            rhythm=rhythm,
            scheduler_zone="UTC",
            pools=served_by(options.serves[self.place] if options.serves else ()),
            agents=self.pools,
        )
        preparer = Preparer(find_handler, AROUND, "anna", self.host.name, DATABASE)
        if self.pools:
            preparer = RoutedPreparer(find_handler, AROUND, "anna", self.host.name, DATABASE, pools=self.pools)
        serves = ServedPools(membership.pools, self.host.name, self.pools)
        recorder = Recorder(preparer, self.name, self.host.name, serves=serves)
        controller = Controller(
            transactions=self.transactions,
            clock=self.clock,
            runner=self.runner,
            recorder=recorder,
            listener=listener,
            slots=options.slots,
            is_trusted=membership.is_trusted,
        )
        rescue = Rescue(self.transactions, self.clock, self.runner, recorder, listener, rhythm)
        leadership = Leadership(self.transactions, self.clock, listener, self.name, rhythm)
        leaders = LeadersTransactions(self.transactions, leadership)
        creator = Creator(leaders, self.clock, self.populators, ZONE, listener)
        poll_interval = timedelta(seconds=POLL_INTERVAL)
        watch = DependencyWatch(leaders, self.clock, listener, poll_interval)
        carry_out = partial(self._carry_out, Proxy(self.clock, preparer, ZONE))
        answering = Answering(leaders, self.clock, listener, carry_out, self.name, controller.look_closely)
        upkeep = self._telling(leaders, listener) if options.tells else []
        upkeep.append(
            Retention(leaders, self.clock, listener, actor=self.name, host=self.host.name, interval=poll_interval)
        )
        if options.past:
            upkeep.insert(0, self._forecasts(leaders, rhythm))
        own_duties = list[Duty]()
        if options.schedules:
            deciding = Deciding(self.clock, creator, _is_harmless, timedelta(seconds=GRACE), None)
            firing = self.transactions, self.clock, deciding, listener, POLL_INTERVAL, "UTC"
            own_duties += [Firing(*firing, wake=lambda: None), Backfilling(*firing, wake=lambda: None)]
        duties: list[Duty] = [answering, watch]
        if any(step.asks is not None for batch in options.batches for step in batch.steps):
            by_itself = Operator(
                transactions=leaders, clock=self.clock, preparer=preparer, user="batchctl", host=self.host.name
            )
            means = leaders, self.clock, listener
            duties.append(AnswerTimes(*means, by_itself.end_unanswered, controller.look_closely))
        leading = Leading(leadership, creator, poll_interval, duties, upkeep)
        return Worker(controller, membership, rescue, self.runner, self.clock, listener, leading, own_duties)

    def _pools_of_agents(self) -> dict[str, AgentPool]:
        """Return the pools that it serves and whose steps agents carry."""
        options = self.world.options
        names = [plan.name for plan in options.pools if plan.kind != "controllers"]
        return {name: self._pool_of_agents(name) for name in names if name in options.serves[self.place]}

    def _pool_of_agents(self, name: str) -> AgentPool:
        means = PoolMeans(
            controller=self.name,
            database_id=DATABASE,
            version="simulated",
            lease=self.world.options.agent_lease,
            grace=GRACE_OF_AGENTS,
            news_wait=2.5,
            now=self.clock.now,
            report=self._hear,
            monotonic=self.clock.monotonic,
            loop=lambda _: PassingLoop(self.world, self),
        )
        return AgentPool(name, WiredTransport(self.world, self), means)

    def _hear(self, report: Report) -> None:
        try:
            self.world.agents.laws.reported(self, report, GRACE_OF_AGENTS)
        except Broken as broken:
            self.world.passing.fail(broken)
        self._heard.append(report)

    def _carry_out(self, proxy: Proxy, connection: Connection, request: Request) -> str:
        """Do what a request asks for; whoever asks for a rerun has looked that nothing of the instance is alive."""
        alive = [] if request.instance_id is None else self.world.alive_of(request.instance_id)
        if alive and request.action in (Verb.RERUN, Verb.SKIP):
            raise Refused("Something of it is alive.")
        self.world.batches = None
        try:
            return proxy.carry_out(connection, request)
        finally:
            self.world.batches = None

    def _forecasts(self, leaders: LeadersTransactions, rhythm: Rhythm) -> ForecastKeeping:
        """Return what makes forecasts; of what has a past, or there is nothing to learn from."""
        table = Timetable(transactions=leaders, clock=self.clock, zone="UTC", grace=timedelta(seconds=GRACE))
        foretelling = Foretelling(table, Attendance(rhythm, lambda row: False))
        return ForecastKeeping(
            transactions=leaders,
            clock=self.clock,
            # Few schedules have as many turns as a forecast takes.
            make=lambda: (made for made in foretelling.pieces() if made is not None),
            interval=timedelta(minutes=5),
            hours=range(0, 24 * 60, 5),
            wall_clock=clock_of("UTC"),
            wake=lambda: None,
        )

    def _telling(self, leaders: LeadersTransactions, listener: Listener) -> list[Duty]:
        rules = AlertRules(channels=[Audience(name=telling.CHANNEL)], learns_arrivals=False)
        watch = IncidentWatch(
            self.transactions, self.clock, listener, rules, IncidentSearch(self.clock, rules, self.name)
        )
        outbox = Outbox(
            transactions=self.transactions,
            clock=self.clock,
            inquiries=telling.ScriptedInquiries(self.world, self),
            send=lambda _, letter: telling.send(self.world, self, letter),
            channels=[telling.CHANNEL],
            origin="simulated",
            controller=self.name,
            listener=listener,
        )
        mailing = NightMailing(
            transactions=self.transactions,
            leaders=leaders,
            clock=self.clock,
            inquiries=telling.ScriptedInquiries(self.world, self),
            send=lambda _, __, day: telling.send_report(self.world, self, day),
            times=telling.NIGHTS,
            channels=[telling.CHANNEL],
            actor="batchctl",
            host=self.host.name,
            controller=self.name,
            listener=listener,
        )
        told: list[Duty] = [Alerting(self.clock, watch, outbox), Sealing(self.transactions, self.clock, listener)]
        return [*told, mailing] if self.world.options.reports else told


class Attendance(Presence):
    """Looks for controllers in a database that is no file, and so no copy of one."""

    def living(self, connection: Connection, now: datetime) -> Sequence[ControllerRow]:
        """Return the controllers that run."""
        return [row for row in controllers.running(connection) if self.state(row, now) == "running"]


class Person(Actor):
    """Who acts with the command line, on whatever host."""

    def __init__(self, world: World) -> None:
        super().__init__(world, "anna")
        self.clock = HostClock(world.time, 0.0, 0.0)
        self.transactions = EdgedTransactions(world.engine, self, self.clock.reading)
        preparer = Preparer(find_handler, AROUND, "anna", "desk", "simulated")
        self._operator = Operator(
            transactions=self.transactions, clock=self.clock, preparer=preparer, user="anna", host="desk"
        )
        actor = acts.Actor(transactions=self.transactions, clock=self.clock, user="anna", host="desk")
        self._freezer = Freezer(actor)
        self._drainer = Drainer(actor)
        self._backfiller = Backfiller(actor=actor, default_zone="UTC")

    def submit(self, event: Submit) -> None:
        """Ask for work."""
        wanted = Submission(entity=event.entity, file_name=event.file_name, data=event.data)
        self._act(lambda: submit(self.transactions, wanted, user="anna", host="desk"))

    def operate(self, event: Operate) -> None:
        """Act on an instance; a person who reruns a lost step has looked that nothing of it is alive."""
        found = self.world.rows("SELECT BatchControl_id FROM BatchControl ORDER BY 1")
        if not found:
            return
        (instance_id,) = found[event.nth % len(found)]
        if event.action in ("rerun", "again", "skip") and self.world.alive_of(instance_id):
            return
        if event.action == "again":
            self._act(lambda: self._operator.rerun(InstanceId(instance_id), reason="because", from_seq=10))
            return
        act = getattr(self._operator, event.action)
        self._act(lambda: act(InstanceId(instance_id), reason="because"))

    def ask(self, event: Ask) -> None:
        """Ask by rows for what a controller does then."""
        columns: dict[str, object] = {"Action": event.action, "Reason": "because"}
        if event.arguments is not None:
            columns["Arguments"] = event.arguments
        if event.action in OF_BATCHES:
            columns["ProcessBatchName"] = f"B{event.nth % len(self.world.options.batches)}"
        elif found := self.world.rows("SELECT BatchControl_id FROM BatchControl ORDER BY 1"):
            (columns["BatchControl_id"],) = found[event.nth % len(found)]
        else:
            return

        def insert(connection: object) -> None:
            for _ in range(event.times):
                ASKING(connection, values=columns)  # type: ignore[arg-type]  # any connection

        self._act(lambda: self.transactions.run(frozenset({Boundary.OPERATOR}), insert))

    def take_back(self, nth: int) -> None:
        """Say on the row of a request, by hand, that it is not wanted any more."""
        if found := self.world.rows("SELECT OperatorRequest_id FROM OperatorRequest WHERE Status = 'requested'"):
            update = "UPDATE OperatorRequest SET Status = 'refused' WHERE OperatorRequest_id = ?"

            def write(connection: Any) -> None:
                connection.exec_driver_sql(update, found[nth % len(found)])

            self._act(lambda: self.transactions.run(frozenset({Boundary.OPERATOR}), write))

    def switch(self, event: Switch) -> None:
        """Disable or enable a batch."""
        name = f"B{event.nth % len(self.world.options.batches)}"
        self.world.batches = None
        self._act(lambda: self._operator.set_enabled(name, enabled=event.enabled, reason="because", choice=ALL))
        self.world.batches = None

    def freeze(self, event: Freeze) -> None:
        """Freeze a batch, or everything."""
        until = None if event.seconds is None else f"{event.seconds}s"
        self.world.batches = None
        self._act(lambda: self._freezer.freeze(self._scope(event.nth), reason="because", until=until))
        self.world.batches = None

    def thaw(self, event: Thaw) -> None:
        """Thaw it, with something becoming of those that have waited."""
        choice = Choice(release=Release(event.release), per_minute=30)
        self.world.batches = None
        self._act(lambda: self._freezer.thaw(self._scope(event.nth), reason="because", choice=choice))
        self.world.batches = None

    def drain(self, event: Drain | Undrain) -> None:
        """Drain a host or a pool, or end that."""
        place = pooled.place_of(self.world, event.host, event.pool)
        act = self._drainer.drain if isinstance(event, Drain) else self._drainer.undrain
        self._act(lambda: act(None, place, reason="because"))

    def move_step(self, event: MoveStep) -> None:
        """Let a step run in another pool."""
        steps = self.world.rows("SELECT ProcessControl_id FROM ProcessControl")
        update = "UPDATE ProcessControl SET Pool = ?, z_updated = virtual_now() WHERE ProcessControl_id = ?"

        def write(connection: Any) -> None:
            connection.exec_driver_sql(update, (event.pool, *steps[event.nth % len(steps)]))

        self.world.batches = None
        self._act(lambda: self.transactions.run(frozenset({Boundary.OPERATOR}), write))
        self.world.batches = None

    def give_time(self) -> None:
        """Let every question wait for ever."""
        update = "UPDATE ProcessControl SET Data4 = NULL, z_updated = virtual_now() WHERE ProcessType = 'confirm'"

        def write(connection: Any) -> None:
            connection.exec_driver_sql(update)

        self.world.batches = None
        self._act(lambda: self.transactions.run(frozenset({Boundary.OPERATOR}), write))
        self.world.batches = None

    def _scope(self, nth: int | None) -> Scope:
        return Scope() if nth is None else Scope(batch=f"B{nth % len(self.world.options.batches)}")

    def retime(self, event: Retime) -> None:
        """Change a schedule by hand: who does it with the command line arms it at once, as a controller does here later."""
        wanted = {"IntervalMinutes": event.minutes, "Enabled": None if event.enabled is None else int(event.enabled)}
        number = ScheduleId(1 + event.nth % len(self.world.options.schedules))
        columns = {column: value for column, value in wanted.items() if value is not None}
        if self.world.options.schedules[number - 1].once_at is not None:
            columns.pop("IntervalMinutes", None)

        def change(connection: object) -> None:
            schedule_rows.change(connection, number, columns, self.clock.now())  # type: ignore[arg-type]  # any connection

        if columns:
            self._act(lambda: self.transactions.run(frozenset({Boundary.OPERATOR}), change))

    def backfill(self, event: Backfill) -> None:
        """Ask for the work of due times with the command, or insert the row by hand, which may reach into the future."""
        number = 1 + event.nth % len(self.world.options.schedules)
        now = self.world.time.database_now()
        first, last = (now + timedelta(minutes=minutes) for minutes in (event.first, event.last))
        columns = {
            "Schedule_id": number,
            "FromTime": first,
            "UntilTime": last,
            "MostOpen": event.most_open,
            "Missed": int(event.missed),
            "Actor": self.name,
        }

        def insert(connection: object) -> None:
            backfills.add(connection, columns)  # type: ignore[arg-type]  # any connection

        def ask() -> None:
            span = Span(first=first.replace(tzinfo=None), last=last.replace(tzinfo=None))
            self._backfiller.begin(
                f"s{number - 1}", span, most_open=event.most_open, missed=event.missed, sure=True, reason="because"
            )

        self._act((lambda: self.transactions.run(frozenset({Boundary.OPERATOR}), insert)) if event.by_hand else ask)

    def cancel_backfill(self, nth: int) -> None:
        """Cancel one of the backfills."""
        if found := self.world.rows("SELECT ScheduleBackfill_id FROM ScheduleBackfill ORDER BY 1"):
            (number,) = found[nth % len(found)]
            self._act(lambda: self._backfiller.cancel(BackfillId(number), reason="because"))

    def _act(self, act: Callable[[], object]) -> None:
        def try_it() -> None:
            try:
                act()
            except BatchctlError as refused:
                self.world.tell(self.name, "refused", {"Message": refused.message})

        self.world.acting(self, try_it)


def _is_harmless(batch: BatchDefinition) -> bool:
    return batch.populator == "pattern"


def find_handler(process_type: str) -> StepHandler:
    """Return the handler of a step."""
    if process_type not in HANDLERS:
        raise PluginError(f"there is no ProcessType '{process_type}'")
    return HANDLERS[process_type]

"""What each event of a schedule does to the world."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tests.sim.hosts import VANISHED, Host
from tests.sim.script import (
    Ask,
    Away,
    Backfill,
    BootHost,
    CancelBackfill,
    CrashHost,
    CutWire,
    Drain,
    Event,
    Fault,
    Freeze,
    GoOnAgent,
    Jump,
    Kill,
    KillAgent,
    KillSupervisor,
    MoveStep,
    Operate,
    Retime,
    Run,
    SetClock,
    Stall,
    StopAgent,
    Submit,
    Switch,
    TakeBack,
    Terminate,
    Thaw,
    Turn,
    Undrain,
    Wait,
    Wake,
)
from tests.sim.wires import WireFault

if TYPE_CHECKING:
    from tests.sim.world import World


def happen(world: World, event: Event) -> None:
    if not isinstance(event, Fault):
        world.happened[type(event).__name__] += 1
    match event:
        case Turn(worker):
            world.turn(worker)
        case Wait(seconds):
            pass_time(world, seconds)
        case Run(seconds):
            run(world, seconds)
        case Stall(worker):
            world.stalled.add(worker)
        case Wake(worker):
            world.stalled.discard(worker)
        case Fault():
            arm(world, event)
        case Kill(worker):
            program = world.workers[worker]
            if program is not None:
                program.die()
        case Terminate(worker):
            program = world.workers[worker]
            if program is not None and program not in world.frozen:
                program.terminate()
        case KillSupervisor(worker):
            kill_supervisor(world, worker)
        case CrashHost(host):
            crash_host(world, world.hosts[host])
        case BootHost(host):
            boot(world, world.hosts[host])
        case Jump(host, seconds):
            world.hosts[host].ahead += seconds
            for program in world.workers:
                if program is not None and program.host is world.hosts[host]:
                    program.clock.ahead += seconds
        case Away(seconds):
            world.away_until = world.time.seconds + seconds
        case Submit():
            world.person.submit(event)
        case Operate():
            world.person.operate(event)
        case Ask():
            world.person.ask(event)
        case TakeBack(nth):
            world.person.take_back(nth)
        case Switch():
            world.person.switch(event)
        case Freeze():
            world.person.freeze(event)
        case Thaw():
            world.person.thaw(event)
        case Drain() | Undrain():
            world.person.drain(event)
        case MoveStep():
            world.person.move_step(event)
        case SetClock(seconds):
            world.time.database_ahead += seconds
        case Retime():
            world.person.retime(event)
        case Backfill():
            world.person.backfill(event)
        case CancelBackfill(nth):
            world.person.cancel_backfill(nth)
        case KillAgent(agent, whole, renamed, after):
            world.agents.kill(agent, whole=whole, renamed=renamed, after=after)
        case StopAgent(agent):
            if (process := world.agents.at(agent)) is not None:
                process.stop()
        case GoOnAgent(agent):
            if (process := world.agents.at(agent)) is not None and process.is_stopped:
                process.go_on()
        case CutWire(agent, fault, seconds):
            world.wires.befall(agent, WireFault(fault), seconds)


def arm(world: World, fault: Fault) -> None:
    """Let a fault wait for the program it is meant for, or for whichever is the first."""
    program = None if fault.worker is None else world.program(fault.worker)
    if fault.worker is None:
        world.armed.append(fault)
    elif program is not None:
        program.armed.append(fault)


def kill_supervisor(world: World, worker: int) -> None:
    program = world.workers[worker]
    if program is not None:
        program.scripted.supervisor.die(world.time.seconds)


def crash_host(world: World, host: Host) -> None:
    if not host.up:
        return
    now = world.time.seconds
    for supervisor in world.supervisors.values():
        if supervisor.host is host and supervisor.is_there(now):
            # What it had not written to the disk for good is gone with the power.
            supervisor.unwatched |= supervisor.started.keys()
    for one in world.executions:
        if one.host is host and one.is_alive(now):
            one.end(now, VANISHED)
    host.up = False
    for program in world.workers:
        if program is not None and program.host is host:
            program.die()
    world.agents.crash(host)


def boot(world: World, host: Host) -> None:
    if not host.up:
        host.up = True
        host.boot += 1
        host.booted = world.time.seconds
        world.agents.start_all()


def pass_time(world: World, seconds: float) -> None:
    """Let time pass; supervisors look at it too."""
    world.passing.until(world.time.seconds + seconds)
    for supervisor in world.supervisors.values():
        supervisor.look_at_the_time(world.time.seconds)


def run(world: World, seconds: float) -> None:
    """Let time pass while every worker that is not stalled makes its turns."""
    rounds = max(1, math.ceil(seconds / world.pace))
    for _ in range(rounds):
        pass_time(world, seconds / rounds)
        for worker in range(len(world.workers)):
            if worker not in world.stalled:
                world.turn(worker)

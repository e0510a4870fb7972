"""A world for every test, and somebody who acts in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from batchctl.domain.rows import InstanceId
from batchctl.operations.intervene import Operator
from batchctl.store.transactions import StoreTransactions
from tests.control.world import World
from tests.control_databases import ACTS, ControlDatabase


@pytest.fixture
def world(control_database: ControlDatabase) -> Iterator[World]:
    """Return a fresh database with an engine the test drives."""
    made = World(control_database)
    yield made
    made.close()


@pytest.fixture
def anywhere(world: World) -> Iterator[StoreTransactions]:
    """Return another program's way to the database, as the command line has one beside a running controller."""
    made = world.open()
    yield made
    made.close()


@pytest.fixture
def operator(world: World, anywhere: StoreTransactions) -> Operator:
    """Return Anna, who acts on the world."""
    return _operator(world, anywhere, dry_run=False)


@pytest.fixture
def dry_operator(world: World, anywhere: StoreTransactions) -> Operator:
    """Return Anna while she only looks what would happen."""
    return _operator(world, anywhere, dry_run=True)


def _operator(world: World, transactions: StoreTransactions, *, dry_run: bool) -> Operator:
    return Operator(
        transactions=transactions,
        clock=world.clock,
        preparer=world.recorder().preparer,
        user="anna",
        host="host1",
        dry_run=dry_run,
    )


@pytest.fixture
def instance_in(world: World) -> Callable[[str], InstanceId]:
    """Make an instance of a batch of three steps, the first of them done, in a given status."""

    def make(status: str) -> InstanceId:
        world.batch(steps=3, RetryCount=2)
        world.submit()
        world.create()
        world.sql(
            "UPDATE BatchControl SET Status = ?, PrevProcessControlSeq = 10, RetryCount = 0, LostCount = 1", status
        )
        world.sql("UPDATE FileProcess SET Status = ?", "complete" if status == "complete" else "ready")
        return InstanceId(1)

    return make


@pytest.fixture
def audited(world: World) -> Callable[[], list[tuple[Any, ...]]]:
    """Return the audit log: action, target, actor, host, reason, before and after as objects."""

    def read() -> list[tuple[Any, ...]]:
        rows = world.sql(
            "SELECT Action, Target, Actor, Host, Reason, ValuesBefore, ValuesAfter FROM AuditLog"
            f" WHERE {ACTS} ORDER BY AuditLog_id"
        )
        return [(*row[:5], json.loads(row[5]), json.loads(row[6])) for row in rows]

    return read

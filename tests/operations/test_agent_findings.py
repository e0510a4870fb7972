"""What `check` says of steps that agents carry, and of Needs where no agent looks at them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from batchctl.domain.outcomes import Connection, StepContext
from batchctl.operations.definitions.agent_findings import agent_findings
from batchctl.operations.definitions.checking import check
from batchctl.store import pool_rows
from batchctl.store.definitions import definitions
from batchctl.testing import context
from tests.control.world import World
from tests.operations.test_checking import Plugins

CONTROL = "postgresql://etl:{secret:control}@db1/batchctl"
CONNECTIONS = {
    "wh": "postgresql://etl:{secret:wh}@db1/warehouse",
    "beside": "postgresql://loader@db1/batchctl",
    "control": "postgresql+psycopg://etl:other@DB1:5432/batchctl?sslmode=require",
}


def offered(control: str = CONTROL, **connections: str) -> StepContext:
    """Return a context with a control database and connections."""
    known = {name: Connection(name, url) for name, url in (connections or CONNECTIONS).items()}
    return replace(context(".", connections=known), control=Connection("control database", control))


def found(world: World, given: StepContext | None = None, **columns: object) -> list[tuple[str, str]]:
    """Return what is found of one step, by column."""
    for name, kind in (("burst", "dask"), ("far", "agents"), ("ssis", "controllers")):
        world.sql("INSERT INTO Pool (PoolName, Kind) VALUES (?, ?)", name, kind)
    world.step(world.batch(steps=0), 10, **columns)
    with world.transactions.read() as connection:
        (batch,) = definitions.all_batches(connection)
        pools = pool_rows.known(connection)
    return [(one.column, one.message) for one in agent_findings(batch, batch.steps[0], pools, given or offered())]


@pytest.mark.parametrize("pool", ["burst", "Far"])
def test_what_a_step_needs_of_an_agent_is_sound(world: World, pool: str) -> None:
    assert found(world, Pool=pool, Needs="GPU=1, MEMORY=8e9") == []


@pytest.mark.parametrize("pool", [None, "default", "SSIS"])
def test_needs_say_nothing_to_controllers(world: World, pool: str | None) -> None:
    ((column, said),) = found(world, Pool=pool, Needs="GPU=1")

    name = (pool or "default").lower()
    assert column == "Needs"
    assert said == f"Nothing goes by it, because controllers carry the steps of pool '{name}', and agents none."


def test_of_a_pool_that_is_not_there_nothing_more_is_found(world: World) -> None:
    assert found(world, Pool="gone", Needs="GPU=1", ProcessType="confirm") == []


@pytest.mark.parametrize("pool", ["burst", "far"])
def test_no_agent_answers_a_question(world: World, pool: str) -> None:
    ((column, said),) = found(world, Pool=pool, ProcessType="confirm", Data1="Go on?")

    assert (column, said) == ("Pool", f"A person answers this step, and agents carry the steps of pool '{pool}'.")


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({"ProcessType": "sql", "Data1": "wh"}, None),
        ({"ProcessType": "sql", "Data1": "beside"}, None),
        ({"ProcessType": "sql", "Data1": "unknown"}, None),
        ({"ProcessType": "os_command", "Data1": "control"}, None),
        ({"ProcessType": "task", "Data1": "{Data1}", "Data2": "{Data2}"}, None),
        ({"ProcessType": "sql", "Data1": "control"}, "Data1"),
        ({"ProcessType": "stored_procedure", "Data1": "control"}, "Data1"),
        ({"ProcessType": "task", "Data1": "control"}, "Data1"),
        ({"ProcessType": "ssis", "Data4": "control"}, "Data4"),
    ],
)
def test_agents_have_no_login_of_the_control_database(
    world: World, columns: dict[str, object], named: str | None
) -> None:
    told = found(world, None, Pool="burst", **columns)

    assert [column for column, _ in told] == ([] if named is None else [named])
    said = "is the control database, with the login of controllers, which the agents of pool 'burst' have not."
    assert [wording for _, wording in told] == [f"Connection 'control' {said}"] * len(told)


def test_controllers_have_that_login(world: World) -> None:
    assert found(world, Pool="ssis", ProcessType="sql", Data1="control") == []
    assert found_again(world, ProcessType="confirm") == []


def found_again(world: World, **columns: object) -> list[str]:
    """Return what is found of the step once it is another one."""
    for column, value in columns.items():
        world.sql(f"UPDATE ProcessControl SET {column} = ?", value)
    with world.transactions.read() as connection:
        (batch,) = definitions.all_batches(connection)
        return [one.column for one in agent_findings(batch, batch.steps[0], pool_rows.known(connection), offered())]


@pytest.mark.parametrize(
    ("control", "other", "is_control"),
    [
        ("sqlite:////srv/batchctl.db", "sqlite:////srv/batchctl.db", True),
        ("sqlite:////srv/batchctl.db", "sqlite:////srv/wh.db", False),
        ("postgresql:///batchctl?host=/tmp/a", "postgresql:///batchctl?host=/tmp/b", False),
        ("postgresql:///batchctl?host=/tmp/a", "postgresql+psycopg:///batchctl?host=/tmp/a&sslmode=disable", True),
        ("mssql+pyodbc://etl:x@sql1/b?driver=x", "mssql://etl@sql1:1433/b", True),
        ("mssql+pyodbc:///?odbc_connect=a", "mssql+pyodbc:///?odbc_connect=b", False),
    ],
)
def test_the_control_database_is_known_by_where_it_lies(
    world: World, control: str, other: str, is_control: bool
) -> None:
    told = found(world, offered(control, it=other), Pool="burst", ProcessType="sql", Data1="it")

    assert bool(told) is is_control


def test_check_names_all_of_it(world: World) -> None:
    found(world, Pool="burst", ProcessType="confirm", Data1="Go on?")
    world.step(1, 20, Needs="GPU=1")
    world.step(1, 30, Pool="burst", Needs="GPU=1")
    told = check(world.transactions, Plugins(), offered())

    named = [(one.row, one.column) for one in told if one.table == "ProcessControl" and one.column in ("Pool", "Needs")]
    assert named == [("B, step 10 'step 10'", "Pool"), ("B, step 20 'step 20'", "Needs")]


def test_needs_that_cannot_be_read_leave_their_batch_out_and_are_named(world: World) -> None:
    world.sql("INSERT INTO Pool (PoolName, Kind) VALUES ('burst', 'dask')")
    world.step(world.batch(steps=0), 10, Pool="burst", Needs="GPU 1")
    (told,) = check(world.transactions, Plugins(), offered())

    assert (told.table, told.column) == ("ProcessControl", "Needs")
    assert "so its batch does not run: Needs has 'GPU 1', and takes, between commas, names" in told.message
    assert "UPDATE ProcessControl SET Needs = " in told.remedy
    world.sql("UPDATE ProcessControl SET Needs = 'GPU=1'")
    assert check(world.transactions, Plugins(), offered()) == ()


def test_a_kind_of_pool_that_is_none_is_named_and_nothing_begins_there(world: World) -> None:
    found(world, Pool="burst")
    world.submit()
    world.create()
    world.hand.loosen()
    world.sql("UPDATE Pool SET Kind = 'kube' WHERE PoolName = 'burst'")
    world.turn_until_idle(world.controller(pools=["burst"]))

    assert world.history() == []
    with world.transactions.read() as connection:
        (row,) = pool_rows.unreadable(connection)
    assert (row.table, row.column) == ("Pool", "Kind")

"""`batchctl pools, drain, undrain, wait --drained`, `controllers` and `run --pool`: where steps run, for those on call."""

from __future__ import annotations

import json

import pytest

from tests.cli.shop import Shop

WHY = ("--reason", "patch night")


@pytest.fixture
def two(shop: Shop) -> Shop:
    """A batch whose second step is of pool ssis; hosts etl1 and ssis have had controllers."""
    shop.batch("Daily")
    shop.sql(
        "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Pool, Data1)"
        " VALUES (1, 20, 'send', 'os_command', 'SSIS', 'true')"
    )
    shop.sql("INSERT INTO Pool (PoolName, MaxConcurrent, Description) VALUES ('ssis', 2, 'has dtexec')")
    shop.sql(
        "INSERT INTO Controller (ControllerName, Host, Status, Heartbeat) VALUES ('c1', 'Etl1', 'stopped', '2026-11-28 02:10:00')"
    )
    shop.sql("INSERT INTO ControllerPool (Controller_id, PoolName) VALUES (1, 'ssis')")
    return shop


def test_a_step_waits_for_its_pool_and_goes_on_where_that_is_served(two: Shop) -> None:
    two.arrive("Daily")
    assert two("run", "--once") == 0
    assert "Note: neither this controller nor another one serves pool ssis; in line: 1 instance." in two.err
    assert "Next: batchctl run --pool ssis" in two.err
    assert two.sql("SELECT Status, PrevProcessControlSeq, NextPool FROM BatchControl") == [("ready", 10, "ssis")]
    standing = {one["PoolName"]: one for one in two.json("pools")}
    assert (standing["ssis"]["State"], standing["ssis"]["Waiting"]) == ("not served", 1)
    assert (standing["ssis"]["LastServedOn"], standing["ssis"]["LastServed"]) == ("Etl1", "2026-11-28T02:10:00.000Z")

    assert two("pools") == 0
    assert "has dtexec" in two.out
    assert "Next: batchctl run --pool ssis" in two.out
    assert two("run", "--once", "--pool", "ssis") == 0
    assert "another one serves pool" not in two.err
    assert two.sql("SELECT Status FROM BatchControl") == [("complete",)]
    served = {one["Host"]: one["Pools"] for one in two.json("controllers")}
    assert served["Etl1"] == ["ssis"]
    assert ["default"] in served.values() or len(served) == 2


def test_pools_of_the_settings_are_served_unless_the_command_names_others(two: Shop) -> None:
    two.arrive("Daily")
    two.settings('pools = ["SSIS", "default"]\n')
    assert two("run", "--once") == 0

    assert two.sql("SELECT Status FROM BatchControl") == [("complete",)]
    assert two("run", "--once", "--pool", "default") == 0
    newest = "SELECT Controller_id FROM Controller ORDER BY Controller_id DESC"
    ((number,), *_) = two.sql(newest)
    assert two.sql("SELECT PoolName FROM ControllerPool WHERE Controller_id = ?", number) == []


@pytest.mark.parametrize("named", [("run", "--once"), ("process",)])
def test_a_pool_that_is_not_there_is_refused_before_anything_is_done(two: Shop, named: tuple[str, ...]) -> None:
    two.arrive("Daily")
    assert two(*named, "--pool", "sis") == 3

    assert "There is no pool 'sis'. Did you mean 'ssis'?" in two.err
    assert "batchctl pools" in two.err
    assert two.sql("SELECT count(*) FROM Controller") == [(1,)]


def test_a_dry_run_shows_what_begins_in_the_pools_that_are_served(two: Shop) -> None:
    two.sql("UPDATE ProcessControl SET Pool = 'ssis'")
    two.arrive("Daily")
    two("create")
    for named, shown in (
        ("default", "Nothing may start now."),
        ("ssis", "BatchControl 1 of batch Daily, step 10 load:"),
    ):
        assert two("process", "--dry-run", "--pool", named) == 0
        assert two.out.startswith(shown)
    two("drain", "ssis", *WHY)
    assert two("run", "--dry-run", "--pool", "ssis") == 0
    assert "Nothing may start now." in two.out


def test_a_drain_says_what_it_drains_and_what_to_type_next(two: Shop) -> None:
    assert two("drain", "SSIS", "--dry-run", *WHY) == 0
    assert two.out == "Would be drained: pool ssis.\n"
    assert two.sql("SELECT * FROM Drain") == []
    assert two("drain", "SSIS", *WHY) == 0
    assert two.out == "Drained: pool ssis.\n"
    assert "batchctl wait --drained ssis; then batchctl undrain --pool ssis --reason ..." in two.err
    two.arrive("Daily")
    two("run", "--once", "--pool", "ssis", "--pool", "default")
    assert two.sql("SELECT Status, PrevProcessControlSeq FROM BatchControl") == [("ready", 10)]
    ((reason, drained),) = [(one["State"], one["Drained"]) for one in two.json("pools") if one["PoolName"] == "ssis"]
    assert reason == "drained"
    assert drained.endswith(": patch night")

    assert two("drain", "--pool", "ssis", *WHY) == 0
    assert two.out.startswith("It is drained already: pool ssis is drained since ")
    assert two("wait", "--drained", "ssis") == 0
    assert two.out == "Nothing runs in pool ssis any more.\n"
    assert two("undrain", "ssis", "--reason", "done") == 0
    assert two.out.startswith("Undrained: pool ssis was drained since ")
    assert two("undrain", "ssis", "--reason", "done") == 0
    assert two.out == "The pool ssis is not drained: there is nothing to end.\n"
    acts = [(one["Action"], one["Reason"]) for one in two.json("audit") if one["Action"] in {"drain", "undrain"}]
    assert acts == [("undrain", "done"), ("drain", "patch night")]


def test_a_pool_that_only_drained_hosts_serve_says_so(two: Shop) -> None:
    two.sql("UPDATE Controller SET Status = 'running', Heartbeat = '2999-01-01 00:00:00'")
    ((host, pool),) = two.sql("SELECT Host, PoolName FROM Controller, ControllerPool")
    assert two("drain", "--host", str(host), *WHY) == 0
    assert "No controller has been on" not in two.err

    ((state, drained),) = [(one["State"], one["Drained"]) for one in two.json("pools") if one["PoolName"] == pool]
    assert state == "host drained"
    assert drained.startswith(f"host {host} is drained since ")
    assert two("pools") == 0
    assert f"batchctl undrain --host {host} --reason ..." in two.out


def test_status_shows_what_is_drained_and_what_waits_for_its_pool(two: Shop) -> None:
    two.sql("UPDATE Controller SET Status = 'running', Heartbeat = '2999-01-01 00:00:00'")
    two.arrive("Daily")
    two("create")
    assert two("status") == 0
    assert "no controller serves pool default (and none ever did)" in " ".join(two.out.split())
    two("drain", "ssis", *WHY)
    two.sql("UPDATE BatchControl SET Status = 'running', ClaimedBy = 'c1', ClaimToken = 1, NextPool = 'ssis'")
    two.sql(
        "INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType,"
        " ClaimToken, ClaimedBy, CommandText) VALUES (1, 1, 20, 'send', 'os_command', 1, 'c1', 'true')"
    )
    assert two("status") == 0
    assert "DRAINED: pool ssis is drained since " in two.out
    assert "20 send (pool ssis)" in " ".join(two.out.split())
    seen = two.json("status")
    assert [one["PoolName"] for one in seen["Running"]] == ["ssis"]
    assert [one["PoolName"] for one in seen["Drains"]] == ["ssis"]


def test_a_host_is_drained_for_all_controllers_on_it(two: Shop) -> None:
    two.arrive("Daily")
    ((host,),) = [(one["Host"],) for one in two.json("controllers")]
    assert two("drain", "ETL1", *WHY) == 0
    assert two.out == f"Drained: host {host}.\n"
    ((drained,),) = [(one["Drained"],) for one in two.json("controllers")]
    assert drained.startswith("host Etl1 is drained since ")
    assert two("controllers") == 0
    assert "drained" in two.out


def test_wait_for_what_is_not_drained_is_refused_and_gives_up_in_time(two: Shop) -> None:
    assert two("wait", "--drained", "etl1") == 4
    assert "The host Etl1 is not drained: new steps begin there, so that waiting has no end." in two.err
    two.arrive("Daily")
    two("create")
    two.sql("UPDATE BatchControl SET Status = 'running', ClaimedBy = 'c1', ClaimToken = 1, NextPool = 'ssis'")
    assert two("drain", "ssis", *WHY) == 0
    assert "1 instance has a step under way there." in two.err
    for place in ("ssis", "etl1"):
        two("drain", place, *WHY)
        assert two("wait", "--drained", place, "--timeout", "0") == 5
        assert two.err.startswith("1 instance has a step under way on ")
        assert "BatchControl 1" in two.err
    assert two("wait", "--drained", "ssis", "--timeout", "0", "--json") == 5
    assert '"UnderWay": [\n    1\n  ]' in two.out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("drain", "nowhere"), 3, "No controller of the last days ran on a host 'nowhere', and there is no such pool."),
        (("drain", "--pool", "sis"), 3, "There is no pool 'sis'. Did you mean 'ssis'?"),
        (("drain",), 2, "Name one host or one pool"),
        (("drain", "ssis", "--host", "x"), 2, "Name one host or one pool"),
        (("undrain", "nowhere"), 3, "there is no such pool"),
    ],
)
def test_what_cannot_be_drained_is_refused_in_words(two: Shop, words: tuple[str, ...], code: int, said: str) -> None:
    assert two(*words, *WHY) == code
    assert said in two.err
    assert two.sql("SELECT * FROM Drain") == []


def test_a_name_of_a_host_and_of_a_pool_has_to_be_said_which(two: Shop) -> None:
    two.sql("UPDATE Controller SET Host = 'SSIS'")
    assert two("drain", "ssis", *WHY) == 2
    assert "'ssis' is a host and a pool." in two.err
    assert two("drain", "--host", "ssis", *WHY) == 0
    assert two.sql("SELECT Host, PoolName FROM Drain") == [("SSIS", None)]


def test_a_host_that_runs_its_first_controller_later_can_be_drained(two: Shop) -> None:
    assert two("drain", "--host", "etl9", *WHY) == 0
    assert two("undrain", "etl9", *WHY) == 0


def test_check_names_pools_that_are_not_there_and_those_that_were_never_served(two: Shop) -> None:
    two.sql("INSERT INTO Pool (PoolName) VALUES ('linux')")
    two.sql("UPDATE ProcessBatch SET Pool = 'linux'")
    two.sql("UPDATE ProcessControl SET Pool = 'sis' WHERE ProcessControlSeq = 20")
    assert two("check", "--json") == 6

    found = [(one["Table"], one["Row"], one["Message"]) for one in json.loads(two.out)]
    assert found == [
        (
            "ProcessControl",
            "Daily, step 20 'send'",
            "There is no pool 'sis', so its steps do not run. Did you mean 'ssis'?",
        ),
        ("Pool", "linux", "Steps are to run in pool 'linux', and no controller has ever served it."),
    ]


@pytest.fixture
def burst(two: Shop) -> Shop:
    """A pool of agents, which a controller serves that runs, and one that has ended; an instance waits for it."""
    two.sql("INSERT INTO Pool (PoolName, Kind) VALUES ('burst', 'dask')")
    two.sql("UPDATE ProcessBatch SET Pool = 'burst'")
    two.arrive("Daily")
    assert two("create") == 0
    return two


def served(burst: Shop, agents: str) -> None:
    """Let a controller run that serves the pool and knows some agents."""
    burst.sql("INSERT INTO Controller (ControllerName, Host) VALUES ('c2', 'far')")
    burst.sql("INSERT INTO ControllerPool (Controller_id, PoolName, Agents) VALUES (2, 'burst', ?)", agents)
    burst.sql("INSERT INTO ControllerPool (Controller_id, PoolName, Agents) VALUES (1, 'burst', ?)", SIX)


FULL = '[{"name": "a", "slots": 4, "busy": 4, "resources": {}}, {"name": "b", "slots": 8, "busy": 8, "resources": {}}]'
SIX = '[{"name": "z", "slots": 6, "busy": 0, "resources": {}}]'


def test_pools_list_agents_and_kinds_where_there_are_any(burst: Shop) -> None:
    served(burst, FULL)
    assert {one["PoolName"]: one["Agents"] for one in burst.json("pools")} == {
        "default": None,
        "burst": "2 (12 slots, 12 busy)",
        "ssis": None,
    }

    assert burst("pools") == 0
    assert "2 (12 slots, 12 busy)" in " ".join(burst.out.split())
    assert "dask" in burst.out
    for command in (("why", "1"), ("status",)):
        assert burst(*command) == 0
        assert "it waits for a free agent in pool burst (2 there, all busy)" in " ".join(burst.out.split())


def test_pools_without_agents_say_nothing_of_them(two: Shop) -> None:
    assert two("pools") == 0

    assert "agents" not in two.out
    assert "kind" not in two.out


def test_pools_say_why_agents_are_not_reached_and_how_to_try_them(burst: Shop) -> None:
    served(burst, '{"failure": "no scheduler"}')
    assert burst("pools") == 0

    assert "no scheduler" in " ".join(burst.out.split())
    assert "Next: batchctl pool test burst" in burst.out


def test_advice_for_a_pool_of_agents_names_its_section_of_the_configuration(burst: Shop) -> None:
    advice = 'batchctl run   (where batchctl.toml has [pools.burst] with kind = "dask": docs/agents.md)'
    assert burst("pools") == 0
    assert f"Next: {advice}" in burst.out
    assert burst("check", "--json") == 6

    (found,) = [one for one in json.loads(burst.out) if one["Table"] == "Pool"]
    assert found["Next"] == advice


def test_check_names_a_pool_that_no_step_can_name(two: Shop) -> None:
    two.sql("INSERT INTO Pool (PoolName) VALUES (' linux')")
    assert two("check", "--json") == 6

    (found,) = json.loads(two.out)
    assert found["Message"] == "No step finds pool ' linux': its name begins or ends with blanks."
    two.sql(found["Next"].partition(": ")[2])
    assert two("check") == 0


@pytest.mark.parametrize("change", ["DELETE FROM Pool", "UPDATE Pool SET PoolName = 'other'"])
def test_a_pool_that_steps_name_is_neither_removed_nor_renamed(two: Shop, change: str) -> None:
    with pytest.raises(two.refused, match="a batch or a step names this pool"):
        two.sql(change)
    two.sql("UPDATE ProcessControl SET Pool = NULL")
    two.sql(change)


@pytest.mark.parametrize(
    "row",
    ["'SSIS', 1", "'', 1", "'x', 0", "'x', 1001", "'ssis', 1"],
    ids=["case", "empty", "zero", "too many", "twice"],
)
def test_a_pool_that_may_not_be_is_refused_by_the_database(two: Shop, row: str) -> None:
    with pytest.raises(two.refused):
        two.sql(f"INSERT INTO Pool (PoolName, MaxConcurrent) VALUES ({row})")


def test_pools_are_exported_with_the_batches_that_name_them_and_applied(two: Shop) -> None:
    two.sql("INSERT INTO Pool (PoolName) VALUES ('other')")
    path = two.folder / "daily.toml"
    assert two("export", "--output", str(path), "--batch", "Daily") == 0, two.err
    text = path.read_text(encoding="utf-8")
    assert "other" not in text
    path.write_text(text.replace("MaxConcurrent = 2", "MaxConcurrent = 7"), encoding="utf-8")
    assert two("apply", str(path), "--reason", "more dtexec") == 0, two.err

    assert two.sql("SELECT PoolName, MaxConcurrent FROM Pool ORDER BY 1") == [("other", None), ("ssis", 7)]
    assert two.sql("SELECT Pool FROM ProcessControl WHERE ProcessControlSeq = 20") == [("SSIS",)]


def test_definitions_may_come_before_the_hosts_that_serve_their_pools(two: Shop) -> None:
    path = two.folder / "daily.toml"
    assert two("export", "--output", str(path)) == 0, two.err
    path.write_text(path.read_text(encoding="utf-8").replace("'SSIS'", "'new'").replace('"SSIS"', '"new"'), "utf-8")
    with path.open("a", encoding="utf-8") as file:
        file.write('\n[[Pool]]\nPoolName = "new"\n')
    assert two("apply", str(path), "--reason", "a host more") == 0, two.err

    assert two.sql("SELECT Pool FROM ProcessControl WHERE ProcessControlSeq = 20") == [("new",)]
    assert two("check", "--json") == 6
    message = "Steps are to run in pool 'new', and no controller has ever served it."
    assert [(one["Table"], one["Message"]) for one in json.loads(two.out)] == [("Pool", message)]


def test_where_steps_run_and_what_they_need_there_is_shown(two: Shop) -> None:
    two.sql("UPDATE Pool SET Kind = 'dask'")
    two.sql("UPDATE ProcessControl SET Needs = 'GPU=1, MEMORY=8e9' WHERE ProcessControlSeq = 20")
    two.arrive("Daily")
    assert two("run", "--once") == 0

    assert two("show", "1") == 0
    places = two.out.partition("Where steps run")[2].splitlines()
    assert [line.split(None, 3) for line in places[3:5]] == [
        ["10", "load", "default", "-"],
        ["20", "send", "ssis", "GPU=1, MEMORY=8e9"],
    ]
    assert [one["Needs"] for one in two.json("show", "1")["Steps"]] == [None, "GPU=1, MEMORY=8e9"]
    (standing,) = [one for one in two.json("pools") if one["PoolName"] == "ssis"]
    assert standing["Kind"] == "dask"


def test_what_agents_would_carry_is_titled_so(two: Shop) -> None:
    two.sql("UPDATE Pool SET Kind = 'agents'")
    two.arrive("Daily")
    assert two("run", "--once") == 0
    assert two("pause", "1", *WHY) == 0
    assert two("rerun", "1", "--from", "10", "--dry-run", *WHY) == 0
    titles = [line for line in two.out.splitlines() if line.startswith("step ")]
    assert titles == ["step 10 load (os_command):", "step 20 send (os_command, an agent of pool ssis):"]
    assert two("resume", "1", *WHY) == 0
    two.settings('[pools.ssis]\nkind = "agents"\nserver = "https://console.example.com"\ntoken = "{secret:T}"\n')
    assert two("run", "--dry-run", "--pool", "ssis") == 0
    assert "step 20 send (by an agent of pool ssis):" in two.out


def test_check_compares_the_kind_of_a_pool_with_the_settings_of_the_host(two: Shop) -> None:
    two.settings('[pools.SSIS]\nkind = "dask"\nscheduler = "tcp://127.0.0.1:1"\n')
    assert two("check", "--json") == 6
    (found,) = [one for one in json.loads(two.out) if one["Column"] == "Kind"]
    assert found["Message"] == """It says controllers, and `pools` of this host's batchctl.toml "dask" for ssis."""
    assert found["Next"] == "correct batchctl.toml, or: UPDATE Pool SET Kind = 'dask' WHERE Pool_id = 1;"
    two.sql("UPDATE Pool SET Kind = 'dask'")
    two("check", "--json")
    assert "Kind" not in [one["Column"] for one in json.loads(two.out)]
    for named in ("[pools.ssis]\n", 'pools = ["default", "SSIS"]\n'):
        two.settings(named)
        two("check", "--json")
        (found,) = [one for one in json.loads(two.out) if one["Column"] == "Kind"]
        assert found["Message"] == """It says dask, and `pools` of this host's batchctl.toml "controllers" for ssis."""
        assert found["Next"] == "correct batchctl.toml, or: UPDATE Pool SET Kind = 'controllers' WHERE Pool_id = 1;"


def test_a_pool_of_agents_is_not_served_by_a_controller_that_cannot_reach_them(two: Shop) -> None:
    two.sql("UPDATE Pool SET Kind = 'agents'")
    two.arrive("Daily")
    assert two("run", "--once", "--pool", "ssis") == 4
    assert "Agents carry the steps of pool 'ssis', and batchctl.toml does not say how they are reached." in two.err
    assert "[pools.ssis] with kind =" in two.err
    assert two("run", "--once", "--pool", "default", "--pool", "ssis") == 0
    assert "neither this controller nor another one serves pool ssis; in line: 1 instance." in two.err
    assert "[pools.ssis] with kind =" in two.err
    assert two.sql("SELECT PoolName FROM ControllerPool WHERE Controller_id > 1") == [], (
        "the default alone needs no row"
    )


def test_without_pools_nothing_is_said_of_them(shop: Shop) -> None:
    shop.batch("Daily")
    shop.arrive("Daily")
    assert shop("run", "--once") == 0
    assert shop("show", "1") == 0

    assert "Where steps run" not in shop.out

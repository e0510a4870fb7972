"""A row whose entity no batch takes is told with what may be meant by it, wherever it is looked at."""

from __future__ import annotations

import pytest

from tests.cli.shop import Shop

LONELY = "no batch takes entity 'lonely'. Batch Lonely takes entity 'Orderz'."
TASK = "no batch takes entity 'Task'. batchctl task enable --reason ... makes the batch that does."


@pytest.mark.parametrize(("entity", "said"), [("lonely", LONELY), ("Task", TASK)])
def test_what_is_meant_is_said_wherever_the_row_is_looked_at(shop: Shop, entity: str, said: str) -> None:
    shop.batch("Lonely", Entity="Orderz")
    shop("submit", entity)
    assert f"N{said[1:]}" in shop.err
    shop("run", "--once")

    assert shop.sql("SELECT Message FROM FileProcess") == [(said,)]
    assert [gate["Blocked"] for gate in shop.json("why", "file:1")["Gates"] if gate["Gate"] == "entity"] == [said]
    shop("inbox", "show", "1")
    assert f"untaken: {said}" in " ".join(shop.out.split())
    assert said.partition(". ")[2] in shop.json("incidents")[0]["Message"]
    shop("wait", "file:1")
    assert said in shop.err


def test_before_tasks_are_enabled_every_next_step_enables_them(shop: Shop) -> None:
    shop("submit", "Task", "--data", "true")
    assert "Next: batchctl task enable --reason ..." in shop.err
    shop("run", "--once")

    (clear,) = [gate["Clear"] for gate in shop.json("why", "file:1")["Gates"] if gate["Gate"] == "entity"]
    assert "or batchctl task enable --reason ..." in clear
    shop("inbox", "show", "1")
    assert clear in " ".join(shop.out.split())
    assert shop.json("incidents")[0]["NextStep"].startswith("batchctl task enable --reason ...;")

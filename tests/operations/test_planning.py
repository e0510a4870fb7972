"""What a dry run of a creation pass foretells, and that it comes so."""

from __future__ import annotations

from batchctl.domain.rows import IntakeRow, Populated
from batchctl.operations import planning
from batchctl.plugin_api import CannotPopulate
from tests.control.world import World


def test_a_dry_run_of_creation_asks_the_populators_and_writes_nothing(world: World) -> None:
    def only_a(row: IntakeRow) -> Populated:
        if row.file_name != "a":
            message = "not an a"
            raise CannotPopulate(message)
        return Populated(data=("a", None, None, None, None, None))

    world.populators.by_name["only_a"] = only_a
    world.batch("B", Populator="only_a")
    for name, data in (("a", "1"), ("b", "2"), ("a", "1")):
        world.submit("B", name, Data=data)

    planned = planning.creations(world.transactions, world.populators, 10)

    assert [(one.batches, one.repeats, one.all_refused) for one in planned] == [
        (("B",), (), ()),
        ((), (), ("batch B: not an a",)),
        ((), (1,), ()),
    ]
    assert world.one("SELECT count(*) FROM BatchControl") == 0
    done = world.create()
    assert (done.created, done.rejected, done.duplicates) == (1, 1, 1)

"""What has failed and is settled since is not what to look at."""

from __future__ import annotations

import pytest

from batchctl.domain.rows import InstanceId
from batchctl.operations import first_failed
from tests.control.world import World


@pytest.mark.parametrize(
    ("statuses", "first"),
    [
        (("cancelled", "retry", "failed"), 3),
        (("cancelled", "held", "failed"), 2),
        (("complete", "retry", "cancelled"), 2),
        (("complete", "cancelled", "cancelled"), None),
    ],
)
def test_one_that_stands_failed_or_held_is_looked_at_first(
    world: World, statuses: tuple[str, ...], first: int | None
) -> None:
    world.batch(steps=1)
    for at in range(len(statuses)):
        world.submit(Data=str(at))
    world.create()
    for number, status in enumerate(statuses, 1):
        world.sql("UPDATE BatchControl SET Status = ? WHERE BatchControl_id = ?", status, number)

    assert first_failed.first(world.transactions, map(InstanceId, (1, 2, 3))) == first

"""A filter of instances that lacks something is given back whole, so that only that is to be added."""

from __future__ import annotations

import pytest

from tests.cli.shop import Shop


@pytest.mark.parametrize(("given", "said"), [((), ""), (("--batch", "Load it"), " --batch 'Load it'")])
def test_what_was_given_stands_in_the_command_that_is_meant(shop: Shop, given: tuple[str, ...], said: str) -> None:
    assert shop("cancel", *given, "--since", "2026-11-20", "--reason", "x") == 2
    meant = f"batchctl cancel{said} --since '2026-11-20 00:00:00' --status STATUS --reason ..."
    assert meant in " ".join(shop.err.split())

"""What the loop of a pool logs: no broken connection, and nothing that is pending when its controller ends."""

from __future__ import annotations

import asyncio
import gc
import logging

import pytest

from batchctl.system.remote.pool_loop import LoopOnThread


@pytest.mark.parametrize(("error", "logged"), [(ConnectionResetError("broken"), 0), (ValueError("odd"), 1)])
def test_an_error_that_no_one_waits_for_is_logged_unless_a_connection_broke(
    error: Exception, logged: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def leave_behind() -> None:
        asyncio.get_running_loop().create_future().set_exception(error)
        gc.collect()

    loop = LoopOnThread("test")
    with caplog.at_level(logging.ERROR, "asyncio"):
        loop.wait(leave_behind(), 10)
        loop.end(asyncio.sleep(0), 10)

    assert len(caplog.records) == logged


def test_what_is_pending_at_the_end_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def wait_for_ever() -> None:
        await asyncio.get_running_loop().create_future()

    loop = LoopOnThread("test")
    with caplog.at_level(logging.ERROR, "asyncio"):
        loop.post(wait_for_ever())
        loop.end(asyncio.sleep(0), 10)
        del loop
        gc.collect()

    assert caplog.records == []

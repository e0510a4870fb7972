"""What the tests of the system layer share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from batchctl.domain.outcomes import Connection
from batchctl.registry import Registry
from batchctl.system.plugins.plugin_process import PluginProcess
from batchctl.system.runner import ThreadStepRunner
from tests.system.watching import Ear

PLUGINS = str(Path(__file__).parent / "plugins")


@pytest.fixture
def ear(tmp_path: Path) -> Iterator[Ear]:
    listening = Ear(tmp_path / "ear")
    yield listening
    listening.close()


@pytest.fixture
def controller_id(tmp_path: Path) -> str:
    """An id that no other test has: tests run side by side and stop what carries it."""
    return f"here:{os.getpid()}:{tmp_path.name}"


@pytest.fixture
def plugin_process(controller_id: str) -> Callable[[], PluginProcess]:
    return partial(
        PluginProcess,
        controller_id=controller_id,
        plugin_modules=["acme_jobs", "acme_populators"],
        sys_path=[PLUGINS],
    )


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Where workers of the test remember their commands."""
    return tmp_path / "state"


@pytest.fixture
def runner(controller_id: str, plugin_process: Callable[[], PluginProcess], state: Path) -> Iterator[ThreadStepRunner]:
    made = ThreadStepRunner(
        controller_id=controller_id,
        plugin_process=plugin_process,
        jobs=Registry(["acme_jobs"], [PLUGINS]).jobs,
        connections={"warehouse": Connection("warehouse", "sqlite://")},
        secrets={"password": "s3same"}.__getitem__,
        slots=4,
        stop_grace=timedelta(seconds=1),
        state_directory=state,
    )
    yield made
    made.close()

"""Makes what carries steps out on this host, for a controller or for an agent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path

from batchctl import config
from batchctl.app import App
from batchctl.step_context import connections_of
from batchctl.system.commands.environment import of_steps
from batchctl.system.plugins.plugin_process import PluginProcess
from batchctl.system.runner import ThreadStepRunner


def runner_of(app: App, controller: str, state: Path | None, *, slots: int) -> ThreadStepRunner:
    """Return a runner; with a folder for its state, commands are remembered there for whatever controller comes next."""
    settings = app.settings
    return ThreadStepRunner(
        controller_id=controller,
        plugin_process=plugin_processes(app, controller),
        jobs=app.registry.jobs,
        connections=connections_of(settings),
        secrets=partial(config.secret, settings),
        slots=slots,
        clock=app.clock,
        stop_grace=timedelta(seconds=settings.stop_grace),
        output_cap=settings.output_limit,
        state_directory=state,
        environment=of_steps(settings),
        known_secrets=partial(config.known_secrets, settings),
        ask=app.handler_calls.ask,
    )


def plugin_processes(app: App, controller: str) -> Callable[[], PluginProcess]:
    """Return what begins a process for the code of plugins."""
    settings = app.settings
    return lambda: PluginProcess(
        controller_id=controller,
        plugin_modules=[name for name in settings.modules if name not in app.left_out],
        sys_path=app.plugin_path,
        cap=settings.output_limit,
        environment=of_steps(settings),
        left_out=app.left_out,
    )

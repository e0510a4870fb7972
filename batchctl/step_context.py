"""What the configuration and the plugins offer to steps. Commands that prepare no step do not load it."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from batchctl import config
from batchctl.domain.errors import ConfigurationError, PluginError
from batchctl.domain.outcomes import Connection, JobSignature, StepContext
from batchctl.domain.rows import BatchDefinition
from batchctl.plugin_api import CannotPopulate
from batchctl.registry import Registry
from batchctl.system.plugins.job_calls import signature_of
from batchctl.system.plugins.targets import read_below, target_message

CONTROL_PROCEDURES = "procedures"
"""The folder with the procedures of a control database that has none itself."""


def context_of(settings: config.Settings, registry: Registry) -> StepContext:
    """Return what steps may refer to."""
    return StepContext(
        connections=connections_of(settings),
        control=control_of(settings),
        jobs=_jobs_of(registry),
        secrets={name: secret.source for name, secret in settings.secrets.items()},
        secret_is_set=partial(_secret_is_set, settings),
        directory=str(settings.directory),
        read_text=partial(read_below, settings.directory, closed_files(settings)),
        batchctl_command=_command_of(settings),
        unloaded={one.message: one.next_step or "" for one in registry.failed_modules().values()},
    )


def connections_of(settings: config.Settings) -> dict[str, Connection]:
    """Return the target databases the configuration names."""
    return {
        name: Connection(name, _absolute_url(given.url, settings.directory), given.procedures)
        for name, given in settings.connections.items()
    }


def control_of(settings: config.Settings) -> Connection:
    """Return the control database as a target; on SQLite its procedures are files beside the configuration."""
    return Connection("control database", _absolute_url(settings.database_url, settings.directory), CONTROL_PROCEDURES)


def target_of(settings: config.Settings, batch: BatchDefinition) -> dict[str, Any]:
    """Return what a populator that asks a database gets: PopulatorArgs names it; empty, it is the control database."""
    name = (batch.populator_args or "").strip()
    try:
        url = config.connection_url(settings, name) if name else config.database_url(settings)
    except ConfigurationError as error:
        raise CannotPopulate(error.in_full) from None
    target = connections_of(settings)[name] if name else control_of(settings)
    target = replace(target, url=_absolute_url(url, settings.directory))
    return target_message(target, settings.directory, closed_files(settings), is_control=not name)


def _absolute_url(url: str, directory: Path) -> str:
    """Let the file of a SQLite URL begin where the configuration lies."""
    prefix, relative = "sqlite:///", url.removeprefix("sqlite:///")
    if not url.startswith(prefix) or not relative or Path(relative).is_absolute():
        return url
    return f"{prefix}{directory / relative}"


def _jobs_of(registry: Registry) -> dict[str, JobSignature]:
    """Return the jobs by name, with how each may be called; a broken one fails only when it is used."""
    jobs: dict[str, JobSignature] = {}
    for name in registry.job_names:
        jobs[name] = JobSignature()
        with suppress(PluginError):
            jobs[name] = signature_of(registry.job(name))
    return jobs


def _secret_is_set(settings: config.Settings, name: str) -> bool:
    try:
        config.secret(settings, name)
    except ConfigurationError:
        return False
    return True


def _command_of(settings: config.Settings) -> tuple[str, ...]:
    """Return how this batchctl, with this configuration, is called from a shell."""
    command = (sys.executable, "-m", "batchctl")
    return command if settings.file is None else (*command, "--config", str(settings.file))


def closed_files(settings: config.Settings) -> list[Path]:
    """Return the files that nothing may read by name: the configuration, and those of secrets."""
    held = [settings.directory / one.file for one in settings.secrets.values() if one.file is not None]
    return held if settings.file is None else [settings.file, *held]

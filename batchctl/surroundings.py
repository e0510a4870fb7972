"""What the configuration and the plugins offer to steps. Who prepares none does without."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

from batchctl import config
from batchctl.domain.errors import ConfigurationError, PluginError, StepRefused
from batchctl.domain.outcomes import Connection, JobSignature, Surroundings
from batchctl.domain.text import visible
from batchctl.ports import Files
from batchctl.registry import Registry
from batchctl.system.files import SystemFiles, is_the_same
from batchctl.system.jobs import signature_of


def surroundings_of(settings: config.Settings, registry: Registry) -> Surroundings:
    """Return what steps may refer to."""
    return Surroundings(
        connections=connections_of(settings),
        jobs=_jobs_of(registry),
        secrets={name: secret.source for name, secret in settings.secrets.items()},
        secret_is_set=partial(_secret_is_set, settings),
        directory=str(settings.directory),
        read_text=partial(_read_below, settings),
        batchctl_command=_command_of(settings),
        unloaded={one.message: one.next_step or "" for one in registry.module_problems().values()},
    )


def connections_of(settings: config.Settings) -> dict[str, Connection]:
    """Return the target databases the configuration names."""
    return {
        name: Connection(name, _absolute_url(given.url, settings.directory), given.procedures)
        for name, given in settings.connections.items()
    }


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


def _read_below(settings: config.Settings, name: str) -> str:
    """Read a text file below the directory of the configuration; anything outside, or that may hold secrets, is refused."""
    directory = settings.directory
    path = (directory / name).resolve()
    if not path.is_relative_to(directory.resolve()):
        message = f"'{visible(name)}' lies outside the directory of the configuration."
        raise StepRefused(message)
    closed = [settings.file, *(directory / one.file for one in settings.secrets.values() if one.file is not None)]
    if any(one is not None and is_the_same(path, one) for one in closed):
        message = f"'{visible(name)}' is the configuration or holds a secret, which no step reads."
        raise StepRefused(message)
    files: Files = SystemFiles()
    try:
        return files.read_text(str(path))
    except (OSError, UnicodeDecodeError) as error:
        message = f"'{visible(name)}' cannot be read: {error}."
        raise StepRefused(message) from None

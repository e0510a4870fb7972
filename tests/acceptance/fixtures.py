"""The product as a user has it: its command, and the built wheel, installed into an environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO

import pytest

from tests.acceptance.installation import (
    PATIENCE,
    RunBatchctl,
    StartBatchctl,
    Started,
    build_wheel,
    clean_environment,
    install,
    one_at_a_time,
)
from tests.loaded_batchctl import LoadedBatchctl


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for the whole test run, however many processes it has."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def wheel(shared_folder: Path) -> Path:
    """The wheel of this checkout, built once per test run."""
    folder = shared_folder / "wheel"
    with one_at_a_time(shared_folder / "wheel.lock"):
        return next(folder.glob("*.whl"), None) or build_wheel(folder)


@pytest.fixture(scope="session")
def installed_batchctl(shared_folder: Path, wheel: Path) -> Path:
    """The `batchctl` command of a fresh environment that holds the wheel, made once per test run."""
    made = shared_folder / "installed.txt"
    with one_at_a_time(shared_folder / "installed.lock"):
        if not made.exists():
            made.write_text(str(install(wheel, shared_folder / "venv")), encoding="utf-8")
    return Path(made.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def loaded_batchctl() -> Iterator[LoadedBatchctl]:
    """Commands of this checkout without the start of an interpreter."""
    made = LoadedBatchctl()
    yield made
    made.close()


@pytest.fixture(scope="session")
def run_installed(installed_batchctl: Path) -> RunBatchctl:
    """Runs the installed command in a clean environment and hands back what it printed."""
    return partial(_in_a_process, [str(installed_batchctl)])


@pytest.fixture(scope="module")
def run_batchctl(request: pytest.FixtureRequest) -> RunBatchctl:
    """Runs the installed command in modules marked `wheel`, elsewhere what does the same in a fraction of the time."""
    if _wants_the_installed(request):
        installed: RunBatchctl = request.getfixturevalue("run_installed")
        return installed
    loaded: LoadedBatchctl = request.getfixturevalue("loaded_batchctl")

    def run(
        *args: str, cwd: Path, env: Mapping[str, str] | None = None, input: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        environment = clean_environment(env)
        if _is_for_interpreters(environment):
            return _in_a_process([sys.executable, "-m", "batchctl"], *args, cwd=cwd, env=env, input=input)
        return loaded.run(*args, cwd=cwd, env=environment, input=input or "", patience=PATIENCE)

    return run


@pytest.fixture(scope="module")
def start_batchctl(request: pytest.FixtureRequest) -> StartBatchctl:
    """Starts what `run_batchctl` runs, and leaves it to itself."""
    installed = _wants_the_installed(request)
    source: Path | LoadedBatchctl = request.getfixturevalue("installed_batchctl" if installed else "loaded_batchctl")

    def start(
        *args: str,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        stdout: int | IO[str] = subprocess.PIPE,
        stderr: int | IO[str] = subprocess.PIPE,
    ) -> Started:
        environment = clean_environment(env)
        if isinstance(source, LoadedBatchctl) and not _is_for_interpreters(environment):
            return source.start(*args, cwd=cwd, env=environment, stdout=stdout, stderr=stderr)
        command = [sys.executable, "-m", "batchctl"] if isinstance(source, LoadedBatchctl) else [str(source)]
        return subprocess.Popen(
            [*command, *args],
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            encoding="utf-8",
        )

    return start


def _is_for_interpreters(environment: Mapping[str, str]) -> bool:
    """Say whether it holds what only an interpreter that starts looks at."""
    return any(name.startswith("PYTHON") for name in environment)


def _wants_the_installed(request: pytest.FixtureRequest) -> bool:
    return request.node.get_closest_marker("wheel") is not None or sys.platform == "win32"


def _in_a_process(
    command: list[str], *args: str, cwd: Path, env: Mapping[str, str] | None = None, input: str | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*command, *args],
        cwd=cwd,
        env=clean_environment(env),
        input=input or "",
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="backslashreplace",
        timeout=PATIENCE,
        check=False,
    )

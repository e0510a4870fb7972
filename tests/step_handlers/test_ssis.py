"""Rows of type `ssis`, and the dtexec way: a stand-in that reads its arguments by the documented grammar is really run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given

from batchctl.domain.status import OnLost
from batchctl.plugin_api import (
    CommandEnd,
    Connection,
    Finding,
    Rendered,
    StepHandler,
    StepOutcome,
    StepRefused,
    Verifiable,
)
from batchctl.testing import a_request, a_step, context
from step_handlers import ssis
from step_handlers.packages import _dtexec
from step_handlers.shells import _windows_shell
from step_handlers.shells._windows_words import join_words
from step_handlers.sql import Sql
from step_handlers.ssis import Ssis
from step_handlers.stored_procedure import StoredProcedure
from tests.step_handlers import dtexec
from tests.step_handlers.execution import Alone, as_execution, run_for_real
from tests.step_handlers.hostile import ATOMS, HOSTILE
from tests.step_handlers.windows_rules import command_line_to_argv, dtexec_arguments, powershell_text

HANDLER = Ssis()
CONNECTIONS = {
    "etl": Connection("etl", "mssql+pyodbc://etl01/SSISDB"),
    "old": Connection("old", "mssql+pymssql://etl01/SSISDB"),
    "warehouse": Connection("warehouse", "sqlite:///warehouse.db"),
}
AROUND = context("/shop", connections=CONNECTIONS, secrets={"pw": "env:PW"})
PROJECT = r"\SSISDB\Finance\Daily Load"
SYNCHRONIZED = "$ServerOption::SYNCHRONIZED(Boolean);True"


def argv(**columns: Any) -> list[str]:
    given = {"Data1": PROJECT, "Data2": "Ok.dtsx", "Data4": "ETL01", **columns}
    values = {name.removeprefix("value_"): given.pop(name) for name in list(given) if name.startswith("value_")}
    spec = HANDLER.render(a_request(a_step("ssis", **given), AROUND, **values)).spec["argv"]
    assert isinstance(spec, list)
    return [str(word) for word in spec]


def messages(**columns: Any) -> list[str]:
    on_lost = columns.pop("on_lost", OnLost.HOLD)
    given = {"Data1": PROJECT, "Data2": "Ok.dtsx", "Data4": "ETL01", **columns}
    found = HANDLER.check(a_step("ssis", on_lost=on_lost, **given), AROUND)
    return [f"{finding.column}: {finding.message}" for finding in found]


def test_a_package_on_a_server_is_run_synchronised() -> None:
    parameters = "$Project::Day(String)={Data3}; Rows(Int32)=5; CM.Source.InitialCatalog='ssisdb'"

    assert argv(Data3=parameters, value_Data3="2026-11-21") == [
        *("dtexec", "/ISSERVER", PROJECT + r"\Ok.dtsx", "/SERVER", "ETL01", "/Par", "$Project::Day;2026-11-21"),
        *("/Par", "$Package::Rows(Int32);5", "/Par", "$Package::CM.Source.InitialCatalog;ssisdb", "/Par", SYNCHRONIZED),
    ]


def test_a_package_in_a_directory_is_run_as_a_file() -> None:
    assert argv(Data1="packages", Data3="User::Day={Data3}; Rows(Int32)=5", Data4=None, value_Data3="x y") == [
        *("dtexec", "/FILE", "/shop/packages/Ok.dtsx", "/SET", r"\Package.Variables[User::Day].Value;x y"),
        *("/SET", r"\Package.Variables[$Package::Rows].Value;5"),
    ]


def test_a_package_in_a_project_file_is_run_from_it() -> None:
    assert argv(Data1="Daily.ispac", Data3="$Project::Day=x; Rows(Int32)=5", Data4=None) == [
        *("dtexec", "/PROJECT", "/shop/Daily.ispac", "/PACKAGE", "Ok.dtsx"),
        *("/SET", r"\Package.Variables[$Project::Day];x", "/SET", r"\Package.Variables[$Package::Rows];5"),
    ]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"Data1": None}, "Data1: the place of the package is missing"),
        ({"Data1": r"\SSISDB\Finance"}, r"Data1: '\SSISDB\Finance' is no project of a catalog"),
        ({"Data1": r"\SSISDB\{Data1}\x"}, r"Data1: '\SSISDB\{Data1}\x' holds a brace; a value may never choose"),
        ({"Data1": 'a"b', "Data4": None}, "Data1: dtexec cannot be given 'a\"b'"),
        ({"Data1": "-x", "Data4": None}, "Data1: '-x' begins with '-'"),
        ({"Data2": None}, "Data2: '' is no package; write its name with .dtsx"),
        ({"Data2": "Load"}, "Data2: 'Load' is no package"),
        ({"Data2": r"..\Load.dtsx"}, "Data2: '..\\Load.dtsx' is no package"),
        ({"Data2": "{Data2}.dtsx"}, "Data2: '{Data2}.dtsx' is no package"),
        ({"Data4": None}, "Data4: '' is neither a connection of the configuration nor a server's name"),
        ({"Data4": "/SET"}, "Data4: '/SET' is neither a connection"),
        ({"Data4": "warehouse"}, "Data4: connection 'warehouse' has a sqlite url; the catalog needs mssql"),
        ({"Data4": "old"}, "Data4: connection 'old' names the driver mssql+pymssql, which is not supported"),
        ({"Data1": "dir", "Data4": "ETL01"}, "Data4: a server is only used with a project of a catalog"),
        (
            {"Data4": "ETLX"},
            (
                "Data4: 'ETLX' is taken for the name of a server, where dtexec runs the package. Did you mean the connection "
                "'etl'? If not, write the server with its domain, as in ETLX.example.com"
            ),
        ),
        (
            {"Data3": "Rows=5, x=7"},
            "Data3: parameter 'Rows': parameters of a package are separated by ';', not by ',': write Rows=...; x=...",
        ),
        ({"Data3": "Rows={Data3},$Project::Day(String) = 7"}, "Data3: parameter 'Rows': parameters of a package are"),
        ({"Data3": "Rows"}, "Data3: expected Name(Type)=value at 'Rows'"),
        (
            {"Data3": "Rows(Int32)=x"},
            "Data3: parameter 'Rows': 'x' is no Int32; it holds whole numbers from -2147483648",
        ),
        ({"Data3": "Rows(Int)=5"}, "Data3: parameter 'Rows': 'Int' is no type of a package's parameter. Did you mean"),
        ({"Data3": "$Projekt::Rows=5"}, "Data3: '$Projekt::' is no kind of parameter. Did you mean '$Project'?"),
        ({"Data3": "A=1; a=2"}, "Data3: parameter '$Package::a' is given twice"),
        ({"Data3": "A=1;"}, "Data3: the list ends with a semicolon"),
        ({"Data3": "A='x' B=2"}, "Data3: parameter 'A': expected a semicolon at 'B=2'"),
        ({"Data3": "A="}, "Data3: parameter 'A' has no value"),
        ({"Data3": "A=NULL"}, "Data3: parameter 'A': a package's parameter cannot be NULL; leave it out"),
        ({"Data3": "A={Dta1}"}, "Data3: '{Dta1}' is not a placeholder. Did you mean 'Data1'?"),
        ({"Data3": "A={secret:pw}"}, "Data3: parameter 'A': a secret given here could be read by others"),
        ({"Data3": "A={secret:pw}", "Data4": "etl"}, "Data3: parameter 'A': a secret given here could be read"),
        ({"Data3": "User::A=1"}, "Data3: User::A: variables cannot be set in a catalog"),
        (
            {"Data3": "$ServerOption::SYNCHRONIZED(Boolean)=False"},
            "Data3: $ServerOption::SYNCHRONIZED is set by batchctl",
        ),
        (
            {"Data1": "d", "Data4": None, "Data3": "$ServerOption::X=1"},
            "Data3: $ServerOption::X is an option of a catalog",
        ),
        ({"Data1": "d", "Data4": None, "Data3": "$Project::X=1"}, "Data3: $Project::X: a package file has no project"),
        ({"Data5": "x"}, "Data5: Data5 is not used by ssis"),
        ({"Data6": "x"}, "Data6: Data6 is not used by ssis"),
        ({"on_lost": OnLost.VERIFY}, "OnLost: a lost execution can only be found through the catalog"),
        ({"Data3": "A=a\x00"}, "Data3: it contains a NUL character"),
    ],
)
def test_check_says_what_is_wrong(columns: dict[str, Any], said: str) -> None:
    found = messages(**columns)

    assert [message for message in found if message.startswith(said)], found


def test_sound_rows_have_no_problems_and_a_lost_execution_can_be_asked_for() -> None:
    assert messages(Data3="$Project::Day(String)={Data3}; Rows(Int32)=5") == []
    assert [said for said in messages(Data4="etl", on_lost=OnLost.VERIFY) if "install it" not in said] == []
    assert messages(Data4=r"tcp:etl01\prod,1433") == []
    assert messages(Data4="ETLX.example.com") == []
    assert messages(Data3="Note='a, b=7'; List=1,2,3; Query=a,b") == []
    assert messages(Data1="packages", Data4=None) == []
    assert isinstance(HANDLER, Verifiable)


@pytest.mark.parametrize(
    ("handler", "columns", "column"),
    [
        (Sql(), {"Data1": "etl", "Data2": "SELECT 1"}, "Data1"),
        (StoredProcedure(), {"Data1": "etl", "Data2": "dbo.load"}, "Data1"),
        (HANDLER, {"Data1": PROJECT, "Data2": "Ok.dtsx", "Data4": "etl"}, "Data4"),
    ],
)
def test_check_says_which_secret_of_a_connection_is_not_set(
    handler: StepHandler, columns: dict[str, Any], column: str
) -> None:
    connections = {"etl": Connection("etl", "mssql+pyodbc://me:{secret:pw}@etl01/SSISDB")}
    context_at = context("/shop", connections=connections, secrets={"pw": "env:PW"}, unset_secrets={"pw"})

    found = handler.check(a_step(handler.process_type, **columns), context_at)

    message = "connection 'etl': secret 'pw' (env:PW) is not set here; the controller will need it"
    assert (
        Finding(column, message, "set the environment variable PW, for the user who runs batchctl, and start it again")
        in found
    )


def test_the_advice_for_a_secret_names_only_what_an_execution_uses() -> None:
    (said,) = messages(Data3="A={secret:pw}", Data4="ETL01")

    assert "not references to an environment, which is not used here" in said


def test_a_lost_package_is_never_run_again_in_place_of_being_looked_for() -> None:
    step = a_step("ssis", Data1=PROJECT, Data2="Ok.dtsx", Data4="ETL01", on_lost=OnLost.VERIFY)

    with pytest.raises(StepRefused, match="a lost execution can only be found through the catalog"):
        HANDLER.render(a_request(HANDLER.verification(step), AROUND))


@pytest.mark.parametrize(
    ("kind", "value", "written"),
    [
        ("Boolean", "true", "True"),
        ("Boolean", "0", "False"),
        ("Byte", "255", "255"),
        ("SByte", "-128", "-128"),
        ("Int16", "+7", "7"),
        ("Int64", "-9223372036854775808", "-9223372036854775808"),
        ("UInt32", "4294967295", "4294967295"),
        ("UInt64", "18446744073709551615", "18446744073709551615"),
        ("Decimal", "-12.50", "-12.50"),
        ("Double", "1e6", "1000000.0"),
        ("Single", "0.5", "0.5"),
        ("DateTime", "20261121", "2026-11-21T00:00:00.000"),
        ("DateTime", "2026-11-21 02:30:00", "2026-11-21T02:30:00.000"),
        ("DateTime", "2026-11-21 23:59:59.997", "2026-11-21T23:59:59.997"),
        ("DateTime", "2026-11-21T02:30:00.013", "2026-11-21T02:30:00.013"),
        ("String", " -rf /SET ) 'x' % & $(id)".strip(), "-rf /SET ) 'x' % & $(id)"),
        ("String", r"C:\in\data.csv", r"C:\in\data.csv"),
    ],
)
def test_a_value_is_written_as_its_type(kind: str, value: str, written: str) -> None:
    assert argv(Data3=f"P({kind})={{Data3}}", value_Data3=value)[6].endswith(f";{written}")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("Boolean", "yes"),
        ("Byte", "256"),
        ("SByte", "128"),
        ("Int32", "5; DROP"),
        ("Int32", "2147483648"),
        ("Int64", "9" * 5000),
        ("UInt32", "-1"),
        ("Decimal", "1e5"),
        ("Decimal", "9" * 40),
        ("Double", "1e999"),
        ("Double", "nan"),
        ("Single", "1e39"),
        ("DateTime", "21.11.2026"),
        ("DateTime", "1600-01-01"),
        ("DateTime", "2026-11-21T00:00:00+01:00"),
        # The catalog would make the next day of it.
        ("DateTime", "2026-11-21T23:59:59.999"),
        ("DateTime", "2026-11-21T00:00:00.001"),
        ("DateTime", "2026-11-21T00:00:00.0031"),
        ("String", "x" * 4001),
    ],
)
def test_a_value_that_its_type_cannot_hold_is_refused(kind: str, value: str) -> None:
    for server in ("ETL01", "etl"):
        step = a_step("ssis", Data1=PROJECT, Data2="Ok.dtsx", Data3=f"P({kind})={{Data3}}", Data4=server)
        with pytest.raises(StepRefused, match=f"Data3: parameter 'P': .* is no {kind}"):
            HANDLER.render(a_request(step, AROUND, Data3=value))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ('a"b', "'\"' quotes arguments"),
        ("a;b", "';' separates a name from its value"),
        ("a\nb", "invisible character"),
        ("a\\", "a backslash at the end"),
        (" a", "blanks at the ends"),
        ("", "no way to pass empty text"),
    ],
)
def test_what_the_grammar_leaves_open_is_refused_with_the_other_way(value: str, reason: str) -> None:
    with pytest.raises(
        StepRefused, match=f"parameter 'P': .*{reason}.*name a connection of the configuration in Data4"
    ):
        argv(Data3="P={Data3}", value_Data3=value)


@given(HOSTILE)
@example("0\xa00")
@example("0\u20030")
def test_no_value_can_become_an_option_or_arrive_changed(value: str) -> None:
    try:
        words = argv(Data3="$Project::P(String)={Data3}; Q(Int32)=5", value_Data3=value)
    except StepRefused:
        assert _dtexec.why_unfit(value)
        return
    parameters = [f"$Project::P;{value}", "$Package::Q(Int32);5", SYNCHRONIZED]
    expected = {"ISSERVER": [PROJECT + r"\Ok.dtsx"], "SERVER": ["ETL01"], "PARAMETER": parameters}

    line = join_words(words)
    assert dtexec.understood(words[1:]) == expected
    assert command_line_to_argv(line) == words
    assert dtexec_arguments(line) == words


@pytest.mark.parametrize("value", ["x", "it's a b", "C:\\in\\a b.csv"])
def test_on_windows_the_text_is_for_powershell(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssis, "shell", _windows_shell)
    step = a_step("ssis", Data1=PROJECT, Data2="Ok.dtsx", Data3="P={Data3}", Data4="ETL01")

    text = HANDLER.render(a_request(step, AROUND, Data3=value)).command_text

    started = text.split("::new('dtexec', ")[1].split("); $start.WorkingDirectory")[0]
    assert command_line_to_argv(powershell_text(started)) == argv(Data3="P={Data3}", value_Data3=value)[1:]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in PATH with the stand-in for dtexec."""
    programs = tmp_path / "programs"
    programs.mkdir()
    program = programs / "dtexec"
    program.write_text(f"#!{sys.executable}\n{Path(dtexec.__file__).read_text(encoding='utf-8')}", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return tmp_path


def ready(directory: Path, package: str = "Ok.dtsx", **columns: Any) -> Rendered:
    given = {"Data1": PROJECT, "Data2": package, "Data3": "P={Data3}; Rows(Int32)=5", "Data4": "ETL01", **columns}
    return HANDLER.render(a_request(a_step("ssis", **given), context(str(directory)), Data3="a b/SET (c) $x 'y'"))


@pytest.mark.parametrize(
    ("package", "code", "fatal", "message"),
    [
        ("Ok.dtsx", 0, False, None),
        ("Fails.dtsx", 1, False, "dtexec exited with 1: the package failed: no such file"),
        ("Cancelled.dtsx", 3, False, "dtexec exited with 3: the package was cancelled by a user"),
        (
            "Missing.dtsx",
            4,
            True,
            "dtexec exited with 4: the package was not found; correct Data1 and Data2, or deploy it",
        ),
        ("Unloadable.dtsx", 5, True, "dtexec exited with 5: the package could not be loaded; deploy it again"),
    ],
)
@pytest.mark.parametrize("place", [{}, {"Data1": "packages", "Data4": None}, {"Data1": "Daily.ispac", "Data4": None}])
def test_every_exit_code_is_understood(
    path: Path, package: str, code: int, fatal: bool, message: str | None, place: dict[str, Any]
) -> None:
    outcome = run_for_real(HANDLER, ready(path, package, **place))

    assert (outcome.succeeded, outcome.return_code, outcome.fatal) == (code == 0, code, fatal)
    assert (outcome.message or "")[: len(message or "")] == (message or "")
    assert "Execution ID: 4711." in (outcome.output or "")
    assert "a b/SET (c) $x 'y'" in (outcome.output or "")


def test_a_command_line_error_is_fatal(path: Path) -> None:
    rendered = Rendered("", {"argv": ["dtexec", "/ISSERVER", "x", "/SET"], "directory": str(path)})

    outcome = run_for_real(HANDLER, rendered)

    assert (outcome.return_code, outcome.fatal) == (6, True)
    assert "did not accept the command line" in (outcome.message or "")


def test_without_dtexec_the_step_fails_for_good_and_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    outcome = run_for_real(HANDLER, ready(tmp_path))

    assert (outcome.succeeded, outcome.fatal) == (False, True)
    assert (outcome.message or "").startswith("not started: command 'dtexec' not found; searched in PATH")
    assert "Install Integration Services on this host" in (outcome.message or "")


@pytest.mark.parametrize("shell", ["bash", "dash"])
def test_what_is_pasted_does_the_same(path: Path, shell: str) -> None:
    assert shutil.which(shell)
    rendered = ready(path, "Fails.dtsx")

    done = subprocess.run([shell], input=rendered.command_text, capture_output=True, check=False, text=True)

    assert done.returncode == 1
    assert done.stdout == run_for_real(HANDLER, rendered).output
    understood = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    assert understood["PARAMETER"][0] == "$Package::P;a b/SET (c) $x 'y'"


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        (
            CommandEnd(signal_name="SIGTERM", stopped=True),
            StepOutcome(
                succeeded=False,
                stopped=True,
                message="was told to stop; the catalog's execution may go on: stop it in SSMS (Active Operations); with "
                "the name of a connection in Data4 batchctl stops it itself",
            ),
        ),
        (
            CommandEnd(not_started="the step was told to stop before", stopped=True),
            StepOutcome(succeeded=False, stopped=True, message="was told to stop"),
        ),
        (
            CommandEnd(signal_name="SIGKILL"),
            StepOutcome(succeeded=False, message="dtexec was ended by signal SIGKILL"),
        ),
        (
            CommandEnd(exit_code=2, left_behind=True),
            StepOutcome(
                succeeded=False,
                return_code=2,
                message="dtexec exited with 2: dtexec does not document this code; processes that it had started "
                "outlived it and were stopped",
            ),
        ),
    ],
)
def test_other_ends_are_told_plainly(end: CommandEnd, outcome: StepOutcome) -> None:
    assert HANDLER.execute(ready(Path("/")), as_execution(Alone(command_end=end))) == outcome


@pytest.mark.parametrize(
    "arguments",
    [
        ["/F", "a.dtsx", "stray"],
        ["/F"],
        ["/F", "a.dtsx", "/IS", "b"],
        ["/F", "a.dtsx", "/Par", "a;1"],
        ["/IS", "b"],
        ["/IS", "b", "/SER", ".", "/Par", "a;1;2"],
        ["/IS", "b", "/SER", ".", "/Par", "a(Integer);1"],
        ["/F", "a.dtsx", "/Sett", "x"],
        ["/F", "a.dtsx", "/SET", "x;1"],
    ],
)
def test_the_stand_in_is_no_pushover(arguments: list[str]) -> None:
    with pytest.raises(dtexec.CommandLineError):
        dtexec.understood(arguments)


@pytest.mark.parametrize("atom", ATOMS)
def test_the_catalog_takes_every_value_that_a_row_can_hold(atom: str) -> None:
    step = a_step("ssis", Data1=PROJECT, Data2="Ok.dtsx", Data3="P={Data3}; Q='x{Data3}'", Data4="etl")

    spec = HANDLER.render(a_request(step, AROUND, Data3=atom)).spec

    assert isinstance(spec["parameters"], list)
    assert [value["text"] for value in spec["parameters"] if isinstance(value, dict)] == [atom, f"x{atom}"]

"""Command texts for Windows: golden files, and Windows' own rules applied to hostile values. Pure, so it runs anywhere."""

from __future__ import annotations

import ntpath
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.plugin_api import StepRefused, visible
from batchctl.testing import a_request, a_step, context
from step_handlers import os_command
from step_handlers.shells import _windows_shell
from step_handlers.shells._windows_words import join_words
from tests.step_handlers.hostile import ATOMS, HOSTILE
from tests.step_handlers.windows_rules import cmd_to_program, command_line_to_argv, powershell_text

GOLDEN = Path(__file__).parent / "golden"
AROUND = context(r"C:\shop", secrets={"w": "env:WAREHOUSE_PASSWORD", "t": "file:C:\\keys\\a token"})
HANDLER = os_command.OsCommand()
CASES = {
    "plain": (r"bin\load.exe --file={Data1} {Data2}", None, {"Data1": r"C:\in\a b\ ".strip(), "Data2": 'say "hi"'}),
    "hostile": ('load "" {Data1}', None, {"Data1": "O'x \u2019 $(id) `id` %PATH% ^& | \\\" \r\n\u202e😀"}),
    "secrets": ("load {Data1}", "A={Data1}, W={secret:w}, T={secret:t}", {"Data1": "it's"}),
    "batch_file": (r"C:\jobs\load.cmd {Data1} /x", None, {"Data1": "data_20261101.csv"}),
}
WORDS = st.lists(HOSTILE, max_size=6)


@pytest.fixture(autouse=True, scope="module")
def _on_windows() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os_command, "shell", _windows_shell)
        patch.setattr(os_command, "os", SimpleNamespace(path=ntpath))
        yield


@pytest.mark.parametrize("name", CASES)
def test_a_text_for_powershell_and_cmd_is_the_golden_one(name: str) -> None:
    command, environment, values = CASES[name]

    rendered = HANDLER.render(a_request(a_step(Data1=command, Data4=environment), AROUND, **values))

    assert rendered.command_text + "\n" == (GOLDEN / f"{name}.ps1").read_text(encoding="utf-8")
    assert all(visible(line) == line for line in rendered.command_text.split("\n"))


@given(WORDS)
def test_words_are_joined_as_the_controller_joins_them_and_split_into_the_same(words: list[str]) -> None:
    line = join_words(words)

    assert line == subprocess.list2cmdline(words)
    assert command_line_to_argv(line) == words


@given(WORDS, HOSTILE)
def test_powershell_starts_the_process_with_the_controllers_arguments(words: list[str], value: str) -> None:
    text = _windows_shell.command_line(["load", *words], directory=value, environment={"A": value}, secrets={})

    assert "\n" not in text
    assert visible(text) == text
    found = re.fullmatch(
        r"& \{ \$ErrorActionPreference = 'Stop'; \$start = \[Diagnostics\.ProcessStartInfo\]::new\('load', (.*)\); "
        r"\$start\.WorkingDirectory = (.*); \$start\.EnvironmentVariables\['A'\] = (.*); \$start\.UseShellExecute = .*",
        text,
    )
    assert found
    assert command_line_to_argv(powershell_text(_undoubled(found[1]))) == words
    assert powershell_text(_undoubled(found[2])) == powershell_text(_undoubled(found[3])) == value


def _undoubled(expression: str) -> str:
    """PowerShell takes four more characters for a quote; inside a literal each is doubled."""
    assert not re.search("(?<![\u2018-\u201b])([\u2018-\u201b])(?!\\1)", expression)
    return re.sub(
        "([\u2018-\u201b])\\1", lambda found: f"' + [char]::ConvertFromUtf32({ord(found[1])}) + '", expression
    )


@given(WORDS)
def test_the_line_for_cmd_reaches_the_program_unchanged_or_is_not_offered(words: list[str]) -> None:
    line = _windows_shell.cmd_line(["C:\\a (b)\\load.exe", *words], r"C:\in & out")

    is_unfit = bool(re.search("[%!]", "".join(words))) or visible("".join(words)) != "".join(words)
    assert (line is None) == is_unfit
    if line is None:
        return
    change, _, rest = line.partition(" && ")
    called, _, closed = rest.rpartition(" <")
    assert (change, closed) == ('cd /d "C:\\in & out"', "nul")
    assert cmd_to_program(called) == " ".join(['"C:\\a (b)\\load.exe"', *([join_words(words)] if words else [])])


@pytest.mark.parametrize("beyond", ["%PATH%", "!x!", "50%", "wow!"])
def test_what_cmd_replaces_even_in_quotes_is_not_offered_for_it(beyond: str) -> None:
    assert _windows_shell.cmd_line([r"C:\load.exe", "x", beyond], r"C:\in") is None
    assert _windows_shell.cmd_line([r"C:\load.exe", "x"], rf"C:\in\{beyond}") is None


@pytest.mark.parametrize(
    ("program", "directory"),
    [
        ("load.exe", r"C:\in"),
        (r"C:\jobs\load", r"C:\in"),
        (r"C:\jobs.old\load", r"C:\in"),
        (r"C:\jobs\load.exe", r"\\files\in"),
        (r"C:\jobs\load.exe", "//files/in"),
    ],
)
def test_a_line_that_would_start_something_else_or_elsewhere_is_not_offered_for_cmd(
    program: str, directory: str
) -> None:
    assert _windows_shell.cmd_line([program, "x"], directory) is None
    assert "in cmd.exe" not in _windows_shell.command_line([program], directory=directory, environment={}, secrets={})


def test_a_line_longer_than_the_prompt_takes_is_not_offered_for_cmd() -> None:
    lines = [
        _windows_shell.cmd_line([r"C:\load.exe", "x" * 8100 + at], r"C:\in") for at in ("x" * 55, "x" * 56, "😀" * 28)
    ]

    assert [line if line is None else len(line) for line in lines] == [8191, None, None]


@pytest.mark.parametrize("value", ["a&calc.exe&b", "%PATH%", "a,b", "a;b", "a=b", "a^b", "(x)"])
@pytest.mark.parametrize("program", [r"bin\load.cmd", r".\LOAD.BAT", r"bin\load.bat. ", r"C:bin\load.cmd"])
def test_a_value_in_the_directory_never_reaches_cmd_before_a_batch_file(program: str, value: str) -> None:
    quoted = f'"{program}"'
    step = a_step(Data1=f"{quoted} x", Data2=r"in\{Data1}")

    with pytest.raises(StepRefused, match=r"Data2: the value of \{Data1\} holds '.*', which cmd.exe would interpret"):
        HANDLER.render(a_request(step, AROUND, Data1=value))
    assert HANDLER.render(a_request(step, AROUND, Data1="2026-11-21")).spec["directory"] == r"C:\shop\in\2026-11-21"


@pytest.mark.parametrize("program", ["load.cmd", r"C:\jobs\load.cmd", r"bin\load.exe", r"env bin\load.cmd"])
def test_a_directory_that_cmd_does_not_read_may_be_called_anything(program: str) -> None:
    step = a_step(Data1=f"{program} x", Data2=r"in\{Data1}")

    assert HANDLER.render(a_request(step, AROUND, Data1="a & b")).spec["directory"] == r"C:\shop\in\a & b"


def test_a_value_never_becomes_the_share_on_which_a_batch_file_lies() -> None:
    step = a_step(Data1=r"\jobs\load.cmd x", Data2="{Data1}")

    assert HANDLER.render(a_request(step, AROUND, Data1=r"D:\in")).spec["argv"] == [r"D:\jobs\load.cmd", "x"]
    with pytest.raises(StepRefused, match="Data2: the value of"):
        HANDLER.render(a_request(step, AROUND, Data1=r"\\files&calc\in"))


def test_a_directory_that_cmd_would_interpret_is_found_in_the_row_itself() -> None:
    found = [HANDLER.check(a_step(Data1=r"bin\load.cmd", Data2=place), AROUND) for place in (r"R&D\in", "Old (x86) in")]

    assert [[one.column for one in findings] for findings in found] == [["Data2"], []]
    assert found[0][0].message.startswith("the directory holds '&', which cmd.exe would interpret")


@pytest.mark.parametrize(
    ("command", "value"), [("load.bat {Data1}", "a b\\"), ('load.bat "x y {Data1}"', "c\\"), (r'load.bat "a b\\"', "")]
)
def test_a_backslash_that_a_batch_file_would_get_twice_is_refused(command: str, value: str) -> None:
    with pytest.raises(
        StepRefused, match=r"argument 1 needs quotes and ends with a backslash.*leave the backslash off"
    ):
        HANDLER.render(a_request(a_step(Data1=command), AROUND, Data1=value))


def test_a_backslash_at_the_end_of_a_word_without_quotes_is_one() -> None:
    assert HANDLER.render(a_request(a_step(Data1="load.bat {Data1}"), AROUND, Data1="in\\")).spec["argv"] == [
        "load.bat",
        "in\\",
    ]


@pytest.mark.parametrize("command", ["load.bat {Data1}", r"C:\jobs\LOAD.CMD --day={Data1}", "env load.bat. x{Data1}"])
@pytest.mark.parametrize("atom", [*'"%!^&|<>()\r\n,;=', "a&calc.exe", '" & calc & "', "%PATH%"])
def test_a_value_that_cmd_would_interpret_never_reaches_a_batch_file(command: str, atom: str) -> None:
    step = a_step(Data1=command.replace(r"C:\jobs" + "\\", ""))

    assert HANDLER.check(step, AROUND) == []
    with pytest.raises(
        StepRefused, match=r"the value of \{Data1\} holds '.*', which cmd.exe would interpret.*PowerShell"
    ):
        HANDLER.render(a_request(step, AROUND, Data1=f"x{atom}"))


@given(HOSTILE)
def test_what_a_batch_file_is_given_is_one_harmless_argument(value: str) -> None:
    try:
        rendered = HANDLER.render(a_request(a_step(Data1="load.bat x{Data1}"), AROUND, Data1=value))
    except StepRefused:
        return
    assert not re.search(r'["%!^&|<>()\r\n,;=]', value)
    assert rendered.spec["argv"] == ["load.bat", f"x{value}"]


def test_what_cmd_would_interpret_is_found_in_the_row_itself() -> None:
    found = [finding.message for finding in HANDLER.check(a_step(Data1='load.bat "a & b" %DAY% /date=x'), AROUND)]

    assert [message[:19] for message in found] == ["argument 1 holds '&", "argument 2 holds '%"]


@pytest.mark.parametrize("atom", ATOMS)
def test_a_program_is_no_batch_file_and_takes_anything(atom: str) -> None:
    rendered = HANDLER.render(a_request(a_step(Data1="load.exe x{Data1}"), AROUND, Data1=atom))

    assert rendered.spec["argv"] == ["load.exe", f"x{atom}"]


def test_a_program_with_a_folder_is_found_from_the_working_directory() -> None:
    rendered = HANDLER.render(a_request(a_step(Data1=r"bin\load.exe", Data2="in"), AROUND))

    assert rendered.spec["argv"] == [r"C:\shop\in\bin\load.exe"]
    assert _windows_shell.located(r"D:\x\load.exe", r"C:\in") == r"D:\x\load.exe"
    assert _windows_shell.located("load", r"C:\in") == "load"

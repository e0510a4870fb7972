from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from batchctl.domain.status import OnLost
from batchctl.plugin_api import CommandEnd, Finding, StepRefused, Verifiable
from batchctl.testing import a_request, a_step, context
from step_handlers.os_command import OsCommand
from tests.step_handlers.execution import Alone, as_execution, run_for_real

HANDLER = OsCommand()
AROUND = context("/shop", secrets={"warehouse": "env:WAREHOUSE_PASSWORD", "token": "file:token.txt"})


def messages(**columns: Any) -> list[str]:
    return [f"{finding.column}: {finding.message}" for finding in HANDLER.check(a_step(**columns), AROUND)]


def test_check_says_which_secret_is_not_set_here() -> None:
    context_at = context("/shop", secrets={"token": "file:token.txt"}, unset_secrets={"token"})

    found = HANDLER.check(a_step(Data1="load", Data4="A={secret:token}, B='{Data1} C=x'"), context_at)

    message = "secret 'token' (file:token.txt) is not set here; the controller will need it"
    remedy = "put the secret into the file token.txt, for the user who runs batchctl"
    assert found == [Finding("Data4", message, remedy)]


def test_the_command_is_split_before_it_is_filled() -> None:
    step = a_step(
        Data1="load --file={Data1} '{Data2} {Data1}' \"a b\"",
        Data2="in/{Data3}",
        Data3="0, 3-5",
        Data4="X={Data2}, L='C'",
    )

    rendered = HANDLER.render(a_request(step, AROUND, Data1="a b; rm -rf /", Data2="$(id)", Data3="x"))

    assert rendered.spec == {
        "argv": ["load", "--file=a b; rm -rf /", "$(id) a b; rm -rf /", "a b"],
        "directory": "/shop/in/x",
        "success": [[0, 0], [3, 5]],
        "environment": {"X": "$(id)", "L": "C"},
    }


def test_the_command_text_is_a_comment_and_one_line_for_a_shell() -> None:
    step = a_step(Data1="load {Data1} {Data2}", Data4="PGPASSWORD={secret:warehouse}, TOKEN={secret:token}, LANG='C'")

    rendered = HANDLER.render(a_request(step, AROUND, Data1="a b", Data2="x\ny"))

    assert rendered.command_text == (
        "# BatchControl 42 of batch MyFileType1\n"
        "(batchctl_1=$(printf %b 'x\\0012y.') && batchctl_2=$(printf %b '\\0012.') && cd -P /shop"
        " && PGPASSWORD=$(printenv WAREHOUSE_PASSWORD && printf .)"
        " || { echo 'environment variable WAREHOUSE_PASSWORD is not set' >&2; false; } && PGPASSWORD=${PGPASSWORD%.}"
        ' && PGPASSWORD=${PGPASSWORD%"${batchctl_2%.}"} && export PGPASSWORD'
        " && TOKEN=$(cat /shop/token.txt && printf .) && TOKEN=${TOKEN%.}"
        ' && TOKEN=${TOKEN%"${batchctl_2%.}"} && export TOKEN'
        " && exec env -- LANG=C load 'a b' \"${batchctl_1%.}\" </dev/null)"
    )


def test_a_sound_row_has_no_problems() -> None:
    assert messages(Data1="python3 load.py --file={Data1}", Data2="/in", Data3="0,2", Data4="P={secret:token}") == []


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({}, "Data1: there is no command"),
        ({"Data1": "  "}, "Data1: there is no command"),
        ({"Data1": "x" * 50_001}, "Data1: the command has 50001 characters; write at most 50000"),
        ({"Data1": "load 'x"}, "Data1: the command cannot be split into words: no closing quotation"),
        ({"Data1": "{Data1} x"}, "Data1: the program must be written out"),
        ({"Data1": "bin/{Data1}"}, "Data1: the program must be written out"),
        ({"Data1": "-x"}, "Data1: the program '-x' begins with '-'"),
        ({"Data1": "'' x"}, "Data1: the program has no name"),
        ({"Data1": "load {Dta1}"}, "Data1: '{Dta1}' is not a placeholder. Did you mean 'Data1'?"),
        ({"Data1": "load {secret:token}"}, "Data1: everybody on the machine can read the arguments"),
        ({"Data1": "a | b > c"}, "Data1: no shell sees this command, so > | would be an argument"),
        ({"Data1": "a", "Data2": "{secret:token}"}, "Data2: a secret in a directory name"),
        ({"Data1": "a", "Data2": "{x}"}, "Data2: '{x}' is not a placeholder"),
        ({"Data1": "a", "Data3": "0,x"}, "Data3: 'x' is no exit code"),
        ({"Data1": "a", "Data3": "5-3"}, "Data3: '5-3' is no range of exit codes"),
        ({"Data1": "a", "Data3": "-1"}, "Data3: '-1' is no exit code"),
        ({"Data1": "a", "Data3": "4294967296"}, "Data3: '4294967296' is no range"),
        ({"Data1": "a", "Data4": "A=NULL"}, "Data4: environment variable A cannot be NULL"),
        (
            {"Data1": "a", "Data4": "A={secret:tken}"},
            "Data4: secret 'tken' is not in the configuration. Did you mean 'token'?",
        ),
        (
            {"Data1": "a", "Data4": "A={secret:token} B={Data1}"},
            "Data4: separate variables by commas: A={secret:token}, B=...",
        ),
        ({"Data1": "a", "Data4": "A={Data1} B=x"}, "Data4: separate variables by commas: A={Data1}, B=..."),
        ({"Data1": "a", "Data4": "A='x{secret:token}'"}, "Data4: parameter 'A': a secret must stand alone"),
        ({"Data1": "a", "Data5": "x"}, "Data5: Data5 is not used by os_command"),
        ({"Data1": "a", "Data6": "x"}, "Data6: the check in Data6 is only used with OnLost = verify"),
        ({"Data1": "a\x00b"}, "Data1: it contains a NUL character"),
        ({"Data1": "a \ud800"}, "Data1: it contains bytes that are not valid UTF-8"),
    ],
)
def test_check_says_what_is_wrong(columns: dict[str, Any], said: str) -> None:
    assert [message for message in messages(**columns) if message.startswith(said)], messages(**columns)


@pytest.mark.parametrize(
    "command",
    [
        'sh -c "echo day $DAY; test -n \\"$PW\\" && echo have pw" {FileName}',
        "sh -c 'a | b' 'it'\\''s' \"x\\\\\" y",
        r"load \> a\|b \"",
    ],
)
def test_what_stands_in_quotes_is_no_operator(command: str) -> None:
    assert [message for message in messages(Data1=command) if "would be an argument" in message] == []


@pytest.mark.skipif(sys.platform == "win32", reason="what shells of POSIX do")
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("load /in/*.csv", "*.csv would be an argument; put it in quotes"),
        ("load --from=$HOME/in", "nothing is filled in for $HOME; write it out"),
        ("load ${HOME}", None),
        ("load $(date)", "nothing is filled in for $(; write it out"),
        ("~/load.sh ~", "nothing is filled in for ~ ~/; write it out"),
        ("cd /in", "cd is no program that changes anything; name the folder in Data2"),
        ("LANG=C sort x", "LANG=C would be the program; write it in Data4"),
    ],
)
def test_what_only_a_shell_would_do_is_found(command: str, said: str | None) -> None:
    (message,) = messages(Data1=command)
    assert message.startswith(f"Data1: no shell sees this command, so {said}" if said else "Data1: '{HOME}' is not")


@pytest.mark.parametrize(
    "command",
    [
        "find /in -name '*.csv' -newer '~/x' \"$HOME\"",
        r"find /in -name \*.csv \$HOME \~/x",
        "env LANG=C sort a~ http://x/~user/?a=b&c=d",
        "sqlplus s @x v$session //host/c$ ^a$ cd",
    ],
)
def test_what_a_program_takes_as_it_stands_is_no_finding(command: str) -> None:
    assert messages(Data1=command) == []


@pytest.mark.parametrize("command", [r'sh -c "a \" b" > out', r"load \\ > out", "load 'a'\\'' > ' > out"])
def test_an_operator_beside_quotes_is_found(command: str) -> None:
    (message,) = messages(Data1=command)
    assert message.startswith("Data1: no shell sees this command, so > would be an argument")


def test_check_reports_all_problems_at_once() -> None:
    assert len(messages(Data1="{Data1} {secret:token}", Data2="{x}", Data3="z", Data4="=", Data5="y", Data6="z")) == 7


@pytest.mark.parametrize(
    "command",
    [
        "sh -c 'echo {Data1}'",
        "/bin/bash -o pipefail -ec 'echo {Data1}'",
        "dash -lc {Data1}",
        "env A=b timeout 3 sh -c 'echo {Data1}'",
        "python3.12 -c 'print(\"{Data1}\")'",
        "python -Ic 'print({Data1})'",
        "perl -ne 'print {Data1}' x",
        "perl '-eprint {Data1}'",
        "awk '{{print {Data1}}}' x",
        "awk -v a={Data1} 'a == {Data2}'",
        "sed -n s/a/{Data1}/ x",
        "sed -e s/a/b/ -e s/a/{Data1}/ x",
        "psql --command={Data1}",
        "mysql -e 'select {Data1}'",
        "ssh host load {Data1}",
        "cmd /c dir {Data1}",
        "CMD.EXE /C dir {Data1}",
        "powershell -Command dir {Data1}",
        "pwsh {Data1}",
    ],
)
def test_a_value_inside_program_text_is_refused(command: str) -> None:
    assert [message for message in messages(Data1=command) if "where a value would become code" in message]
    with pytest.raises(StepRefused, match="where a value would become code"):
        HANDLER.render(a_request(a_step(Data1=command), AROUND, Data1="x", Data2="y"))


@pytest.mark.parametrize(
    "command",
    [
        "sh -c 'echo \"$1\"' sh {Data1}",
        "sh script.sh -c {Data1}",
        "python3 -c 'import sys' {Data1}",
        "python3 load.py --file={Data1} -c x",
        "perl -ne 'print' -- {Data1}",
        "perl '-eprint 1' {Data1}",
        "awk -v a={Data1} '{{print a}}' {Data2}",
        "sed -n -f edit.sed {Data1}",
        "powershell -NoProfile -File load.ps1 {Data1}",
        "cmd /c dir",
        "gzip {Data1}",
    ],
)
def test_a_value_beside_program_text_is_fine(command: str) -> None:
    assert messages(Data1=command) == []


@pytest.mark.parametrize("value", ["-rf", "-", "--help"])
def test_a_value_cannot_become_an_option(value: str) -> None:
    with pytest.raises(StepRefused, match=r"the value of \{Data1\} begins with '-'.*put the argument -- before it"):
        HANDLER.render(a_request(a_step(Data1="rm {Data1}"), AROUND, Data1=value))
    with pytest.raises(StepRefused, match=r"the value of \{Data2\} begins with '-'"):
        HANDLER.render(a_request(a_step(Data1="rm {Data1}{Data2}"), AROUND, Data1="", Data2=value))


@pytest.mark.parametrize("command", ["rm -- {Data1}", "rm ./{Data1}", "rm -x{Data1}", "rm --file={Data1}"])
def test_a_value_that_begins_with_a_dash_is_fine_where_it_cannot_be_an_option(command: str) -> None:
    rendered = HANDLER.render(a_request(a_step(Data1=command), AROUND, Data1="-rf"))

    argv = rendered.spec["argv"]
    assert isinstance(argv, list)
    assert str(argv[-1]).endswith("-rf")


def test_a_value_without_text_is_an_empty_argument_and_null_is_refused() -> None:
    step = a_step(Data1="load {Data1} end")

    assert HANDLER.render(a_request(step, AROUND, Data1="")).spec["argv"] == ["load", "", "end"]
    with pytest.raises(StepRefused, match=r"\{Data1\} has no value in BatchControl 42"):
        HANDLER.render(a_request(step, AROUND))


def test_an_argument_too_long_for_the_system_is_refused_before_it_is_tried() -> None:
    with pytest.raises(StepRefused, match="argument 1 has 131072 bytes; the system takes 131071"):
        HANDLER.render(a_request(a_step(Data1="load {Data1}"), AROUND, Data1="x" * 131_072))


def test_a_row_with_a_problem_is_refused_naming_step_and_instance() -> None:
    with pytest.raises(StepRefused) as refused:
        HANDLER.render(a_request(a_step(Data1="", Data3="x"), AROUND))

    assert refused.value.message.startswith("Step 10 'step 10' of BatchControl 42: Data1: there is no command")
    assert "; Data3: 'x' is no exit code" in refused.value.message
    correct = "correct Data1 and Data3 of step 10 of batch MyFileType1 (UPDATE ProcessControl ...; batchctl check)"
    assert refused.value.next_step == f"{correct}, then: batchctl rerun 42 --reason ..."


def test_a_secret_is_resolved_only_for_the_environment() -> None:
    rendered = HANDLER.render(a_request(a_step(Data1="load", Data4="P={secret:warehouse}"), AROUND))
    alone = Alone(secrets={"warehouse": "s3cret"})

    HANDLER.execute(rendered, as_execution(alone))

    assert alone.asked == [(["load"], "/shop", {"P": "s3cret"})]
    assert "s3cret" not in rendered.command_text + str(rendered.spec)


@pytest.mark.parametrize(
    ("end", "succeeded", "message"),
    [
        (CommandEnd(exit_code=0), True, None),
        (CommandEnd(exit_code=4), True, None),
        (CommandEnd(exit_code=2), False, "exited with 2; success is 0, 3-5"),
        (CommandEnd(signal_name="SIGKILL"), False, "was ended by signal SIGKILL"),
        (CommandEnd(signal_name="SIGTERM", stopped=True), False, "was told to stop and was ended by signal SIGTERM"),
        (CommandEnd(exit_code=0, stopped=True), False, "was told to stop and exited with 0"),
        (CommandEnd(not_started="there is no program 'x'"), False, "not started: there is no program 'x'"),
        (CommandEnd(exit_code=0, left_behind=True), True, "processes that it had started outlived it and were stopped"),
        (
            CommandEnd(exit_code=0, out_of_reach=True),
            True,
            "something that it had started runs on out of reach, and holds its output",
        ),
        (
            CommandEnd(exit_code=2, output="loading\nno such table\x1b[0m\n \n"),
            False,
            r"exited with 2; success is 0, 3-5; it wrote last: no such table\x1b[0m",
        ),
        (
            CommandEnd(signal_name="SIGSEGV", output="row 7"),
            False,
            "was ended by signal SIGSEGV; it wrote last: row 7",
        ),
        (
            CommandEnd(exit_code=2, output="x" * 400),
            False,
            f"exited with 2; success is 0, 3-5; it wrote last: {'x' * 300}…",
        ),
        (CommandEnd(exit_code=0, output="done"), True, None),
        (CommandEnd(exit_code=1, output="x", stopped=True), False, "was told to stop and exited with 1"),
    ],
)
def test_the_end_of_a_command_is_told_plainly(end: CommandEnd, succeeded: bool, message: str | None) -> None:
    rendered = HANDLER.render(a_request(a_step(Data1="load", Data3="0,3-5"), AROUND))

    outcome = HANDLER.execute(rendered, as_execution(Alone(command_end=end)))

    assert (outcome.succeeded, outcome.message) == (succeeded, message)
    assert (outcome.return_code, outcome.stopped, outcome.fatal) == (end.exit_code, end.stopped, False)


@pytest.mark.parametrize(
    ("command", "succeeded", "said"),
    [
        ("sh -c 'echo out; echo err >&2; exit 3'", False, "exited with 3; success is 0; it wrote last: err"),
        ("sh -c 'kill -9 $$'", False, "was ended by signal SIGKILL"),
        ("no-such-program-anywhere x", False, "not started: "),
        ("./not_executable", False, "not started: "),
        ("sh -c 'cat; exit 0'", True, ""),
    ],
)
def test_a_real_command_ends_as_it_says(tmp_path: Path, command: str, succeeded: bool, said: str) -> None:
    (tmp_path / "not_executable").write_text("x")
    rendered = HANDLER.render(a_request(a_step(Data1=command), context(str(tmp_path))))

    outcome = run_for_real(HANDLER, rendered)

    assert (outcome.succeeded, (outcome.message or "")[: len(said)]) == (succeeded, said)


def test_a_real_command_sees_directory_and_environment_and_its_secret_is_blotted_out(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    program = "import os; print(os.getcwd(), os.environ['P'], repr(os.environ['X']))"
    step = a_step(
        Data1=f'{shlex.quote(sys.executable)} -c "{program}"', Data2="in", Data4="P={secret:warehouse}, X={Data1}"
    )
    context_at = context(str(tmp_path), secrets={"warehouse": "env:W"})

    outcome = run_for_real(HANDLER, HANDLER.render(a_request(step, context_at, Data1="a\nb")), {"warehouse": "s3cret"})

    assert outcome.output == f"{tmp_path / 'in'} *** 'a\\nb'\n"


def test_the_check_command_of_a_lost_step_answers_by_its_exit_code() -> None:
    step = a_step(
        Data1="load {Data1}", Data2="in", Data3="0-9", Data4="A='b'", Data6="is-loaded {Data1}", on_lost=OnLost.VERIFY
    )
    verification = HANDLER.verification(step)

    spec = HANDLER.render(a_request(verification, AROUND, Data1="f")).spec

    assert isinstance(HANDLER, Verifiable)
    assert HANDLER.check(step, AROUND) == []
    assert (spec["argv"], spec["success"], spec["environment"]) == (["is-loaded", "f"], [[0, 0]], {"A": "b"})
    answers = [CommandEnd(exit_code=0), CommandEnd(exit_code=1), CommandEnd(exit_code=2), CommandEnd(not_started="x")]
    rendered = HANDLER.render(a_request(verification, AROUND, Data1="f"))
    outcomes = [HANDLER.execute(rendered, as_execution(Alone(command_end=end))) for end in answers]
    assert [HANDLER.is_done(outcome) for outcome in outcomes] == [True, False, None, None]


def test_verify_needs_a_sound_check() -> None:
    without = HANDLER.check(a_step(Data1="a", on_lost=OnLost.VERIFY), AROUND)
    malformed = HANDLER.check(a_step(Data1="a", Data6="{x}", on_lost=OnLost.VERIFY), AROUND)

    assert without == [Finding("OnLost", "OnLost = verify needs the check to run in Data6")]
    assert [finding.column for finding in malformed] == ["Data6"]

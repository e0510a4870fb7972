from __future__ import annotations

import json
import shlex
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchctl.domain.status import OnLost
from batchctl.plugin_api import (
    CannotBegin,
    Finding,
    JobEnd,
    JobSignature,
    StepOutcome,
    StepRefused,
    Verifiable,
    visible,
)
from batchctl.testing import a_request, a_step, context
from step_handlers.python_job import PythonJob
from tests.step_handlers.execution import Alone, as_execution
from tests.step_handlers.hostile import HOSTILE
from tests.tiers import examples

HANDLER = PythonJob()
JOBS = {
    "report": JobSignature(),
    "small": JobSignature(in_process=True),
    "load": JobSignature(required=frozenset({"path"}), accepted=frozenset({"path", "rows"}), takes_any=False),
}
AROUND = context("/shop", jobs=JOBS, secrets={"token": "env:TOKEN"})


def messages(**columns: Any) -> list[str]:
    return [f"{finding.column}: {finding.message}" for finding in HANDLER.check(a_step("python", **columns), AROUND)]


def test_the_arguments_are_filled_and_secrets_stay_references() -> None:
    step = a_step("python", Data1="report", Data2="path='{Data1}/{Data2}', rows=5, day={Data3}, token={secret:token}")

    rendered = HANDLER.render(a_request(step, AROUND, Data1="in", Data2="a'b", Data3=None))

    assert HANDLER.check(step, AROUND) == []
    assert rendered.spec == {
        "job": "report",
        "arguments": {"path": "in/a'b", "rows": 5, "day": None, "token": {"secret": "token"}},
    }
    assert rendered.command_text == (
        "# BatchControl 42 of batch MyFileType1\n"
        "(cd -P /shop && exec batchctl job call --arguments "
        """'{"path": "in/a'"'"'b", "rows": 5, "day": null, "token": {"secret": "token"}}' -- report </dev/null)"""
    )


@settings(max_examples=examples(40))
@given(st.lists(st.tuples(HOSTILE, HOSTILE), min_size=1, max_size=12))
def test_what_is_pasted_calls_the_job_with_the_same_arguments(examples: list[tuple[str, str]]) -> None:
    context_at = replace(AROUND, directory="/", batchctl_command=("printf", "--", "%s\\0"))
    step = a_step("python", Data1="report", Data2="a={Data1}, b='x{Data2}'")
    rendered = [HANDLER.render(a_request(step, context_at, Data1=one, Data2=two)) for one, two in examples]

    for shell in ("bash", "dash"):
        typed = "\n".join(each.command_text for each in rendered).encode()
        words = subprocess.run([shell], input=typed, capture_output=True, check=True).stdout.split(b"\0")

        assert [json.loads(word) for word in words[3::6]] == [{"a": one, "b": f"x{two}"} for one, two in examples]
    assert all(visible(line) == line for each in rendered for line in each.command_text.split("\n"))


def test_the_command_names_this_batchctl_and_its_configuration(tmp_path: Path) -> None:
    program = "import sys; print(sys.argv[1:])"
    context_at = replace(
        AROUND, directory=str(tmp_path), batchctl_command=(sys.executable, "-c", program, "--config", "a b")
    )
    rendered = HANDLER.render(a_request(a_step("python", Data1="small"), context_at))

    done = subprocess.run(["bash", "-c", rendered.command_text], capture_output=True, text=True, check=True)

    assert done.stdout == "['--config', 'a b', 'job', 'call', '--arguments', '{}', '--', 'small']\n"
    assert shlex.quote(program) in rendered.command_text


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({}, "Data1: the name of a job is missing. Known: load, report, small."),
        ({"Data1": "reprot"}, "Data1: job 'reprot' is not registered. Did you mean 'report'?"),
        ({"Data1": "{Data1}"}, "Data1: job '{Data1}' is not registered"),
        ({"Data1": "os.system"}, "Data1: job 'os.system' is not registered"),
        ({"Data1": "report", "Data2": "x"}, "Data2: expected Name=value at 'x'"),
        ({"Data1": "report", "Data2": "x={secret:tokn}"}, "Data2: secret 'tokn' is not in the configuration"),
        ({"Data1": "report", "Data2": "x='{secret:token}!'"}, "Data2: parameter 'x': a secret must stand alone"),
        ({"Data1": "report", "Data3": "x"}, "Data3: Data3 is not used by python; empty it"),
        ({"Data1": "report", "Data6": "x"}, "Data6: the check in Data6 is only used with OnLost = verify"),
        ({"Data1": "report", "on_lost": OnLost.VERIFY}, "OnLost: OnLost = verify needs the check to run in Data6"),
        ({"Data1": "report", "Data6": "x", "on_lost": OnLost.VERIFY}, "Data6: job 'x' is not registered"),
        ({"Data1": "small", "max_duration": timedelta(seconds=5)}, "MaxDuration: this job runs inside the controller"),
    ],
)
def test_check_says_what_is_wrong(columns: dict[str, Any], said: str) -> None:
    (message,) = messages(**columns)

    assert message.startswith(said)


def test_a_job_that_is_not_known_here_is_put_back_and_its_module_is_what_to_mend() -> None:
    unloaded = {"plugin module 'shop' cannot be loaded: SyntaxError.": "correct shop.py"}
    told = []
    for context_at in (AROUND, replace(AROUND, unloaded=unloaded)):
        with pytest.raises(CannotBegin) as refused:
            HANDLER.render(a_request(a_step("python", Data1="reprot"), context_at))
        told.append(refused.value.in_full)

    assert all(one.startswith("not started: Step 10 ") for one in told)
    assert "Did you mean 'report'? Next: correct Data1 of the step, or name the module" in told[0]
    assert told[1].endswith("SyntaxError. Next: correct shop.py, then restart the controller")


@pytest.mark.parametrize("columns", [{}, {"Data1": "reprot", "Data2": "x"}])
def test_what_no_module_mends_is_refused_for_good(columns: dict[str, Any]) -> None:
    with pytest.raises(StepRefused) as refused:
        HANDLER.render(a_request(a_step("python", **columns), AROUND))

    assert not isinstance(refused.value, CannotBegin)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("path={Data1}, rows=5", []),
        ("@path='x'", []),
        (None, ["Data2: argument 'path' of job 'load' is missing"]),
        (
            "pathh={Data1}",
            [
                "Data2: argument 'path' of job 'load' is missing",
                "Data2: job 'load' has no argument 'pathh'. Did you mean 'path'?",
            ],
        ),
        ("path=", ["Data2: parameter 'path' has no value; write '' for empty text, or NULL"]),
    ],
)
def test_check_compares_the_arguments_with_the_function(arguments: str | None, said: list[str]) -> None:
    assert messages(Data1="load", Data2=arguments) == said


def test_arguments_that_only_seem_wrong_do_not_refuse_a_step() -> None:
    rendered = HANDLER.render(a_request(a_step("python", Data1="load", Data2="other=1"), AROUND))

    assert rendered.spec["arguments"] == {"other": 1}


def test_the_job_that_verifies_gets_the_same_arguments() -> None:
    found = messages(Data1="report", Data2="rows=5", Data6="load", on_lost=OnLost.VERIFY)

    assert found == ["Data6: argument 'path' of job 'load' is missing"]


def test_check_says_which_secret_is_not_set_here() -> None:
    context_at = context("/shop", jobs=JOBS, secrets={"token": "env:TOKEN"}, unset_secrets={"token"})

    found = HANDLER.check(a_step("python", Data1="report", Data2="t={secret:token}"), context_at)

    message = "secret 'token' (env:TOKEN) is not set here; the controller will need it"
    remedy = "set the environment variable TOKEN, for the user who runs batchctl, and start it again"
    assert found == [Finding("Data2", message, remedy)]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, None),
        (5, "5"),
        (0, "0"),
        (False, "False"),
        ("two\nlines", "two\\nlines"),
        ("x" * 600, "x" * 500 + "…"),
    ],
)
def test_the_value_a_job_returns_is_shown(value: Any, message: str | None) -> None:
    rendered = HANDLER.render(a_request(a_step("python", Data1="report"), AROUND))

    outcome = HANDLER.execute(rendered, as_execution(Alone(job_end=JobEnd(succeeded=True, value=value))))

    assert (outcome.message, outcome.value) == (message, value)


def test_a_child_process_job_may_have_a_longest_duration() -> None:
    assert messages(Data1="report", max_duration=timedelta(seconds=5)) == []


@pytest.mark.parametrize(
    "columns", [{"Data1": "nothere"}, {"Data1": "report", "Data2": "x"}, {"Data1": "report", "Data2": "x={Y}"}]
)
def test_a_row_with_a_problem_is_refused(columns: dict[str, Any]) -> None:
    with pytest.raises(StepRefused, match="Step 10 'step 10' of BatchControl 42: Data"):
        HANDLER.render(a_request(a_step("python", **columns), AROUND))


def test_the_job_is_called_with_the_arguments_of_the_spec_and_its_end_is_the_outcome() -> None:
    rendered = HANDLER.render(a_request(a_step("python", Data1="report", Data2="a=1, t={secret:token}"), AROUND))
    end = JobEnd(succeeded=False, message="boom", output="trace", value=3, fatal=True, stopped=True)
    alone = Alone(job_end=end)

    outcome = HANDLER.execute(rendered, as_execution(alone))

    assert alone.asked == [("report", {"a": 1, "t": {"secret": "token"}})]
    assert outcome == StepOutcome(succeeded=False, message="boom", output="trace", value=3, fatal=True, stopped=True)


@pytest.mark.parametrize(
    ("end", "answer"),
    [
        (JobEnd(succeeded=True, value=True), True),
        (JobEnd(succeeded=True, value="yes"), True),
        (JobEnd(succeeded=True, value=0), False),
        (JobEnd(succeeded=True, value=None), False),
        (JobEnd(succeeded=False, value=True), None),
    ],
)
def test_a_lost_step_is_verified_by_another_job_with_the_same_arguments(end: JobEnd, answer: bool | None) -> None:
    step = a_step("python", Data1="report", Data2="a={Data1}", Data6="small", on_lost=OnLost.VERIFY)
    rendered = HANDLER.render(a_request(HANDLER.verification(step), AROUND, Data1="x"))

    outcome = HANDLER.execute(rendered, as_execution(Alone(job_end=end)))

    assert isinstance(HANDLER, Verifiable)
    assert HANDLER.check(step, AROUND) == []
    assert rendered.spec == {"job": "small", "arguments": {"a": "x"}}
    assert HANDLER.is_done(outcome) is answer


def test_all_problems_are_told_at_once() -> None:
    found = HANDLER.check(a_step("python", Data1="x", Data2="y", Data4="z", Data6="w"), AROUND)

    assert [finding.column for finding in found] == ["Data1", "Data2", "Data4", "Data6"]
    assert all(isinstance(finding, Finding) for finding in found)

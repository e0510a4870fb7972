from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.errors import StepRefused
from batchctl.domain.outcomes import Finding
from batchctl.domain.placeholders import (
    NAMES,
    Literal,
    MalformedTemplate,
    Placeholder,
    SecretReference,
    fill,
    findings,
    fit_value,
    parse,
    parse_for,
)
from batchctl.testing import a_request, a_step, context

AROUND = context("/shop")

FIT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))


def test_a_text_is_split_into_literals_placeholders_and_secrets() -> None:
    assert parse("a {Data1}{FileName} {{x}} {secret:warehouse}") == (
        Literal("a "),
        Placeholder("Data1"),
        Placeholder("FileName"),
        Literal(" {x} "),
        SecretReference("warehouse"),
    )


@given(st.text())
def test_text_with_doubled_braces_stands_for_itself(text: str) -> None:
    template = parse(text.replace("{", "{{").replace("}", "}}"))

    assert template == ((Literal(text),) if text else ())


@given(st.text(st.sampled_from("{}aD1: "), max_size=12) | st.text())
def test_any_text_is_parsed_or_refused_with_a_reason(text: str) -> None:
    found = findings("Data1", text, {})

    assert all(finding.column == "Data1" and finding.message for finding in found)
    if not found:
        assert all(not isinstance(part, Placeholder) or part.name in NAMES for part in parse(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a {Data1", "the '{' at position 3 is never closed; write '{{' for a brace that stands for itself"),
        ("a } b", "the '}' at position 3 closes nothing; write '}}' for a brace that stands for itself"),
        ("{data1}", "'{data1}' is not a placeholder. Did you mean 'Data1'?"),
        ("{FileNme}", "'{FileNme}' is not a placeholder. Did you mean 'FileName'?"),
        ("{Data1.__class__}", "'{Data1.__class__}' is not a placeholder"),
        ("{7*7}", "'{7*7}' is not a placeholder. A brace that stands for itself is written twice: {{ and }}."),
        ("{secret:}", "'{secret:}' is not a placeholder"),
        ("{a\nb}", "'{a\\nb}' is not a placeholder"),
    ],
)
def test_a_malformed_text_is_refused_saying_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(MalformedTemplate) as refused:
        parse(text)

    assert said in str(refused.value)


@pytest.mark.parametrize(
    "text", ["{" * 500_000, "}" * 500_001, "{Data1}" * 150_000, "{" + "x" * 1_000_000 + "}", "{{" * 500_000]
)
def test_a_megabyte_is_parsed_or_refused_at_once(text: str) -> None:
    found = findings("Data1", text, {})

    assert all(len(finding.message) < 400 for finding in found)


@given(FIT)
def test_a_value_is_filled_as_it_is_and_never_becomes_a_template(value: str) -> None:
    request = a_request(a_step(), AROUND, Data1=value, Data2="two")

    assert fill(request, parse("<{Data1}|{Data2}>")) == f"<{value}|two>"


def test_every_placeholder_is_filled_from_the_instance() -> None:
    request = a_request(a_step(), AROUND, **{f"Data{at}": f"d{at}" for at in range(1, 7)})

    filled = fill(request, parse("|".join(f"{{{name}}}" for name in NAMES)))

    assert filled == "d1|d2|d3|d4|d5|d6|/in/data_20261101_20261130.csv|MyFileType1|2026-11-21|7|42"


def test_a_null_value_is_refused_in_a_text_and_kept_alone() -> None:
    request = a_request(a_step(), AROUND, Data1=None)

    assert fit_value(request, "Data1") is None
    with pytest.raises(StepRefused) as refused:
        fill(request, parse("x{Data1}"))
    assert refused.value.message == "{Data1} has no value in BatchControl 42."
    assert refused.value.next_step == "batchctl rerun 42 --set Data1=... --reason ..."


@pytest.mark.parametrize(("value", "why"), [("a\x00b", "NUL"), ("a\ud800", "UTF-8")])
def test_a_value_that_nothing_can_carry_is_refused(value: str, why: str) -> None:
    request = a_request(a_step(), AROUND, Data3=value)

    with pytest.raises(StepRefused, match=why) as refused:
        fit_value(request, "Data3")
    assert "{Data3} of BatchControl 42 cannot be used" in refused.value.message


def test_a_secret_is_never_filled_into_a_text() -> None:
    request = a_request(a_step(), AROUND)

    with pytest.raises(StepRefused, match="where everybody on the machine could read it"):
        fill(request, parse("--password={secret:warehouse}"))


def test_problems_name_the_column_and_unknown_secrets() -> None:
    found = findings("Data2", "{secret:warehose} {secret:other}", {"warehouse": "env:W"})

    assert found == [
        Finding(
            "Data2",
            "secret 'warehose' is not in the configuration. Did you mean 'warehouse'?",
            "correct the name, or add [secrets.warehose] to batchctl.toml and restart the controllers",
        ),
        Finding(
            "Data2",
            "secret 'other' is not in the configuration. Known: warehouse.",
            "correct the name, or add [secrets.other] to batchctl.toml and restart the controllers",
        ),
    ]
    assert findings("Data2", None, {}) == []
    assert findings("Data2", "{Data1} {secret:warehouse}", {"warehouse": "env:W"}) == []


def test_a_malformed_column_of_a_step_is_refused_naming_step_and_column() -> None:
    request = a_request(a_step(Data2="{oops"), AROUND)

    with pytest.raises(StepRefused, match=r"Step 10 'step 10', Data2: the '\{' at position 1 is never closed"):
        parse_for(request, 2)
    assert parse_for(request, 1) == ()


def test_a_variable_is_a_placeholder_with_a_value_of_its_own() -> None:
    plain = a_request(a_step(), AROUND, data=("one", None, None, None, None, None))
    request = replace(plain, variables={"In.Dir-1": "/in {Data1}", "Empty": ""})

    assert parse("{var:In.Dir-1}") == (Placeholder("var:In.Dir-1"),)
    assert fill(request, parse("<{var:In.Dir-1}|{Data1}|{var:Empty}>")) == "</in {Data1}|one|>"
    assert fit_value(request, "var:Empty") == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{var:}", "'{var:}' names no variable: it has no name"),
        ("{var:a b}", "'{var:a b}' names no variable: 'a b' is no name of a variable: letters from A to Z"),
        ("{var:{x}", "is no name of a variable"),
        ("{VAR:a}", "'{VAR:a}' is not a placeholder."),
    ],
)
def test_what_names_no_variable_is_a_finding(text: str, said: str) -> None:
    (found,) = findings("Data1", text, {})

    assert said in found.message


def test_a_variable_that_is_not_set_refuses_the_attempt_and_says_what_to_type() -> None:
    request = replace(a_request(a_step(), AROUND), variables={"InDir": "/in"})

    with pytest.raises(StepRefused) as refused:
        fill(request, parse("{var:indir}"))

    assert "names variable 'indir', which is not set. Did you mean 'InDir'?" in refused.value.message
    assert refused.value.next_step is not None
    assert refused.value.next_step.startswith("batchctl variable set indir VALUE --reason ..., then: batchctl rerun ")

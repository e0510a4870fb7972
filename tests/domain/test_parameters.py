from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.errors import StepRefused
from batchctl.domain.parameters import SecretValue, Value, parameters_for, parse_parameters
from batchctl.domain.placeholders import Literal, MalformedTemplate, Placeholder
from batchctl.testing import a_request, a_step, context

AROUND = context("/shop")


def filled(text: str | None, **instance: str | None) -> dict[str, Value]:
    return parameters_for(a_request(a_step(Data3=text), AROUND, **instance), 3)


def test_a_list_is_split_into_names_and_templates() -> None:
    first, second = parse_parameters(" @FileName = {Data2} , Day='a''b, {Data3}' ")

    assert (first.name, first.template, first.is_text) == ("FileName", (Placeholder("Data2"),), False)
    assert (second.name, second.template, second.is_text) == ("Day", (Literal("a'b, "), Placeholder("Data3")), True)


@pytest.mark.parametrize("text", [None, "", "  ", "\n"])
def test_nothing_means_no_parameters(text: str | None) -> None:
    assert parse_parameters(text) == ()


def test_constants_keep_their_type() -> None:
    assert filled("a=5, b=-7, c=1.5, d=1e3, e='5', f=NULL, g=null, h=word with blanks, i='', j=.5, k='NULL', l=٣") == {
        "a": 5,
        "b": -7,
        "c": 1.5,
        "d": 1000.0,
        "e": "5",
        "f": None,
        "g": None,
        "h": "word with blanks",
        "i": "",
        "j": 0.5,
        "k": "NULL",
        "l": "٣",
    }


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")))
def test_a_value_never_adds_a_parameter_nor_changes_its_type(value: str) -> None:
    assert filled("@A={Data1}, @B='{Data1}', @C=x{Data1}y", Data1=value) == {"A": value, "B": value, "C": f"x{value}y"}


@given(st.text(st.characters(exclude_characters="{}")))
def test_any_text_can_be_written_in_quotes(text: str) -> None:
    (parameter,) = parse_parameters("A='" + text.replace("'", "''") + "'")

    assert parameter.template == ((Literal(text),) if text else ())
    assert parameter.is_text


def test_a_lone_placeholder_keeps_its_null_and_a_quoted_one_refuses_it() -> None:
    assert filled("@A={Data1}", Data1=None) == {"A": None}
    with pytest.raises(StepRefused, match=r"\{Data1\} has no value in BatchControl 42"):
        filled("@A='{Data1}'", Data1=None)


def test_a_secret_stays_a_reference() -> None:
    assert filled("P={secret:warehouse}, Q='{secret:warehouse}'") == {
        "P": SecretValue("warehouse"),
        "Q": SecretValue("warehouse"),
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("5", "expected Name=value at '5'"),
        ("a=1,", "the list ends with a comma"),
        ("a=1,,b=2", "expected Name=value at ',b=2'"),
        ("a=", "parameter 'a' has no value; write '' for empty text, or NULL"),
        ("a=,b=1", "parameter 'a' has no value"),
        ("a='x", "parameter 'a' has no value"),
        ("a='x' y", "parameter 'a': expected a comma at 'y'"),
        ("a=O'Brien", "parameter 'a': expected a comma at ''Brien'"),
        ("a=1, @A=2", "parameter 'A' is given twice"),
        ("a={Data1", "never closed"),
        ("a={b,c}", "never closed"),
        ("a={Data9}", "'{Data9}' is not a placeholder"),
        ("a=9223372036854775808", "too large for a 64-bit number; put it in quotes"),
        ("a=" + "9" * 5000, "too large for a 64-bit number; put it in quotes"),
        ("a=1e999", "too large for a number; put it in quotes"),
        ("a\x1b=1", "expected Name=value at 'a\\x1b=1'"),
    ],
)
def test_a_malformed_list_is_refused_saying_where(text: str, said: str) -> None:
    with pytest.raises(MalformedTemplate) as refused:
        parse_parameters(text)

    assert said in str(refused.value)


def parsed(text: str) -> tuple[list[str] | None, str]:
    """The names, or the reason why there are none."""
    try:
        return [parameter.name for parameter in parse_parameters(text)], ""
    except MalformedTemplate as error:
        return None, str(error)


@given(st.text() | st.text(st.sampled_from("a=1,'{}@ D\n"), max_size=20))
def test_any_text_is_parsed_or_refused_with_a_reason(text: str) -> None:
    names, reason = parsed(text)

    assert names is None or all(name.isidentifier() for name in names)
    assert names is not None or reason


@pytest.mark.parametrize(
    "text",
    ["a=" + "{" * 1_000_000, "a='" + "'" * 999_999, "a=" + "'" * 1_000_000, "{" * 1_000_000, "a=" + "{{" * 400_000],
)
def test_a_megabyte_is_parsed_or_refused_at_once(text: str) -> None:
    names, reason = parsed(text)

    assert names == ["a"] or 0 < len(reason) < 400


def test_many_parameters_are_parsed_in_their_order() -> None:
    found = parse_parameters(", ".join(f"p{at}={at}" for at in range(20_000)))

    assert [parameter.name for parameter in found] == [f"p{at}" for at in range(20_000)]


def test_a_malformed_list_of_a_step_is_refused_naming_step_and_column() -> None:
    with pytest.raises(StepRefused, match="Step 10 'step 10', Data3: the list ends with a comma"):
        filled("a=1,")

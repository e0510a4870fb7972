"""Needs: what a step needs of the host that carries it."""

from __future__ import annotations

import pytest

from batchctl.domain.rule_texts import host_needs, needs_of


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("GPU=1", {"GPU": 1}),
        ("GPU=1, MEMORY=8e9", {"GPU": 1, "MEMORY": 8e9}),
        (" a-b_3 = .5 ,c=2.,d=1E-3", {"a-b_3": 0.5, "c": 2, "d": 0.001}),
        ("GPU=1,gpu=2", {"GPU": 1, "gpu": 2}),
    ],
)
def test_needs_are_read_by_name(text: str, amounts: dict[str, float]) -> None:
    assert needs_of(text) == amounts


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "GPU",
            "GPU=",
            "=1",
            "GPU=x",
            "GPU=-1",
            "GPU=+1",
            "GPU=1_0",
            "GPU=nan",
            "GPU=inf",
            "GPU=1,",
            "G PU=1",
        ),
        *("GPU 1", "GPU=1; CPU=1", "GPU==1", "GPU=1 CPU=1", "größe=1", "GPU=٣", "GPU=0x1", "GPU=e9", "GPU=."),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_may_stand_there(text: str) -> None:
    with pytest.raises(ValueError, match=r"^Needs has '.*', and takes, between commas, names .*: GPU=1, MEMORY=8e9$"):
        needs_of(text)


@pytest.mark.parametrize("text", ["GPU=0", "GPU=0.0e5", "GPU=1e999", "GPU=1e-999"])
def test_nothing_and_everything_are_no_amounts(text: str) -> None:
    with pytest.raises(ValueError, match=f"^Needs has '{text}': that has to be a number above 0, and not endless$"):
        needs_of(text)


def test_a_name_stands_there_once() -> None:
    with pytest.raises(ValueError, match=r"^Needs names GPU twice$"):
        needs_of("GPU=1, CPU=2, GPU=1")


@pytest.mark.parametrize(
    ("left", "are_met"),
    [
        ({"GPU": 1, "MEMORY": 8e9}, True),
        ({"GPU": 2, "MEMORY": 16e9, "TAPE": 1}, True),
        ({"GPU": 1, "MEMORY": 7.9e9}, False),
        ({"MEMORY": 8e9}, False),
        ({"gpu": 1, "MEMORY": 8e9}, False),
        ({}, False),
    ],
)
def test_an_agent_has_to_have_enough_left_of_each(left: dict[str, float], are_met: bool) -> None:
    needs = host_needs("GPU=1, MEMORY=8e9")

    assert needs is not None
    assert needs.are_met(left) is are_met


def test_what_is_left_need_not_add_up_to_the_last_digit() -> None:
    needs = host_needs("GPU=0.1")

    assert needs is not None
    assert needs.are_met({"GPU": 1 - 0.9}), "0.09999999999999998"
    assert not needs.are_met({"GPU": 0.0999})


def test_nothing_there_says_nothing() -> None:
    assert host_needs(None) is None
    assert host_needs(" GPU=1 ") == host_needs("GPU=1")

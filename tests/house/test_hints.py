"""A command that a message names is one that there is, with options that it has, and refuses nothing that it is given."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from batchctl.cli.main import COMMANDS, cli
from batchctl.cli.session import Session
from tests.house.source import ROOT

MODULES = [
    path for path in sorted((ROOT / "batchctl").rglob("*.py")) if "batchctl " in path.read_text(encoding="utf-8")
]
HOLE = "7"
"""Stands for whatever is filled in."""
END = re.compile(r"   \(|[;,:`)]|\n|(?<!\.)\.( |$)| or | and | can ")
HINT = re.compile(r"(?<![\w/])batchctl (?=[a-z-])")
NO_HINT = {"batchctl apply", "batchctl schedule set "}
"""Texts that are compared with others, and shown to nobody."""


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Every text of a module that a person may read, with a hole for what is filled in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {id(part) for at in ast.walk(tree) if isinstance(at, ast.JoinedStr) for part in at.values}
    documented = {
        id(at.body[0].value)
        for at in ast.walk(tree)
        if isinstance(at, (ast.Module, ast.FunctionDef, ast.ClassDef)) and at.body and isinstance(at.body[0], ast.Expr)
    }
    for at in ast.walk(tree):
        if id(at) in inside or id(at) in documented:
            continue
        if isinstance(at, ast.JoinedStr):
            yield at.lineno, "".join(str(part.value) if isinstance(part, ast.Constant) else HOLE for part in at.values)
        elif isinstance(at, ast.Constant) and isinstance(at.value, str):
            yield at.lineno, at.value


def hints(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Every command that a text of a module names: where that is, and its words up to where the sentence goes on."""
    for line, text in texts(path):
        for found in HINT.finditer(text):
            words = END.split(text[found.end() :], maxsplit=1)[0].split()
            if words and words[0] in COMMANDS and text not in NO_HINT:
                yield f"{path.relative_to(ROOT)}:{line}", words


@pytest.mark.parametrize("path", MODULES, ids=[path.relative_to(ROOT).as_posix() for path in MODULES])
def test_a_hint_refuses_nothing_that_it_names(path: Path) -> None:
    for place, words in hints(path):
        refuses_nothing(place, words)


def test_hints_are_found() -> None:
    assert sum(1 for path in MODULES for _ in hints(path)) > 100


def refuses_nothing(place: str, words: list[str]) -> None:
    context = click.Context(cli, info_name="batchctl", obj=Session(config=None, debug=False))
    command: click.Command | None = cli
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        command = command.get_command(context, words[0].rstrip(HOLE))
        assert command is not None, f"{place}: there is no command {words}"
        words = words[1:]
    assert command is not None
    known = {name: one for one in command.params for name in one.opts}
    options = [word for word in words if word.startswith("--") and word != "--"]
    if "--help" in options or "..." in words:
        return

    assert [option for option in options if option not in known] == [], f"{place}: {command.name} has no such option"
    if "--reason" in known and known["--reason"].callback is not None:
        assert {"--reason", "--dry-run"} & {*options}, f"{place}: {command.name} wants a reason"
    needed = [one for one in command.params if isinstance(one, click.Argument) and one.required]
    given = [word for word in words if not word.startswith("-")]
    assert len(given) >= len(needed), f"{place}: {command.name} wants {[one.name for one in needed]}"


def test_every_command_that_asks_for_a_reason_does_without_when_it_only_looks() -> None:
    asking = [
        (path, command)
        for path, command in _commands(cli, ())
        for one in command.params
        if one.name == "reason" and one.callback is not None
    ]
    silent = {"purge", "apply"}

    assert len(asking) > 10
    assert [
        path
        for path, command in asking
        if "--dry-run" not in {name for one in command.params for name in one.opts} and path[-1] not in silent
    ] == []


def _commands(group: click.Group, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, (*path, name))
        yield (*path, name), command

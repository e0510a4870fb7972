"""Microsoft's own T-SQL parser, asked what SQL Server would say of a text before it looks at any table."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Literal

HOST = Path(__file__).parent / "scriptdom_host.py"
Grammar = Literal[2017, 2019]
GRAMMARS: tuple[Grammar, ...] = (2017, 2019)
Tree = dict[str, Any]


_MARK = re.compile(r"N?'(?:[^']|'')*'|\[[^\]]*\]|--[^\n]*|\?")


def as_sent(sql: str) -> str:
    """Return a statement as drivers send it: each mark for a value has become a variable of theirs, @P1 and so on."""
    numbers = count(1)
    return _MARK.sub(lambda found: f"@P{next(numbers)}" if found[0] == "?" else found[0], sql)


def marks_in(sql: str) -> int:
    """Return how many marks for values a statement has."""
    return sum(found[0] == "?" for found in _MARK.finditer(sql))


@dataclass(frozen=True)
class Parser:
    """The process that parses."""

    process: subprocess.Popen[str]

    def ask(
        self, sql: str, grammar: Grammar, *, quoted: bool, tree: bool, without: Iterable[str] = ()
    ) -> dict[str, Any]:
        """Ask about one text."""
        asked, answers = self.process.stdin, self.process.stdout
        assert asked is not None
        assert answers is not None
        wanted = {"grammar": grammar, "quoted": quoted, "tree": tree, "without": sorted(without)}
        print(json.dumps({"sql": as_sent(sql), **wanted}), file=asked, flush=True)
        answer: dict[str, Any] = json.loads(answers.readline())
        return answer


@cache
def _parser() -> Parser:
    # It ends when its standard input does, with the process that runs the tests.
    return Parser(
        subprocess.Popen(
            [sys.executable, "-I", str(HOST)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"},
        )
    )


def findings(sql: str, *, quoted: bool = True) -> list[str]:
    """Return what the grammars of SQL Server 2017 and 2019 refuse in a batch, or in a script with GO between its batches."""
    asked = ((grammar, _parser().ask(sql, grammar, quoted=quoted, tree=False)) for grammar in GRAMMARS)
    return [one for grammar, answer in asked for one in _errors(grammar, answer)]


def read(sql: str) -> tuple[Tree, list[str]]:
    """Return the tree of a text and what the grammars refuse in it, of which there is no tree."""
    older, newest = GRAMMARS
    answer = _parser().ask(sql, newest, quoted=True, tree=True)
    found = [*_errors(older, _parser().ask(sql, older, quoted=True, tree=False)), *_errors(newest, answer)]
    return {} if found else {**answer["tree"], "marks": marks_in(sql)}, found


def _errors(grammar: Grammar, answer: dict[str, Any]) -> list[str]:
    return [
        f"SQL Server {grammar}, line {line}, column {column}: {message} ({number})"
        for number, line, column, message in answer["errors"]
    ]


def tree_of(sql: str, without: frozenset[str] = frozenset()) -> Tree:
    """Return the tree of a text that has no errors: fragments with their kind under "is", as ScriptDom names them.

    Under "marks" it says how many marks for values there were.
    Properties that nobody looks at may be left out: a tree takes longer to make than its text to read.
    """
    answer = _parser().ask(sql, 2019, quoted=True, tree=True, without=without)
    assert answer["errors"] == [], sql
    tree: Tree = answer["tree"]
    return {**tree, "marks": marks_in(sql)}

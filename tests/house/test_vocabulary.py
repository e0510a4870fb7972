"""One word for one thing: docs/glossary.md says which, and no name of the product holds a word that it excludes."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.house.source import ROOT, place, product_files

GLOSSARY = ROOT / "docs" / "glossary.md"
HEADING = "## Words that names do not hold"


def test_no_name_holds_a_word_that_the_glossary_excludes() -> None:
    assert sorted(set(_excluded_names())) == [], "docs/glossary.md says which word to take"


def test_each_module_has_a_name_of_its_own() -> None:
    assert sorted(_twice("module", _modules())) == []


def test_each_public_class_has_a_name_of_its_own() -> None:
    assert sorted(_twice("class", _classes())) == []


def test_a_word_that_the_glossary_excludes_is_seen() -> None:
    names = [
        name
        for name, _ in _names(ast.parse("class A:\n  troubleB = 1\n  def __init__(self, mistake): self._bells = 2"))
    ]

    assert names == ["A", "troubleB", "__init__", "self", "mistake", "_bells"]
    assert [_words(name) for name in ("HTTPHelper", "_is_toldTwice", "FLIGHTS_OF_2013")] == [
        ["http", "helper"],
        ["is", "told", "twice"],
        ["flights", "of"],
    ]


def _excluded_names() -> Iterator[str]:
    words, classes, public = _law()
    for path in product_files():
        names = [*_names(ast.parse(path.read_text(encoding="utf-8"))), (path.stem, False)]
        for name, is_class in names:
            holds = words.intersection(_words(name)) or (is_class and name in classes)
            if holds and name not in public:
                yield f"{place(path)}: {name}"


def _law() -> tuple[set[str], set[str], set[str]]:
    """Words, names of classes, and public names that stay."""
    table = GLOSSARY.read_text(encoding="utf-8").partition(HEADING)[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    listed = {word.strip() for row in rows for word in row[0].split(",")}
    public = {name for row in rows for name in re.findall("`([^`]+)`", row[2])}
    assert len(listed) > 40
    return {word for word in listed if word.islower()}, {word for word in listed if not word.islower()}, public


def _names(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """What is defined, and whether it is a class; a local variable is nobody else's business."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, isinstance(node, ast.ClassDef)
        elif isinstance(node, ast.arg):
            yield node.arg, False
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, False
        if isinstance(node, (ast.ClassDef, ast.Module)):
            for statement in node.body:
                for target in _targets(statement):
                    yield from ((one.id, False) for one in ast.walk(target) if isinstance(one, ast.Name))


def _targets(statement: ast.stmt) -> list[ast.expr]:
    if isinstance(statement, ast.Assign):
        return statement.targets
    return [statement.target] if isinstance(statement, ast.AnnAssign) else []


def _words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+", name)]


def _modules() -> Iterator[tuple[str, Path]]:
    yield from ((path.stem, path) for path in product_files() if path.stem != "__init__")


def _classes() -> Iterator[tuple[str, Path]]:
    for path in product_files():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, path


def _twice(kind: str, named: Iterator[tuple[str, Path]]) -> Iterator[str]:
    places = defaultdict(list)
    for name, path in named:
        places[name].append(place(path))
    yield from (f"{kind} {name}: {', '.join(where)}" for name, where in places.items() if len(where) > 1)

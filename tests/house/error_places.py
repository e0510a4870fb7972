"""Which functions of the product make errors for people, and what each of them may say. Run it to write docs/errors.md anew."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from batchctl.domain import errors
from batchctl.domain.error_codes import CODES, OTHERS
from batchctl.store.dialects import mssql_errors, postgresql_errors, sqlite
from tests.house.source import ROOT

KINDS = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.BatchctlError)
}
REASONS = {
    "batchctl.store.dialects.mssql:MssqlDialect.database_refused": mssql_errors.REFUSED_BECAUSE.values(),
    "batchctl.store.dialects.postgresql:PostgresqlDialect.database_refused": [
        *(what for what, _ in postgresql_errors._BY_STATE.values()),
        *(what for _, what, _ in postgresql_errors._BY_WORDS),
    ],
    "batchctl.store.dialects.sqlite:SqliteDialect.database_refused": sqlite._REFUSED_BECAUSE.values(),
}
"""What is filled in where that is all there is to look for."""
DOCUMENT = ROOT / "docs" / "errors.md"
HEAD = """\
# Errors

Each error that a command ends with has a code, which stays the same whatever its message says: `Code: BC1042` below
the message. It says where the error was made; where one place may say several things, all stand beside it. `…` stands
for what is filled in. What a database refuses itself it says by the name of a constraint: those of schedules and
calendars stand in [schedules.md](schedules.md), others begin with the name of their table and column.

| code | exit | what it says |
|---|---|---|
"""


@dataclass(frozen=True)
class Said:
    """An error that is made: which kind, and its message with a mark for what is filled in."""

    kind: str
    message: str


class _Finder(ast.NodeVisitor):
    def __init__(self, module: str) -> None:
        self.module, self.stack, self.found = module, list[tuple[str, ast.AST]](), dict[str, list[Said]]()
        self.hidden: list[str] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._inside(node, node.name)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._inside(node, node.name)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in KINDS:
            given = ["… is …: '…' is not possible there."] if name == "StatusChanged" else self._texts(node)
            self.found.setdefault(self._place(), []).extend(Said(name, text) for text in given)
        if isinstance(node.func, ast.Call) and isinstance(node.func.func, ast.Name) and node.func.func.id == "type":
            self.hidden.append(self._place())
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        kinds = node.value if isinstance(node.value, ast.IfExp) else ast.IfExp(node.value, node.value, node.value)
        if any(isinstance(one, ast.Name) and one.id in KINDS for one in (kinds.body, kinds.orelse)):
            self.hidden.append(self._place())
        self.generic_visit(node)

    def _inside(self, node: ast.FunctionDef | ast.ClassDef, name: str) -> None:
        self.stack.append((name, node))
        self.generic_visit(node)
        self.stack.pop()

    def _place(self) -> str:
        said = ""
        for at, (name, _) in enumerate(self.stack):
            within = at and isinstance(self.stack[at - 1][1], ast.FunctionDef)
            said += (".<locals>." if within else "." if at else "") + name
        return f"{self.module}:{said}"

    def _texts(self, node: ast.Call) -> list[str]:
        """Return what the first argument may hold: written there, or assigned to its name before."""
        if not node.args:
            return ["…"]
        first = node.args[0]
        if isinstance(first, ast.Name):
            scope = next((at for _, at in reversed(self.stack) if isinstance(at, ast.FunctionDef)), None)
            assigned = [] if scope is None else list(_assigned(scope, first.id))
            before = [value for line, value in assigned if line <= node.lineno]
            return [_text(before[-1])] if before else ["…"]
        return [_text(first)]


def _assigned(scope: ast.AST, name: str) -> Iterator[tuple[int, ast.expr]]:
    for at in ast.walk(scope):
        if isinstance(at, ast.Assign) and any(isinstance(to, ast.Name) and to.id == name for to in at.targets):
            yield at.lineno, at.value


def _text(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(left) + _text(right)
        case _:
            return "…"


@cache
def places() -> dict[str, list[Said]]:
    """Return every place that makes an error, with what it may say."""
    found: dict[str, list[Said]] = {}
    for path in sorted((ROOT / "batchctl").rglob("*.py")):
        finder = _Finder(".".join(path.relative_to(ROOT).with_suffix("").parts))
        finder.visit(ast.parse(path.read_text(encoding="utf-8")))
        found |= finder.found
    return found


def hidden() -> list[str]:
    """Return the places that make an error of a kind that only running shows."""
    found: list[str] = []
    for path in sorted((ROOT / "batchctl").rglob("*.py")):
        finder = _Finder(".".join(path.relative_to(ROOT).with_suffix("").parts))
        finder.visit(ast.parse(path.read_text(encoding="utf-8")))
        found += finder.hidden
    return found


def document() -> str:
    """Return docs/errors.md as it has to be."""
    lines = [(code, "", said) for said, code in OTHERS.items()]
    for place, every in places().items():
        if place in CODES:
            exits = ", ".join(dict.fromkeys(str(KINDS[one.kind].exit_code) for one in every))
            reasons = (f"The control database … {reason}." for reason in REASONS.get(place, ()))
            said = "<br>".join(dict.fromkeys([*(one.message for one in every), *reasons]))
            lines.append((CODES[place], exits, said))
    return HEAD + "".join(f"| BC{code} | {exits} | {_cell(said)} |\n" for code, exits, said in sorted(lines))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")

"""Walks the product's source for the house tests."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("batchctl", "step_handlers")


def product_files() -> list[Path]:
    """Every Python file of the two import packages."""
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def place(path: Path) -> str:
    """A file as its reader names it: relative to the checkout, with slashes."""
    return path.relative_to(ROOT).as_posix()


def module_name(path: Path) -> str:
    """The dotted name a file is imported by."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def module_names() -> list[str]:
    return [module_name(path) for path in product_files()]


def strings(tree: ast.Module) -> list[tuple[int, str]]:
    """Every string the code holds, with its line; docstrings left out, the filled parts of an f-string as `{}`."""
    apart = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            apart |= {id(part) for part in node.values}
            found.append((node.lineno, "".join(_text(part) for part in node.values)))
        elif id(node) not in apart and isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append((node.lineno, node.value))
    return sorted(found)


def _text(part: ast.expr) -> str:
    return part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "{}"

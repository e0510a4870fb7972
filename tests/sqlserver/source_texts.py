"""What the product's source holds that looks like T-SQL: no text that may go to SQL Server, or be shown, is forgotten."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.source import ROOT, place, product_files

OF_OTHERS = re.compile(
    r"batchctl/store/(dialects/(health/)?(sqlite|postgresql)\w*|maintenance/scripts|tables/on_sqlite|turns|maintenance/sql_script)\.py"
    r"|batchctl/store/repeatable/\w+\.py"
    r"|batchctl/(cli/maintenance/demo\w*|operations/maintenance/demo_database)\.py"
    r"|step_handlers/(?:\w+/)?(_postgres\w*|_psql\w*|_sqlite\w*|_procedure_files|_sql_text|_posix_shell|_windows_shell)\.py"
)
"""Modules of which no SQL Server ever gets a text, or only within the script that makes everything, which is parsed whole."""
_VERBS = (
    "SELECT|INSERT|UPDATE|DELETE|MERGE|TRUNCATE|WITH|DECLARE|SET|IF|WHILE|BEGIN|COMMIT|ROLLBACK|SAVE|THROW|RAISERROR|PRINT|"
    "EXEC|EXECUTE|CREATE|ALTER|DROP|ENABLE|DISABLE|GRANT|REVOKE|DENY|USE|KILL|DBCC|WAITFOR|BACKUP|RESTORE"
)
_STATEMENT = rf"""
    (?!WITH\s*\()(?:{_VERBS})\s+\S
  | (?i:SELECT\s.+\sFROM\s | SELECT\s+(?:@|\d|\w+\() | INSERT\s+INTO\s | UPDATE\s+\S+\s+SET\s | DELETE\s+FROM\s
      | MERGE\s.+\sUSING\s | TRUNCATE\s+TABLE\s | WITH\s+\w+\s*(?:\([^)]*\)\s*)?AS\s*\( | DECLARE\s+@
      | SET\s+(?:@|\w+\s+(?:ON|OFF)\b)
      | IF\s+(?:@|EXISTS\b|NOT\s+EXISTS\b|\w+\() | BEGIN\s+(?:TRAN|TRY) | (?:COMMIT|ROLLBACK|SAVE)\s+TRAN
      | (?:CREATE|ALTER|DROP)\s+(?:OR\s+ALTER\s+|UNIQUE\s+)?
        (?:TABLE|VIEW|INDEX|TRIGGER|PROC|FUNCTION|SCHEMA|ROLE|USER|LOGIN|DATABASE)
      | EXEC(?:UTE)?\s+(?:@|\w*sp_|\[) | GRANT\s.+\sON\s | WAITFOR\s+DELAY\s | DBCC\s+\w+\s*\( | KILL\s+\d )
"""
_ASIDE = r"(?:\s | ; | \{[^{}]*\} | --[^\n]*\n | /\*.*?\*/)*"
_LOOKS = re.compile(rf"\A{_ASIDE}(?:{_STATEMENT})", re.VERBOSE | re.DOTALL)
_SHOWN = re.compile(rf"[^'\"\n]*?:\ ((?:{_VERBS})\s+\S.*)", re.VERBOSE | re.DOTALL)
"""A hint: what to do in words, and behind a colon what to type."""
_BEGINS_ONLY = re.compile(r"(?<!=) \.\.\.\Z")
_FENCED = re.compile(r"^ *(```|~~~) *t?sql\b[^\n]*\n(.*?)^ *\1", re.DOTALL | re.MULTILINE | re.IGNORECASE)
HOLE = re.compile(r"\{([^{}]*)\}")
_NAMED = re.compile(r"\{[^{}]*\}|\([a-z]+(?: table)?\)")
"""Holes, and names in parentheses that are replaced."""


def texts() -> dict[str, str]:
    """Return every text in a module that may speak to SQL Server, with its holes in braces, by file, line and column."""
    return {
        f"{place(path)}:{at}": text
        for path in product_files()
        if not OF_OTHERS.fullmatch(place(path))
        for at, text in texts_in(path.read_text(encoding="utf-8"))
    }


def texts_in(source: str) -> Iterator[tuple[str, str]]:
    """Yield what looks like T-SQL in a module, wherever it stands; of a hint only what is to be typed.

    Docstrings and regular expressions are none, nor is what ends in dots: how it begins is all that it says.
    """
    tree = ast.parse(source)
    apart = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"re.compile", "re.search", "re.match"}:
            apart.add(id(node.args[0]))
        elif isinstance(node, ast.JoinedStr):
            apart |= {id(part) for part in node.values}
    for node in ast.walk(tree):
        if id(node) in apart or not isinstance(node, ast.JoinedStr | ast.Constant):
            continue
        text = _text(node)
        if not _BEGINS_ONLY.search(text) and (looks := _LOOKS.match(text) or _SHOWN.match(text)):
            yield f"{node.lineno}:{node.col_offset}", looks[1] if looks.re is _SHOWN else text


def _text(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_text(part) for part in parts)
        case ast.FormattedValue(value=value):
            return f"{{{ast.unparse(value).translate({ord('{'): None, ord('}'): None})}}}"
        case _:
            return ""


def looks_like_sql(text: str) -> bool:
    """Say whether a text begins like T-SQL."""
    return _LOOKS.match(text) is not None


def filled(text: str, words: dict[str, str]) -> str:
    """Put words into the holes of a text, and variables and values for what SQLAlchemy and a person put there.

    Raises KeyError for a hole that nobody has a word for.
    """
    whole = HOLE.sub(lambda hole: words[hole[1]], text)
    whole = whole.partition(";   ")[0].replace("...", "1")
    return re.sub(r"(?<![:\w]):(\w+)", r"@\1", whole)


def is_part(text: str, whole: str) -> bool:
    """Say whether all that stands around the holes of a text is found in another one, in order."""
    at = 0
    for piece in _NAMED.split(text):
        at = whole.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


def documents() -> Iterator[tuple[str, str]]:
    """Yield each block of SQL in the documentation with its page and number."""
    for page in (
        ROOT / "README.md",
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "examples").rglob("*.md")),
    ):
        yield from ((f"{place(page)} {number}", block) for number, block in enumerate(blocks_of(page)))


def blocks_of(page: Path) -> list[str]:
    """Return the blocks of SQL of a page."""
    return [block for _, block in _FENCED.findall(page.read_text(encoding="utf-8"))]

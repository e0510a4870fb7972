"""A revision says what it makes in its own words: what it imported would change beneath it."""

from __future__ import annotations

import ast
from pathlib import Path

from batchctl.store.maintenance import schema


def imported_by(path: Path) -> set[str]:
    """Return the packages that a file imports from."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                found |= {name.name.partition(".")[0] for name in names}
            case ast.ImportFrom(module=str(module)):
                found.add(module.partition(".")[0])
            case _:
                pass
    return found


def test_no_revision_imports_the_product() -> None:
    revisions = sorted((schema.migrations_path() / "versions").glob("*.py"))

    assert revisions
    assert [path.name for path in revisions if imported_by(path) & {"batchctl", "step_handlers", "tests"}] == []


def test_an_import_is_noticed_wherever_it_stands(tmp_path: Path) -> None:
    made = tmp_path / "0099_x.py"
    made.write_text(
        "def upgrade():\n    from batchctl.store import views\n    import step_handlers.sql\n", encoding="utf-8"
    )

    assert imported_by(made) == {"batchctl", "step_handlers"}

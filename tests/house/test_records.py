"""A column is said once in its table and once at the attribute of its record; everything else goes by these."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from batchctl.domain.records import columns_of
from batchctl.store.record_reading import Reader
from batchctl.store.tables import metadata
from tests.house.source import ROOT, module_names

OF_A_ROW = re.compile(r"(?:An?|The) `(\w+)` row")
JOINED = {"BatchControl": "FileProcess", "BatchResource": "Resource"}
"""What some records hold besides of another table."""
ALONGSIDE = {"Capacity"}
"""What is called otherwise than its column, because both tables have one of that name."""

# What a developer adds to a copy of the tree, besides the revision that adds the column to databases that there are.
ADDED = {
    "batchctl/store/tables/definition_tables.py": (
        '    column("MarkerSuffix", name(50)),\n',
        '    column("MarkerSuffix", name(50)),\n    column("ArchiveFolder", text_column()),\n',
    ),
    "batchctl/domain/rows.py": (
        "    marker_suffix: str | None = None\n",
        "    marker_suffix: str | None = None\n    archive_folder: str | None = None\n",
    ),
}
SHOWN = """
import json, sys
sys.path.insert(0, sys.argv[1])
from sqlalchemy import create_engine, insert, select
from batchctl.domain.records import of_columns, shown, values_of
from batchctl.store.definitions import definition_rows
from batchctl.store.intake import file_watches
from batchctl.store.tables import file_watch
with create_engine("sqlite://").connect() as connection:
    file_watch.create(connection)
    connection.execute(insert(file_watch).values(WatchName="drop", Entity="E", Folder="/in", ArchiveFolder="/old"))
    (watch,) = file_watches.everyone(connection)
    (row,) = connection.execute(select(file_watch))
    json.dump({
        "read": watch.archive_folder,
        "written": values_of(watch)["ArchiveFolder"],
        "shown": shown(watch)["ArchiveFolder"],
        "made of that": of_columns(type(watch), shown(watch)) == watch,
        "in a file": "ArchiveFolder" in definition_rows.shape_of("FileWatch").columns,
        "of a file": definition_rows.sparse_row("FileWatch", row)["ArchiveFolder"],
    }, sys.stdout)
"""


def records() -> set[type]:
    """Every record that the store reads."""
    modules = [importlib.import_module(name) for name in module_names() if name.startswith("batchctl.store")]
    return {made.record for module in modules for made in vars(module).values() if isinstance(made, Reader)}


def strangers() -> list[str]:
    """What records name that their tables do not have."""
    found = []
    for record in records():
        said = OF_A_ROW.match(record.__doc__ or "")
        if said is not None:
            tables = [metadata.tables[name] for name in (said[1], JOINED.get(said[1])) if name is not None]
            known = {str(column.name) for table in tables for column in table.columns} | ALONGSIDE
            found += [f"{record.__name__}: {column}" for column in columns_of(record) if column not in known]
    return found


def test_every_column_of_a_record_is_one_of_its_table() -> None:
    named = [record for record in records() if OF_A_ROW.match(record.__doc__ or "")]

    assert len(named) > 20
    assert strangers() == []


def test_a_new_column_touches_three_files_the_revision_included(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "batchctl", tmp_path / "batchctl", ignore=shutil.ignore_patterns("__pycache__"))
    for name, (before, after) in ADDED.items():
        text = (tmp_path / name).read_text("utf-8")
        assert text.count(before) == 1
        (tmp_path / name).write_text(text.replace(before, after), "utf-8")

    done = subprocess.run([sys.executable, "-Ic", SHOWN, str(tmp_path)], check=True, capture_output=True, text=True)

    revision = 1
    assert len(ADDED) + revision <= 3
    assert json.loads(done.stdout) == {
        "read": "/old",
        "written": "/old",
        "shown": "/old",
        "made of that": True,
        "in a file": True,
        "of a file": "/old",
    }

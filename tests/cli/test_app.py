"""What one start of batchctl does around its work."""

from __future__ import annotations

import gc
import sqlite3
from contextlib import closing
from pathlib import Path

from batchctl import config
from batchctl.app import App
from batchctl.control_database import upgrade_database
from batchctl.node import Node

JOBS = '''
import gc
from batchctl.plugin_api import job

@job("frozen", in_process=True)
def frozen() -> bool:
    """Say whether collections leave alone what was there before."""
    return gc.get_freeze_count() > 0
'''
REGISTER = """
INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('B');
INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)
SELECT ProcessBatch_id, 10, 'look', 'python', 'frozen' FROM ProcessBatch WHERE ProcessBatchName = 'B';
INSERT INTO FileProcess (Entity) VALUES ('B');
"""


def test_collections_spare_what_was_there_before_the_work_as_long_as_it_lasts(tmp_path: Path) -> None:
    (tmp_path / "frozen_jobs.py").write_text(JOBS, encoding="utf-8")
    file = tmp_path / "batchctl.toml"
    file.write_text('database_url = "sqlite:///b.db"\nplugin_modules = ["frozen_jobs"]\n', encoding="utf-8")
    upgrade_database(str(file))
    gc.unfreeze()
    with closing(sqlite3.connect(tmp_path / "b.db")) as database:
        database.executescript(REGISTER)
        app = App(config.load(str(file)))
        node = Node(app)
        node.create()
        node.process()
        app.close()

        assert database.execute("SELECT Status, Message FROM BatchProcessHistory").fetchall() == [("success", "True")]
    assert gc.get_freeze_count() == 0

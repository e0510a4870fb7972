"""What pages say of how many there are."""

from __future__ import annotations

import pytest

from batchctl.app import open_app
from batchctl.web.page import PageRequest
from batchctl.web.pages import PAGES
from batchctl.web.tables import counted
from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import Night, a_file


@pytest.mark.parametrize(("many", "said"), [(0, "0"), (10_000, "10,000"), (10_001, "10,000+"), (2**40, "10,000+")])
def test_more_than_ten_thousand_are_not_counted_for_a_page(many: int, said: str) -> None:
    assert counted(many) == said


@pytest.mark.parametrize("path", ["/", "/batches"])
def test_a_page_counts_nothing_that_is_over(
    path: str, tmp_path_factory: pytest.TempPathFactory, run_batchctl: RunBatchctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    night = Night(a_file(tmp_path_factory.mktemp("over")), run_batchctl)
    night.batch("Done", "true")
    night.arrive("Done")
    night.sql("UPDATE FileProcess SET Status = 'complete'")
    night.sql("INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status) VALUES (1, 1, 'complete')")
    monkeypatch.chdir(night.folder)
    app = open_app(None)
    try:
        page = next(each for each in PAGES if each.path == path).show(app, PageRequest({}, {}))
    finally:
        app.close()

    if path == "/":
        assert (page.values["seen"].instances, page.values["seen"].intake) == ({}, {})
        assert [one.at for one in page.values["seen"].completed] != []
    else:
        ((_, rows),) = page.lists
        assert [one.instances for one in rows] == [{}]
    assert night.json("status")["BatchControl"] == {"complete": 1}
    assert night.json("status")["FileProcess"] == {"complete": 1}

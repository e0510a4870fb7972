"""The pictures of docs/console.md: `DRAW_PICTURES=1 .venv/bin/pytest -m "" tests/browser/test_pictures.py` takes them anew."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.acceptance.installation import RunBatchctl, StartBatchctl
from tests.acceptance.night import Night, a_file
from tests.browser.consoles import Console
from tests.house.source import ROOT

FOLDER = ROOT / "docs" / "pictures"
DRAW = "DRAW_PICTURES"
LARGEST = 120_000
"""How many bytes a picture has at most."""
SHOWN = {
    "now.png": ("/", "Failed, held, to be tried again"),
    "instance.png": ("/instances/2", "a step failed and no retry is left"),
    "rerun.png": ("/instances/2/rerun", "Data2"),
    "dependencies.png": ("/dependencies", "3 batches at"),
    "day.png": ("/day", "LoadOrders"),
}
"""What each picture shows, and a text that has to be on it."""


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory, run_batchctl: RunBatchctl) -> Night:
    """Three batches, of which the second has failed, so that the third waits."""
    made = Night(a_file(tmp_path_factory.mktemp("etl")), run_batchctl)
    made.batch("LoadCustomers", "echo 1204 rows", "sleep 0.2")
    made.batch("LoadOrders", "echo checked", "wc -l -- {Data2}")
    made.batch("SalesReport", "echo drawn")
    made.sql("INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (3, 1), (3, 2)")
    made.arrive("LoadCustomers", "customers.csv", CycleKey="2026-11-28")
    made.arrive("LoadOrders", "orders.csv", CycleKey="2026-11-28")
    assert made("run", "--once").returncode == 1
    for name in ("LoadCustomers", "LoadOrders"):
        done = made("schedule", "add", f"nightly {name}", "--entity", name, "--type", "daily", "--run-times", "02:30")
        assert done.returncode == 0, done.stdout
    assert made("note", "2", "the sender was called, the file comes at two").returncode == 0
    return made


@pytest.fixture(scope="module")
def console(night: Night, start_batchctl: StartBatchctl) -> Iterator[Console]:
    made = Console.begin(night, start_batchctl)
    yield made
    made.end()


@pytest.fixture(scope="module")
def looking(browser: Browser, console: Console) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1000, "height": 600})
    yield console.enter(context.new_page())
    context.close()


@pytest.mark.parametrize("name", SHOWN)
def test_each_page_shows_what_its_picture_is_there_for(console: Console, looking: Page, name: str) -> None:
    path, text = SHOWN[name]
    looking.goto(f"{console.address}{path}")

    expect(looking.get_by_text(text).first).to_be_visible()
    if os.environ.get(DRAW):
        FOLDER.mkdir(exist_ok=True)
        looking.screenshot(path=FOLDER / name)


def test_the_documentation_has_these_pictures_and_they_are_small() -> None:
    written = (ROOT / "docs" / "console.md").read_text(encoding="utf-8")

    assert (
        set(re.findall(r"\]\(pictures/([\w.]+)\)", written)) == set(SHOWN) == {path.name for path in FOLDER.iterdir()}
    )
    assert [path.name for path in FOLDER.iterdir() if path.stat().st_size > LARGEST] == []

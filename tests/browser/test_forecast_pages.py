"""What will be ready when, on the pages Now and 24 hours: nothing is cut off or runs into its neighbour."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest
from playwright.sync_api import Browser

from batchctl.system.clock import SystemClock
from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import Night, a_file
from tests.browser.consoles import Console
from tests.browser.test_everyone_can_use_it import SIZES

DECIDES = ("LoadOrders step 20 'load the orders' (41%), max_concurrent of LoadCustomers (12%)",)

IN_A_DAY = """one => [...one.querySelectorAll("td")].map(cell => cell.firstChild).filter(text => {
    if (!text || !/^\\d{4}-\\d\\d-\\d\\d/.test(text.data)) { return false; }
    const range = document.createRange();
    range.setStart(text, 0);
    range.setEnd(text, 10);
    return range.getClientRects().length > 1;
}).map(text => text.data)"""
"""The texts of a list that are broken within a day."""


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory, run_batchctl: RunBatchctl) -> Night:
    """Two batches, of which the leader has said when they will be ready: one today or a little later, one tomorrow."""
    made = Night(a_file(tmp_path_factory.mktemp("foretold")), run_batchctl)
    now = SystemClock().now()
    for at, (name, hours) in enumerate({"LoadOrders": 1, "SalesReport": 24}.items(), 1):
        made.batch(name, "true")
        median, nearly = (
            f"{now + timedelta(hours=hours, minutes=minutes):%Y-%m-%d %H:%M}:00.000" for minutes in (0, 9)
        )
        made.sql(
            "INSERT INTO KeptForecast (ProcessBatch_id, CycleKey, MadeOn, P50, P90, FinishBy, Chance, NeedsPerson, Nights,"
            " Decides, Helps) VALUES (?, '2026-11-28', ?, ?, ?, ?, 96, ?, 30, ?, ?)",
            *(at, f"{now:%Y-%m-%d %H:%M:%S}.000", median, nearly, nearly, 15 * (at - 1), *DECIDES, "4 slots (73%)"),
        )
    return made


def test_the_list_of_ready_times_is_not_cut_off(browser: Browser, console: Console) -> None:
    page = console.enter(browser.new_page(viewport={"width": SIZES["wide"], "height": 900}))
    region = page.get_by_role("region", name="Ready by")
    headings = region.get_by_role("columnheader").all_inner_texts()
    rows = [row.get_by_role("cell").all_inner_texts() for row in region.get_by_role("row").all()[1:]]
    broken = region.evaluate(IN_A_DAY)
    wider = region.evaluate("one => one.scrollWidth - one.clientWidth")
    page.close()

    assert headings[:2] == ["batch", "chance"]
    assert [row[headings.index("needs a person")] for row in rows] == ["", "15 %"]
    assert (wider, broken) == (0, [])


@pytest.mark.parametrize("width", [*SIZES.values(), 1000])
def test_hours_do_not_run_into_each_other_or_out_of_the_drawing(browser: Browser, console: Console, width: int) -> None:
    page = console.enter(browser.new_page(viewport={"width": width, "height": 900}), "/day")
    labels = page.eval_on_selector_all(
        "thead .strip text",
        "all => all.map(one => one.getBoundingClientRect()).filter(one => one.width).map(one => [one.left, one.right])",
    )
    drawn = page.eval_on_selector(
        "thead .strip", "one => [one.getBoundingClientRect()].map(at => [at.left, at.right])[0]"
    )
    page.close()

    assert len(labels) >= 2
    assert all(end < begin for (_, end), (begin, _) in pairwise(labels))
    assert drawn[0] <= labels[0][0] < labels[-1][1] <= drawn[1]


def test_a_time_of_another_day_has_its_day(console: Console, night: Night, browser: Browser) -> None:
    ((median, nearly),) = night.sql("SELECT P50, P90 FROM KeptForecast WHERE ProcessBatch_id = 2")
    same = str(median)[:10] == str(nearly)[:10]
    page = console.enter(browser.new_page(), "/day")
    said = page.get_by_role("row", name="SalesReport").get_by_role("cell").all_inner_texts()[-1]
    page.close()

    assert said == f"{str(median)[:16]} to {str(nearly)[11:16] if same else str(nearly)[:16]}"

"""axe-core finds nothing of WCAG 2.2 AA on any page, in both themes and at two widths; what rows hold is text everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from batchctl.web.pages import PAGES
from tests.acceptance.installation import StartBatchctl
from tests.acceptance.night import HOSTILE, Night
from tests.browser.consoles import Console

WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]}
QUERIES = {
    "/sql": "?list=Running",
    "/batch": f"?name={quote(HOSTILE)}",
    "/schedule": f"?name={quote(HOSTILE)}",
    "/calendar": f"?name={quote(HOSTILE)}",
}
NUMBERS = {"{number}": "1", "{name}": "night"}
ACTS = (
    "/many/rerun?status=failed",
    "/instances/1/rerun",
    "/instances/1/cancel",
    "/incidents/1/acknowledge",
    "/new/freezes",
    "/new/file-processes",
)
SIZES = {"wide": 1280, "narrow": 360}


def addresses() -> Iterator[str]:
    """Yield an address of every page that there is."""
    for one in PAGES:
        path = one.path
        for part, instead in NUMBERS.items():
            path = path.replace(part, instead)
        yield path + QUERIES.get(path, "")


@pytest.fixture(scope="module")
def hostile_console(night: Night, start_batchctl: StartBatchctl) -> Iterator[Console]:
    """A console on rows that hold in every column what a page could take for its own."""
    night.batch(HOSTILE, "true", Description=HOSTILE)
    night.sql("UPDATE ProcessControl SET ProcessName = ?", HOSTILE)
    night.arrive(HOSTILE, HOSTILE, Data=HOSTILE, CycleKey=HOSTILE)
    night.arrive("of no batch", HOSTILE)
    night.sql("INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (2, 1)")
    assert night("run", "--once").returncode == 0
    night.sql("UPDATE BatchProcessHistory SET Message = ?, Output = ?", HOSTILE, HOSTILE)
    night.sql("UPDATE BatchControl SET Data3 = ? WHERE BatchControl_id = 1", HOSTILE)
    night.sql(
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, Description) VALUES (?, ?, 'daily', '02:30', ?)",
        *[HOSTILE] * 3,
    )
    night.sql("INSERT INTO Calendar (CalendarName, Description) VALUES (?, ?)", HOSTILE, HOSTILE)
    night.sql("INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES ('pause', 2, ?)", HOSTILE)
    made = (
        ("note", "1", HOSTILE),
        ("freeze", "--batch", HOSTILE, "--reason", HOSTILE),
        ("pause", "2", "--reason", HOSTILE),
    )
    for command in made:
        done = night(*command)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    begun = Console.begin(night, start_batchctl)
    yield begun
    begun.end()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(
    browser: Browser, hostile_console: Console, theme: Literal["light", "dark"], size: str
) -> None:
    context = browser.new_context(color_scheme=theme, viewport={"width": SIZES[size], "height": 900})
    page = hostile_console.enter(context.new_page())
    found = dict[str, object]()
    for address in (*addresses(), *ACTS, "/nowhere", "/instances/99"):
        page.goto(f"{hostile_console.address}{address}")
        seen = Axe().run(page, options=WCAG)
        if seen.violations_count:
            found[address] = [
                (one["id"], [node["html"][:200] for node in one["nodes"]]) for one in seen.response["violations"]
            ]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found[address] = "the page is wider than the window"
    context.close()

    assert found == {}


def test_the_door_is_open_to_everyone(browser: Browser, hostile_console: Console) -> None:
    page = browser.new_page()
    page.goto(f"{hostile_console.address}/login")

    assert Axe().run(page, options=WCAG).violations_count == 0
    page.close()


def test_what_rows_hold_is_text_on_every_page(hostile_console: Console, page: Page) -> None:
    hostile_console.enter(page)
    shown = 0
    for address in addresses():
        answer = page.goto(f"{hostile_console.address}{address}")
        assert answer is not None
        assert answer.status == 200, (address, page.text_content("main"))
        text = page.text_content("body") or ""
        assert "\x1b" not in text, address
        assert "\u202e" not in text, address
        shown += "[red]x[/red] \\x1b[31m\\u202e😀 {Data1} %s" in text
    assert shown >= 12


def test_long_texts_keep_some_width_on_a_telephone(browser: Browser, hostile_console: Console) -> None:
    page = hostile_console.enter(browser.new_page(viewport={"width": SIZES["narrow"], "height": 900}))
    long = "cells => cells.filter(cell => cell.innerText.length > 30 && !cell.closest('.chart, .cards'))"
    for address in (
        "/inbox",
        "/instances/1",
        f"/batch{QUERIES['/batch']}",
        f"/schedule{QUERIES['/schedule']}",
    ):
        page.goto(f"{hostile_console.address}{address}")
        widths = page.eval_on_selector_all("td", f"{long}.map(cell => cell.getBoundingClientRect().width)")
        assert widths, address
        assert min(widths) >= 18 * 16, address
    page.close()


def test_gates_and_steps_are_read_on_a_telephone_without_scrolling_sideways(
    browser: Browser, hostile_console: Console
) -> None:
    page = hostile_console.enter(browser.new_page(viewport={"width": SIZES["narrow"], "height": 900}))
    for address, many in (("/instances/1", 2), (f"/batch{QUERIES['/batch']}", 1), ("/file-processes/1", 1)):
        page.goto(f"{hostile_console.address}{address}")
        wider = page.eval_on_selector_all(
            ".scroll:has(.cards)", "all => all.map(one => one.scrollWidth - one.clientWidth)"
        )
        assert wider == [0] * many, address
        # They are tables all the same to one who hears them.
        assert page.get_by_role("columnheader", name="gate").count() == 1
        assert page.get_by_role("cell", name="passed").count() > 1
    page.close()

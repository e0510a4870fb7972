"""The page of a night report on a telephone and a wide screen, light and dark: axe finds nothing, and nothing is cut off."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from batchctl.operations.reports.night_page import SHORT
from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import HOSTILE, Night, a_file
from tests.browser.test_everyone_can_use_it import SIZES, WCAG

LONG = "x" * 300


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, run_batchctl: RunBatchctl) -> Path:
    """A page with all that is hostile to one: long words, markup, and what acts on its neighbours."""
    night = Night(a_file(tmp_path_factory.mktemp("report")), run_batchctl)
    night.batch("Good", "true")
    night.batch(HOSTILE, "false", Entity="Bad")
    for entity in ("Good", "Bad"):
        night.arrive(entity, HOSTILE)
    assert night("run", "--once").returncode == 1
    night.sql("UPDATE BatchProcessHistory SET Message = ?, ProcessName = ?", LONG, f"<b>{LONG[:150]}")
    night.sql(
        "INSERT INTO KeptForecast (ProcessBatch_id, CycleKey, MadeOn, KeptFor, P50, P90, NeedsPerson, Nights)"
        " VALUES (1, '2026-11-28', '2026-01-02', '2026-01-02', '2026-01-02 04:10:00', '2026-01-02 05:10:00', 0, 30)"
    )
    assert night("cancel", "2", "--reason", f"not needed, {LONG}").returncode == 0
    file = night.folder / "night.html"
    assert night("report", "night", "--since", "2026-01-01", "--html", str(file)).returncode == 0
    return file


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everyone_can_read_it(browser: Browser, report: Path, theme: Literal["light", "dark"], size: str) -> None:
    asked: list[str] = []
    with browser.new_context(color_scheme=theme, viewport={"width": SIZES[size], "height": 800}) as context:
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(report.as_uri())

        found = Axe().run(page, options=WCAG).response["violations"]
        width = page.evaluate("document.documentElement.scrollWidth")
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
    assert width <= SIZES[size]
    assert (background == "rgb(255, 255, 255)") is (theme == "light")
    assert asked == [report.as_uri()]


def test_short_texts_stand_on_one_line_and_long_ones_have_room(browser: Browser, report: Path) -> None:
    page = browser.new_page(viewport={"width": SIZES["wide"], "height": 800})
    page.goto(report.as_uri())
    cells = page.eval_on_selector_all(
        "td, th",
        """all => all.map(one => {
            const range = document.createRange();
            range.selectNodeContents(one);
            const lines = new Set([...range.getClientRects()].map(line => Math.round(line.top)));
            return [one.innerText.trim(), lines.size, one.getBoundingClientRect().width];
        })""",
    )
    page.close()

    assert [text for text, lines, _ in cells if len(text) <= SHORT and lines > 1] == []
    assert min(width for text, _, width in cells if len(text) > SHORT) >= 9 * 16
    assert {"2026-11-28", "cancel", LONG} <= {text.removeprefix("not needed, ") for text, _, _ in cells}

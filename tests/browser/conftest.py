"""One browser and one console for each module; each test has a context of its own, as a person at another machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.acceptance.installation import RunBatchctl, StartBatchctl
from tests.acceptance.night import NEEDS_A_FILE, Night, a_file
from tests.browser import chromium
from tests.browser.consoles import Console

READY = 20_000
"""Milliseconds after which a page that does not come is given up."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=chromium.executable(), args=chromium.FLAGS)
        yield made
        made.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context()
    made.set_default_timeout(READY)
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory, run_batchctl: RunBatchctl) -> Night:
    """Instance 1 has failed, and instance 2 waits behind it."""
    made = Night(a_file(tmp_path_factory.mktemp("night")), run_batchctl)
    made.batch("Late", "echo loaded", NEEDS_A_FILE)
    made.arrive("Late", "missing.csv")
    made.arrive("Late", "second.csv")
    assert made("run", "--once").returncode == 1
    return made


@pytest.fixture(scope="module")
def console(night: Night, start_batchctl: StartBatchctl) -> Iterator[Console]:
    made = Console.begin(night, start_batchctl)
    yield made
    made.end()

"""A night in a real browser: found, understood, corrected, run again; by mouse, by keyboard, without JavaScript."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.acceptance.installation import RunBatchctl, StartBatchctl
from tests.acceptance.night import NEEDS_A_FILE, Night, a_file
from tests.browser.consoles import Console

REASON = "the file lies elsewhere"
LOOKS = 60
"""How often a page is looked at again at most until all of it is done."""
TABS = 120
"""After how many presses of the key something is not on the page."""


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory, run_batchctl: RunBatchctl) -> Night:
    """Instances 1, 2, 3, ... have failed, each for want of a file."""
    made = Night(a_file(tmp_path_factory.mktemp("story")), run_batchctl)
    made.batch("Late", "echo loaded", NEEDS_A_FILE, OnFailure="continue")
    for at in range(1, 7):
        made.arrive("Late", f"missing{at}.csv")
    assert made("run", "--once").returncode == 1
    (made.folder / "there.csv").write_text("rows", encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def console(night: Night, start_batchctl: StartBatchctl) -> Iterator[Console]:
    made = Console.begin(night, start_batchctl)
    yield made
    made.end()


@pytest.fixture
def plain(browser: Browser) -> Iterator[BrowserContext]:
    """A browser without JavaScript."""
    made = browser.new_context(java_script_enabled=False)
    yield made
    made.close()


def understand_and_correct(page: Page, number: int) -> None:
    """Find an instance among what failed, read why, and run it again with its file in another place."""
    page.get_by_role("table", name="Failed, held, to be tried again").get_by_role(
        "link", name=f"{number}", exact=True
    ).click()
    expect(page.get_by_role("heading", name=f"Instance {number}", exact=True)).to_be_visible()
    expect(page.get_by_text("a step failed and no retry is left")).to_be_visible()
    expect(page.locator("pre", has_text="FileNotFoundError").first).to_be_visible()
    page.get_by_role("link", name="Rerun", exact=True).click()
    page.get_by_label("Data2").fill("there.csv")
    page.get_by_label("Reason").fill(REASON)
    page.get_by_role("button", name="Rerun").click()
    expect(page.locator("dl.facts")).to_contain_text("ready")


def goes_well(console: Console, page: Page, number: int) -> None:
    console.night("run", "--once")
    page.goto(f"{console.address}/instances/{number}")
    expect(page.locator("dl.facts")).to_contain_text("complete")
    expect(page.get_by_role("table", name="Acts")).to_contain_text(REASON)
    assert console.night.status_of(number) == "complete"


def test_by_mouse(console: Console, page: Page) -> None:
    console.enter(page)

    understand_and_correct(page, 1)

    goes_well(console, page, 1)


def test_without_javascript(console: Console, plain: BrowserContext) -> None:
    page = console.enter(plain.new_page())

    understand_and_correct(page, 2)

    goes_well(console, page, 2)


def tab_to(page: Page, name: str) -> None:
    """Press the key until something of that name has the focus, and can be seen to have it."""
    for _ in range(TABS):
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        if focused.count() and name in (focused.text_content() or "", focused.get_attribute("name")):
            assert focused.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"
            return
    pytest.fail(f"The keyboard does not lead to '{name}'.")


def test_by_keyboard_alone(console: Console, page: Page) -> None:
    page.goto(f"{console.address}/login")
    page.keyboard.type(console.code)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{console.address}/")
    console.take_next_code()
    page.keyboard.press("Tab")
    assert page.locator(":focus").text_content() == "Skip to the content"
    page.keyboard.press("Enter")
    tab_to(page, "3")
    page.keyboard.press("Enter")
    page.wait_for_url("**/instances/3")
    tab_to(page, "Rerun")
    page.keyboard.press("Enter")
    page.wait_for_url("**/rerun*")
    tab_to(page, "Data2")
    page.keyboard.press("Control+A")
    page.keyboard.type("there.csv")
    tab_to(page, "reason")
    page.keyboard.type(REASON)
    tab_to(page, "Rerun")
    page.keyboard.press("Enter")
    page.wait_for_url("**/instances/3")

    goes_well(console, page, 3)


def test_the_second_of_two_operators_is_told(console: Console, browser: Browser) -> None:
    first, second = browser.new_context(), browser.new_context()
    anna, bob = (console.enter(one.new_page(), "/instances/4/rerun") for one in (first, second))
    for page, reason in ((anna, "anna did it"), (bob, "bob did it")):
        page.get_by_label("Data2").fill("there.csv")
        page.get_by_label("Reason").fill(reason)
    anna.get_by_role("button", name="Rerun").click()
    anna.wait_for_url("**/instances/4")
    console.night("run", "--once")

    bob.get_by_role("button", name="Rerun").click()

    expect(bob.get_by_role("alert").first).to_contain_text("only what is failed was meant")
    assert console.night.sql("SELECT Reason FROM AuditLog WHERE Action = 'rerun' AND Target = 'BatchControl:4'") == [
        ("anna did it",)
    ]
    first.close()
    second.close()


def test_who_logs_out_is_out_on_every_page(console: Console, page: Page) -> None:
    other = console.enter(page, "/instances/5").context.new_page()
    other.goto(f"{console.address}/audit")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("Code")).to_be_visible()

    other.reload()

    expect(other.get_by_label("Code")).to_be_visible()


def test_a_server_that_is_restarted_under_an_open_page_asks_who_is_there(console: Console, page: Page) -> None:
    console.enter(page, "/instances/5/cancel")
    page.get_by_label("Reason").fill("sent twice")

    console.restart()
    page.get_by_role("button", name="Cancel").click()

    expect(page.get_by_label("Code")).to_be_visible()
    assert console.night.status_of(5) == "failed"
    console.enter(page, "/instances/5")
    expect(page.get_by_role("heading", name="Instance 5")).to_be_visible()


def test_all_that_failed_is_run_again_at_once(console: Console, page: Page) -> None:
    failed = [at for at in range(1, 7) if console.night.status_of(at) == "failed"]
    for at in failed:
        (console.night.folder / f"missing{at}.csv").write_text("rows", encoding="utf-8")
    console.enter(page, "/instances?status=failed")
    page.get_by_role("link", name="Rerun", exact=True).click()
    expect(page.get_by_role("main")).to_contain_text(f"{len(failed)} instances")
    page.get_by_label("Reason").fill("the files have come")
    page.get_by_role("button", name="Rerun").click()

    for _ in range(LOOKS):
        if page.get_by_text("It is over.").is_visible():
            break
        page.reload()
    expect(page.get_by_role("main")).to_contain_text(f"{len(failed)} of {len(failed)}")
    console.night("run", "--once")

    assert {console.night.status_of(at) for at in failed} == {"complete"}

"""What the scripts of the console may do in a real browser, and what others may not."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import READY
from tests.browser.consoles import Console


def test_the_scripts_run_and_nothing_else_does(console: Console, page: Page) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(error.message))
    console.enter(page, "/instances/1")

    assert page.evaluate("typeof htmx") == "object"
    assert page.evaluate("htmx.version") == "4.0.1"
    assert said == []
    page.evaluate(
        """() => { const made = document.createElement('button');
        made.setAttribute('hx-post', '/logout'); made.id = 'planted';
        document.querySelector('main').append(made); htmx.process(made); }"""
    )

    assert page.evaluate("document.querySelector('#planted').hasAttribute('hx-post')") is False
    assert any("blocked <button#planted>" in line for line in said)


def test_a_command_is_copied_by_its_button(console: Console, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=console.address)
    console.enter(page, "/instances/1")
    command = page.locator("pre.command").first

    page.get_by_role("button", name="Copy").first.click()

    page.get_by_text("Copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == command.text_content()


def test_what_changes_is_seen_without_a_reload_and_the_buttons_stay(console: Console, page: Page) -> None:
    console.enter(page, "/instances/1")
    buttons = page.get_by_role("button", name="Copy", include_hidden=True)
    before = buttons.count()

    assert console.night("note", "1", "the sender was called").returncode == 0

    expect(page.get_by_role("table", name="Notes")).to_contain_text("the sender was called", timeout=READY)
    expect(buttons).to_have_count(before)
    assert before > 0

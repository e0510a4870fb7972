"""A real browser goes to an issuer at another site, and comes back: the cookie of the session is for its own site alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.consoles import Served, add, failed_night, serving
from tests.acceptance.installation import RunBatchctl, StartBatchctl
from tests.acceptance.issuers import Issuer, an_issuer, with_issuer
from tests.acceptance.night import a_file


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with an_issuer() as made:
        # To a browser another site than 127.0.0.1, which another port alone is not.
        made.address = made.address.replace("127.0.0.1", "localhost")
        made.says = {"preferred_username": "anna"}
        made.asks = True
        yield made


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, run_batchctl: RunBatchctl, start_batchctl: StartBatchctl, issuer: Issuer
) -> Iterator[Served]:
    night = with_issuer(failed_night(a_file(tmp_path_factory.mktemp("issuer")), run_batchctl), issuer.address)
    add(night, "anna", "operator")
    yield from serving(night, start_batchctl)


def test_who_comes_back_from_the_issuer_is_in_and_may_act(served: Served, page: Page) -> None:
    console = f"http://127.0.0.1:{served.port}"
    page.goto(f"{console}/")
    page.get_by_role("link", name="Log in with Our company").click()
    page.get_by_role("link", name="Allow").click()

    page.wait_for_url(f"{console}/")
    expect(page.get_by_role("link", name="anna (operator)")).to_be_visible()
    cookies = {one["name"]: (one["sameSite"], one["httpOnly"], one["secure"]) for one in page.context.cookies()}
    assert cookies == {"__Host-batchctl": ("Strict", True, True)}

    page.goto(f"{console}/instances/2/pause")
    page.get_by_label("Reason").fill("later")
    page.get_by_role("button", name="Pause").click()
    page.wait_for_url(f"{console}/instances/2")
    assert served.night.sql("SELECT Actor, Reason FROM AuditLog WHERE Action = 'pause'") == [("anna", "later")]

    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("link", name="Log in with Our company")).to_be_visible()


def test_who_goes_back_in_the_browser_is_not_let_in_twice(served: Served, page: Page) -> None:
    console = f"http://127.0.0.1:{served.port}"
    page.goto(f"{console}/login/oidc")
    back = page.get_by_role("link", name="Allow").get_attribute("href")
    assert back is not None
    page.get_by_role("link", name="Allow").click()
    page.wait_for_url(f"{console}/")

    page.goto(back)

    expect(page.get_by_role("alert")).to_contain_text("has ended already")

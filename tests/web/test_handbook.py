"""The documentation as pages: every page can be shown, and what it leads to is there."""

from __future__ import annotations

import re

import pytest

from batchctl.domain.errors import NotFound
from batchctl.web import handbook
from tests.house.source import ROOT

PAGES = sorted(path.stem for path in (ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("name", PAGES)
def test_each_page_leads_to_what_is_there(name: str) -> None:
    shown = handbook.chapter(name)

    assert shown.title
    for href in re.findall(r'href="([^"]*)"', shown.body):
        page, _, anchor = href.partition("#")
        assert page == "" or page.startswith("https://") or page.removeprefix("/help/") in PAGES, href
        if anchor and not page.startswith("https://"):
            there = shown if page == "" else handbook.chapter(page.removeprefix("/help/"))
            assert f'id="{anchor}"' in there.body or handbook.anchor_of(there.title) == anchor, href
    for source in re.findall(r'src="([^"]*)"', shown.body):
        assert (ROOT / "docs" / source.removeprefix("/documentation/")).is_file(), source


def test_html_in_the_files_is_shown_and_not_obeyed() -> None:
    assert "<!--" not in "".join(handbook.chapter(name).body for name in PAGES)


@pytest.mark.parametrize("name", ["nope", "../README", "views.md", "\x1b"])
def test_what_is_no_page_is_not_found(name: str) -> None:
    with pytest.raises(NotFound, match="has no page"):
        handbook.chapter(name)

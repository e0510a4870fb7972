"""The documentation, without a network."""

from __future__ import annotations

from batchctl.app import App
from batchctl.web import handbook
from batchctl.web.page import Page, PageRequest


def handbook_page(app: App, asked: PageRequest) -> Page:
    """Show a page of the documentation."""
    del app
    name = asked.path.get("name", handbook.FIRST)
    found = handbook.chapter(name)
    return Page(found.title, "help.html", values={"body": found.body, "is_first": name == handbook.FIRST})

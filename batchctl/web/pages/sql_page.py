"""The statements that show the same as a list of the console."""

from __future__ import annotations

from batchctl.app import App
from batchctl.domain.errors import NotFound
from batchctl.domain.text import visible
from batchctl.store.views.same_lists import STATEMENTS
from batchctl.web.page import Page, PageRequest


def as_sql(app: App, asked: PageRequest) -> Page:
    """Show the statements of a list."""
    del app
    title = asked.needed("list", "list")
    if title not in STATEMENTS:
        message = f"No statement shows the list '{visible(title)}'."
        raise NotFound(message, next_step="look at the views: /help/views")
    return Page(f"{title}: as SQL", "sql.html", values={"statements": STATEMENTS[title]})

"""The statements that show the same as a list of the console."""

from __future__ import annotations

from batchctl.app import App
from batchctl.domain.errors import NotFound
from batchctl.domain.text import visible
from batchctl.operations import many_begun
from batchctl.operations.maintenance import audit_trail
from batchctl.store.views import same_lists
from batchctl.web.page import Page, PageRequest

NARROWED_BY = ("list", "of", "many", "name", "cycle_key", *sorted(same_lists.NARROWED_BY))
"""To what a page may have narrowed its lists."""


def as_sql(app: App, asked: PageRequest) -> Page:
    """Show the statements of a list, narrowed as its page is."""
    title = asked.needed("list", "list")
    if title not in same_lists.STATEMENTS:
        message = f"No statement shows the list '{visible(title)}'."
        raise NotFound(message, next_step="look at the views: /help/views")
    about = audit_trail.targets_of(asked.get("of"))
    token = asked.get("many")
    refused = {} if token is None else many_begun.load(app.transactions, token).narrowed
    with app.transactions.read() as connection:
        found = same_lists.narrowed(connection, title, {**asked.query, **refused}, about)
    return Page(f"{title}: as SQL", "sql.html", values={"statements": found})

"""What lands on the desk of the person on call: rows that are no work, incidents, acts."""

from __future__ import annotations

from batchctl.app import App
from batchctl.domain.rows import AuditFilter
from batchctl.operations.alerting import incident_desk
from batchctl.operations.intake import inbox as inbox_rows
from batchctl.operations.maintenance import audit_trail
from batchctl.operations.operators import request_book
from batchctl.web.page import ON_A_PAGE, Page, PageRequest
from batchctl.web.pages.act_links import SUBMIT

_NONE_STANDS = "No incident stands: nothing needs a person. What runs and waits stands on the page Now."
_NONE = "There was no incident yet: what fails, is late or keeps a controller from its work is listed here."
_NOT_ASKED = "Nothing was asked for: a row in OperatorRequest asks the leading controller for an act."


def inbox(app: App, asked: PageRequest) -> Page:
    """List the rows that did not become work."""
    found = app.inbox().newest(before=asked.before(), most=ON_A_PAGE)
    older = None if found.before is None else str(found.before)
    return Page(
        "Inbox",
        lists=[(inbox_rows.ITEMS, found.items)],
        acts=[SUBMIT],
        older=older,
        empty="Every row has become work.",
    )


def incidents(app: App, asked: PageRequest) -> Page:
    """List the problems that people have to know of."""
    everything = asked.get("all") == "1"
    before = asked.before()
    found = incident_desk.page(app.transactions, ON_A_PAGE + 1, everything=everything, before=before)
    shown = found[:ON_A_PAGE]
    return Page(
        "Incidents",
        "incidents.html",
        [(incident_desk.incidents_at(app.clock.now()), shown)],
        {"everything": everything, "open": [one for one in shown if one.is_standing and one.acknowledged_by is None]},
        older=str(shown[-1].incident_id) if len(found) > ON_A_PAGE else None,
        empty="No incident is older." if before else _NONE if everything else _NONE_STANDS,
    )


def requests(app: App, asked: PageRequest) -> Page:
    """List what people have asked for by rows, and what the leader has answered."""
    found = request_book.requests(app.transactions, before=asked.before(), most=ON_A_PAGE + 1)
    older = str(found[ON_A_PAGE - 1].request_id) if len(found) > ON_A_PAGE else None
    return Page("Requests", lists=[(request_book.REQUESTS, found[:ON_A_PAGE])], older=older, empty=_NOT_ASKED)


def audit(app: App, asked: PageRequest) -> Page:
    """List who did what and why."""
    wanted = AuditFilter(ref=asked.get("of"), actor=asked.get("actor"), before=asked.before())
    found = audit_trail.page(app.transactions, wanted, ON_A_PAGE + 1)
    older = str(found[ON_A_PAGE - 1].audit_id) if len(found) > ON_A_PAGE else None
    return Page(
        "Audit",
        "audit.html",
        [(audit_trail.ACTS, found[:ON_A_PAGE])],
        {"query": asked.query},
        older=older,
        empty="No act fits: empty one of the fields above, or both, to see more."
        if asked.query
        else "Nothing was done.",
    )

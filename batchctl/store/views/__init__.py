"""Views that answer the questions of support staff in any SQL client: no joins, words for codes, and what to type next.

`db upgrade` makes them anew from here, as `batchctl.store.repeatable` says.
Data is shown as it is, control characters and all; what a client makes of it is its affair.

Whatever stands in a row, a view answers: an error in one row would hide all others. On PostgreSQL a time may be
endless, or of a year that nothing can be added to.
"""

from __future__ import annotations

from batchctl.store.views.blocker_views import frozen, not_installed, unreadable
from batchctl.store.views.forecast_view import forecast
from batchctl.store.views.instance_views import failed, history, late, running, status
from batchctl.store.views.pool_view import pools
from batchctl.store.views.start_views import inbox, schedule, sql_job
from batchctl.store.views.view_dialect import ViewDialect
from batchctl.store.views.waiting_view import waiting

NAMES = (
    *(
        "vUnreadable",
        "vNotInstalled",
        "vFrozen",
        "vPools",
        "vStatus",
        "vFailed",
        "vWaiting",
        "vRunning",
        "vLate",
        "vHistory",
    ),
    *("vSchedule", "vInbox", "vSqlJob", "vForecast"),
)
"""The views; those that others stand upon come first."""


def views(dialect: str, schema: str = "") -> dict[str, str]:
    """Return the statement that makes each view; `schema` with its dot stands before each name where it is not the default."""
    view_dialect = ViewDialect(dialect, schema)
    written = (
        unreadable,
        not_installed,
        frozen,
        pools,
        status,
        failed,
        waiting,
        running,
        late,
        history,
        schedule,
        inbox,
        sql_job,
        forecast,
    )
    return {
        name: view_dialect.for_any_client(f"{view_dialect.create} {schema}{name} AS{write(view_dialect)}")
        for name, write in zip(NAMES, written, strict=True)
    }

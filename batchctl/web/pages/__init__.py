"""The pages of the console, in the order of the menu."""

from __future__ import annotations

from collections.abc import Sequence

from batchctl.web.page import PageAt
from batchctl.web.pages import (
    batch_pages,
    controllers_page,
    day_page,
    dependency_page,
    desk_pages,
    file_process_page,
    help_page,
    instance_pages,
    now_page,
    request_page,
    schedule_pages,
    sql_page,
)

PAGES: Sequence[PageAt] = (
    PageAt("/", now_page.now, "Now"),
    PageAt("/instances", instance_pages.instances, "Instances", ("status", "batch", "before")),
    PageAt("/instances/{number}", instance_pages.instance),
    PageAt("/batches", batch_pages.batches, "Batches"),
    PageAt("/batch", batch_pages.batch, asks=("name",)),
    PageAt("/dependencies", dependency_page.dependencies, "Dependencies", ("batch", "cycle_key")),
    PageAt("/day", day_page.day, "24 hours"),
    PageAt("/schedules", schedule_pages.schedules, "Schedules"),
    PageAt("/schedule", schedule_pages.schedule, asks=("name",)),
    PageAt("/calendar", schedule_pages.calendar, asks=("name",)),
    PageAt("/inbox", desk_pages.inbox, "Inbox", ("before",)),
    PageAt("/file-processes/{number}", file_process_page.file_process),
    PageAt("/incidents", desk_pages.incidents, "Incidents", ("all", "before")),
    PageAt("/audit", desk_pages.audit, "Audit", ("of", "actor", "before")),
    PageAt("/requests", desk_pages.requests, "Requests", ("before",)),
    PageAt("/requests/{number}", request_page.request),
    PageAt("/controllers", controllers_page.controllers, "Controllers"),
    PageAt("/sql", sql_page.as_sql, asks=sql_page.NARROWED_BY),
    PageAt("/help", help_page.handbook_page, "Help"),
    PageAt("/help/{name}", help_page.handbook_page),
)

"""What programs can read: the lists of the command line, by the same column lists, and one row in full."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from batchctl.app import App
from batchctl.domain.rows import AuditFilter, InstanceId, InstancesWanted
from batchctl.domain.status import HistoryStatus, IncidentStatus, InstanceStatus
from batchctl.operations import explain, inspection, instance_list, output_reading, pool_standing, presence
from batchctl.operations.alerting import incident_desk
from batchctl.operations.column_lists import UNREADABLE
from batchctl.operations.definitions import variable_keeper
from batchctl.operations.dependencies import dependents
from batchctl.operations.intake import inbox, trial
from batchctl.operations.maintenance import audit_trail
from batchctl.operations.scheduling import timetable
from batchctl.operations.shown_columns import Columns
from batchctl.web.rest.filters import (
    ALL,
    BATCH,
    BEFORE,
    LIMIT,
    SINCE,
    Ask,
    Resource,
    RestAnswer,
    header_of,
    limit_of,
    page_of,
    rows_of,
    since_of,
    status_in,
    word_of,
)
from batchctl.web.rest.more_resources import MORE
from batchctl.web.wishes import FormField, Wish

_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
_INCIDENTS, _BATCHES = incident_desk.incidents_at(_LONG_AGO), inspection.batches_at(_LONG_AGO)


def _instances(app: App, asked: Wish) -> RestAnswer:
    before, limit = asked.number("before"), limit_of(asked)
    wanted = InstancesWanted(
        batch=asked.text("batch"),
        status=word_of(asked, InstanceStatus),
        before=None if before is None else InstanceId(before),
    )
    found = instance_list.page(app.transactions, wanted, limit + 1)
    return page_of(instance_list.INSTANCES, found, limit, lambda one: one.instance.instance_id)


def _attempts(app: App, asked: Wish) -> RestAnswer:
    filters, limit = (asked.text("batch"), word_of(asked, HistoryStatus), since_of(asked)), limit_of(asked)
    found, _ = inspection.newest_attempts(app.transactions, limit + 1, *filters, asked.number("before"))
    return page_of(inspection.ATTEMPTS, found, limit, lambda one: one.history_id)


def _attempts_of(app: App, asked: Wish) -> RestAnswer:
    found, _ = inspection.attempts_of(app.transactions, InstanceId(asked.row_id))
    return rows_of(inspection.ATTEMPTS, found)


def _instance(app: App, asked: Wish) -> RestAnswer:
    return RestAnswer(inspection.show(app.transactions, InstanceId(asked.row_id)).columns())


def _output(app: App, asked: Wish) -> RestAnswer:
    return RestAnswer(output_reading.as_json(output_reading.of_instance(app.transactions, InstanceId(asked.row_id))))


def _why(ref: Callable[[Wish], str]) -> Ask:
    def ask(app: App, asked: Wish) -> RestAnswer:
        benches = explain.Benches(app.schedule_bench, app.trigger_bench)
        means = app.transactions, app.clock, app.presence
        return RestAnswer(explain.why(*means, ref(asked), app.timetable(), benches).columns())

    return ask


def _batches(app: App, asked: Wish) -> RestAnswer:
    found, broken, _ = inspection.batches(app.transactions, app.clock)
    status = asked.text("status")
    wanted = [one for one in found if status in {None, "enabled" if one.batch.enabled else "disabled"}]
    return rows_of(inspection.batches_at(app.clock.now()), wanted, broken)


def _incidents(app: App, asked: Wish) -> RestAnswer:
    status = word_of(asked, IncidentStatus)
    everything = asked.text("all") == "true" or status is IncidentStatus.RESOLVED
    columns, batch, since = incident_desk.incidents_at(app.clock.now()), asked.text("batch"), since_of(asked)
    if not everything:
        found = incident_desk.listed(app.transactions, everything=False, batch=batch, status=status, since=since)
        return rows_of(columns, found)
    before, limit = asked.number("before"), limit_of(asked)
    found = incident_desk.page(
        app.transactions, limit + 1, everything=True, before=before, batch=batch, status=status, since=since
    )
    return page_of(columns, found, limit, lambda one: one.incident_id)


def _inbox(app: App, asked: Wish) -> RestAnswer:
    found = app.inbox().newest(before=asked.number("before"), since=since_of(asked), most=limit_of(asked))
    body: Columns = {
        "Leader": found.leader,
        "Rows": inbox.ITEMS.as_json(found.items),
        "Before": found.before,
        "Unreadable": UNREADABLE.as_json(found.unreadable),
    }
    return RestAnswer(body, found.before)


def _audit(app: App, asked: Wish) -> RestAnswer:
    limit = limit_of(asked)
    wanted = AuditFilter(
        ref=asked.text("of"),
        actor=asked.text("actor"),
        action=asked.text("action"),
        since=since_of(asked),
        before=asked.number("before"),
    )
    found = audit_trail.page(app.transactions, wanted, limit + 1)
    return page_of(audit_trail.ACTS, found, limit, lambda one: one.audit_id)


def _controllers(app: App, asked: Wish) -> RestAnswer:
    del asked
    found = presence.everyone(app.transactions, app.clock, app.presence, app.leader())
    return rows_of(presence.CONTROLLERS, found)


def _pools(app: App, asked: Wish) -> RestAnswer:
    del asked
    return rows_of(pool_standing.POOLS, pool_standing.everything(app.transactions, app.clock, app.presence))


def _waits(app: App, asked: Wish) -> RestAnswer:
    return rows_of(dependents.WAITS, dependents.waits(app.transactions, app.clock, asked.text("batch")))


def _schedules(app: App, asked: Wish) -> RestAnswer:
    del asked
    return rows_of(timetable.SCHEDULES, [*app.timetable().everything()], app.timetable().unreadable())


def _triggers(app: App, asked: Wish) -> RestAnswer:
    del asked
    return rows_of(trial.TRIGGERS, *trial.everything(app.transactions))


def _variables(app: App, asked: Wish) -> RestAnswer:
    del asked
    return rows_of(variable_keeper.VARIABLES, variable_keeper.listed(app.transactions, app.context.read_text))


_OF = FormField("of", "What was done to one row", hint="42, batch:NAME")

RESOURCES: tuple[Resource, ...] = (
    Resource(
        "/instances",
        "The instances, newest first.",
        "history",
        _instances,
        (BATCH, status_in(InstanceStatus), BEFORE, LIMIT),
        header_of(instance_list.INSTANCES),
    ),
    Resource("/instances/{key}", "One instance in full.", "show ID", _instance, is_list=False),
    Resource(
        "/instances/{key}/why",
        "Every gate of an instance.",
        "why ID",
        _why(lambda asked: str(asked.row_id)),
        is_list=False,
    ),
    Resource(
        "/instances/{key}/attempts",
        "The attempts of an instance, with their exact commands.",
        "history ID",
        _attempts_of,
        columns=header_of(inspection.ATTEMPTS),
    ),
    Resource("/instances/{key}/output", "What the last attempt has written.", "output ID", _output, is_list=False),
    Resource(
        "/attempts",
        "The newest attempts of all.",
        "history",
        _attempts,
        (BATCH, status_in(HistoryStatus), SINCE, BEFORE, LIMIT),
        header_of(inspection.ATTEMPTS),
    ),
    Resource(
        "/batches",
        "The batches with their steps and instances.",
        "batches",
        _batches,
        (status_in(("enabled", "disabled")),),
        header_of(_BATCHES),
    ),
    Resource(
        "/batches/{key:path}/why",
        "Every gate of a batch.",
        "why batch:NAME",
        _why(lambda asked: f"batch:{asked.key}"),
        is_list=False,
    ),
    Resource(
        "/file-processes/{key}/why",
        "What becomes of a FileProcess row.",
        "why file:ID",
        _why(lambda asked: f"file:{asked.row_id}"),
        is_list=False,
    ),
    Resource(
        "/schedules/{key:path}/why",
        "Every gate of a schedule.",
        "why schedule:NAME",
        _why(lambda asked: f"schedule:{asked.key}"),
        is_list=False,
    ),
    Resource(
        "/incidents",
        "What needs a person, oldest first; what is over, too, newest first and by pages.",
        "incidents",
        _incidents,
        (BATCH, status_in(IncidentStatus), SINCE, ALL, BEFORE, LIMIT),
        header_of(_INCIDENTS),
    ),
    Resource(
        "/inbox",
        "The FileProcess rows that did not become work, why, and what to do.",
        "inbox",
        _inbox,
        (SINCE, BEFORE, LIMIT),
        is_list=False,
    ),
    Resource(
        "/audit",
        "Who did what and why, newest first.",
        "audit",
        _audit,
        (_OF, FormField("actor", "Who"), FormField("action", "What"), SINCE, BEFORE, LIMIT),
        header_of(audit_trail.ACTS),
    ),
    Resource("/controllers", "Who works.", "controllers", _controllers, columns=header_of(presence.CONTROLLERS)),
    Resource("/pools", "Where steps run.", "pools", _pools, columns=header_of(pool_standing.POOLS)),
    Resource("/waits", "What waits for other batches.", "waits", _waits, (BATCH,), header_of(dependents.WAITS)),
    Resource("/schedules", "The schedules.", "schedule list", _schedules, columns=header_of(timetable.SCHEDULES)),
    Resource("/triggers", "The data triggers.", "trigger list", _triggers, columns=header_of(trial.TRIGGERS)),
    Resource("/variables", "The variables.", "variable list", _variables, columns=header_of(variable_keeper.VARIABLES)),
    *MORE,
)

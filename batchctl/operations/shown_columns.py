"""Rows under the names of their columns, as JSON shows them and the audit log keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from batchctl.domain.alerting.incidents import Incident, IncidentSign
from batchctl.domain.dead_ends import DeadEnd
from batchctl.domain.operators.requests import Request
from batchctl.domain.outcomes import JsonValue
from batchctl.domain.rows import (
    AuditEntry,
    BatchDefinition,
    BatchInstance,
    ControllerRow,
    DataTrigger,
    DataValues,
    FileWatchRow,
    Freeze,
    HistoryEntry,
    IntakeRow,
    LogEntry,
    MissingPlugin,
    Step,
)
from batchctl.domain.scheduling.schedules import Calendar, CalendarDay, Schedule
from batchctl.domain.unreadable import UnreadableRow
from batchctl.store.alerting.alert_deliveries import Delivery

Columns = dict[str, JsonValue]


def instance(row: BatchInstance) -> Columns:
    """Return a `BatchControl` row by column names."""
    return {
        "BatchControl_id": row.instance_id,
        "ProcessBatch_id": row.batch_id,
        "FileProcess_id": row.intake_id,
        "PrevProcessControlSeq": row.last_seq,
        "Status": row.status.value,
        "RetryCount": row.retry_count,
        "NextRunTime": moment(row.next_run_time),
        "CycleKey": row.cycle_key,
        **data(row.data),
        "ClaimToken": row.claim_token,
        "ClaimedBy": row.claimed_by,
        "LostCount": row.lost_count,
        "DefVersion": row.version,
    }


def intake(row: IntakeRow) -> Columns:
    """Return a `FileProcess` row by column names."""
    return {
        "FileProcess_id": row.intake_id,
        "Entity": row.entity,
        "FileName": row.file_name,
        "Status": row.status.value,
        "Data": row.data,
        "CycleKey": row.cycle_key,
        "Source": row.source,
        "Message": row.message,
        "z_inserted": moment(row.inserted_at),
    }


def file_watch(row: FileWatchRow) -> Columns:
    """Return a `FileWatch` row by column names."""
    return {
        "FileWatch_id": row.watch_id,
        "WatchName": row.name,
        "Entity": row.entity,
        "Folder": row.folder,
        "Pattern": row.pattern,
        "Recursive": int(row.is_recursive),
        "SettleSeconds": row.settle_seconds,
        "MarkerSuffix": row.marker_suffix,
        "DuplicateKey": row.duplicate_key.value,
        "Enabled": int(row.enabled),
        "UnreachableSince": moment(row.unreachable_since),
    }


def batch(row: BatchDefinition) -> Columns:
    """Return a `ProcessBatch` row by column names."""
    return {
        "ProcessBatch_id": row.batch_id,
        "ProcessBatchName": row.name,
        "Entity": row.entity,
        "Enabled": int(row.enabled),
        "Seq": row.seq,
        "RetryCount": row.retry_count,
        "RetryWaitMins": int(row.retry_wait.total_seconds() // 60),
        "RetryWaitSecs": row.retry_wait.total_seconds(),
        "Populator": row.populator,
        "PopulatorArgs": row.populator_args,
        "PopulatorOn": row.populator_on,
        "OnFailure": row.on_failure.value,
        "DependencyMode": row.dependency_mode.value,
        "MaxConcurrent": row.max_concurrent,
        "DuplicateCheck": int(row.duplicate_check),
        "ProcessingMode": None if row.mode is None else row.mode.value,
        "Tags": ",".join(row.tags) or None,
        "Description": row.description,
    }


def incident_sign(one: IncidentSign) -> Columns:
    """Return something that is the matter, under the names of columns."""
    return {
        "Kind": one.kind.value,
        "ProcessBatchName": one.subject,
        "Since": moment(one.since),
        "Message": one.message,
        "Next": one.next_step,
    }


def unreadable(row: UnreadableRow) -> Columns:
    """Return what there is to say of a row that cannot be read, under the names of columns."""
    return {
        "TableName": row.table,
        "RowNumber": row.row_id,
        "ColumnName": row.column or None,
        "ProcessBatchName": row.batch or None,
        "Message": row.message,
        "Next": row.mend,
    }


def missing_plugin(one: MissingPlugin) -> Columns:
    """Return what a row names and no controller has, under the names of columns."""
    return {
        "ProcessControlSeq": one.seq,
        "ColumnName": one.column,
        "Message": one.message,
        "Next": one.mend,
    }


def dead_end(row: DeadEnd) -> Columns:
    """Return what should start work and cannot, under the names of columns."""
    return {"Source": row.source, "EventTime": moment(row.since), "Message": row.message, "Next": row.next_step}


def freeze(row: Freeze) -> Columns:
    """Return a `BatchFreeze` row by column names."""
    return {
        "BatchFreeze_id": row.freeze_id,
        "ProcessBatchName": row.batch,
        "Tag": row.tag,
        "Reason": row.reason,
        "Actor": row.actor,
        "UntilTime": moment(row.until),
        "ThawedTime": moment(row.thawed_at),
        "ThawedBy": row.thawed_by,
        "z_inserted": moment(row.since),
    }


def step(row: Step) -> Columns:
    """Return a `ProcessControl` row by column names."""
    return {
        "ProcessBatch_id": row.batch_id,
        "ProcessControlSeq": row.seq,
        "ProcessName": row.name,
        "ProcessType": row.process_type,
        "ExpectedDuration": seconds(row.expected_duration),
        "AlarmDuration": seconds(row.alarm_duration),
        "MaxDuration": seconds(row.max_duration),
        "OnLost": row.on_lost.value,
        "MaxLost": row.max_lost,
        **data(row.data),
    }


def history(row: HistoryEntry) -> Columns:
    """Return a `BatchProcessHistory` row by column names."""
    return {
        "BatchProcessHistory_id": row.history_id,
        "BatchControl_id": row.instance_id,
        "ProcessBatch_id": row.batch_id,
        "ProcessControlSeq": row.seq,
        "ProcessName": row.step_name,
        "ProcessType": row.process_type,
        "AttemptNo": row.attempt_no,
        "ClaimToken": row.claim_token,
        "Cause": row.cause.value,
        "Status": row.status.value,
        "CommandText": row.command_text,
        "CommandSpec": row.command_spec,
        "StartTime": moment(row.started_at),
        "EndTime": moment(row.ended_at),
        "ReturnCode": row.return_code,
        "ErrorCode": row.error_code,
        "ErrorLine": row.error_line,
        "Message": row.message,
        "Output": row.output,
        "RowsAffected": row.rows_affected,
        "Host": row.host,
        "Pid": row.pid,
        "PidStart": row.pid_start,
        "BootId": row.boot_id,
        "DbSession": row.db_session,
        "Spawned": moment(row.spawned_at),
        "RetryCountAfter": row.retry_count_after,
        "NextRunTimeAfter": moment(row.next_run_time_after),
        "ClaimedBy": row.claimed_by,
        "DefVersion": row.version,
    }


def controller(row: ControllerRow) -> Columns:
    """Return a `Controller` row by column names."""
    return {
        "Controller_id": row.row_id,
        "ControllerName": row.name,
        "Status": row.status.value,
        "Host": row.host,
        "Pid": row.pid,
        "PidStart": row.pid_start,
        "BootId": row.boot_id,
        "Slots": row.slots,
        "HeartbeatSeq": row.heartbeat_seq,
        "Heartbeat": moment(row.heartbeat),
        "AppVersion": row.version,
        "z_inserted": moment(row.started_at),
        "OrphanTimeoutSecs": None if row.orphan_timeout is None else int(row.orphan_timeout.total_seconds()),
        "SchedulerZone": row.scheduler_zone,
        "Trouble": row.failure,
    }


def request(row: Request) -> Columns:
    """Return an `OperatorRequest` row by column names."""
    return {
        "OperatorRequest_id": row.request_id,
        "Action": row.action,
        "BatchControl_id": row.instance_id,
        "ProcessBatchName": row.batch,
        "Arguments": row.arguments,
        "Reason": row.reason,
        "Actor": row.actor,
        "Status": row.status.value,
        "Answer": row.answer,
        "AnsweredBy": row.answered_by,
        "AnsweredTime": moment(row.answered_at),
        "z_inserted": moment(row.asked_at),
    }


def incident(row: Incident) -> Columns:
    """Return an `Incident` row by column names."""
    return {
        "Incident_id": row.incident_id,
        "Kind": row.kind.value,
        "IncidentKey": row.key,
        "Severity": row.severity.value,
        "Status": row.status.value,
        "Subject": row.subject,
        "Message": row.message,
        "Detail": row.detail,
        "NextStep": row.next_step,
        "ProcessBatch_id": row.batch_id,
        "ProcessControlSeq": row.seq,
        "BatchControl_id": row.instance_id,
        "Occurrences": row.occurrences,
        "OpenedTime": moment(row.opened_at),
        "LastSeen": moment(row.last_seen),
        "AcknowledgedTime": moment(row.acknowledged_at),
        "AcknowledgedBy": row.acknowledged_by,
        "AcknowledgedReason": row.because,
        "SnoozedUntil": moment(row.snoozed_until),
        "AlertsMade": row.alerts,
        "NextAlertTime": moment(row.next_alert),
        "EscalatedTime": moment(row.escalated_at),
        "ResolvedTime": moment(row.resolved_at),
        "RecoveryTime": moment(row.recovery_at),
    }


def delivery(row: Delivery) -> Columns:
    """Return an `AlertDelivery` row by column names, without its body."""
    return {
        "AlertDelivery_id": row.delivery_id,
        "Incident_id": row.incident_id,
        "Channel": row.channel,
        "Kind": row.kind.value,
        "Status": row.status.value,
        "Title": row.message.title,
        "Attempts": row.attempts,
        "NextAttemptTime": moment(row.next_attempt),
        "SentTime": moment(row.sent_at),
        "Message": row.wording,
        "z_inserted": moment(row.made_at),
    }


def audit(row: AuditEntry) -> Columns:
    """Return an `AuditLog` row by column names."""
    return {
        "AuditLog_id": row.audit_id,
        "z_inserted": moment(row.at),
        "Actor": row.actor,
        "Host": row.host,
        "Action": row.action,
        "Target": row.target,
        "Reason": row.reason,
        "ValuesBefore": row.before,
        "ValuesAfter": row.after,
    }


def data_trigger(row: DataTrigger) -> Columns:
    """Return a `DataTrigger` row by column names."""
    return {
        "DataTrigger_id": row.row_id,
        "TriggerName": row.name,
        "Entity": row.entity,
        "ConnectionName": row.connection,
        "TableName": row.table,
        "StatusColumn": row.status_column,
        "PendingValue": row.pending_value,
        "CreatedColumn": row.created_column,
        "RowThreshold": row.row_threshold,
        "IdleMinutes": None if row.idle is None else int(row.idle.total_seconds() // 60),
        "OnNewRows": int(row.on_new_rows),
        "DebounceSeconds": seconds(row.debounce),
        "Enabled": int(row.enabled),
        "LastFired": moment(row.last_fired),
    }


def schedule(row: Schedule) -> Columns:
    """Return a `Schedule` row by column names."""
    timing = row.timing
    return {
        "Schedule_id": row.schedule_id,
        "ScheduleName": row.name,
        "Entity": row.entity,
        "ScheduleType": timing.schedule_type.value,
        "IntervalMinutes": timing.interval_minutes,
        "RunTimes": timing.run_times,
        "RunDays": timing.run_days,
        "RunDaysOfMonth": timing.run_days_of_month,
        "WeekOfMonth": timing.week_of_month,
        "RunMonths": timing.run_months,
        "BetweenTimes": timing.between_times,
        "EveryN": timing.every_n,
        "StartDate": timing.start_date,
        "EndDate": timing.end_date,
        "RunAt": timing.run_at,
        "Cron": timing.cron,
        "TimeZone": timing.time_zone,
        "CalendarName": timing.calendar_name,
        "CalendarRule": timing.calendar_rule.value,
        "GapPolicy": timing.gap_policy.value,
        "FoldPolicy": timing.fold_policy.value,
        "CatchUp": row.catch_up.value,
        "CatchUpMost": row.catch_up_most,
        "Overlap": row.overlap.value,
        "Jitter": seconds(row.jitter),
        "Enabled": int(row.enabled),
        "NextRunTime": moment(row.next_run_time),
        "DecidedUntil": moment(row.decided_until),
        "Origin": row.origin,
        "Description": row.description,
    }


def calendar(row: Calendar) -> Columns:
    """Return a `Calendar` row by column names."""
    return {
        "Calendar_id": row.calendar_id,
        "CalendarName": row.name,
        "BusinessDays": row.business_days,
        "ValidFrom": None if row.valid_from is None else row.valid_from.isoformat(),
        "ValidUntil": None if row.valid_until is None else row.valid_until.isoformat(),
        "Description": row.description,
    }


def calendar_day(row: CalendarDay) -> Columns:
    """Return a `CalendarDay` row by column names."""
    return {
        "CalendarDate": row.day.isoformat(),
        "IsBusinessDay": int(row.is_business_day),
        "Description": row.description,
    }


def log_entry(row: LogEntry) -> Columns:
    """Return a `SchedulerLog` row by column names."""
    return {
        "SchedulerLog_id": row.log_id,
        "EventTime": moment(row.at),
        "EventType": row.event.value,
        "Source": row.source,
        "Entity": row.entity,
        "ProcessBatch_id": row.batch_id,
        "FileProcess_id": row.intake_id,
        "BatchControl_id": row.instance_id,
        "Message": row.message,
        "RowsQueued": row.rows_queued,
        "DurationMs": row.duration_ms,
    }


def data(values: DataValues) -> Columns:
    """Return Data1 to Data6 by name."""
    return {f"Data{at}": value for at, value in enumerate(values, start=1)}


def changes(before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]) -> tuple[Columns, Columns]:
    """Return the columns that differ, as they were and as they are."""
    names = [name for name in before if before[name] != after[name]]
    return {name: before[name] for name in names}, {name: after[name] for name in names}


def moment(at: datetime | None) -> str | None:
    """Write a time as ISO 8601 in UTC."""
    return None if at is None else f"{at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def seconds(duration: timedelta | None) -> int | None:
    """Write a duration as whole seconds."""
    return None if duration is None else int(duration.total_seconds())

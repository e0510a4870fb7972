"""What people ask for, what alerts they get, and what they did."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    ForeignKey,
    Index,
    Integer,
    UniqueConstraint,
)

from batchctl.domain import status
from batchctl.domain.operators.request_verbs import Verb
from batchctl.store.columns import (
    UtcTime,
    database_user,
    name,
    reference,
    text_column,
    unquoted,
    word,
)
from batchctl.store.tables.making import (
    AUDITED,
    check,
    column,
    index,
    key,
    required,
    stamp,
    table,
    words,
)
from batchctl.store.tables.some_rows import (
    OPEN_CONFIRMATION,
    OWED_RECOVERY,
    REQUESTED,
    STANDING_DRAIN,
    STANDING_FREEZE,
    STANDING_INCIDENT,
    TO_SEND,
)
from batchctl.store.written_forms import is_word_while

_ONE_SUBJECT = (
    " + ".join(
        f"CASE WHEN {subject} IS NULL THEN 0 ELSE 1 END"
        for subject in ("BatchControl_id", "Incident_id", "ProcessBatch_id")
    )
    + " = 1"
)

operator_request = table(
    "OperatorRequest",
    key("OperatorRequest_id"),
    required("Action", name(50)),
    column("BatchControl_id", reference()),
    column("ProcessBatchName", name()),
    column("Arguments", text_column()),
    column("Reason", text_column()),
    Column(unquoted("Actor"), name(), nullable=False, server_default=database_user()),
    required("Status", word(), "'requested'"),
    column("Answer", text_column()),
    column("AnsweredBy", name()),
    column("AnsweredTime", UtcTime()),
    stamp("z_inserted"),
    stamp("z_updated"),
    check("Action", "Action <> ''"),
    check("Actor", "Actor <> ''"),
    words("Status", status.RequestStatus),
    check("Action_Word", is_word_while("Action", Verb, REQUESTED)),
    index("IX_OperatorRequest_Open", "OperatorRequest_id", where=REQUESTED),
)

batch_freeze = table(
    "BatchFreeze",
    key("BatchFreeze_id"),
    column("ProcessBatchName", name()),
    column("Tag", name()),
    required("Reason", text_column()),
    Column(unquoted("Actor"), name(), nullable=False, server_default=database_user()),
    column("UntilTime", UtcTime()),
    column("ThawedTime", UtcTime()),
    column("ThawedBy", name()),
    stamp("z_inserted"),
    stamp("z_updated"),
    check("Reason", "Reason <> ''"),
    check("Actor", "Actor <> ''"),
    # A row with neither freezes the whole system.
    check("Tag", "ProcessBatchName IS NULL OR Tag IS NULL"),
    index("IX_BatchFreeze_Standing", "BatchFreeze_id", where=STANDING_FREEZE),
    info=AUDITED,
)

drain = table(
    "Drain",
    key("Drain_id"),
    column("Host", name()),
    column("PoolName", name(50)),
    required("Reason", text_column()),
    Column(unquoted("Actor"), name(), nullable=False, server_default=database_user()),
    column("UndrainedTime", UtcTime()),
    column("UndrainedBy", name()),
    stamp("z_inserted"),
    stamp("z_updated"),
    check("Reason", "Reason <> ''"),
    check("Actor", "Actor <> ''"),
    check("Host", "(Host IS NULL AND PoolName IS NOT NULL) OR (Host IS NOT NULL AND PoolName IS NULL)"),
    index("IX_Drain_Standing", "Drain_id", where=STANDING_DRAIN),
    info=AUDITED,
)

confirmation = table(
    "Confirmation",
    key("Confirmation_id"),
    required("BatchControl_id", reference(), None, ForeignKey("BatchControl.BatchControl_id")),
    required("ProcessControlSeq", Integer()),
    required("Question", text_column()),
    column("Who", name()),
    column("Evidence", text_column()),
    column("DueTime", UtcTime()),
    column("OnTimeout", word()),
    column("Answer", word()),
    column("AnsweredTime", UtcTime()),
    column("AnsweredBy", name()),
    column("Reason", text_column()),
    stamp("z_inserted"),
    stamp("z_updated"),
    words("OnTimeout", status.OnTimeout),
    words("Answer", status.ConfirmationAnswer),
    Index("IX_Confirmation_Instance", "BatchControl_id"),
    # Each question is answered once.
    index("UX_Confirmation_Open", "BatchControl_id", where=OPEN_CONFIRMATION, unique=True),
)

incident = table(
    "Incident",
    key("Incident_id"),
    required("Kind", word()),
    required("IncidentKey", name()),
    required("Severity", word()),
    required("Status", word(), "'open'"),
    required("Subject", name()),
    required("Message", text_column()),
    column("Detail", text_column()),
    column("NextStep", text_column()),
    # No foreign keys: an incident outlives what it is about.
    column("ProcessBatch_id", reference()),
    column("ProcessControlSeq", Integer()),
    column("BatchControl_id", reference()),
    required("Evidence", reference(), "0"),
    required("Occurrences", Integer(), "1"),
    stamp("OpenedTime"),
    stamp("LastSeen"),
    column("AcknowledgedTime", UtcTime()),
    column("AcknowledgedBy", name()),
    column("SnoozedUntil", UtcTime()),
    required("AlertsMade", Integer(), "0"),
    column("NextAlertTime", UtcTime()),
    column("EscalatedTime", UtcTime()),
    column("ResolvedTime", UtcTime()),
    column("RecoveryTime", UtcTime()),
    stamp("z_inserted"),
    stamp("z_updated"),
    check("IncidentKey", "IncidentKey <> ''"),
    check("Occurrences", "Occurrences >= 1"),
    check("AlertsMade", "AlertsMade >= 0"),
    words("Kind", status.IncidentKind),
    words("Severity", status.Severity),
    words("Status", status.IncidentStatus),
    index("UX_Incident_Standing", "IncidentKey", where=STANDING_INCIDENT, unique=True),
    index("IX_Incident_Recovery", "Incident_id", where=OWED_RECOVERY),
)

alert_delivery = table(
    "AlertDelivery",
    key("AlertDelivery_id"),
    required("Incident_id", reference(), None, ForeignKey("Incident.Incident_id")),
    required("Channel", name()),
    required("Kind", word()),
    required("Number", Integer()),
    required("Status", word(), "'waiting'"),
    required("Title", name()),
    required("Body", text_column()),
    required("Attempts", Integer(), "0"),
    stamp("NextAttemptTime"),
    column("ClaimedBy", name()),
    column("ClaimedTime", UtcTime()),
    column("SentTime", UtcTime()),
    column("Message", text_column()),
    stamp("z_inserted"),
    stamp("z_updated"),
    # Each message is made once for each channel, however many controllers make it.
    UniqueConstraint("Incident_id", "Channel", "Kind", "Number"),
    check("Channel", "Channel <> ''"),
    check("Number", "Number >= 0"),
    check("Attempts", "Attempts >= 0"),
    words("Kind", status.DeliveryKind),
    words("Status", status.DeliveryStatus),
    index("IX_AlertDelivery_Waiting", "AlertDelivery_id", where=TO_SEND),
)

note = table(
    "Note",
    key("Note_id"),
    column("BatchControl_id", reference(), ForeignKey("BatchControl.BatchControl_id")),
    column("Incident_id", reference(), ForeignKey("Incident.Incident_id")),
    column("ProcessBatch_id", reference(), ForeignKey("ProcessBatch.ProcessBatch_id")),
    required("Text", text_column()),
    Column(unquoted("Actor"), name(), nullable=False, server_default=database_user()),
    stamp("z_inserted"),
    check("Text", "Text <> ''"),
    check("Actor", "Actor <> ''"),
    check("BatchControl_id", _ONE_SUBJECT),
    Index("IX_Note_Instance", "BatchControl_id"),
    Index("IX_Note_Incident", "Incident_id"),
    Index("IX_Note_Batch", "ProcessBatch_id"),
)

audit_log = table(
    "AuditLog",
    key("AuditLog_id"),
    required("Actor", name()),
    required("Host", name()),
    required("Action", name(50)),
    required("Target", name()),
    column("Reason", text_column()),
    column("ValuesBefore", text_column()),
    column("ValuesAfter", text_column()),
    stamp("z_inserted"),
    check("Actor", "Actor <> ''"),
    Index("IX_AuditLog_Target", "Target"),
)

audit_seal = table(
    "AuditSeal",
    key("AuditSeal_id"),
    required("SealNo", reference()),
    required("AuditLog_id", reference()),
    required("PrevHash", name(64)),
    required("RecordHash", name(64)),
    stamp("z_inserted"),
    UniqueConstraint("SealNo"),
    # No foreign key: the seal of a row that was purged stays.
    UniqueConstraint("AuditLog_id"),
    check("SealNo", "SealNo >= 1"),
)

zone_offset = table(
    "ZoneOffset",
    key("ZoneOffset_id"),
    required("ZoneName", name()),
    required("FromTime", UtcTime()),
    required("UntilTime", UtcTime()),
    required("OffsetSeconds", Integer()),
    stamp("z_inserted"),
    UniqueConstraint("FromTime"),
    check("ZoneName", "ZoneName <> ''"),
    check("UntilTime", "FromTime < UntilTime"),
    check("OffsetSeconds", "OffsetSeconds BETWEEN -86400 AND 86400"),
    Index("IX_ZoneOffset_Until", "UntilTime", "FromTime"),
)

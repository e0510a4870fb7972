"""The laws of what is reported to people and what they do: incidents, messages, requests and the audit log."""

from __future__ import annotations

from sqlalchemy import and_, exists, not_, or_

from batchctl.store.invariants.invariant import Invariant, rows_of
from batchctl.store.maintenance.audit_entries import target_of
from batchctl.store.tables import alert_delivery, audit_log, audit_seal, incident, operator_request

_seal, _before_seal = audit_seal.alias("seal"), audit_seal.alias("before_seal")
_inc, _same_inc = incident.alias("inc"), incident.alias("same_inc")
_mail, _same_mail = alert_delivery.alias("mail"), alert_delivery.alias("same_mail")

OF_PEOPLE: tuple[Invariant, ...] = (
    Invariant(
        "I25",
        "the seals of the audit log are numbered without a gap, and each goes on from the hash before it",
        rows_of(
            _seal.c.AuditSeal_id,
            _seal.c.SealNo > 1,
            not_(
                exists().where(
                    _before_seal.c.SealNo == _seal.c.SealNo - 1, _before_seal.c.RecordHash == _seal.c.PrevHash
                )
            ),
        ),
        "somebody has changed or deleted seals by hand; which rows are concerned: batchctl audit verify",
    ),
    Invariant(
        "I38",
        "what was asked for by a row and is done stands in the audit log",
        rows_of(
            operator_request.c.OperatorRequest_id,
            operator_request.c.Status == "done",
            not_(exists().where(audit_log.c.Host == target_of(operator_request.c.OperatorRequest_id))),
        ),
        "somebody has written Status by hand, or deleted rows of AuditLog: batchctl audit verify",
    ),
    Invariant(
        "I61",
        "of one problem at most one incident stands",
        rows_of(
            _inc.c.Incident_id,
            _inc.c.ResolvedTime.is_(None),
            exists().where(
                _same_inc.c.IncidentKey == _inc.c.IncidentKey,
                _same_inc.c.Incident_id < _inc.c.Incident_id,
                _same_inc.c.ResolvedTime.is_(None),
            ),
        ),
        "somebody has dropped the index UX_Incident_Standing: set ResolvedTime and RecoveryTime of the later ones",
    ),
    Invariant(
        "I62",
        "an incident is resolved when it has a ResolvedTime, and its recovery is not announced before that",
        rows_of(
            _inc.c.Incident_id,
            or_(
                and_(_inc.c.ResolvedTime.is_(None), _inc.c.Status == "resolved"),
                and_(_inc.c.ResolvedTime.is_not(None), _inc.c.Status != "resolved"),
                _inc.c.RecoveryTime < _inc.c.ResolvedTime,
            ),
            # What was over when it was found is never announced.
            _inc.c.Kind != "no_worker",
        ),
        "somebody has changed Status, ResolvedTime or RecoveryTime by hand: let them agree",
    ),
    Invariant(
        "I63",
        "the recovery of an incident is announced once through each channel",
        rows_of(
            _mail.c.AlertDelivery_id,
            _mail.c.Kind == "recovery",
            exists().where(
                _same_mail.c.Incident_id == _mail.c.Incident_id,
                _same_mail.c.Channel == _mail.c.Channel,
                _same_mail.c.Kind == "recovery",
                _same_mail.c.AlertDelivery_id < _mail.c.AlertDelivery_id,
            ),
        ),
        "nothing needs to be done: two messages have gone out; batchctl was not alone, or rows were written by hand",
    ),
    Invariant(
        "I64",
        "a message that was sent has a SentTime, and was tried; no other has a SentTime",
        rows_of(
            _mail.c.AlertDelivery_id,
            or_(
                and_(_mail.c.Status == "sent", or_(_mail.c.SentTime.is_(None), _mail.c.Attempts == 0)),
                and_(_mail.c.Status != "sent", _mail.c.SentTime.is_not(None)),
            ),
        ),
        "somebody has changed Status, SentTime or Attempts by hand: let them agree",
    ),
    Invariant(
        "I65",
        "a message is about an incident that is there",
        rows_of(_mail.c.AlertDelivery_id, not_(exists().where(_inc.c.Incident_id == _mail.c.Incident_id))),
        "somebody has deleted its incident with foreign keys switched off: delete the message",
    ),
)

"""The laws of what steps ask people, and of how that is answered."""

from __future__ import annotations

from sqlalchemy import and_, exists, not_, or_

from batchctl.domain.rows import CONFIRM
from batchctl.store.invariants.invariant import Invariant, rows_of
from batchctl.store.tables import batch_control, batch_process_history, confirmation

_q, _c = confirmation.c, batch_control.c
_h = batch_process_history.alias("h")
_IS_OPEN = _q.Answer.is_(None)
_WAITS_FOR_IT = exists().where(
    _c.BatchControl_id == _q.BatchControl_id,
    _c.Status == "paused",
    _c.PrevProcessControlSeq < _q.ProcessControlSeq,
)
_ASKS_IT = exists().where(
    _h.c.BatchControl_id == _q.BatchControl_id,
    _h.c.ProcessControlSeq == _q.ProcessControlSeq,
    _h.c.ProcessType == CONFIRM,
    _h.c.Status == "asked",
)
_IS_WRITTEN_DOWN = (
    exists()
    .where(
        _q.BatchControl_id == _h.c.BatchControl_id,
        _q.ProcessControlSeq == _h.c.ProcessControlSeq,
        _q.Answer.is_(None),
    )
    .correlate(_h)
)

OF_QUESTIONS: tuple[Invariant, ...] = (
    Invariant(
        "I96",
        "an instance waits, paused before the step that asks, as long as its question is open",
        rows_of(_q.Confirmation_id, _IS_OPEN, not_(_WAITS_FOR_IT)),
        "somebody has changed the instance by hand; a controller withdraws the question at its next look",
    ),
    Invariant(
        "I97",
        "an open question is that of an attempt at a step of type confirm, which stands as asked",
        rows_of(_q.Confirmation_id, _IS_OPEN, not_(_ASKS_IT)),
        "somebody has written questions or history by hand; set Answer of Confirmation {id} to withdrawn, AnsweredTime to now",
    ),
    Invariant(
        "I98",
        "an attempt that stands as asked has its question open",
        rows_of(_h.c.BatchProcessHistory_id, _h.c.Status == "asked", not_(_IS_WRITTEN_DOWN)),
        "somebody has answered, or deleted, the question by hand; a rerun of its instance asks again",
    ),
    Invariant(
        "I99",
        "a question has a time of its answer exactly when it has one, and a name with it",
        rows_of(
            _q.Confirmation_id,
            or_(
                and_(_q.Answer.is_(None), or_(_q.AnsweredTime.is_not(None), _q.AnsweredBy.is_not(None))),
                and_(_q.Answer.is_not(None), or_(_q.AnsweredTime.is_(None), _q.AnsweredBy.is_(None))),
            ),
        ),
        "somebody has answered by hand; a row of OperatorRequest does it in full: set AnsweredTime and AnsweredBy",
    ),
)

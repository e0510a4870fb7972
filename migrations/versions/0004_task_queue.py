"""Register the batch Task, which carries out whatever a row asks for, unless somebody has such a batch already.

Where there are batches already it is made disabled: whoever may insert a FileProcess row could run any command with
it, which the people who gave that right have not agreed to.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from batchctl.store.columns import identity, name, text_column, unquoted, word

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

DESCRIPTION = "The task queue: Data is a command, or SQL for the connection that FileName names (batchctl task)"

# Of tables, not of text, so that it follows where the whole schema is made elsewhere to compare it.
_metadata = sa.MetaData()
process_batch = sa.Table(
    unquoted("ProcessBatch"),
    _metadata,
    sa.Column(unquoted("ProcessBatch_id"), identity(), primary_key=True),
    sa.Column(unquoted("ProcessBatchName"), name()),
    sa.Column(unquoted("Entity"), name()),
    sa.Column(unquoted("Enabled"), sa.SmallInteger()),
    sa.Column(unquoted("Seq"), sa.Integer()),
    sa.Column(unquoted("OnFailure"), word()),
    sa.Column(unquoted("MaxConcurrent"), sa.Integer()),
    sa.Column(unquoted("DuplicateCheck"), sa.SmallInteger()),
    sa.Column(unquoted("Description"), text_column()),
)
process_control = sa.Table(
    unquoted("ProcessControl"),
    _metadata,
    sa.Column(unquoted("ProcessControl_id"), identity(), primary_key=True),
    sa.Column(unquoted("ProcessBatch_id"), identity()),
    sa.Column(unquoted("ProcessControlSeq"), sa.Integer()),
    sa.Column(unquoted("ProcessName"), name()),
    sa.Column(unquoted("ProcessType"), name(50)),
    sa.Column(unquoted("Data1"), text_column()),
    sa.Column(unquoted("Data2"), text_column()),
)
batch_control = sa.Table(unquoted("BatchControl"), _metadata, sa.Column(unquoted("ProcessBatch_id"), identity()))
_b, _p = process_batch.c, process_control.c


def _text(written: str) -> sa.ColumnElement[str]:
    return sa.literal_column(f"'{written}'")


def _number(written: int) -> sa.ColumnElement[int]:
    return sa.literal_column(str(written))


def upgrade() -> None:
    """Insert the batch and its step."""
    theirs = process_batch.alias("theirs")
    taken = sa.exists().where(sa.or_(theirs.c.ProcessBatchName == _text("Task"), theirs.c.Entity == _text("Task")))
    in_use = sa.exists().select_from(process_batch.alias("any_batch"))
    batch = {
        "ProcessBatchName": _text("Task"),
        "Enabled": sa.case((in_use, _number(0)), else_=_number(1)),
        "Seq": _number(1000),
        "OnFailure": _text("continue"),
        "MaxConcurrent": _number(1000),
        "DuplicateCheck": _number(0),
        "Description": _text(DESCRIPTION),
    }
    op.execute(sa.insert(process_batch).from_select(list(batch), sa.select(*batch.values()).where(sa.not_(taken))))
    step = {
        "ProcessBatch_id": _b.ProcessBatch_id,
        "ProcessControlSeq": _number(10),
        "ProcessName": _text("run the task"),
        "ProcessType": _text("task"),
        "Data1": _text("{Data2}"),
        "Data2": _text("{Data3}"),
    }
    has_steps = sa.exists().where(_p.ProcessBatch_id == _b.ProcessBatch_id)
    op.execute(
        sa.insert(process_control).from_select(
            list(step),
            sa.select(*step.values()).where(
                _b.ProcessBatchName == _text("Task"), _b.Description == _text(DESCRIPTION), sa.not_(has_steps)
            ),
        )
    )


def downgrade() -> None:
    """Delete the batch and its step, unless there is work of it."""
    of_it = sa.exists().where(batch_control.c.ProcessBatch_id == _b.ProcessBatch_id)
    unused = sa.select(_b.ProcessBatch_id).where(
        _b.ProcessBatchName == _text("Task"), _b.Description == _text(DESCRIPTION), sa.not_(of_it)
    )
    op.execute(sa.delete(process_control).where(_p.ProcessBatch_id.in_(unused)))
    op.execute(sa.delete(process_batch).where(_b.ProcessBatch_id.in_(unused)))

"""Checks SQL before a job keeps it: what could never be sent is refused, what a parser objects to is reported."""

from __future__ import annotations

import re
from datetime import datetime
from functools import partial

from batchctl.domain.definitions.sql_jobs import OPTIONS
from batchctl.domain.errors import CannotBegin, PluginError, Refused, without_next_step
from batchctl.domain.rows import BatchDefinition, Step, imagined
from batchctl.domain.status import Cause
from batchctl.domain.text import unfit, visible
from batchctl.domain.values import value
from batchctl.preparation import Preparer

_FILE = "file:"
_COLUMN = re.compile(r"(^|; )(Data[12]): ")


@value
class SqlRehearsal:
    """What will run, made by the code that will run it, and what a check says of it."""

    command_text: str
    notes: tuple[str, ...]


def check_sql(sql: str, *, next_step: str) -> None:
    """Raise `Refused` for a text that no row can keep as SQL."""
    failure = unfit(sql) or ("there is nothing in it" if not sql.strip() else None)
    if failure is None and sql.strip().startswith(_FILE):
        failure = f"'{_FILE}' begins no SQL; to take it from a file: --file FILE"
    if failure is not None:
        raise Refused(f"The SQL cannot be kept: {failure}.", next_step=next_step)


def rehearse(preparer: Preparer, batch: BatchDefinition, step: Step, now: datetime, *, next_step: str) -> SqlRehearsal:
    """Prepare a step as if it were due; raises `Refused` where it could never be carried out."""
    instance = imagined(batch)
    ready = preparer.prepare(instance, batch, step, attempt_no=1, cause=Cause.AUTO, now=now)
    if ready.refused is not None:
        whose = f"Step {step.seq} '{visible(step.name)}' of BatchControl {instance.instance_id}: "
        because = without_next_step(ready.refused.removeprefix(whose))
        because = _COLUMN.sub(lambda found: f"{found[1]}{OPTIONS[found[2]]}: ", because)
        is_elsewhere = because.startswith(OPTIONS["Data1"])
        mend = f"the same with {OPTIONS['Data1']} NAME" if is_elsewhere else next_step
        raise Refused(f"The SQL could never be carried out: {because}", next_step=mend)
    try:
        handler = preparer.find_handler(step.process_type)
        findings = preparer.ask(handler, "its check", partial(handler.check, step, preparer.context))
    except (PluginError, CannotBegin):
        findings = ()
    return SqlRehearsal(ready.command_text, tuple(visible(finding.message) for finding in findings))

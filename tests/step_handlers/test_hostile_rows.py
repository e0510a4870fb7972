"""Whatever a row holds: `check` answers, `render` answers or refuses, and a value never changes the shape."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.status import OnLost
from batchctl.plugin_api import Rendered, StepContext, StepHandler, StepRefused
from batchctl.testing import a_request, a_step
from step_handlers.os_command import OsCommand
from step_handlers.python_job import PythonJob
from step_handlers.sql import Sql
from step_handlers.ssis import Ssis
from step_handlers.stored_procedure import StoredProcedure
from tests.step_handlers.databases import context_at
from tests.step_handlers.hostile import GARBAGE

HANDLERS: tuple[StepHandler, ...] = (OsCommand(), PythonJob(), Sql(), Ssis(), StoredProcedure())
AROUND = context_at(Path("/shop"), {"procedures/load.sql": "SELECT :a, ':b' -- :c"})
PLAUSIBLE = st.sampled_from(
    [
        *(
            "warehouse",
            "load",
            "a={Data1}",
            "@a='{Data2}', b=5",
            "SELECT {Data1}; SELECT ';'",
            "file:x.sql",
            "sh -c '{Data1}' x",
        ),
        *(
            "cp -- {Data1} 'b c'",
            "0,3-5",
            "{secret:token}",
            "A={secret:token}",
            "{",
            "'",
            "1-",
            "BEGIN",
            "{Data1}{Data2}",
            r"\SSISDB\folder\project",
            "Load.dtsx",
            "$Project::Day(DateTime)={Data3}; Rows(Int32)=5",
        ),
    ]
)
COLUMNS = st.tuples(*[PLAUSIBLE | GARBAGE] * 6)


def columns(values: tuple[str | None, ...]) -> dict[str, Any]:
    return {f"Data{at}": value for at, value in enumerate(values, start=1)}


@pytest.mark.parametrize("handler", HANDLERS, ids=lambda handler: handler.process_type)
@given(row=COLUMNS, values=st.tuples(*[GARBAGE] * 6), on_lost=st.sampled_from(OnLost))
def test_any_row_is_checked_and_rendered_or_refused(
    handler: StepHandler, row: tuple[str | None, ...], values: tuple[str | None, ...], on_lost: OnLost
) -> None:
    step = a_step(handler.process_type, on_lost=on_lost, **columns(row))

    findings = handler.check(step, AROUND)

    assert all(finding.column and finding.message for finding in findings)
    outcome = rendered_or_refused(handler, step, AROUND, values)
    if isinstance(outcome, Rendered):
        outcome.command_text.encode()
    else:
        assert outcome.startswith(("Step 10 ", "not started: Step 10 ", "{"))


def rendered_or_refused(
    handler: StepHandler, step: Any, context: StepContext, values: tuple[str | None, ...]
) -> Rendered | str:
    try:
        return handler.render(a_request(step, context, **columns(values)))
    except StepRefused as refused:
        return refused.message


MEGABYTES = ["{" * 1_000_000, "'" * 1_000_001, "x" * 1_000_000, "a " * 500_000, "a=1," * 200_000, "{Data1} " * 100_000]


@pytest.mark.full
@pytest.mark.parametrize("text", MEGABYTES, ids=lambda text: text[:8])
@pytest.mark.parametrize("handler", HANDLERS, ids=lambda handler: handler.process_type)
def test_a_megabyte_in_every_column_is_answered_in_few_words(handler: StepHandler, text: str) -> None:
    step = a_step(handler.process_type, on_lost=OnLost.VERIFY, **columns((text,) * 6))

    findings = handler.check(step, AROUND)

    assert findings
    assert sum(len(finding.message) for finding in findings) < 10_000

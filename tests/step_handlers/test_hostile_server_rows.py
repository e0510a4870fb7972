"""Rows of server connections may hold anything: `check` answers, `render` answers or refuses, both in good time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.status import OnLost
from batchctl.plugin_api import Rendered, StepHandler, visible
from batchctl.testing import a_step
from step_handlers.sql import Sql
from step_handlers.stored_procedure import StoredProcedure
from tests.step_handlers.hostile import GARBAGE
from tests.step_handlers.postgres_steps import context_at
from tests.step_handlers.test_hostile_rows import columns, rendered_or_refused

HANDLERS = (Sql(), StoredProcedure())
URLS = ("postgresql+psycopg://h/d", "mssql+pyodbc://h/d?driver=x")
PLAUSIBLE = st.sampled_from(
    [
        *(
            "warehouse",
            "SELECT {Data1}",
            "load",
            "dbo.[we]]ird]",
            '"my shop".load',
            "@a={Data1}, @b=5 OUTPUT",
            "OUTPUT",
        ),
        *(
            "@a=OUT",
            "@a='x' OUTPUT, b",
            "@a=",
            "SELECT $$ {Data1} $$",
            "SELECT 1; /* /* */",
            "CALL x({Data1})",
            "[",
            '"',
        ),
        *("@a={secret:token}", "E'\\'", "CREATE FUNCTION f() BEGIN ATOMIC SELECT 1;", "file:x", "N'", "GO", "\\q"),
    ]
)


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("handler", HANDLERS, ids=lambda handler: handler.process_type)
@given(
    row=st.tuples(st.just("warehouse"), *[PLAUSIBLE | GARBAGE] * 5),
    values=st.tuples(*[GARBAGE] * 6),
    on_lost=st.sampled_from(OnLost),
)
def test_any_row_is_checked_and_rendered_or_refused(
    url: str,
    handler: StepHandler,
    row: tuple[str | None, ...],
    values: tuple[str | None, ...],
    on_lost: OnLost,
) -> None:
    step = a_step(handler.process_type, on_lost=on_lost, **columns(row))

    findings = handler.check(step, context_at(url))

    assert all(finding.column and finding.message for finding in findings)
    outcome = rendered_or_refused(handler, step, context_at(url), values)
    if isinstance(outcome, Rendered):
        assert all(visible(line) == line for line in outcome.command_text.split("\n"))
    else:
        assert outcome.startswith(("Step 10 ", "{"))


PIECES = (
    "x",
    "a=1,",
    "a= ",
    "(",
    ";",
    "/*",
    "$",
    "$a$",
    "'",
    '"',
    "[",
    "CASE ",
    "BEGIN ",
    "\\",
    ":",
    "E'\\",
    "a.",
    "\n",
    "GO\n",
    "$(",
)


@pytest.mark.full
@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("handler", HANDLERS, ids=lambda handler: handler.process_type)
def test_a_long_text_in_every_column_is_answered_in_few_words(handler: StepHandler, url: str, piece: str) -> None:
    text = piece * (100_000 // len(piece))
    step = a_step(handler.process_type, Data1="warehouse", Data2=text, Data3=text, Data4=text, on_lost=OnLost.HOLD)

    findings = handler.check(step, context_at(url))

    assert findings
    assert sum(len(finding.message) for finding in findings) < 10_000

"""Steps of type `confirm`: the question, who may answer, what is shown beside it, and how long it waits."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from batchctl.domain.status import OnTimeout
from batchctl.plugin_api import Asks, Rendered, StepOutcome, StepRefused
from batchctl.testing import a_request, a_step
from step_handlers.confirm import Confirm
from tests.step_handlers.databases import a_database, context_at
from tests.step_handlers.execution import Alone, as_execution, run_for_real

HANDLER = Confirm()
AROUND = context_at(Path("/shop"))
MANY = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 1000000) SELECT x, x || 'th' AS th FROM c"


def messages(**columns: Any) -> list[str]:
    return [f"{finding.column}: {finding.message}" for finding in HANDLER.check(a_step("confirm", **columns), AROUND)]


def rendered(
    directory: Path = Path("/shop"), instance: dict[str, str | None] | None = None, **columns: Any
) -> Rendered:
    return HANDLER.render(a_request(a_step("confirm", **columns), context_at(directory), **(instance or {})))


def shop(directory: Path) -> Path:
    """Return a folder with a database."""
    a_database(directory)
    return directory


def run(directory: Path, query: str, **columns: Any) -> StepOutcome:
    context = context_at(directory)
    made = rendered(directory, Data1="now?", Data3=query, Data5="warehouse", **columns)
    return HANDLER.execute(made, as_execution(replace(Alone(), connections=context.connections)))


def test_a_question_alone_needs_no_connection_and_waits_for_nothing() -> None:
    made = rendered(instance={"Data1": "a.csv"}, Data1="Is {Data1} right?", Data2=" anna,bob ", Data4="4h go on")
    outcome = HANDLER.execute(made, as_execution(Alone()))

    assert made.brief
    assert made.command_text == (
        "# BatchControl 42 of batch MyFileType1\n# asks: Is a.csv right?\n# who may answer: anna, bob\n"
    )
    assert outcome == StepOutcome(
        succeeded=False,
        message="Is a.csv right?",
        asks=Asks("anna, bob", timedelta(hours=4), OnTimeout.GO_ON),
    )


def test_the_command_text_is_the_query_that_is_shown_and_reads_few_rows() -> None:
    text = rendered(Data1="now?", Data3="SELECT 1 AS a -- one\n;", Data5="warehouse").command_text

    assert "-- asks: now?\n-- who may answer: anyone who may act\n" in text
    assert "SELECT * FROM (SELECT 1 AS a -- one\n) AS shown LIMIT 21" in text


def test_a_query_of_a_million_rows_is_not_read(tmp_path: Path) -> None:
    outcome = run(shop(tmp_path), MANY)
    lines = (outcome.output or "").splitlines()

    assert outcome.asks == Asks(None)
    assert lines[:2] == ["x | th", "1 | 1th"]
    assert lines[-2:] == ["20 | 20th", "(the first 20 rows; there are more)"]


def test_values_are_cut_and_few_rows_are_counted(tmp_path: Path) -> None:
    outcome = run(shop(tmp_path), "SELECT printf('%.*c', 5000, 'x') AS long, 2 AS b ORDER BY 1")

    assert (outcome.output or "").splitlines() == ["long | b", "x" * 200 + "… | 2", "(1 row)"]


def test_a_query_that_fails_has_failed_and_asks_nothing(tmp_path: Path) -> None:
    outcome = run(shop(tmp_path), "SELECT * FROM Nowhere")

    assert (outcome.succeeded, outcome.asks) == (False, None)
    assert "no such table: Nowhere" in (outcome.message or "")


def test_values_of_the_instance_are_bound(tmp_path: Path) -> None:
    folder = shop(tmp_path)
    made = rendered(folder, {"Data2": "x'; DROP"}, Data1="now?", Data3="SELECT {Data2} AS v", Data5="warehouse")
    outcome = HANDLER.execute(made, as_execution(Alone(connections=context_at(folder).connections)))

    assert (outcome.output or "").splitlines()[1] == "x'; DROP"


def test_what_is_shown_holds_no_secret(tmp_path: Path) -> None:
    folder = shop(tmp_path)
    made = rendered(folder, Data1="now?", Data3="SELECT {secret:token} AS v, 'hunter' || '2' AS w", Data5="warehouse")
    outcome = run_for_real(HANDLER, made, {"token": "hunter2"}, context_at(folder).connections)

    assert "hunter2" not in str(outcome)
    assert outcome.asks is not None


def test_a_long_question_is_cut() -> None:
    made = rendered(instance={"Data3": "x" * 1_000_000}, Data1="{Data3}?")

    assert len(str(made.spec["question"])) == 2000
    assert len(made.command_text) < 2500


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"Data1": None}, "Data1: the question is missing"),
        ({"Data1": "{Dta1}?"}, "Data1: '{Dta1}' is not a placeholder. Did you mean 'Data1'?"),
        ({"Data1": "{secret:token}?"}, "Data1: a question shows no secret; leave it out"),
        ({"Data2": "anna,,bob"}, "Data2: a name is missing between commas"),
        (
            {"Data2": "{Data1}"},
            "Data2: who may answer is not up to an instance: write names, or a variable as {var:OnCall}",
        ),
        ({"Data3": "SELECT 1; SELECT 2", "Data5": "warehouse"}, "Data3: it has to be one query"),
        ({"Data3": "DELETE FROM Item", "Data5": "warehouse"}, "Data3: it has to be one query"),
        ({"Data3": "SELECT 1"}, "Data5: the name of a connection is missing"),
        ({"Data3": "SELECT 1", "Data5": "wherehouse"}, "Data5: connection 'wherehouse' is not in the configuration"),
        ({"Data3": "SELEC 1", "Data5": "warehouse"}, "Data3: it has to be one query"),
        ({"Data3": "SELECT {Dat1}", "Data5": "warehouse"}, "Data3: '{Dat1}' is not a placeholder"),
        ({"Data4": "soon"}, "Data4: 'soon' is no length of time"),
        ({"Data4": "4h stop"}, "Data4: 'stop' is none of fail, go on, incident."),
        ({"Data5": "warehouse"}, "Data5: it names the connection of a query, and Data3 is empty"),
        ({"Data6": "x"}, "Data6: "),
    ],
)
def test_what_is_wrong_with_the_row_is_named(columns: dict[str, Any], said: str) -> None:
    found = messages(**{"Data1": "now?", **columns})

    assert any(said in one for one in found), found


def test_a_variable_may_say_who_answers_and_what_is_asked() -> None:
    assert messages(Data1="Is {var:InDir} full?", Data2="{var:OnCall}") == []


def test_a_step_that_has_findings_is_refused() -> None:
    with pytest.raises(StepRefused, match="the question is missing"):
        rendered(Data1=" ")


def test_a_variable_that_names_no_one_lets_no_one_answer_for_all() -> None:
    step = a_step("confirm", Data1="now?", Data2="{var:OnCall}")
    for value in (" ", " , ,", "anna,,bob"):
        with pytest.raises(StepRefused):
            HANDLER.render(replace(a_request(step, AROUND), variables={"OnCall": value}))


def test_a_role_without_a_name_and_bounds_of_rows_are_found() -> None:
    assert messages(Data1="now?", Data2="ROLE:") == ["Data2: a name is missing between commas"]
    assert messages(Data1="now?", rows_min=5) == ["RowsMin: a step that asks loads no rows: nothing looks at this"]

"""The API answers as its description says, whatever is sent that the description allows, and what it does not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi import checks

from tests.acceptance.consoles import OWN, Console
from tests.acceptance.night import Night

EXAMPLES = 4
"""How often each operation is tried: there are 76."""
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]
EXPECTED = frozenset({200, 201, 400, 401, 404, 405, 409, 413, 415, 422})


# Schemathesis draws by `random` whether it sends what else it knows; all that matters here is what is answered.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module:hypothesis.errors.HypothesisDeprecationWarning")
def test_each_operation_answers_as_it_is_described(night: Night, console: Console) -> None:
    browser = console.browser()
    description: Mapping[str, Any] = json.loads(browser.get("/api/v1/openapi.json").text)
    schema = schemathesis.openapi.from_dict(dict(description))
    base, cookie = f"http://127.0.0.1:{console.port}/api/v1", dict(browser.cookies)
    tried = set[str]()

    for found in schema.get_all_operations():
        assert isinstance(found, Ok), found
        operation = found.ok()

        @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=[*HealthCheck])
        @given(case=operation.as_strategy(generation_mode=GenerationMode.POSITIVE))
        def answers(case: Case[Any]) -> None:
            answer = case.call(base_url=base, headers=OWN, cookies=cookie)
            tried.add(f"{case.method} {case.path}")
            assert answer.status_code in EXPECTED, (case.method, answer.request.url, answer.text[:500])
            case.validate_response(answer, checks=CHECKS)

        answers()

    assert len(tried) > 60
    assert night.json("batches")

"""What stands in the history of a step that an agent carries, and is read again by the controller that takes it over."""

from __future__ import annotations

import pytest

from batchctl.domain.errors import StepRefused
from batchctl.domain.operators.carried_specs import MARK, CarriedSpec, carried_spec
from batchctl.domain.outcomes import Rendered
from batchctl.domain.rows import InstanceId
from batchctl.system.remote.agent_handler import AgentHandler


def test_what_is_written_is_read_again() -> None:
    handler = AgentHandler("os_command", "burst", "tcp://one:1", "database", InstanceId(1), 1, goes_on_alone=True)

    spec = handler.spec(Rendered("pwd", {"argv": ["pwd"]}))

    assert carried_spec(spec) == CarriedSpec("burst", "tcp://one:1", "os_command", True, {"argv": ["pwd"]})


def test_of_a_step_of_a_controller_it_says_nothing() -> None:
    assert carried_spec({"argv": ["pwd"]}) is None


def test_one_that_lacks_something_is_refused_and_not_taken_for_a_step_of_a_controller() -> None:
    with pytest.raises(StepRefused, match="does not say which agent"):
        carried_spec({MARK: {"pool": "burst", "agent": "tcp://one:1"}, "spec": {}})

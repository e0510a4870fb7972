"""Stands for the handler of a step that an agent carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from batchctl.domain.errors import StepRefused
from batchctl.domain.outcomes import Finding, Rendered, StepContext, StepOutcome, StepRequest
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import InstanceId, Step
from batchctl.domain.rule_texts import HostNeeds
from batchctl.plugin_api import Execution
from batchctl.system.remote.wire import Message

MARK = "batchctl.agent"
"""The key of CommandSpec under which it says which agent carries a step."""
_NOT_HERE = "This step is carried by an agent, not by a controller."


@dataclass(frozen=True, slots=True)
class AgentHandler:
    """Knows the agent, the instance and the claim; the handler itself is where the agent is."""

    process_type: ClassVar[str] = "agent"
    carried_type: str
    """The ProcessType of the handler that the agent asks."""
    pool: str
    agent: str
    database_id: str
    instance_id: InstanceId
    claim_token: int
    goes_on_alone: bool = False
    """True for a command, which outlives its agent."""
    needs: HostNeeds | None = None
    """What the step needs of the agent."""

    def check(self, step: Step, context: StepContext) -> Sequence[Finding]:
        """Find nothing: the agent's own handler is asked when the step is made ready."""
        del step, context
        return ()

    def render(self, request: StepRequest) -> Rendered:
        """Refuse: that is done where the agent is."""
        raise NotImplementedError(_NOT_HERE)

    def execute(self, rendered: Rendered, execution: Execution) -> StepOutcome:
        """Refuse: that is done where the agent is."""
        raise NotImplementedError(_NOT_HERE)

    def spec(self, rendered: Rendered) -> Message:
        """Return what stands in the history of a step made ready."""
        where: Message = {
            "pool": self.pool,
            "agent": self.agent,
            "type": self.carried_type,
            "alone": self.goes_on_alone,
        }
        return {MARK: where, "spec": dict(rendered.spec)}


@dataclass(frozen=True, slots=True)
class CarriedSpec:
    """What a CommandSpec says of a step that an agent carries."""

    pool: str
    agent: str
    carried_type: str
    goes_on_alone: bool
    spec: dict[str, JsonValue]


def carried_spec(spec: Mapping[str, Any]) -> CarriedSpec | None:
    """Read a CommandSpec; None of a step that no agent carries. Raises `StepRefused` where it cannot be read."""
    where = spec.get(MARK)
    if where is None:
        return None
    try:
        names = str(where["pool"]), str(where["agent"]), str(where["type"])
        return CarriedSpec(*names, bool(where["alone"]), dict(spec["spec"]))
    except (KeyError, TypeError, ValueError):
        message = "its CommandSpec does not say which agent carries it"
        raise StepRefused(message) from None

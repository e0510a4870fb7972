"""Stands for the handler of a step that an agent carries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from batchctl.domain.operators.carried_specs import MARK
from batchctl.domain.outcomes import Finding, Rendered, StepContext, StepOutcome, StepRequest
from batchctl.domain.rows import InstanceId, Step
from batchctl.domain.rule_texts import HostNeeds
from batchctl.plugin_api import Execution
from batchctl.system.remote.wire import Message

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

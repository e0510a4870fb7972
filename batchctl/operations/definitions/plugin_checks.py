"""What plugins find wrong with the rows that name them: whatever they do when they are asked, the others are asked too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from batchctl.domain.errors import CannotBegin, NoAnswer, PluginError
from batchctl.domain.outcomes import Finding, StepContext
from batchctl.domain.rows import BatchDefinition, Step
from batchctl.domain.status import OnLost
from batchctl.domain.text import visible
from batchctl.plugin_api import AsksDatabase, Populator, StepHandler, Verifiable
from batchctl.ports import AskHandler

_NO_PLUGIN = "correct the row, or make its plugin known (plugin_modules in batchctl.toml)"
CORRECT_THE_PLUGIN = "correct the plugin"


class AskedPlugins(Protocol):
    """What is asked of the registry."""

    def handler(self, process_type: str) -> StepHandler:
        """Return a step handler; raises `PluginError`."""

    def populator(self, name: str) -> Populator:
        """Return a populator; raises `PluginError`."""

    def findings(self) -> list[str]:
        """Say what is wrong with the plugins themselves."""


@dataclass(frozen=True, slots=True)
class PluginChecks:
    """Asks the plugins that rows name."""

    plugins: AskedPlugins
    context: StepContext
    ask: AskHandler

    def of_batch(self, batch: BatchDefinition) -> Sequence[Finding]:
        """Return what a batch's populator finds wrong with its row."""

        def findings() -> Sequence[Finding]:
            populator = self.plugins.populator(batch.populator)
            asked = [*self._asked(populator, batch.name, partial(populator.check, batch))]
            if isinstance(populator, AsksDatabase):
                asked += self._asked(populator, batch.name, partial(populator.check_from, batch, self.context))
            return asked

        return _found("Populator", "populator", findings)

    def of_step(self, step: Step) -> Sequence[Finding]:
        """Return what the handler of a step finds wrong with its row."""

        def findings() -> Sequence[Finding]:
            handler = self.plugins.handler(step.process_type)
            asked = self._asked(handler, f"step {step.seq}", partial(handler.check, step, self.context))
            if step.on_lost is OnLost.VERIFY and not isinstance(handler, Verifiable):
                said = f"ProcessType '{visible(step.process_type)}' cannot verify; use hold or rerun."
                return [*asked, Finding("OnLost", said)]
            return asked

        return _found("ProcessType", "handler", findings)

    def _asked(self, plugin: object, about: str, check: Callable[[], Sequence[Finding]]) -> Sequence[Finding]:
        return self.ask(plugin, f"the check of {visible(about)}", partial(_in_full, check))


def _in_full(check: Callable[[], Sequence[object]]) -> Sequence[Finding]:
    """Return all that is found, which may be made only as it is asked for."""
    found = list[Finding]()
    for one in check():
        if not isinstance(one, Finding):
            message = f"its check returned {type(one).__name__}, not Problem"
            raise TypeError(message)
        found.append(one)
    return found


def _found(column: str, what: str, findings: Callable[[], Sequence[Finding]]) -> Sequence[Finding]:
    try:
        return findings()
    except (NoAnswer, CannotBegin) as error:
        return [Finding(column, error.message, error.next_step)]
    except PluginError as error:
        return [Finding(column, error.message, _NO_PLUGIN)]
    except Exception as error:  # noqa: BLE001 - the boundary to foreign code: its failure is one finding
        said = visible(f"{type(error).__name__}: {error}")
        return [Finding(column, f"The {what} broke while checking: {said}", CORRECT_THE_PLUGIN)]

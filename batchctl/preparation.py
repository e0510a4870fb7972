"""Asking plugins what would be done: the same for the engine, which does it, and for a dry run, which only shows it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, lru_cache, partial
from typing import TypeVar, cast

from batchctl.domain.errors import CannotBegin, NoAnswer, PluginError, StepRefused, in_one_line
from batchctl.domain.operators.carried_specs import carried_spec
from batchctl.domain.outcomes import Rendered, StepContext, StepOutcome, StepRequest
from batchctl.domain.rows import (
    NOT_RUN,
    NOTHING_RENDERED,
    BatchDefinition,
    BatchInstance,
    HistoryEntry,
    InstanceId,
    IntakeRow,
    Populated,
    Step,
)
from batchctl.domain.status import Cause
from batchctl.domain.text import REASON_LIMIT, shorten, storable, unfit, visible
from batchctl.domain.values import value
from batchctl.plugin_api import CannotPopulate, Delegates, StepHandler, Verifiable
from batchctl.ports import AskHandler, PopulatorRunner, ask_straight
from batchctl.system.plugins.handler_calls import is_own

Answer = TypeVar("Answer", Populated, Populated | None)
FindHandler = Callable[[str], StepHandler]
"""Return the handler of a ProcessType; raises `PluginError` when there is none."""

_as_json = json.JSONEncoder(check_circular=False).encode


@value
class Prepared:
    """A step ready to run, or the reason why it cannot be.

    `step` is the check step when the attempt verifies, and the step to carry out instead when the handler delegates.
    """

    step: Step
    handler: StepHandler | None
    rendered: Rendered | None
    refused: str | None
    put_back: bool = False
    """True when another host may carry it out, or this one later."""
    has_no_slot: bool = False
    """True where no agent has a slot for it now: nothing of it is recorded, and its instance waits in line."""
    command_spec: str = NOTHING_RENDERED
    """What stands in the history as the exact specification, as JSON."""
    host: str | None = None
    """Where it is carried out; None where the controller is."""
    agents_of: str | None = None
    """The pool whose agents carry it, where they cannot be asked from here."""

    @property
    def command_text(self) -> str:
        """Return what stands in the history as the command."""
        if self.rendered is None:
            return f"{NOT_RUN}{visible(self.refused or '')}"
        return self.rendered.command_text


@dataclass(frozen=True, slots=True)
class Preparer:
    """Knows the handlers and the context of steps, and who and where this controller is."""

    find_handler: FindHandler
    context: StepContext
    user: str
    host: str
    database_id: str
    ask: AskHandler = ask_straight

    def prepare(
        self,
        instance: BatchInstance,
        batch: BatchDefinition,
        step: Step,
        *,
        attempt_no: int,
        cause: Cause,
        now: datetime,
    ) -> Prepared:
        """Render one attempt; whatever is wrong with it becomes the refusal."""
        try:
            handler = self.find_handler(step.process_type)
            note = self._note(instance, batch, step, attempt_no, cause, now)
            whose = instance.instance_id
            asked = self._check_of(handler, step, note, whose) if cause is Cause.VERIFY else step
            if asked.process_type != step.process_type:
                handler = self.find_handler(asked.process_type)
            context = self.context
            request = StepRequest(
                asked, instance, batch.name, attempt_no, context, note, self.database_id, batch.variables
            )
            if _may_delegate(type(handler)):
                delegate = partial(cast("Delegates", handler).delegate, request)
                carried_out = replace(self.ask(handler, note, delegate, of=whose), seq=asked.seq, name=asked.name)
                request = replace(request, step=carried_out)
                handler = self.find_handler(request.step.process_type)
            rendered, spec = self.ask(handler, note, partial(_rendered, handler, request), of=whose)
            return Prepared(request.step, handler, _off_the_loop(handler, rendered), None, command_spec=spec)
        except (StepRefused, PluginError) as refused:
            return Prepared(step, None, None, storable(refused.in_full), put_back=isinstance(refused, CannotBegin))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the boundary to foreign code: its failure is this step's alone
            reason = f"the handler of '{step.process_type}' broke while rendering: {type(error).__name__}: {error}"
            return Prepared(step, None, None, storable(in_one_line(reason)))

    def as_begun(self, step: Step, entry: HistoryEntry) -> Prepared:
        """Return an attempt as it was made ready when it began, to watch over it in place of another controller.

        Raises what its handler raises when asked for the check and not answering: another time it may.
        """
        try:
            spec = json.loads(entry.command_spec)
            if (carried := carried_spec(spec)) is not None:
                message = f"this controller does not serve pool {carried.pool}, whose agents carry the step"
                return Prepared(step, None, None, message, agents_of=carried.pool)
            # A delegated step stands in the history as the step that was carried out; a check, as the step it is about.
            handler, asked = self.find_handler(entry.process_type), replace(step, process_type=entry.process_type)
            if entry.cause is Cause.VERIFY:
                asked = self._check_of(handler, step, f"attempt {entry.history_id}", entry.instance_id)
                handler = self.find_handler(asked.process_type)
            rendered = Rendered(entry.command_text, spec)
            return Prepared(asked, handler, rendered, None, command_spec=entry.command_spec)
        except (CannotBegin, NoAnswer):
            raise
        except (StepRefused, PluginError, json.JSONDecodeError) as error:
            return Prepared(step, None, None, storable(str(error)))

    def is_done(self, process_type: str, outcome: StepOutcome) -> bool | None:
        """Read the answer of a check: the lost step was done, was not, or it is unknown."""
        try:
            handler = self.find_handler(process_type)
            if not isinstance(handler, Verifiable):
                return None
            return self.ask(handler, "the outcome of a check", partial(handler.is_done, outcome))
        except (Exception, SystemExit):  # noqa: BLE001 - foreign code that cannot answer does not know
            return None

    def module_of(self, process_type: str) -> str:
        """Name what has to be corrected where a ProcessType's handler is wrong."""
        try:
            return f"module {type(self.find_handler(process_type)).__module__}"
        except PluginError:
            return f"the plugin of ProcessType {process_type}"

    def _check_of(self, handler: StepHandler, step: Step, about: str, whose: InstanceId) -> Step:
        if not isinstance(handler, Verifiable):
            raise StepRefused(f"ProcessType '{step.process_type}' cannot verify; set OnLost to hold or rerun.")
        check = self.ask(handler, about, partial(handler.verification, step), of=whose)
        return replace(check, seq=step.seq, name=step.name)

    def _note(
        self, instance: BatchInstance, batch: BatchDefinition, step: Step, attempt_no: int, cause: Cause, now: datetime
    ) -> str:
        step_of_batch = _of_batch(batch.name, step.seq, step.name)
        where = _somewhere(self.host, self.user)
        return f"BatchControl {instance.instance_id} {step_of_batch}, attempt {attempt_no} ({cause}), {_in_utc(now)}, {where}"


def populate(populators: PopulatorRunner, row: IntakeRow, batch: BatchDefinition) -> Populated | str:
    """Return the values of a row's instance of a batch, or the reason why there are none; waits for them."""
    return _wording(row, lambda: populators.populate(batch.populator, row, batch))


def ask_populator(populators: PopulatorRunner, row: IntakeRow, batch: BatchDefinition) -> Populated | str | None:
    """Return the same where that takes no time; None when the populator is asked aside."""
    return _wording(row, lambda: populators.ask(row, batch))


def _wording(row: IntakeRow, ask: Callable[[], Answer]) -> Answer | str:
    for column, text in (("FileName", row.file_name), ("Data", row.data), ("CycleKey", row.cycle_key)):
        failure = unfit(text or "")
        if failure is not None:
            return f"{column} cannot be used: {failure}"
    try:
        return ask()
    except (CannotPopulate, PluginError) as refused:
        return storable(shorten(str(refused), REASON_LIMIT))


@lru_cache(maxsize=1)
def _in_utc(now: datetime) -> str:
    """Write the moment at which all steps of a turn are made ready."""
    return f"{now.replace(tzinfo=None).isoformat(' ', 'seconds')} UTC"


@lru_cache(maxsize=1024)
def _of_batch(batch_name: str, seq: int, step_name: str) -> str:
    return visible(f"of batch {batch_name}, step {seq} {step_name}")


@lru_cache(maxsize=1)
def _somewhere(host: str, user: str) -> str:
    return visible(f"on {host} as {user}")


@cache
def _may_delegate(kind: type) -> bool:
    """Find this out once for a handler's class: to look through its methods costs as much as all other rendering."""
    return issubclass(kind, Delegates)


def _rendered(handler: StepHandler, request: StepRequest) -> tuple[Rendered, str]:
    """Return a step made ready, and its specification as JSON; what no table can hold is refused before it is recorded."""
    rendered = handler.render(request)
    if not isinstance(rendered.command_text, str):
        raise _unfit(handler, f"its command_text is {type(rendered.command_text).__name__}, not str")
    if (failure := unfit(rendered.command_text)) is not None:
        raise _unfit(handler, f"its command_text: {failure}")
    try:
        return rendered, _as_json(rendered.spec)
    except (TypeError, ValueError, RecursionError) as error:
        raise _unfit(handler, f"its spec is no JSON: {error}") from error


def _unfit(handler: StepHandler, wording: str) -> StepRefused:
    message = f"What the handler of '{handler.process_type}' rendered cannot be recorded: {wording}."
    return StepRefused(message, next_step=f"correct module {type(handler).__module__} and restart the controller")


def _off_the_loop(handler: StepHandler, rendered: Rendered) -> Rendered:
    """Let only the product's own handlers execute on the loop: what hangs must have a thread of its own."""
    return replace(rendered, brief=False) if rendered.brief and not is_own(type(handler)) else rendered

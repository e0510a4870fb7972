"""Puts an agent together, from the configuration of its host."""

from __future__ import annotations

import sys
from functools import cache, partial
from typing import cast

from batchctl import __version__, config
from batchctl.app import App
from batchctl.plugin_api import RunsOneCommand
from batchctl.preparation import Prepared, Preparer
from batchctl.step_running import runner_of
from batchctl.system.commands.environment import take_secrets
from batchctl.system.remote import wire
from batchctl.system.remote.agent import Agent, AgentMeans
from batchctl.system.remote.agent_folder import AgentFolder
from batchctl.system.remote.wire import AgentFacts, AskedStep, Message


def agent_of(settings: config.Settings, *, slots: int) -> Agent:
    """Return the agent of this host. It opens no control database."""
    take_secrets(settings)
    app = App(settings)
    facts = AgentFacts(
        boot=app.ids.token(8),
        version=__version__,
        host=app.ids.host(),
        user=app.ids.user(),
        slots=slots,
        stop_grace=settings.stop_grace,
        directory=str(settings.directory),
        python=sys.executable,
        process_types=app.registry.handler_names,
    )
    means = AgentMeans(
        facts=facts,
        prepare=_Preparing(app).prepare,
        handler=cache(app.registry.handler),
        runner=partial(runner_of, app, slots=slots),
        folder=AgentFolder(settings.directory / settings.state_directory, facts.boot),
        now=app.clock.now,
    )
    return Agent(means)


class _Preparing:
    """Makes steps of all control databases ready."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._handlers = cache(app.registry.handler)

    def prepare(self, database_id: str, asked: AskedStep) -> Message:
        ids = self._app.ids
        where = ids.user(), ids.host(), database_id
        made = Preparer(self._handlers, self._app.context, *where, self._app.handler_calls.ask).prepare(
            asked.instance, asked.batch, asked.step, attempt_no=asked.attempt_no, cause=asked.cause, now=asked.now
        )
        return {
            "step": wire.step_message(made.step),
            "rendered": None if made.rendered is None else wire.rendered_message(made.rendered),
            "not_ready": made.refused,
            "put_back": made.put_back,
            "goes_on_alone": self._goes_on_alone(made),
        }

    def _goes_on_alone(self, made: Prepared) -> bool:
        """Say whether it is a command, which a supervisor carries."""
        handler, rendered = made.handler, made.rendered
        if rendered is None or not issubclass(type(handler), RunsOneCommand):
            return False
        question = partial(cast("RunsOneCommand", handler).is_one_command, rendered)
        return self._app.handler_calls.ask(handler, "a step for an agent", question)

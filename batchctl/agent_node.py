"""Puts an agent together, from the configuration of its host."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import cast

from batchctl import __version__, config
from batchctl.app import App
from batchctl.domain.configuring import at_agent
from batchctl.domain.errors import ConfigurationError, InvalidInput
from batchctl.domain.operators.issuers import is_console
from batchctl.domain.text import capitalized, visible
from batchctl.plugin_api import RunsOneCommand
from batchctl.preparation import Prepared, Preparer
from batchctl.settings_sections import ConsoleSection
from batchctl.step_running import runner_of
from batchctl.system.commands.environment import take_secrets
from batchctl.system.ids import SystemIds
from batchctl.system.remote import wire
from batchctl.system.remote.agent import Agent, AgentMeans
from batchctl.system.remote.agent_folder import AgentFolder
from batchctl.system.remote.agent_link import AgentLink
from batchctl.system.remote.console_client import ConsoleAddress, ConsoleClient, ConsoleRefusedError, UntrustedError
from batchctl.system.remote.transport import UnreachableError
from batchctl.system.remote.wire import AgentFacts, AskedStep, Message

LONGEST_OUTPUT = 4 * 1024 * 1024
"""The most that `output_limit` may be where an agent's answers go through a console, which takes no longer ones."""


def linked_agent(
    settings: config.Settings,
    server: str | None,
    pools: Sequence[str],
    slots: int,
    resources: Mapping[str, float],
    tell: Callable[[str], None],
) -> AgentLink:
    """Return the agent of this host as it polls a console for the steps of some pools."""
    if server is not None and not is_console(server):
        message = (
            f"'{visible(server)}' is no address of a console: https://, its name, and its port unless that is 443;"
            " http:// does for this machine alone."
        )
        raise InvalidInput(message, next_step="batchctl agent --server https://console.example.com --pool NAME")
    given = settings.agent if server is None else settings.agent.model_copy(update={"server": server})
    if given.server is None:
        message = "It is not said at which console the agent polls."
        raise InvalidInput(message, next_step="batchctl agent --server https://console.example.com --pool NAME")
    if given.token is None:
        message = "The agent has no token to show."
        how = '[agent] token = "{secret:NAME}" in batchctl.toml; batchctl web token add makes it, where the console is'
        raise ConfigurationError(message, next_step=how)
    if settings.output_limit > LONGEST_OUTPUT:
        message = (
            f"output_limit is {settings.output_limit}, and the console takes answers with {LONGEST_OUTPUT} at most."
        )
        raise ConfigurationError(message, next_step=f"output_limit = {LONGEST_OUTPUT}")
    try:
        client = ConsoleClient(console_of(settings, given))
    except UnreachableError as error:
        message = f"The certificate of the console cannot be verified: {error}."
        raise ConfigurationError(message, next_step="correct ca_file of [agent] in batchctl.toml") from None
    agent = agent_of(settings, slots=slots, resources=resources)
    facts = agent.facts
    offer: Message = {
        "name": f"{facts.host}-{facts.boot}",
        "session": SystemIds().token(16),
        "pools": [*pools],
        "slots": slots,
        "resources": dict(resources),
    }
    return AgentLink(agent, client, offer, tell)


def failures(settings: config.Settings, linked: AgentLink) -> Iterator[tuple[str, str]]:
    """Yield what an agent, or a step on this host, would fail at, each with what to type next."""
    try:
        linked.try_console()
    except ConsoleRefusedError as error:
        yield f"{capitalized(str(error))}.", "batchctl web token list   (where the console is)"
    except UntrustedError as error:
        yield f"{capitalized(error.reason)}.", f"{error.mend}   ([agent] of batchctl.toml)"
    except UnreachableError as error:
        yield f"{capitalized(str(error))}.", f"see that a console answers at {visible(linked.client.server)}"
    for name in settings.secrets:
        try:
            config.secret(settings, name)
        except ConfigurationError as error:
            yield error.message, error.next_step or "correct batchctl.toml"


def console_of(settings: config.Settings, given: ConsoleSection) -> ConsoleAddress:
    """Return where a console is, with what is shown there."""
    file = None if given.ca_file is None else str(settings.directory / given.ca_file)
    return ConsoleAddress(given.server or "", config.secret_of(settings, given.token or ""), file)


def agent_of(settings: config.Settings, *, slots: int, resources: Mapping[str, float]) -> Agent:
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
        resources=dict(resources),
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
            "not_ready": None if made.refused is None else at_agent(made.refused, ids.host()),
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

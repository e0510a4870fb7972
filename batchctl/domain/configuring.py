"""What to do so that what rows name is in the configuration, which controllers read as they start, or is installed."""

from __future__ import annotations

import shlex
import sys

from batchctl.domain.text import visible

_RESTART = "restart the controllers"


def at_agent(advice: str, host: str) -> str:
    """Return advice for where an agent carries the step: its configuration lacks what is named, not that of controllers."""
    return advice.replace(_RESTART, f"restart the agent on {visible(host)}")


def how_to_set_secret(source: str) -> str:
    """Return how to give a secret its value, where `source` is `env:VARIABLE` or `file:PATH`."""
    kind, _, place = source.partition(":")
    if kind == "env":
        return f"set the environment variable {visible(place)}, for the user who runs batchctl, and start it again"
    return f"put the secret into the file {visible(place)}, for the user who runs batchctl"


def how_to_name_secret(name: str) -> str:
    """Return how to add a secret that the configuration lacks."""
    return f"correct the name, or add [secrets.{visible(name)}] to batchctl.toml and {_RESTART}"


def how_to_add_connection(name: str) -> str:
    """Return how to add a connection that the configuration lacks."""
    return f"add [connections.{visible(name)}] to batchctl.toml and {_RESTART}"


def how_to_install_extra(name: str) -> str:
    """Return what to type to install an extra of the product, into the Python that runs it."""
    return f"{shlex.quote(sys.executable)} -m pip install 'batchctl[{name}]'"


KEPT_FROM_VIEW = "(PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|API_?KEY|ACCESS_KEY)$"
"""What the name of a variable ends with, in capital letters, whose value is a secret."""

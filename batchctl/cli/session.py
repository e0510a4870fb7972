"""What all commands share: the global options, the application, and the options that acts have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from batchctl.logs import Listener, silent

if TYPE_CHECKING:
    from batchctl.app import App

Command = TypeVar("Command", bound=Callable[..., Any])

LARGEST_ID = 2**63 - 1

ROW_ID = click.IntRange(1, LARGEST_ID)
"""The type of an argument that is a row's id."""


@dataclass(frozen=True, slots=True)
class Session:
    """The global options."""

    config: str | None
    debug: bool

    @contextmanager
    def app(self, listener: Listener = silent) -> Iterator[App]:
        """Lend the application; it is imported only now, because help does not need it."""
        from batchctl.app import open_app

        app = open_app(self.config, listener=listener)
        try:
            yield app
        finally:
            app.close()


pass_session = click.make_pass_decorator(Session)

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, with column names, for programs.")


def dry_run(command: Command) -> Command:
    """Give a command the options of everything that writes."""
    shown = click.option("--dry-run", is_flag=True, help="Only show what would be done.")(command)
    return click.option("--yes", "_yes", is_flag=True, expose_value=False, help="For scripts: ask nothing.")(shown)


def reason(*, required: bool) -> Callable[[Command], Command]:
    """Give a command the option that says why."""
    said = "Why; kept in the audit log." if required else "Why; kept in the audit log  [optional]."
    return click.option("--reason", metavar="TEXT", required=required, help=said)

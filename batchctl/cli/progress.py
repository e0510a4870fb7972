"""What happens while it happens: lively lines on a terminal, plain event lines elsewhere. Always on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

from batchctl import node
from batchctl.cli import output
from batchctl.cli.lazily import load_all
from batchctl.cli.session import CliSession
from batchctl.domain.operators.pools import served_by
from batchctl.domain.text import visible
from batchctl.logs import Event

if TYPE_CHECKING:
    from rich.status import Status

_STYLES = {
    "instance.created": "blue",
    "instance.complete": "green",
    "instance.failed": "bold red",
    "instance.held": "magenta",
    "instance.retry": "yellow",
    "intake.rejected": "bold red",
    "intake.duplicate": "yellow",
    "intake.untaken": "yellow",
    "controller.resumed": "green",
    "controller.waiting": "yellow",
    "step.alarm": "bold red",
    "step.lost": "magenta",
    "trigger.error": "bold red",
    "trigger.fired": "blue",
    "watch.fired": "blue",
    "watch.locked": "yellow",
    "watch.reachable": "green",
    "watch.rejected": "bold red",
    "watch.corrected": "yellow",
    "watch.trouble": "bold red",
    "watch.unreachable": "bold red",
}


@contextmanager
def watched(session: CliSession, slots: int | None = None, pools: Sequence[str] = ()) -> Iterator[node.Node]:
    """Lend what works, and show what happens in it."""
    load_all()
    app = session.app
    with Progress(app.log_line) as progress, app.logging(progress.hear) as listener:
        app.listener = listener
        app.slots = slots or app.slots
        app.pools = served_by(pools) if pools else app.pools
        yield node.Node(app)


class Progress:
    """Listens to events and shows them."""

    def __init__(self, line: Callable[[Event], str]) -> None:
        """Choose the way to show by what standard error is; `line` writes what no terminal shows."""
        self._line = line
        self._is_lively = sys.stderr.isatty()
        self._status: Status | None = None

    def __enter__(self) -> Self:
        """Begin to show."""
        if self._is_lively:
            self._status = output.console(err=True).status("looking for work", spinner="line")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the moving line away."""
        del kind, error, trace
        if self._status is not None:
            self._status.stop()

    def hear(self, event: Event) -> None:
        """Show an event; when it cannot be written, the work goes on all the same."""
        with suppress(OSError):
            if self._status is None:
                click.echo(self._line(event), err=True)
            else:
                self._show(self._status, event)

    def _show(self, status: Status, event: Event) -> None:
        fields = event.fields
        of = f"{fields.get('BatchControl_id') or fields.get('FileProcess_id') or ''}"
        subject = f"{of:>6}  {fields.get('ProcessBatchName') or fields.get('Entity') or ''}"
        step = f"step {fields.get('ProcessControlSeq')} {fields.get('ProcessName', '')}"
        if event.name == "step.started":
            status.update(output.cell(f"{subject}  {step}"))
        elif event.name == "step.ended":
            said = f"  {visible(str(fields['Message']))}" if "Message" in fields else ""
            status.console.print(output.cell(f"{subject}  {step}  ") + output.word(str(fields["Status"])) + said)
            status.update("looking for work")
        else:
            rest = [f"{name}={value}" for name, value in fields.items() if name not in _WORDING]
            text = output.cell(f"{subject}  {event.name}  {' '.join(rest)}".rstrip(), _STYLES.get(event.name, "dim"))
            status.console.print(text)


_WORDING = {"BatchControl_id", "FileProcess_id", "ProcessBatchName", "Entity"}

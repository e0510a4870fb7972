"""`batchctl web`: the console in a browser."""

from __future__ import annotations

import click

from batchctl.cli import output
from batchctl.cli.session import CliSession, WholeNumber, pass_session
from batchctl.domain.errors import ConfigurationError

PORT = 8642


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where it listens.")
@click.option("--port", type=WholeNumber(0, 65_535), default=PORT, show_default=True, help="0 is any that is free.")
@pass_session
def web(session: CliSession, host: str, port: int) -> None:
    """Show the night in a browser, and act on it there: print an address of this machine, and serve until interrupted.

    The address lets in who types the code that is printed; each code opens once, and the next one is printed then. What is
    done there is done as the user who has started this.
    """
    try:
        from batchctl.web import server  # noqa: PLC0415 - it comes with an extra
    except ModuleNotFoundError as error:
        message = f"The console needs the module {error.name}, which is not installed."
        install = "pip install -e '.[web]'   (in the checkout; of a wheel: pip install 'batchctl[web]')"
        raise ConfigurationError(message, next_step=install) from error

    terminal = server.Terminal(
        address=lambda address: output.line(f"The console: {address}   (Ctrl-C ends it)"),
        code=lambda code: output.line(f"Code: {code}"),
    )
    server.serve(session.app, host, port, terminal)

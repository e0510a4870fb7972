"""`batchctl web`: the console in a browser."""

from __future__ import annotations

from pathlib import Path

import click

from batchctl.cli import output
from batchctl.cli.session import CliSession, WholeNumber, pass_session
from batchctl.cli.web_access_commands import sessions, tokens, user
from batchctl.domain.errors import ConfigurationError

PORT = 8642
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group(invoke_without_command=True)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where it listens.")
@click.option("--port", type=WholeNumber(0, 65_535), default=PORT, show_default=True, help="0 is any that is free.")
@click.option("--tls-cert", metavar="FILE", type=FILE, help="The certificate of the console, with its chain.")
@click.option("--tls-key", metavar="FILE", type=FILE, help="The key of the certificate.")
@click.option("--behind-tls", is_flag=True, help="A proxy before it speaks TLS, and it alone reaches the console.")
@pass_session
@click.pass_context
def web(
    ctx: click.Context,
    session: CliSession,
    host: str,
    port: int,
    tls_cert: Path | None,
    tls_key: Path | None,
    behind_tls: bool,
) -> None:
    """Show the night in a browser, and act on it there: print an address of this machine, and serve until interrupted.

    While the console has no users, the address lets in who types the code that is printed; each code opens once, and the next
    one is printed then. What is done there is done as the user who has started this.
    """
    if ctx.invoked_subcommand is not None:
        return
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
    reach = server.Reach(host=host, port=port, certificate=tls_cert, key=tls_key, behind_tls=behind_tls)
    server.serve(session.app, reach, terminal)


web.add_command(user)
web.add_command(sessions)
web.add_command(tokens)

"""`batchctl completion`: what lets a shell complete commands, options and the names of batches."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from batchctl.cli.session import one_of

SHELLS = ("bash", "zsh", "fish", "powershell")
_VARIABLE = "_BATCHCTL_COMPLETE"


@click.command()
@click.argument("shell", type=one_of(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    r"""Print what makes a shell complete commands, options and names of batches.

    \b
    bash:        eval "$(batchctl completion bash)"          in ~/.bashrc
    zsh:         eval "$(batchctl completion zsh)"           in ~/.zshrc, behind compinit
    fish:        batchctl completion fish > ~/.config/fish/completions/batchctl.fish
    powershell:  batchctl completion powershell | Out-String | Invoke-Expression
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"This version of click knows no {shell}; pip install -U click.")
    click.echo(kind(ctx.find_root().command, {}, "batchctl", _VARIABLE).source())


def batch_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
    """Return the batches whose names begin so; a database that cannot be asked has none."""
    from batchctl.app import open_app
    from batchctl.operations import inspection

    del param
    try:
        app = open_app(ctx.find_root().params.get("config"))
        try:
            names = inspection.batch_names(app.transactions)
        finally:
            app.close()
    except Exception:  # noqa: BLE001 - nobody who presses a key wants to read an error
        return []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]

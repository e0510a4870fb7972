"""`batchctl completion`: what lets a shell complete commands, options and the names of batches."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from batchctl.cli.session import one_of

SHELLS = ("bash", "zsh", "fish", "powershell")
_VARIABLE = "_BATCHCTL_COMPLETE"


@click.command()
@click.argument("shell", type=one_of(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what makes a shell complete commands, options and names of batches.

    \b
    bash:        eval "$(batchctl completion bash)"          in ~/.bashrc
    zsh:         eval "$(batchctl completion zsh)"           in ~/.zshrc, behind compinit
    fish:        batchctl completion fish > ~/.config/fish/completions/batchctl.fish
    powershell:  batchctl completion powershell | Out-String | Invoke-Expression
    """  # noqa: D301 - for click it has to be the character, not how that is written
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"This version of click knows no {shell}; pip install -U click.")
    click.echo(kind(ctx.find_root().command, {}, "batchctl", _VARIABLE).source())

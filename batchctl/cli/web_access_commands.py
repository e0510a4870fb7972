"""`batchctl web user, session, token`: who may come into the console."""

from __future__ import annotations

from datetime import timedelta

import click

from batchctl.cli import output
from batchctl.cli.session import CliSession, WholeNumber, acts, as_json, one_of, reads_rows, writes
from batchctl.domain.operators.logins import CODE_LASTS, ApiToken, Role, TokenRole, WebSessionId, WebUser
from batchctl.domain.text import typed, visible
from batchctl.operations import shown_columns
from batchctl.operations.operators import console_users

ONCE = "It is shown this once, and kept nowhere."
_name = click.argument("name")
_role = click.option("--role", type=one_of(Role), required=True, help="What it may do: docs/console.md.")
_tag = click.option("--tag", metavar="TAG", help="Acts are for batches with this tag only.")


@click.group()
def user() -> None:
    """Say which people may come into the console."""


@user.command("list")
@reads_rows
def list_users(session: CliSession, as_json: bool) -> None:
    """List the users of the console."""
    found = console_users.users(session.app.transactions)
    if as_json:
        output.print_list(console_users.USERS, found)
        return
    output.show_list(console_users.USERS, found)
    output.hints("batchctl web user add NAME --role operator")


@user.command("add")
@_name
@_role
@_tag
@as_json
@writes
def add_user(session: CliSession, name: str, role: str, tag: str | None, as_json: bool, dry_run: bool) -> None:
    """Add a user, and print the code that lets the user in once, to choose a password."""
    made, code = _keeper(session, dry_run).add(name, Role(role), tag)
    _show(made, "Would be added" if dry_run else "Added", None if dry_run else code, as_json=as_json)
    _note_of_tag(session, tag)


@user.command("reset")
@_name
@as_json
@acts(needs_reason=True)
def reset_user(session: CliSession, name: str, as_json: bool, dry_run: bool, reason: str) -> None:
    """Take the password of a user away, end all sessions, and print a new code."""
    made, code = _keeper(session, dry_run).reset(name, reason=reason)
    _show(made, "Would be reset" if dry_run else "Reset", None if dry_run else code, as_json=as_json)
    if not made.enabled:
        output.say(f"Note: the user is disabled. To let it in: batchctl web user enable {typed(made.name)}")


@user.command("enable")
@_name
@as_json
@acts(needs_reason=False)
def enable_user(session: CliSession, name: str, as_json: bool, dry_run: bool, reason: str | None) -> None:
    """Let a user in again."""
    made = _keeper(session, dry_run).set_enabled(name, enabled=True, reason=reason)
    _show(made, "Would be enabled" if dry_run else "Enabled", as_json=as_json)


@user.command("disable")
@_name
@as_json
@acts(needs_reason=True)
def disable_user(session: CliSession, name: str, as_json: bool, dry_run: bool, reason: str) -> None:
    """Let a user in no more; all sessions of that user end."""
    made = _keeper(session, dry_run).set_enabled(name, enabled=False, reason=reason)
    _show(made, "Would be disabled" if dry_run else "Disabled", as_json=as_json)


@user.command("change")
@_name
@_role
@_tag
@as_json
@acts(needs_reason=True)
def change_user(
    session: CliSession, name: str, role: str, tag: str | None, as_json: bool, dry_run: bool, reason: str
) -> None:
    """Change what a user may do, and on which batches; all sessions of that user end."""
    made = _keeper(session, dry_run).set_role(name, Role(role), tag, reason=reason)
    _show(made, "Would be changed" if dry_run else "Changed", as_json=as_json)
    _note_of_tag(session, tag)


@user.command("remove")
@_name
@as_json
@acts(needs_reason=True)
def remove_user(session: CliSession, name: str, as_json: bool, dry_run: bool, reason: str) -> None:
    """Forget a user; what the user did stays in the audit log."""
    made = _keeper(session, dry_run).remove(name, reason=reason)
    _show(made, "Would be removed" if dry_run else "Removed", as_json=as_json)


@click.group("session")
def sessions() -> None:
    """Say who is in the console now."""


@sessions.command("list")
@reads_rows
def list_sessions(session: CliSession, as_json: bool) -> None:
    """List the sessions of the console that have not ended."""
    app = session.app
    found = console_users.sessions(app.transactions, app.clock)
    if as_json:
        output.print_list(console_users.SESSIONS, found)
        return
    output.show_list(console_users.SESSIONS, found)
    output.hints("batchctl web session end ID" if found else "batchctl web user list")


@sessions.command("end")
@click.argument("number", metavar="ID", type=WholeNumber(1))
@writes
def end_session(session: CliSession, number: int, dry_run: bool) -> None:
    """End a session: its browser has to log in again."""
    _keeper(session, dry_run).end_session(WebSessionId(number))
    click.echo(f"{'Would be ended' if dry_run else 'Ended'}: session {number}.")


@click.group("token")
def tokens() -> None:
    """Say which programs may ask the console."""


@tokens.command("list")
@reads_rows
def list_tokens(session: CliSession, as_json: bool) -> None:
    """List the tokens that programs show."""
    app = session.app
    found, columns = console_users.tokens(app.transactions), console_users.tokens_at(app.clock.now())
    if as_json:
        output.print_list(columns, found)
        return
    output.show_list(columns, found)
    output.hints("batchctl web token add NAME --role intake")


@tokens.command("add")
@_name
@click.option("--role", type=one_of(TokenRole), required=True, help="What it may do: docs/console.md, docs/agents.md.")
@_tag
@click.option("--pool", "pools", multiple=True, metavar="NAME", help="Of agents and controllers: for this pool.")
@click.option("--days", type=WholeNumber(1, 3650), help="How long it lasts; without it, until it is revoked.")
@as_json
@writes
def add_token(
    session: CliSession,
    name: str,
    role: str,
    tag: str | None,
    pools: tuple[str, ...],
    days: int | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Make a token for a program, and print it."""
    lasts = None if days is None else timedelta(days=days)
    made, secret = _keeper(session, dry_run).add_token(name, TokenRole(role), tag, lasts, pools)
    _show(made, "Would be added" if dry_run else "Added", None if dry_run else secret, as_json=as_json)
    _note_of_tag(session, tag)
    for one in console_users.unknown_pools(session.app.transactions, made):
        output.say(
            f"Note: there is no pool {visible(one)} of kind agents yet; batchctl pools lists those that there are."
        )


@tokens.command("revoke")
@_name
@as_json
@acts(needs_reason=True)
def revoke_token(session: CliSession, name: str, as_json: bool, dry_run: bool, reason: str) -> None:
    """Let the program with a token in no more."""
    made = _keeper(session, dry_run).revoke_token(name, reason=reason)
    _show(made, "Would be revoked" if dry_run else "Revoked", as_json=as_json)


def _keeper(session: CliSession, dry_run: bool) -> console_users.UserKeeper:
    return console_users.UserKeeper(session.app.actor(dry_run=dry_run), session.app.ids.token)


def _note_of_tag(session: CliSession, tag: str | None) -> None:
    unknown = None if tag is None else console_users.unknown_tag(session.app.transactions, tag)
    if unknown is not None:
        output.say(f"Note: {unknown}")


def _where_to(role: Role | TokenRole) -> str:
    """Say what to do with a token."""
    match role:
        case TokenRole.AGENT:
            return "Write it into the file that [agent] token names, on the host of the agent."
        case TokenRole.CONTROLLER:
            return "Write it into the file that [pools.NAME] token names, where the controllers run."
        case _:
            return "A program sends it as: Authorization: Bearer ..."


def _show(made: WebUser | ApiToken, did: str, secret: str | None = None, *, as_json: bool) -> None:
    is_user = isinstance(made, WebUser)
    if as_json:
        shown = {} if secret is None else {"Code" if is_user else "Token": secret}
        output.print_json({**shown_columns.of(made), **shown})
        return
    scope = "" if made.tag is None else f", for batches with the tag {visible(made.tag)}"
    if isinstance(made, ApiToken) and made.pools is not None:
        scope += f", for the pools {visible(made.pools)}"
    click.echo(f"{did}: {'user' if is_user else 'token'} {visible(made.name)}, {made.role}{scope}.")
    if secret is None:
        return
    if is_user:
        hours = int(CODE_LASTS.total_seconds() // 3600)
        click.echo(f"Code: {secret}")
        output.say(f"It opens the console once within {hours} hours, to choose a password. {ONCE}")
    else:
        click.echo(f"Token: {secret}")
        output.say(f"{_where_to(made.role)} {ONCE}")
        output.say(f"Next: batchctl web token revoke {typed(made.name)} --reason ... lets it in no more")

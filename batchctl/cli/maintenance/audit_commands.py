"""`batchctl audit`: who did what, and whether the log of it is as it was written."""

from __future__ import annotations

from datetime import datetime

import click

from batchctl import node
from batchctl.cli import output
from batchctl.cli.log_command import MOST, Moment
from batchctl.cli.session import FINDINGS, ROW_ID, CliSession, Ref, WholeNumber, as_rows, batch_names, reads, writes
from batchctl.domain.errors import NotFound
from batchctl.domain.maintenance.audit_chain import Anchor, anchor_of
from batchctl.domain.rows import AuditFilter
from batchctl.domain.text import visible
from batchctl.operations.maintenance import audit_trail


class AuditGroup(click.Group):
    """Takes what is no verb for the row whose acts are wanted."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["--of", *args]
        return super().parse_args(ctx, args)


class AnchorText(click.ParamType["Anchor"]):
    """How far the chain reached: a number and a hash."""

    name = "anchor"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Anchor:
        """Read an anchor."""
        found = anchor_of(str(value))
        if found is None:
            self.fail(f"'{visible(str(value))}' is no anchor; batchctl audit anchor prints one.", param, ctx)
        return found


@click.group(cls=AuditGroup, invoke_without_command=True, options_metavar="[REF] [OPTIONS]")
@click.option("--of", "ref", metavar="REF", type=Ref(), help="What was done to one row; REF alone means the same.")
@click.option("--actor", metavar="WHO", help="What one person did, or one user of the database.")
@click.option("--batch", metavar="NAME", shell_complete=batch_names, help="What was done to a batch, as batch:NAME.")
@click.option("--action", "--status", metavar="WORD", help="One kind of act, such as rerun, cancel or disable.")
@click.option("--since", type=Moment(), help="Not before this time, in UTC.")
@click.option("--before", type=ROW_ID, help="Only rows with smaller numbers than this: the next page.")
@click.option("--limit", type=WholeNumber(1, MOST), default=50, show_default=True, help="How many rows at most.")
@as_rows
@click.pass_context
def audit(
    ctx: click.Context,
    ref: str | None,
    actor: str | None,
    batch: str | None,
    action: str | None,
    since: datetime | None,
    before: int | None,
    limit: int,
    as_json: bool,
) -> None:
    """List who did what and why, newest first, with what it was before and after; also what was changed in SQL by hand.

    REF is a BatchControl id (42), batch:NAME, file:17, incident:7, freeze:3, schedule:NAME, trigger:NAME, watch:NAME,
    calendar:NAME, resource:NAME or setting:NAME. In a table, columns that are empty are left out of a row that was made
    or deleted; --json has all.
    """
    if ctx.invoked_subcommand is not None:
        return
    if batch is not None:
        if ref is not None:
            raise click.UsageError("REF and --batch name two things; give one of them.")
        ref = f"batch:{batch}"

    session: CliSession = ctx.obj
    app = session.app
    wanted = AuditFilter(ref=ref, actor=actor, action=action, since=since, before=before)
    found = audit_trail.page(app.transactions, wanted, limit)
    if as_json:
        output.print_list(audit_trail.ACTS, found)
        return
    if not found:
        output.line("AuditLog has no such row.")
        return
    output.show_list(audit_trail.ACTS, found)
    if len(found) == limit:
        output.hints(f"batchctl audit --before {found[-1].audit_id}   (with the same options: the next page)")
    else:
        output.hints("batchctl audit verify   (that nothing of it was changed)")


@audit.command()
@click.option(
    "--anchor", "anchors", type=AnchorText(), multiple=True, help="What 'audit anchor' printed once; may be repeated."
)
@reads
def verify(session: CliSession, anchors: tuple[Anchor, ...], as_json: bool) -> None:
    """Prove that no row of the log was changed, removed or put in between since it was sealed; exit code 6 if one was.

    That its end was cut off, or all of it made anew, shows only against an anchor that was kept elsewhere.
    """
    app = session.app
    found = audit_trail.verify(app.transactions, app.clock, anchors)
    if as_json:
        output.print_json(
            {
                "SealNo": None if found.head is None else found.head.number,
                "RecordHash": None if found.head is None else found.head.digest,
                "Purged": found.gone,
                "Unsealed": found.unsealed,
                "Anchors": len(anchors),
                "Findings": [
                    {"AuditLog_id": one.audit_id, "SealNo": one.number, "Message": one.message, "Next": one.next_step}
                    for one in found.findings
                ],
            }
        )
    else:
        _show(found, anchored=bool(anchors))
    if found.findings:
        raise click.exceptions.Exit(FINDINGS)


@audit.command()
@reads
def anchor(session: CliSession, as_json: bool) -> None:
    """Print how far the chain reaches: keep it elsewhere, and give it to 'audit verify --anchor' later."""
    found = audit_trail.anchor(session.app.transactions)
    if found is None:
        raise NotFound("No row of the audit log is sealed yet.", next_step="batchctl audit seal")
    if as_json:
        output.print_json({"SealNo": found.number, "RecordHash": found.digest})
    else:
        click.echo(str(found))


@audit.command()
@writes
def seal(session: CliSession, dry_run: bool) -> None:
    """Seal at once what has no seal yet, as the leader does every few seconds."""
    app = session.app
    before = audit_trail.verify(app.transactions, app.clock)
    if not dry_run:
        node.Node(app).seal()
    after = audit_trail.verify(app.transactions, app.clock)
    would = "would be" if dry_run else "are"
    click.echo(f"{output.counted(before.unsealed - (0 if dry_run else after.unsealed), 'row')} {would} sealed.")
    if after.head is not None:
        output.say(f"Next: batchctl audit verify --anchor {after.head}   (keep it elsewhere)")


def _show(found: audit_trail.ChainVerdict, *, anchored: bool) -> None:
    if found.findings:
        rows = [(one.audit_id, one.number, one.message) for one in found.findings]
        output.table("The audit log is not as it was sealed", ["id", "seal#", "what is wrong"], rows)
    elif found.head is None:
        output.line("No row of the audit log is sealed yet.")
    else:
        gone = f", {found.gone} of them purged since" if found.gone else ""
        click.echo(
            f"{output.counted(found.head.number, 'sealed row')}{gone}: each is as it was sealed, and in its place."
        )
    if found.unsealed:
        click.echo(f"{output.counted(found.unsealed, 'row')} not sealed yet: of these nothing is proven.")
    if found.findings:
        output.hints(*dict.fromkeys(one.next_step for one in found.findings))
    elif found.head is not None and not anchored:
        keep = "keep the anchor elsewhere: only it shows that the end was cut off, or all of it made anew"
        output.hints(f"batchctl audit anchor   ({keep})")

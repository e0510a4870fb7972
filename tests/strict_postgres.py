"""A PostgreSQL server as it should be in production: it waits for its disk, and asks everybody but the owner for a password."""

from __future__ import annotations

from psycopg import sql

from tests.postgres import OWNER, PostgresServer


class StrictServer(PostgresServer):
    """The same programs, with other settings."""

    def start(self) -> None:
        """Start the server; it answers when this returns."""
        (self.data / "pg_hba.conf").write_text(
            f"host all {OWNER} 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n", encoding="utf-8"
        )
        options = f"-p {self.port} -h 127.0.0.1 -k ''"
        self._run("pg_ctl", "-D", str(self.data), "-l", str(self.data / "log"), "-o", options, "-w", "start")

    def new_role(self, name: str, password: str) -> str:
        """Create a role that may log in, with a database of its own of the same name."""
        with self.connect() as connection:
            role, secret = sql.Identifier(name), sql.Literal(password)
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(role, secret))
            connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(role, role))
        return name

    def alter(self, statements: str, database: str = OWNER) -> None:
        """Carry out what an administrator would paste."""
        with self.connect(database) as connection:
            for statement in filter(None, map(str.strip, statements.split(";"))):
                connection.execute(statement.encode())

    def is_set(self, name: str, value: str) -> bool:
        """Say whether new sessions find a value; the server takes a change over in its own time."""
        for _ in range(2000):
            with self.connect() as connection:
                found = connection.execute(sql.SQL("SHOW {}").format(sql.Identifier(name))).fetchone()
            if found == (value,):
                return True
        return False

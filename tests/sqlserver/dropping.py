"""A process whose steps are stopped while their connection breaks: it ends with 0, or by the signal that a driver met."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace

from batchctl.testing import a_request, a_step
from step_handlers.sql import Sql
from tests.sqlserver import tds
from tests.sqlserver.real_drivers import url
from tests.step_handlers.execution import Alone, as_execution
from tests.step_handlers.postgres_steps import context_at

STEP = a_step("sql", Data1="warehouse", Data2="WAITFOR DELAY '01:00'")
SESSION = tds.Rows(["id", "at"], [[51, "2026-11-21T03:00:00.123"]])


def main(module: str, rounds: int) -> None:
    """Stop a step in each round; the server goes away as soon as it runs, while it is being cancelled."""
    for at in range(rounds):
        alone = Alone(looks_until_stop=1)
        gone = threading.Event()
        with tds.Server() as server:
            server.answers = [
                ("dm_exec_sessions", [SESSION]),
                ("sp_getapplock", [tds.Rows(["got"], [[0]])]),
                ("WAITFOR", [tds.Hold(gone), tds.Drop()]),
            ]

            def stop(alone: Alone = alone, gone: threading.Event = gone, at: int = at) -> None:
                threading.Thread(target=alone.stops[0]).start()
                # In every other round the connection breaks before the first cancel may have come, else about with it.
                if at % 2:
                    gone.wait(0.002)
                gone.set()

            server.while_held = stop
            context = context_at(url(module, server.port))
            rendered = Sql().render(a_request(STEP, context))
            outcome = Sql().execute(rendered, as_execution(replace(alone, connections=context.connections)))
            if outcome.succeeded:
                raise SystemExit(f"round {at}: {outcome}")
    print(f"{rounds} rounds")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

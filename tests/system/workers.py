"""Workers in processes of their own, to be killed, and what is needed to come after them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from pathlib import Path

from batchctl.domain.commands import Identity
from batchctl.domain.rows import BatchId, HistoryEntry, HistoryId, InstanceId
from batchctl.domain.status import Cause, HistoryStatus
from batchctl.plugin_api import Command, CommandEnd, Execution, Rendered, StepOutcome
from batchctl.ports import Finished
from batchctl.system.commands import journal
from batchctl.system.host import platform
from batchctl.system.runner import ThreadStepRunner
from tests.leftovers import children_of
from tests.system.stepping import WAIT, Does
from tests.system.watching import Ear, name_of

BRIEF = Rendered("", {}, brief=True)
MOMENT = 3.0

WORKER = """
import json, select, sys
from datetime import timedelta
from pathlib import Path
from batchctl.system.runner import ThreadStepRunner
from tests.system.workers import BRIEF, Shell

me, state, steps, lease = sys.argv[1:]
runner = ThreadStepRunner(
    controller_id=me, plugin_process=None, jobs={}, connections={}, secrets={"password": "s3same"}.__getitem__,
    slots=4, stop_grace=timedelta(seconds=1), state_directory=Path(state),
)
if lease != "null":
    runner.keep_lease(float(lease))
for key, script, leashed in json.loads(steps):
    runner.start(key, Shell(script), BRIEF, lease_bound=leashed)
while True:
    for report in runner.collect(timedelta(seconds=0.05)):
        print(type(report).__name__, report.key, flush=True)
    while select.select([0], [], [], 0)[0]:
        until, key, script = json.loads(sys.stdin.readline())
        runner.keep_lease(until)
        runner.start(key, Shell(script), BRIEF)
"""


class Shell(Does):
    """A handler whose step is one shell command."""

    def __init__(self, script: str) -> None:
        super().__init__(lambda execution: StepOutcome(succeeded=False, message="the engine runs it by itself"))
        self._script = script

    def is_one_command(self, rendered: Rendered) -> bool:
        return True

    def command(self, rendered: Rendered, execution: Execution) -> Command:
        return Command(["sh", "-c", self._script], "/", {"PASSWORD": execution.secret("password")})

    def outcome(self, rendered: Rendered, end: CommandEnd) -> StepOutcome:
        said = end.not_started or end.signal_name
        return StepOutcome(
            succeeded=end.exit_code == 0,
            message=said,
            return_code=end.exit_code,
            output=end.output,
            stopped=end.stopped,
        )


class Worker:
    """A worker with some steps under way."""

    def __init__(
        self, name: str, state: Path, steps: dict[int, str], *, lease: float | None = None, free: Collection[int] = ()
    ) -> None:
        self.name = name
        self.place = journal.place_of(state, name)
        orders = [[key, script, lease is not None and key not in free] for key, script in steps.items()]
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER, name, str(state), json.dumps(orders), json.dumps(lease)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
            text=True,
        )

    def let_lease_end(self, ear: Ear) -> float:
        """Let it vouch for its steps no longer than for a moment; return until when, once its supervisor knows."""
        over = time.monotonic() + MOMENT
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([over, 99, f"echo vouched for > {ear.path}"]) + "\n")
        self.process.stdin.flush()
        assert ear.hear() == "vouched for"
        return over

    def hear_end(self, key: int) -> None:
        """Wait until it reports that a step has ended."""
        self._hear(f"Finished {key}")

    def hear_process(self, key: int) -> None:
        """Wait until it reports a step's process."""
        self._hear(f"Spawned {key}")

    def _hear(self, report: str) -> None:
        assert self.process.stdout is not None
        while (said := self.process.stdout.readline().strip()) != report:
            assert said, "the worker has ended"

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def die(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()

    def remove(self) -> None:
        """Leave nothing of it behind."""
        self.die()
        supervisor = supervisor_in(self.place)
        if supervisor is not None:
            platform.stop_left_over(f"{self.name}/", Identity(), 0.0)


def supervisor_in(place: Path) -> int | None:
    """Return the process id of the newest supervisor that wrote a journal."""
    try:
        lines = (place / "journal").read_text(encoding="ascii").splitlines()
    except FileNotFoundError:
        return None
    found = [json.loads(line)["supervisor"] for line in lines if '"supervisor"' in line]
    return found[-1] if found else None


def warden_of(supervisor: int) -> int | None:
    """Return the process id of a supervisor's warden, once there is one."""
    found = [pid for pid in children_of(supervisor) if name_of(pid) == "batchctl-warden"]
    return found[0] if found else None


def entry(key: int, claimed_by: str) -> HistoryEntry:
    """An attempt under way, as the history shows it."""
    return HistoryEntry(
        history_id=HistoryId(key),
        instance_id=InstanceId(1),
        batch_id=BatchId(1),
        seq=1,
        step_name="step",
        process_type="does",
        attempt_no=1,
        claim_token=1,
        cause=Cause.AUTO,
        status=HistoryStatus.RUNNING,
        command_text="",
        command_spec="{}",
        started_at=datetime(2026, 11, 21, 3, 15, tzinfo=UTC),
        claimed_by=claimed_by,
    )


def until(runner: ThreadStepRunner, is_so: Callable[[], bool]) -> list[Finished]:
    """Let a runner work until something is so; return what has ended meanwhile."""
    ends: list[Finished] = []
    for _ in range(600):
        if is_so():
            return ends
        ends += [report for report in runner.collect(WAIT / 400) if isinstance(report, Finished)]
    raise AssertionError("it never came to be so")

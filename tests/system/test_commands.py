"""How operating-system commands run and end; the numbers are those of the fault model."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.plugin_api import Command, CommandEnd
from batchctl.system import following
from batchctl.system.environment import for_children
from batchctl.system.output import Output
from batchctl.system.platform import Tree
from batchctl.system.processes import CommandRun, signal_name, why_not_started
from batchctl.system.stopping import Stop
from batchctl.system.threads import Threads
from tests.system.watching import Ear, ends, lives

THREADS = Threads("test")


class Bench:
    """Runs commands; `stop` stops the one that runs."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.stop = Stop(THREADS, grace=0.5)
        self.trees: list[Tree] = []

    def run(
        self,
        *argv: str,
        directory: str | None = None,
        environment: Mapping[str, str] | None = None,
        cap: int = 65536,
    ) -> CommandEnd:
        return self.start(*argv, directory=directory, environment=environment, cap=cap).end()

    def start(
        self,
        *argv: str,
        directory: str | None = None,
        environment: Mapping[str, str] | None = None,
        cap: int = 65536,
    ) -> CommandRun:
        return CommandRun(
            Command(argv, directory or str(self.directory), environment or {}),
            environment=for_children(),
            cookie=f"bench:{os.getpid()}:{self.directory.name}/1",
            stop=self.stop,
            threads=THREADS,
            announce=self.trees.append,
            cap=cap,
        )

    def run_aside(self, *argv: str) -> Aside:
        return Aside(self, argv)

    def script(self, text: str) -> str:
        file = self.directory / "script"
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755)
        return str(file)


class Aside:
    """A command that runs on a thread of its own."""

    def __init__(self, bench: Bench, argv: Sequence[str]) -> None:
        self._ends: list[CommandEnd] = []
        self._thread = threading.Thread(target=lambda: self._ends.append(bench.run(*argv)), daemon=True)
        self._thread.start()

    @property
    def end(self) -> CommandEnd:
        self._thread.join(20)
        assert self._ends, "the command did not end"
        return self._ends[0]


def _no_poller(*_: object) -> None:
    raise OSError(errno.ENOSYS, "an old kernel")


@pytest.fixture(params=["polled", "threaded"])
def bench(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    if request.param == "threaded":
        monkeypatch.setattr(following, "Poller", _no_poller)
    made = Bench(tmp_path)
    yield made
    made.stop.tell()


def test_a_command_ends_with_its_exit_code_and_everything_it_wrote(bench: Bench) -> None:
    end = bench.run("sh", "-c", "echo out; echo err >&2; echo out again; exit 3")

    assert end == CommandEnd(exit_code=3, output="out\nerr\nout again\n")


@pytest.mark.parametrize("code", [0, 1, 2, 64, 126, 127, 128, 137, 143, 255])
def test_exit_codes_and_signals_are_kept_apart(bench: Bench, code: int) -> None:  # G11
    end = bench.run("sh", "-c", f"exit {code}")

    assert (end.exit_code, end.signal_name) == (code, None)


@pytest.fixture
def hangs_up() -> Iterator[None]:
    """Let commands be ended by SIGHUP, also where the tests are run by nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangs_up")
@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGTERM", "SIGHUP"])
def test_an_end_by_signal_names_the_signal(bench: Bench, name: str) -> None:  # G11
    end = bench.run("sh", "-c", f"kill -{name.removeprefix('SIG')} $$")

    assert (end.exit_code, end.signal_name, end.stopped) == (None, name, False)


def test_an_unknown_signal_is_named_by_its_number() -> None:
    assert signal_name(-40) == "signal 40"


def test_every_argument_arrives_as_it_is(bench: Bench) -> None:
    hostile = ["", " ", "-n", "$(id)", "`id`", "a'b\"c", "line\nbreak", "\\", "*", "ünï‮😀", "x" * 131_071]

    end = bench.run("printf", "%s\\0", *hostile, cap=1_000_000)

    assert end.output.split("\\x00")[:-1] == hostile


def test_output_on_standard_error_does_not_make_a_failure(bench: Bench) -> None:  # G12
    assert bench.run("sh", "-c", "echo warning >&2") == CommandEnd(exit_code=0, output="warning\n")


def test_standard_input_is_empty(bench: Bench) -> None:  # G08
    assert bench.run("cat") == CommandEnd(exit_code=0)


def test_there_is_no_terminal_to_ask_for_a_password(bench: Bench) -> None:  # G09
    end = bench.run("sh", "-c", "exec 3</dev/tty")

    assert end.exit_code != 0


def test_a_command_is_alone_in_a_session_of_its_own(bench: Bench) -> None:
    end = bench.run(sys.executable, "-c", "import os; print(os.getsid(0) == os.getpgrp() == os.getpid())")

    assert end.output == "True\n"


def test_a_hanging_command_is_stopped_by_term(bench: Bench, ear: Ear) -> None:  # G01
    running = bench.run_aside("sh", "-c", f"echo $$ > {ear.path}; exec sleep 600")
    pid = ear.hear_pid()

    bench.stop.tell()

    assert running.end == CommandEnd(signal_name="SIGTERM", stopped=True)
    assert not lives(pid)


def test_a_command_that_cleans_up_when_asked_to_end_has_the_time_to(bench: Bench, ear: Ear) -> None:
    script = f"trap 'echo cleaned up; exit 5' TERM; echo $$ > {ear.path}; while :; do sleep 0.01; done"
    running = bench.run_aside("sh", "-c", script)
    ear.hear()

    bench.stop.tell()

    assert (running.end.exit_code, running.end.stopped) == (5, True)
    assert running.end.output.endswith("cleaned up\n")


def test_a_command_that_ignores_term_is_killed_after_the_grace_time(bench: Bench, ear: Ear) -> None:  # G02
    running = bench.run_aside("sh", "-c", f"trap '' TERM; echo $$ > {ear.path}; while :; do sleep 0.01; done")
    ear.hear()

    began = time.monotonic()
    bench.stop.tell()

    assert running.end.signal_name == "SIGKILL"
    assert time.monotonic() - began >= 0.5


def test_a_suspended_command_can_be_stopped(bench: Bench, ear: Ear) -> None:  # G03
    running = bench.run_aside("sh", "-c", f"echo $$ > {ear.path}; kill -STOP $$; sleep 600")
    ear.hear()

    bench.stop.tell()

    assert running.end.stopped


def test_the_whole_tree_is_stopped_and_may_clean_up(bench: Bench, ear: Ear) -> None:
    # The leader ends at once; its child needs longer and still gets its time.
    child = f"trap 'sleep 0.1; echo child cleaned up; exit' TERM; echo $$ > {ear.path}; while :; do sleep 0.01; done"
    running = bench.run_aside("sh", "-c", f'sh -c "$0" & echo $$ > {ear.path}; wait; wait', child)
    pids = {ear.hear_pid(), ear.hear_pid()}

    bench.stop.tell()

    assert "child cleaned up" in running.end.output
    assert not any(lives(pid) for pid in pids)


def test_a_process_that_went_into_a_session_of_its_own_is_stopped_too(bench: Bench, ear: Ear) -> None:  # G05
    running = bench.run_aside("sh", "-c", f"setsid sh -c 'echo $$ > {ear.path}; exec sleep 600' & wait")
    escaped = ear.hear_pid()

    bench.stop.tell()

    assert running.end.stopped
    assert ends(escaped)


def test_an_escaped_process_that_ignores_term_is_killed(bench: Bench, ear: Ear) -> None:  # G05
    deaf = f"trap '' TERM; echo $$ > {ear.path}; while :; do sleep 0.01; done"
    running = bench.run_aside("sh", "-c", 'setsid sh -c "$0" >/dev/null 2>&1 & wait', deaf)
    escaped = ear.hear_pid()

    bench.stop.tell()

    assert running.end.stopped
    assert ends(escaped)


def test_what_a_command_leaves_behind_is_ended_with_it(bench: Bench) -> None:  # G04
    end = bench.run("sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!")

    assert (end.exit_code, end.left_behind) == (0, True)
    assert ends(int(end.output))


def test_a_grandchild_that_holds_the_output_open_does_not_hold_the_step(bench: Bench) -> None:  # G06
    began = time.monotonic()

    end = bench.run("sh", "-c", "sleep 600 & echo $!; echo done")

    pid, done = end.output.split()
    assert (done, end.exit_code, end.left_behind) == ("done", 0, True)
    assert ends(int(pid))
    assert time.monotonic() - began < 5


def test_an_escaped_grandchild_that_holds_the_output_open_is_found(bench: Bench, ear: Ear) -> None:  # G05, G06
    script = f"setsid sh -c 'echo $$ > {ear.path}; exec sleep 600' & sleep 0.05; echo done"

    end = bench.run("sh", "-c", script)

    assert (end.exit_code, end.left_behind) == (0, True)
    assert ends(ear.hear_pid())


def test_what_holds_the_output_and_cannot_be_found_is_not_said_to_be_stopped(bench: Bench, ear: Ear) -> None:
    script = f"env -i setsid -f sh -c 'echo $$ > {ear.path}; exec sleep 600'; sleep 0.05; echo done"

    end = bench.run("sh", "-c", script)
    escaped = ear.hear_pid()

    assert (end.exit_code, end.left_behind, end.out_of_reach) == (0, False, True)
    assert lives(escaped)
    os.kill(escaped, signal.SIGKILL)


def test_a_daemon_that_leaves_its_group_and_its_output_is_left_alone(bench: Bench, ear: Ear) -> None:
    for _ in range(10):
        end = bench.run("sh", "-c", f"setsid sh -c 'echo $$ > {ear.path}; exec sleep 600' >/dev/null 2>&1 &")
        daemon = ear.hear_pid()

        assert (end.exit_code, end.left_behind) == (0, False)
        assert lives(daemon)
        os.kill(daemon, signal.SIGKILL)


def test_children_that_ended_in_time_are_not_left_behind(bench: Bench) -> None:
    end = bench.run("sh", "-c", "true | true & (exit 0) & wait; echo done")

    assert end == CommandEnd(exit_code=0, output="done\n")


@pytest.mark.full
def test_a_gigabyte_of_output_passes_in_flat_memory(bench: Bench) -> None:  # G07
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    end = bench.run("sh", "-c", "echo first; head -c 1073741824 /dev/zero | tr '\\0' x; echo; echo last >&2")

    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert end.exit_code == 0
    assert end.output.startswith("first\nxxx")
    assert end.output.endswith("xxx\nlast\n")
    assert "of 1073741836 bytes left out" in end.output
    assert len(end.output) < 70_000
    assert grown < 20_000  # kilobytes


def test_output_of_any_bytes_becomes_text(bench: Bench) -> None:  # G10
    end = bench.run("printf", r"caf\351 \000 \033[31m \342\200\256 \303\251\n")

    assert end.output == "caf\\xe9 \\x00 \x1b[31m ‮ é\n"


@given(st.binary(max_size=300))
def test_any_bytes_at_all_become_text_that_can_be_stored(content: bytes) -> None:  # G10
    output = Output()
    output.feed(content)

    text = output.text()

    assert "\x00" not in text
    assert text.encode("utf-8").decode("utf-8") == text


def test_missing_commands_are_named_with_where_they_were_sought(bench: Bench) -> None:  # G13
    end = bench.run("no-such-command", environment={"PATH": "/usr/bin:/opt/none"})

    assert end == CommandEnd(not_started="command 'no-such-command' not found; searched in PATH: /usr/bin:/opt/none")


def not_startable(bench: Bench, kind: str) -> tuple[list[str], str]:
    match kind:
        case "missing file":
            return ["./nothing"], "command './nothing' not found"
        case "directory":
            return ["/"], "'/' is a directory"
        case "not executable":
            file = bench.script("#!/bin/sh\n")
            Path(file).chmod(0o644)
            return [file], f"permission denied: '{file}' may not be executed by this user"
        case "bad interpreter":
            file = bench.script("#!/no/such/interpreter -x\n")
            return [file], f"'{file}' names an interpreter that does not exist: #!/no/such/interpreter -x"
        case "no program":
            file = bench.script("just text\n")
            return [file], f"'{file}' is not a program for this system, and has no '#!' line that names one"
        case "below a file":
            return ["/etc/passwd/x"], "command '/etc/passwd/x' not found"
        case "empty":
            return [""], "the command is empty"
        case "nothing":
            return [], "the command is empty"
        case "nul":
            return ["echo", "a\x00b"], "argument 1 cannot be passed to a command: it contains a NUL character"
        case "surrogate":
            return [
                "echo",
                "\udcff",
            ], "argument 1 cannot be passed to a command: it contains bytes that are not valid UTF-8"
        case "one long argument":
            return ["echo", "x" * 200_000], "the argument list is too long for this system (200004 bytes)"
        case _:
            raise LookupError(kind)


@pytest.mark.parametrize(
    "kind",
    [
        "missing file",
        "directory",
        "not executable",
        "bad interpreter",
        "no program",
        "below a file",
        "empty",
        "nothing",
        "nul",
        "surrogate",
        "one long argument",
    ],
)
def test_a_command_that_cannot_be_started_says_why(bench: Bench, kind: str) -> None:  # G13, G14
    argv, reason = not_startable(bench, kind)

    assert bench.run(*argv) == CommandEnd(not_started=reason)
    assert bench.trees == []


def test_a_command_somebody_still_writes_says_so(bench: Bench) -> None:  # G13
    program = bench.directory / "program"
    shutil.copy("/bin/true", program)
    with program.open("r+b"):
        end = bench.run(str(program))

    assert end.not_started == f"'{program}' is being written by somebody at this moment"


@pytest.mark.parametrize(("place", "why"), [("gone", "does not exist"), ("file", "is not a directory")])
def test_a_missing_working_directory_is_named(bench: Bench, place: str, why: str) -> None:  # G15
    (bench.directory / "file").touch()
    directory = str(bench.directory / place)

    end = bench.run("true", directory=directory)

    assert end.not_started == f"the working directory '{directory}' {why}"


def test_a_value_no_environment_can_hold_is_a_reason(bench: Bench) -> None:
    end = bench.run("true", environment={"NOTE": "a\x00b"})

    assert end.not_started == "its working directory or its environment cannot be passed on: embedded null byte"


def test_a_relative_command_is_found_in_the_working_directory(bench: Bench) -> None:
    bench.script("#!/bin/sh\npwd\n")

    assert bench.run("./script").output == f"{bench.directory}\n"


def test_what_this_host_cannot_give_is_a_reason_too(bench: Bench) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    open_now = len(os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_now - 1, hard))
    try:
        end = bench.run("true")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert end.not_started == "the system refused to start another process: Too many open files"
    assert bench.run("true").exit_code == 0


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.ENOMEM, errno.ENFILE])
def test_a_refusal_of_the_system_is_quoted(number: int, tmp_path: Path) -> None:
    reason = why_not_started(OSError(number, os.strerror(number)), Command(["true"], str(tmp_path)), {})

    assert reason == f"the system refused to start another process: {os.strerror(number)}"


def test_a_command_gets_the_environment_without_batchctls_own_settings(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:  # G15
    monkeypatch.setenv("BATCHCTL_DATABASE_URL", "postgresql://user:password@host/db")
    monkeypatch.setenv("LANG", "C.UTF-8")

    seen = dict(line.split("=", 1) for line in bench.run("env", environment={"EXTRA": "1"}).output.splitlines())

    assert [name for name in seen if name.startswith("BATCHCTL_")] == ["BATCHCTL_COOKIE"]
    assert (seen["LANG"], seen["EXTRA"], seen["PATH"]) == ("C.UTF-8", "1", os.environ["PATH"])


def test_a_command_told_to_stop_before_it_begins_is_not_started(bench: Bench) -> None:
    bench.stop.tell()

    end = bench.run("touch", "traces")

    assert end.stopped
    assert end.not_started == "the step was told to stop before the command was started"
    assert not (bench.directory / "traces").exists()


@pytest.mark.full
def test_no_zombie_is_left(bench: Bench) -> None:  # G19
    for _ in range(20):
        bench.run("sh", "-c", "true & sleep 600 >/dev/null 2>&1 & exit 1")

    assert not [tree.pid for tree in bench.trees if Path(f"/proc/{tree.pid}").exists()]


def test_a_stolen_exit_code_is_never_taken_for_success(bench: Bench, tmp_path: Path) -> None:
    def steal(tree: Tree) -> None:
        os.waitpid(tree.pid, 0)

    with pytest.raises(RuntimeError, match="something else in this program waited for it"):
        CommandRun(
            Command(["false"], str(tmp_path)),
            environment=for_children(),
            cookie="bench:1:x/1",
            stop=bench.stop,
            threads=THREADS,
            announce=steal,
            cap=100,
        ).end()


def test_descriptors_are_given_back(bench: Bench) -> None:
    bench.run("true")
    before = set(os.listdir("/proc/self/fd"))

    for argv in (["true"], ["no-such-command"], ["sh", "-c", "sleep 600 &"]):
        bench.run(*argv)

    assert set(os.listdir("/proc/self/fd")) <= before


def test_the_umask_is_the_controllers_own(bench: Bench) -> None:
    bench.run("touch", "made")

    mask = int(subprocess.run(["sh", "-c", "umask"], capture_output=True, text=True, check=True).stdout, 8)
    assert stat.S_IMODE((bench.directory / "made").stat().st_mode) == 0o666 & ~mask


def test_signals_ignored_here_work_in_the_command(bench: Bench) -> None:
    # Python ignores SIGPIPE; a command that inherited that would write into nothing for ever.
    assert signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN

    end = bench.run("bash", "-c", "yes | head -1; echo ${PIPESTATUS[0]}")

    assert end.output == f"y\n{128 + signal.SIGPIPE}\n"

"""Processes, signals and locks as POSIX has them. Linux shows every process under /proc; elsewhere only a group."""

from __future__ import annotations

import sys

if sys.platform != "win32":
    import ctypes
    import fcntl
    import os
    import pwd
    import resource
    import select
    import signal
    import subprocess
    import time
    from collections.abc import Mapping, Sequence
    from contextlib import closing, suppress
    from functools import cache
    from pathlib import Path
    from typing import TYPE_CHECKING

    from batchctl.system.host.cookies import COOKIE

    if TYPE_CHECKING:
        from batchctl.domain.commands import Identity

    STOP_SIGNAL = signal.SIGTERM
    """What asks a process to end."""

    _PROC = Path("/proc")
    _PAUSE = 0.02
    _KILL_PATIENCE = 5.0

    class Tree:
        """A process in a session of its own, with everything it has started since."""

        def __init__(
            self,
            argv: Sequence[str],
            *,
            directory: str | None,
            environment: Mapping[str, str],
            cookie: str,
            stdin: int,
            stdout: int,
            stderr: int,
        ) -> None:
            """Start the process; raises `OSError` when that is not possible."""
            self._cookie = cookie
            self.pid = self._start(argv, directory, {**environment, COOKIE: cookie}, (stdin, stdout, stderr))

        def _start(
            self,
            argv: Sequence[str],
            directory: str | None,
            environment: Mapping[str, str],
            streams: tuple[int, int, int],
        ) -> int:
            stdin, stdout, stderr = streams
            self.process = subprocess.Popen(
                argv, cwd=directory, env=environment, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True
            )
            return self.process.pid

        def wait(self) -> None:
            """Wait for the end of the leader, which keeps its pid until `reap`."""
            try:
                _wait_unreaped(self.pid)
            except ChildProcessError:
                with suppress(ChildProcessError):
                    self.reap()
                message = f"how process {self.pid} ended cannot be known: something else in this program waited for it"
                raise RuntimeError(message) from None

        @property
        def has_ended(self) -> bool:
            """Say whether the leader has ended. Only before `reap`."""
            return _has_ended_unreaped(self.pid)

        def reap(self) -> int:
            """Return the leader's exit code, or minus the number of the signal that ended it."""
            return self.process.wait()

        def terminate(self) -> None:
            """Ask everything in the tree to end. Only before `reap`."""
            self._signal(signal.SIGTERM)
            # A stopped process takes notice only once it goes on.
            self._signal(signal.SIGCONT)

        def kill(self) -> None:
            """End everything in the tree. Only before `reap`."""
            self._signal(signal.SIGKILL)

        def has_rest(self) -> bool:
            """Say quickly whether the leader, now reaped, left a group behind: as long as it did, its pid stays taken."""
            return _group_exists(self.pid)

        def stop_rest(self, until: float, *, escaped: bool) -> bool:
            """Wait for what the leader, now reaped, left behind, kill it when time is up; say whether there was any then.

            Processes that left the group count only with `escaped`.
            """
            return _kill_after(until, self.pid, self._cookie if escaped else None)

        def _signal(self, number: int) -> None:
            _signal_group(self.pid, number)
            for pid in _carriers_outside(self.pid, self._cookie):
                _signal_one(pid, number)

    def start_outliving(
        argv: Sequence[str], *, stdin: int, stdout: int, stderr: int, environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        """Start a process that does not end with this one or with its terminal."""
        return subprocess.Popen(
            argv, stdin=stdin, stdout=stdout, stderr=stderr, env=environment, start_new_session=True
        )

    def started(pid: int) -> str | None:
        """Return when a process started, in ticks since boot; None when it is gone or cannot be seen."""
        fields = _stat(pid)
        return None if fields is None else fields[19]

    @cache
    def boot_id() -> str | None:
        """Return what differs after every boot of this host, and wherever a pid means another process."""
        with suppress(OSError):
            boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
            return f"{boot}/{os.stat(_PROC / 'self/ns/pid').st_ino}"
        return None

    def has_ended(process: Identity) -> bool:
        """Say whether a process of this host is known to be gone; false when that cannot be known."""
        if process.pid is None or process.pid_start is None or process.boot_id is None or process.boot_id != boot_id():
            return False
        fields = _stat(process.pid)
        return fields is None or fields[0] in "ZX" or fields[19] != process.pid_start

    def find_left_over(cookie: str, entry: Identity) -> list[int]:
        """Return the pids of what carries the cookie or is still the recorded process's group."""
        return sorted(_living(_group_of(entry), cookie))

    def stop_left_over(cookie: str, entry: Identity, grace: float) -> list[int]:
        """Stop what carries the cookie or is still the recorded process's group; return the pids found alive."""
        group = _group_of(entry)
        found = _living(group, cookie)
        for pid in found:
            _signal_one(pid, signal.SIGTERM)
            _signal_one(pid, signal.SIGCONT)
        if found:
            _kill_after(time.monotonic() + grace, group, cookie)
        return sorted(found)

    def keep_children() -> None:
        """Keep ended children until they are reaped: the parent of this program may have switched that off."""
        if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)

    def flush_c_streams() -> None:
        """Write out what C code of this process has printed and the C library still holds."""
        _c_library().fflush(None)

    @cache
    def _c_library() -> ctypes.CDLL:
        return ctypes.CDLL(None)

    def end_own_tree() -> None:
        """End this process and its group at once, if it leads one."""
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(1)

    def try_lock(descriptor: int, *, shared: bool = False) -> bool:
        """Lock an open file unless somebody else has; the lock ends with the process. `shared` admits other sharers."""
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(descriptor: int) -> None:
        """Give a lock back."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)

    def is_in_use(path: str) -> bool:
        """Return false: it cannot be known, for a file may be written and read at once."""
        del path
        return False

    def is_folder(entry: os.DirEntry[str]) -> bool:
        """Say whether an entry is a folder of its own."""
        return entry.is_dir(follow_symlinks=False)

    def most_files() -> int | None:
        """Return how many files this process may open at once; None where there is no limit."""
        most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return None if most == resource.RLIM_INFINITY else most

    def user_name() -> str:
        """Return the user's name from the system, not from the environment, which anybody can set."""
        try:
            return pwd.getpwuid(os.geteuid()).pw_name
        except KeyError:
            return str(os.geteuid())

    def _wait_unreaped(pid: int) -> None:
        if sys.platform == "darwin":
            ended = select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
            queue = select.kqueue()
            # One that has already ended cannot be watched any more.
            with closing(queue), suppress(ProcessLookupError):
                queue.control([ended], 1, None)
        else:
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)

    def _has_ended_unreaped(pid: int) -> bool:
        if sys.platform == "darwin":
            watched = select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
            with closing(select.kqueue()) as queue:
                try:
                    return bool(queue.control([watched], 1, 0))
                except ProcessLookupError:
                    return True
        try:
            return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
        except ChildProcessError:
            return True

    def _group_of(entry: Identity) -> int | None:
        return entry.pid if entry.pid is not None and _is_still(entry, entry.pid) else None

    def _is_still(entry: Identity, pid: int) -> bool:
        # Kernel threads stand in group 0, and init belongs to no step, whatever is wrong with a row.
        return (
            pid > 1 and entry.pid_start is not None and entry.boot_id == boot_id() and entry.pid_start == started(pid)
        )

    def _kill_after(until: float, group: int | None, cookie: str | None) -> bool:
        """Wait for a tree until a time, then kill what is left of it; say whether there was any."""
        while (living := _living(group, cookie)) and time.monotonic() < until:
            time.sleep(_PAUSE)
        give_up = time.monotonic() + _KILL_PATIENCE
        found = bool(living)
        # Again and again: it may fork between two looks.
        while living and time.monotonic() < give_up:
            for pid in living:
                _signal_one(pid, signal.SIGKILL)
            time.sleep(_PAUSE / 4)
            living = _living(group, cookie)
        return found

    def _living(group: int | None, cookie: str | None) -> set[int]:
        """Find the living processes of a group and those that carry a cookie."""
        if not _PROC.joinpath("self/stat").exists():
            return {group} if group is not None and _group_exists(group) else set()
        return {pid for pid, fields in _processes() if int(fields[2]) == group or (cookie and _carries(pid, cookie))}

    def _carriers_outside(group: int, cookie: str) -> set[int]:
        return {pid for pid, fields in _processes() if int(fields[2]) != group and _carries(pid, cookie)}

    def _processes() -> list[tuple[int, list[str]]]:
        """List every living process but this one and init."""
        found = []
        with suppress(OSError):
            for name in os.listdir(_PROC):
                if name.isdecimal() and int(name) > 1 and int(name) != os.getpid():
                    fields = _stat(int(name))
                    if fields is not None and fields[0] not in "ZX":
                        found.append((int(name), fields))
        return found

    def _stat(pid: int) -> list[str] | None:
        """Return the fields of /proc/PID/stat behind the command's name: state, parent, group, session, ..."""
        try:
            with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
                return file.read(4096).rpartition(b")")[2].decode("ascii").split()
        except OSError:
            return None

    def _carries(pid: int, cookie: str) -> bool:
        """Say whether a process was started with a cookie; one that ends in `/` stands for all that begin so."""
        mark = f"{COOKIE}={cookie}".encode()
        try:
            variables = (_PROC / str(pid) / "environ").read_bytes().split(b"\x00")
        except OSError:
            return False
        if cookie.endswith("/"):
            return any(variable.startswith(mark) for variable in variables)
        return mark in variables

    def _group_exists(group: int) -> bool:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def _signal_group(group: int, number: int) -> None:
        if group > 1:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)

    def _signal_one(pid: int, number: int) -> None:
        if pid > 1:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

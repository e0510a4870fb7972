"""Processes and locks as Windows has them: a job object holds the tree. Written from Microsoft's documentation."""

from __future__ import annotations

import sys

CREATE_SUSPENDED = 0x00000004
CREATE_NEW_PROCESS_GROUP = 0x00000200
CREATE_BREAKAWAY_FROM_JOB = 0x01000000
CREATE_NO_WINDOW = 0x08000000
JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE = 0x00002000
JOB_OBJECT_BASIC_ACCOUNTING_INFORMATION = 1
JOB_OBJECT_EXTENDED_LIMIT_INFORMATION = 9
PROCESS_TERMINATE = 0x0001
PROCESS_QUERY_LIMITED_INFORMATION = 0x1000
GENERIC_READ = 0x80000000
OPEN_EXISTING = 3
ERROR_SHARING_VIOLATION = 32

LOCKED_BYTE = 1 << 30
"""Locks on Windows forbid reading, so a byte far behind the content is locked."""


def start_time_text(low: int, high: int) -> str:
    """Write a FILETIME, two halves of a count since 1601, as one number."""
    return str((high << 32) | low)


if sys.platform == "win32":
    import ctypes
    import getpass
    import msvcrt
    import os
    import signal
    import stat
    import subprocess
    import time
    from collections.abc import Mapping, Sequence
    from contextlib import suppress
    from ctypes import wintypes
    from typing import TYPE_CHECKING

    from batchctl.system.host.cookies import COOKIE

    if TYPE_CHECKING:
        from batchctl.domain.commands import Identity

    STOP_SIGNAL = signal.SIGBREAK
    """What asks a process to end."""

    _PAUSE = 0.02
    _KILL_PATIENCE = 5.0

    class _BasicLimits(ctypes.Structure):
        _fields_ = [
            ("PerProcessUserTimeLimit", ctypes.c_int64),
            ("PerJobUserTimeLimit", ctypes.c_int64),
            ("LimitFlags", wintypes.DWORD),
            ("MinimumWorkingSetSize", ctypes.c_size_t),
            ("MaximumWorkingSetSize", ctypes.c_size_t),
            ("ActiveProcessLimit", wintypes.DWORD),
            ("Affinity", ctypes.c_size_t),
            ("PriorityClass", wintypes.DWORD),
            ("SchedulingClass", wintypes.DWORD),
        ]

    class _IoCounters(ctypes.Structure):
        _fields_ = [(f"Counter{at}", ctypes.c_uint64) for at in range(6)]

    class _ExtendedLimits(ctypes.Structure):
        _fields_ = [
            ("BasicLimitInformation", _BasicLimits),
            ("IoInfo", _IoCounters),
            ("ProcessMemoryLimit", ctypes.c_size_t),
            ("JobMemoryLimit", ctypes.c_size_t),
            ("PeakProcessMemoryUsed", ctypes.c_size_t),
            ("PeakJobMemoryUsed", ctypes.c_size_t),
        ]

    class _Accounting(ctypes.Structure):
        _fields_ = [
            ("TotalUserTime", ctypes.c_int64),
            ("TotalKernelTime", ctypes.c_int64),
            ("ThisPeriodTotalUserTime", ctypes.c_int64),
            ("ThisPeriodTotalKernelTime", ctypes.c_int64),
            ("TotalPageFaultCount", wintypes.DWORD),
            ("TotalProcesses", wintypes.DWORD),
            ("ActiveProcesses", wintypes.DWORD),
            ("TotalTerminatedProcesses", wintypes.DWORD),
        ]

    _kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
    _kernel32.CreateJobObjectW.restype = wintypes.HANDLE
    _kernel32.CreateJobObjectW.argtypes = (wintypes.LPVOID, wintypes.LPCWSTR)
    _kernel32.AssignProcessToJobObject.argtypes = (wintypes.HANDLE, wintypes.HANDLE)
    _kernel32.SetInformationJobObject.argtypes = (wintypes.HANDLE, ctypes.c_int, wintypes.LPVOID, wintypes.DWORD)
    _kernel32.QueryInformationJobObject.argtypes = (
        wintypes.HANDLE,
        ctypes.c_int,
        wintypes.LPVOID,
        wintypes.DWORD,
        wintypes.LPVOID,
    )
    _kernel32.TerminateJobObject.argtypes = (wintypes.HANDLE, wintypes.UINT)
    _kernel32.OpenProcess.restype = wintypes.HANDLE
    _kernel32.OpenProcess.argtypes = (wintypes.DWORD, wintypes.BOOL, wintypes.DWORD)
    _kernel32.GetProcessTimes.argtypes = (wintypes.HANDLE, *(ctypes.POINTER(wintypes.FILETIME),) * 4)
    _kernel32.TerminateProcess.argtypes = (wintypes.HANDLE, wintypes.UINT)
    _kernel32.CreateFileW.restype = wintypes.HANDLE
    _kernel32.CreateFileW.argtypes = (
        wintypes.LPCWSTR,
        wintypes.DWORD,
        wintypes.DWORD,
        wintypes.LPVOID,
        wintypes.DWORD,
        wintypes.DWORD,
        wintypes.HANDLE,
    )
    _kernel32.CloseHandle.argtypes = (wintypes.HANDLE,)
    _ntdll = ctypes.WinDLL("ntdll")
    _ntdll.NtResumeProcess.argtypes = (wintypes.HANDLE,)

    class Tree:
        """A process in a job object of its own, with everything it has started since.

        When the controller dies the handle of the job object is closed, which ends the tree.
        """

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
            self._job = _new_job()
            try:
                # Suspended, so that it can start nothing before it is in the job object.
                self.process = subprocess.Popen(
                    argv,
                    cwd=directory,
                    env={**environment, COOKIE: cookie},
                    stdin=stdin,
                    stdout=stdout,
                    stderr=stderr,
                    creationflags=CREATE_SUSPENDED | CREATE_NEW_PROCESS_GROUP,
                )
            except BaseException:
                _kernel32.CloseHandle(self._job)
                raise
            self.pid = self.process.pid
            handle = int(self.process._handle)  # type: ignore[attr-defined] # noqa: SLF001 - the only way to the handle
            _kernel32.AssignProcessToJobObject(self._job, handle)
            _ntdll.NtResumeProcess(handle)

        def wait(self) -> None:
            """Wait for the end of the leader; its handle keeps its pid taken."""
            self.process.wait()

        @property
        def has_ended(self) -> bool:
            """Say whether the leader has ended."""
            return self.process.poll() is not None

        def reap(self) -> int:
            """Return the leader's exit code."""
            return self.process.wait()

        def terminate(self) -> None:
            """Ask everything in the tree to end."""
            with suppress(OSError):
                self.process.send_signal(signal.CTRL_BREAK_EVENT)

        def kill(self) -> None:
            """End everything in the tree."""
            _kernel32.TerminateJobObject(self._job, 1)

        def has_rest(self) -> bool:
            """Say whether the leader left processes behind."""
            return self._active() > 0

        def stop_rest(self, until: float, *, escaped: bool) -> bool:
            """Wait for what the leader left behind, end it when time is up; say whether there was any then.

            Nothing has `escaped`: a job object holds all that was started in it.
            """
            del escaped
            while self._active() and time.monotonic() < until:
                time.sleep(_PAUSE)
            found = self._active() > 0
            if found:
                self.kill()
            return found

        def __del__(self) -> None:
            """Give the job object back, which ends what is left in it."""
            _kernel32.CloseHandle(self._job)

        def _active(self) -> int:
            accounting = _Accounting()
            _kernel32.QueryInformationJobObject(
                self._job,
                JOB_OBJECT_BASIC_ACCOUNTING_INFORMATION,
                ctypes.byref(accounting),
                ctypes.sizeof(accounting),
                None,
            )
            return int(accounting.ActiveProcesses)

    def start_outliving(
        argv: Sequence[str], *, stdin: int, stdout: int, stderr: int, environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        """Start a process that does not end with this one or with its console."""

        def start(flags: int) -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                argv, stdin=stdin, stdout=stdout, stderr=stderr, env=environment, creationflags=flags
            )

        apart = CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW
        try:
            # The parent of this program may end all that is in its job object, and may forbid to leave it.
            return start(apart | CREATE_BREAKAWAY_FROM_JOB)
        except PermissionError:
            return start(apart)

    def started(pid: int) -> str | None:
        """Return when a process started; None when it is gone or cannot be seen."""
        handle = _kernel32.OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, False, pid)  # noqa: FBT003 - the system's order of arguments
        if not handle:
            return None
        times = [wintypes.FILETIME() for _ in range(4)]
        try:
            if not _kernel32.GetProcessTimes(handle, *(ctypes.byref(part) for part in times)):
                return None
            return start_time_text(times[0].dwLowDateTime, times[0].dwHighDateTime)
        finally:
            _kernel32.CloseHandle(handle)

    def has_ended(process: Identity) -> bool:
        """Say whether a process of this host is known to be gone; false when that cannot be known."""
        if process.pid is None or process.pid_start is None or process.boot_id is None or process.boot_id != boot_id():
            return False
        return started(process.pid) != process.pid_start

    def boot_id() -> str | None:
        """Return nothing: a start time on Windows is absolute, so it differs after every boot anyway."""
        return None

    def find_left_over(cookie: str, entry: Identity) -> list[int]:
        """Return the recorded process if it is still the same; its job object has ended the rest with the controller."""
        del cookie
        if entry.pid is None or entry.pid_start is None or started(entry.pid) != entry.pid_start:
            return []
        return [entry.pid]

    def stop_left_over(cookie: str, entry: Identity, grace: float) -> list[int]:
        """End the recorded process if it is still the same."""
        del grace
        found = find_left_over(cookie, entry)
        for pid in found:
            handle = _kernel32.OpenProcess(PROCESS_TERMINATE, False, pid)  # noqa: FBT003 - the system's order of arguments
            if handle:
                _kernel32.TerminateProcess(handle, 1)
                _kernel32.CloseHandle(handle)
        return found

    def keep_children() -> None:
        """Do nothing: ended children always wait on Windows."""

    def flush_c_streams() -> None:
        """Do nothing: there may be several C libraries in one process, and none of them is ours."""

    def end_own_tree() -> None:
        """End this process at once; its job object ends the rest."""
        os._exit(1)

    def try_lock(descriptor: int, *, shared: bool = False) -> bool:
        """Lock an open file unless somebody else has; the lock ends with the process. Nothing can be `shared` here."""
        del shared
        os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def unlock(descriptor: int) -> None:
        """Give a lock back."""
        os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

    def is_in_use(path: str) -> bool:
        """Say whether any process has a file open: then it cannot be opened without sharing it."""
        handle = _kernel32.CreateFileW(path, GENERIC_READ, 0, None, OPEN_EXISTING, 0, None)
        if handle == ctypes.c_void_p(-1).value:
            return ctypes.get_last_error() == ERROR_SHARING_VIOLATION
        _kernel32.CloseHandle(handle)
        return False

    def is_folder(entry: os.DirEntry[str]) -> bool:
        """Say whether an entry is a folder of its own; a junction is a link by another name."""
        attributes = entry.stat(follow_symlinks=False).st_file_attributes
        return entry.is_dir(follow_symlinks=False) and not attributes & stat.FILE_ATTRIBUTE_REPARSE_POINT

    def most_files() -> int | None:
        """Return how many files this process may open at once: there is no limit."""
        return None

    def user_name() -> str:
        """Return the user's name."""
        return getpass.getuser()

    def _new_job() -> int:
        job = _kernel32.CreateJobObjectW(None, None)
        if not job:
            raise ctypes.WinError(ctypes.get_last_error())
        limits = _ExtendedLimits()
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
        _kernel32.SetInformationJobObject(
            job, JOB_OBJECT_EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), ctypes.sizeof(limits)
        )
        return int(job)

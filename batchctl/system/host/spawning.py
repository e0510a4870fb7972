"""Starting processes with little overhead; only for a program that does not rely on its own working directory."""

from __future__ import annotations

import sys

from batchctl.system.host.platform import Tree

if sys.platform != "win32":
    import errno
    import os
    import signal
    from collections.abc import Mapping, Sequence
    from functools import cache

    _AS_USUAL = [signal.SIGPIPE, signal.SIGXFSZ]
    """Signals that Python ignores and programs expect to be ended by."""

    class SwiftTree(Tree):
        """A process in a session of its own, started by the system itself: nothing of this program is in its way."""

        def _start(
            self,
            argv: Sequence[str],
            directory: str | None,
            environment: Mapping[str, str],
            streams: tuple[int, int, int],
        ) -> int:
            # A process begins in this one's directory; no other can be given.
            os.chdir(directory or os.sep)
            try:
                given = (_nothing() if stream < 0 else stream for stream in streams)
                return _spawn(argv, environment, [(os.POSIX_SPAWN_DUP2, one, at) for at, one in enumerate(given)])
            finally:
                os.chdir(os.sep)

        def reap(self) -> int:
            """Return the leader's exit code, or minus the number of the signal that ended it."""
            _, status = os.waitpid(self.pid, 0)
            return os.waitstatus_to_exitcode(status)

    def _spawn(argv: Sequence[str], environment: Mapping[str, str], streams: list[tuple[int, int, int]]) -> int:
        failure = None
        for program in _candidates(argv[0], environment):
            try:
                return os.posix_spawn(
                    program, list(argv), environment, file_actions=streams, setsid=True, setsigdef=_AS_USUAL
                )
            except (FileNotFoundError, NotADirectoryError):
                pass
            except OSError as error:
                # As a shell does: skip what cannot be started in favour of a later one that can.
                failure = failure or error
        raise failure or FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    def _candidates(program: str, environment: Mapping[str, str]) -> list[str]:
        if os.path.dirname(program):
            return [program]
        places = (os.path.join(place, program) for place in os.get_exec_path(environment))
        return [place for place in places if os.path.lexists(place)]

    @cache
    def _nothing() -> int:
        return os.open(os.devnull, os.O_RDWR)

else:
    SwiftTree = Tree

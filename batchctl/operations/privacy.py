"""Who else of this host can read or change what is this installation's alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from batchctl import config
from batchctl.domain.errors import ConfigurationError
from batchctl.domain.outcomes import HealthFinding, Result
from batchctl.domain.text import typed, visible
from batchctl.store import engine
from batchctl.system.host.permissions import others_at

CHECK = "privacy"


def findings(settings: config.Settings) -> Iterator[tuple[str, HealthFinding]]:
    """Yield who else gets at the control database, the state directory, the settings and the files of secrets."""
    yield from _of("database_url", _database_files(settings), "600")
    yield from _of("this host", [settings.directory / settings.state_directory], "700")
    if settings.file is not None:
        harmless = () if config.literal_passwords(settings) else ("read",)
        yield from _of("settings", [settings.file], "600", harmless)
    for name, given in settings.secrets.items():
        if given.file is not None:
            yield from _of(f"secrets.{name}", [settings.directory / given.file], "600")


def _of(
    target: str, paths: Sequence[Path], mode: str, harmless: tuple[str, ...] = ()
) -> Iterator[tuple[str, HealthFinding]]:
    """Yield a finding: what every user may do is a warning, a group was let in on purpose."""
    found = {path: others_at(path) for path in paths if path.exists()}
    if not found:
        return
    open_to_all = [path for path, others in found.items() if others.everybody]
    grave = [path for path in open_to_all if found[path].everybody not in harmless]
    if grave:
        said = f"Every user of this host may {found[grave[0]].everybody} {_listed(grave)}."
        # What SQLite has made beside its file may be gone by the time somebody types this.
        next_step = f"chmod {mode} {typed(str(paths[0]))}{'*' if len(paths) > 1 else ''}"
        yield target, HealthFinding(CHECK, Result.WARN, said, next_step)
        return
    shared = [path for path, others in found.items() if others.group]
    if open_to_all:
        said = f"Every user of this host may read {_listed(open_to_all)}, and no password stands there."
    elif shared:
        others = found[shared[0]]
        said = f"The group {visible(others.group_name)} may {others.group} {_listed(shared)}, besides its owner."
    else:
        said = f"No other user gets at {_listed(list(found)[:1])}, as far as its mode says."
    yield target, HealthFinding(CHECK, Result.OK, said)


def _listed(paths: Sequence[Path]) -> str:
    return " and ".join(visible(str(path)) for path in paths)


def _database_files(settings: config.Settings) -> list[Path]:
    """Return the file of a SQLite control database with its companions."""
    try:
        database = engine.file_of(settings.database_url, settings.directory)
    except ConfigurationError:
        return []  # What is wrong with the URL, the finding about the database says.
    if database is None:
        return []
    return [database.with_name(f"{database.name}{end}") for end in ("", "-wal", "-shm", "-journal")]

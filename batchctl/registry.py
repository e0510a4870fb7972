"""Finds step handlers, populators and jobs, wherever they were installed.

Each is loaded only when it is asked for, and alone: a broken one is reported for itself and breaks nothing else.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import linecache
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path, PurePath
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from batchctl.domain.errors import PluginError, is_typed
from batchctl.domain.plugins import Plugins
from batchctl.domain.text import did_you_mean, nearest, visible
from batchctl.plugin_api import Delegates, Job, Populator, StepHandler

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints


@dataclass(frozen=True, slots=True, eq=False)
class PluginKind:
    """One kind of plugin: what it is called, where it is announced and what it must have."""

    title: str
    group: str
    listing: str
    name_attribute: str
    methods: tuple[str, ...]


HANDLER = PluginKind(
    "ProcessType", "batchctl.step_handlers", "STEP_HANDLERS", "process_type", ("check", "render", "execute")
)
POPULATOR = PluginKind("Populator", "batchctl.populators", "POPULATORS", "name", ("check", "populate"))
JOB = PluginKind("job", "batchctl.jobs", "", "name", ())
_PACKAGE = "package"
_OWN = "batchctl"
"""The distribution whose plugins need not be tried first."""
LeftOut = Callable[[], Mapping[str, str]]
"""Returns the modules that must not be imported, each with the message about it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that claims a name: where it comes from, and how to get it."""

    name: str
    origin: Callable[[], str]
    """Found out only for a message: it takes longer than all the rest."""
    load: Callable[[], Any]
    owner: Callable[[], str]
    """What announces it: `package NAME`, or the name of a module."""


class Registry:
    """What plugins offer, by name."""

    def __init__(
        self, plugin_modules: Sequence[str] = (), sys_path: Sequence[str] = (), left_out: LeftOut = dict
    ) -> None:
        """Look for modules in `sys_path` too. Nothing is imported before it is needed.

        `left_out` is asked before any import which modules, listed or installed, would end or hang this program and
        why; these are not imported.
        """
        self._plugin_modules = tuple(plugin_modules)
        self._left_out = left_out
        self._sys_path = tuple(sys_path)
        self._failed_modules: dict[str, PluginError] = {}
        self._modules: list[ModuleType] | None = None
        self._claims: dict[PluginKind, dict[str, tuple[Claim, ...]]] = {}
        self._found: dict[tuple[PluginKind, str], Any] = {}

    def handler(self, process_type: str) -> StepHandler:
        """Return the step handler of a ProcessType; raises `PluginError` when there is none that works."""
        return cast("StepHandler", self._get(HANDLER, process_type))

    def populator(self, name: str) -> Populator:
        """Return a populator; raises `PluginError` when there is none that works."""
        return cast("Populator", self._get(POPULATOR, name))

    def job(self, name: str) -> Job:
        """Return a job; raises `PluginError` when there is none that works."""
        return cast("Job", self._get(JOB, name))

    @property
    def handler_names(self) -> tuple[str, ...]:
        """Every ProcessType that a plugin claims to carry out."""
        return tuple(sorted(self._claims_of(HANDLER)))

    @property
    def populator_names(self) -> tuple[str, ...]:
        """Every populator that a plugin offers."""
        return tuple(sorted(self._claims_of(POPULATOR)))

    @property
    def job_names(self) -> tuple[str, ...]:
        """Every job that a module or package offers."""
        return tuple(sorted(self._claims_of(JOB)))

    def plugins(self) -> Plugins:
        """Return the names of all plugins offered, without those of a module that cannot be imported."""
        return Plugins(
            process_types=frozenset(self.handler_names),
            populators=frozenset(self.populator_names),
            jobs=frozenset(self.job_names),
        )

    def offers_job(self, name: object) -> bool:
        """Say whether any module or package offers a job."""
        return name in self._claims_of(JOB)

    def owner_of_job(self, name: str) -> str:
        """Return what announces a job: a module's name, or `package NAME`."""
        return self._claims_of(JOB)[name][0].owner()

    def knows_owner(self, owner: str) -> bool:
        """Say whether what has announced jobs is here and could be asked: a package is installed, a module was imported."""
        kind, _, package = owner.partition(" ")
        if package:
            return kind == _PACKAGE and _is_installed(package)
        return any(module.__name__ == owner for module in self._imported())

    def failed_modules(self) -> Mapping[str, PluginError]:
        """Return what keeps modules, by name, from being imported: nothing is known of what they announce."""
        self._claims_of(JOB)
        return dict(self._failed_modules)

    @property
    def jobs(self) -> Mapping[str, Job]:
        """The jobs by name, each loaded when it is asked for; a broken one raises `PluginError` then."""
        return _Jobs(self)

    @property
    def has_failures(self) -> bool:
        """Say whether anything asked for so far could not be loaded."""
        return bool(self._failed_modules) or any(isinstance(found, PluginError) for found in self._found.values())

    def findings(self) -> list[str]:
        """Load everything and return what is wrong with it."""
        found: list[str] = []
        for kind in (HANDLER, POPULATOR, JOB):
            for name in sorted(self._claims_of(kind)):
                try:
                    self._get(kind, name)
                except PluginError as error:
                    found.append(error.message)
        # One module may be behind several names.
        return [*(finding.message for finding in self._failed_modules.values()), *dict.fromkeys(found)]

    def _get(self, kind: PluginKind, name: str) -> Any:
        found = self._found.get((kind, name))
        if found is None:
            try:
                found = self._load(kind, name)
            except PluginError as error:
                found = error
            self._found[kind, name] = found
        if isinstance(found, PluginError):
            raise PluginError(found.message, next_step=found.next_step)
        return found

    def _load(self, kind: PluginKind, name: str) -> Any:
        claims = self._claims_of(kind).get(name, ())
        if not claims:
            known = did_you_mean(name, self._claims_of(kind))
            broken = "".join(f" {finding.message}" for finding in self._failed_modules.values())
            raise PluginError(
                f"{kind.title} '{visible(name)}' is not installed.{known}{broken}", next_step="batchctl check"
            )
        if len(claims) > 1:
            claimants = " and by ".join(claim.origin() for claim in claims)
            message = f"{kind.title} '{visible(name)}' is claimed by {claimants}; none of them is used."
            raise PluginError(message, next_step="give one of them another name, or remove it")
        with _blaming(f"{kind.title} '{visible(name)}'", claims[0].origin):
            return _checked(kind, name, claims[0].load())

    def _claims_of(self, kind: PluginKind) -> dict[str, tuple[Claim, ...]]:
        if kind not in self._claims:
            found: dict[str, tuple[Claim, ...]] = {}
            for claim in (*self._installed(kind), *self._listed(kind)):
                # The engine reads a ProcessType in any letter case.
                name = claim.name.lower() if kind is HANDLER else claim.name
                found[name] = (*found.get(name, ()), claim)
            self._claims[kind] = found
        return self._claims[kind]

    def _installed(self, kind: PluginKind) -> Iterator[Claim]:
        for entry in _entries(kind):
            yield Claim(entry.name, partial(_distribution, entry), partial(self._loaded, entry), partial(_owner, entry))

    def _loaded(self, entry: EntryPoint) -> Any:
        if not _is_own(entry) and (said := self._left_out().get(_module_behind(entry))) is not None:
            raise PluginError(said, next_step=f"correct {_package_of(entry)}, or uninstall it")
        return entry.load()

    def _listed(self, kind: PluginKind) -> Iterator[Claim]:
        for module in self._imported():
            try:
                with _blaming_module(module.__name__):
                    members = list(_members(kind, module))
            except PluginError as error:
                self._failed_modules.setdefault(module.__name__, error)
                continue
            for name, member in members:
                yield Claim(name, partial(_module, module), partial(_same, member), partial(str, module.__name__))

    def _imported(self) -> list[ModuleType]:
        if self._modules is None:
            self._modules = []
            left_out = self._left_out() if self._plugin_modules else {}
            sys.path.extend(entry for entry in self._sys_path if entry not in sys.path)
            for name in self._plugin_modules:
                try:
                    if name in left_out:
                        raise PluginError(left_out[name], next_step=f"correct {_file_of(name)}")
                    with _blaming_module(name, self._sys_path):
                        self._modules.append(importlib.import_module(name))
                except PluginError as error:
                    self._failed_modules[name] = error
        return self._modules


class _Jobs(Mapping[str, Job]):
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._loaded: dict[str, Job] = {}

    def __getitem__(self, name: str) -> Job:
        if job := self._loaded.get(name):
            return job
        try:
            job = self._loaded[name] = self._registry.job(name)
        except PluginError as error:
            if name not in self and not self._registry.failed_modules():
                raise KeyError(name) from error
            raise
        return job

    def __contains__(self, name: object) -> bool:
        return self._registry.offers_job(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._registry.job_names)

    def __len__(self) -> int:
        return len(self._registry.job_names)


def installed_modules() -> dict[str, str]:
    """Return the modules behind the plugins of other packages, each with where it comes from."""
    entries = [entry for kind in (HANDLER, POPULATOR, JOB) for entry in _entries(kind) if not _is_own(entry)]
    return {_module_behind(entry): _package_of(entry) for entry in entries}


def _entries(kind: PluginKind) -> EntryPoints:
    return _announced(kind.group, tuple(map(_as_it_is, sys.path)))


def _as_it_is(folder: str) -> tuple[str, int]:
    """Return a folder with the time at which a package was last installed or removed there."""
    try:
        return folder, Path(folder).stat().st_mtime_ns
    except OSError:
        return folder, 0


@lru_cache(maxsize=8)
def _announced(group: str, places: tuple[tuple[str, int], ...]) -> EntryPoints:  # noqa: ARG001 - what is announced changes with them
    from importlib.metadata import entry_points  # noqa: PLC0415 - costs more than all the rest, and --help needs none

    return entry_points(group=group)


def _module_behind(entry: EntryPoint) -> str:
    """Return the name of its module, even if the entry is malformed."""
    return entry.value.partition(":")[0].strip()


def _is_own(entry: EntryPoint) -> bool:
    return entry.dist is not None and entry.dist.name == _OWN


def _module(module: ModuleType) -> str:
    return f"module {module.__name__}"


def _owner(entry: EntryPoint) -> str:
    return entry.module if entry.dist is None else f"{_PACKAGE} {entry.dist.name}"


def _is_installed(package: str) -> bool:
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 - slow, and --help needs none

    try:
        distribution(package)
    except (PackageNotFoundError, ValueError):
        return False
    return True


def _distribution(entry: EntryPoint) -> str:
    return f"entry point {entry.value}" if entry.dist is None else f"{_package_of(entry)} ({entry.value})"


def _package_of(entry: EntryPoint) -> str:
    return entry.value if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"


def _members(kind: PluginKind, module: ModuleType) -> list[tuple[str, Any]]:
    if kind is JOB:
        # Not isinstance, which asks an object what it is: any object may lie in a module, and some raise when asked.
        return [(member.name, member) for member in vars(module).values() if issubclass(type(member), Job)]
    listed = getattr(module, kind.listing, ())
    if not isinstance(listed, tuple | list):
        raise PluginError(f"plugin module '{module.__name__}': {kind.listing} must be a tuple of classes.")
    for member in listed:
        if not isinstance(getattr(member, kind.name_attribute, None), str):
            raise PluginError(
                f"plugin module '{module.__name__}': {visible(repr(member))} in {kind.listing} has no {kind.name_attribute}."
            )
    return [(getattr(member, kind.name_attribute), member) for member in listed]


def _same(member: Any) -> Any:
    return member


def _checked(kind: PluginKind, name: str, loaded: Any) -> Any:
    if kind is JOB:
        made = loaded if isinstance(loaded, Job) or not callable(loaded) else Job(name, loaded)
        if not isinstance(made, Job):
            raise TypeError(f"{type(loaded).__name__} is not a function")
    else:
        made = loaded() if isinstance(loaded, type) else loaded
    needed = ("check",) if kind is HANDLER and isinstance(made, Delegates) else kind.methods
    missing = [method for method in needed if not callable(getattr(made, method, None))]
    if missing:
        raise TypeError(f"it has no {', '.join(missing)}")
    own_name = getattr(made, kind.name_attribute, None)
    if own_name != name and not (kind is HANDLER and str(own_name).lower() == name):
        raise ValueError(f"it is announced as '{name}', but its {kind.name_attribute} is {own_name!r}")
    return made


@contextlib.contextmanager
def _blaming(plugin: str, origin: Callable[[], str] | None = None) -> Iterator[None]:
    """Turn whatever plugin code raises into a `PluginError`, and keep what it prints out of standard output."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except PluginError:
        raise
    except BaseException as error:
        if is_typed(error):
            raise
        whose = "" if origin is None else f" of {origin()}"
        raise PluginError(f"{plugin}{whose} cannot be loaded: {_cause(error)}.", next_step="batchctl check") from error


@contextlib.contextmanager
def _blaming_module(name: str, sys_path: Sequence[str] = ()) -> Iterator[None]:
    """Do the same for a module, and name the line, the function below it, and the file to correct."""
    plugin = f"plugin module '{visible(name)}'"
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except KeyboardInterrupt:
        raise
    except PluginError as error:
        raise PluginError(error.message, next_step=f"correct {_file_of(name)}") from error
    except BaseException as error:
        message = f"{plugin} cannot be loaded: {_cause(error)}{_place(error)}.{_meant(name, error, sys_path)}"
        raise PluginError(message, next_step=_correction(name, error)) from error


def _cause(error: BaseException) -> str:
    return f"{type(error).__name__}: {visible(str(error))}".removesuffix(": ").removesuffix(".")


def _meant(name: str, error: BaseException, sys_path: Sequence[str]) -> str:
    near = nearest(name, [each.name for each in iter_modules(sys_path)]) if _is_missing(name, error) else None
    return "" if near is None else f" Did you mean '{visible(near)}'?"


def _is_missing(name: str, error: BaseException) -> bool:
    return isinstance(error, ModuleNotFoundError) and bool(error.name) and f"{name}.".startswith(f"{error.name}.")


def _correction(name: str, error: BaseException) -> str:
    if _is_missing(name, error):
        out_of = "modules of [jobs], or plugin_modules, in batchctl.toml"
        return f"put {_file_of(name)} where modules are looked for, or correct its name in {out_of}"
    if isinstance(error, SyntaxError) and error.filename:
        return f"correct {visible(PurePath(error.filename).name)}"
    return f"correct {_file_of(name)}"


def _file_of(module: str) -> str:
    return f"{visible(module).replace('.', '/')}.py"


def _place(error: BaseException) -> str:
    """Name where in the module an error came up; a syntax error names that itself."""
    lines = [each for each in _lines(error) if not each[0].startswith(_OWN_FILES)]
    if isinstance(error, SyntaxError) or not lines:
        return ""
    file = lines[0][0]
    line = next(at for name, at in reversed(lines) if name == file)
    function = _decorated(file, line)
    above = "" if function is None else f", above {visible(function)}"
    return f" ({visible(PurePath(file).name)}, line {line}{above})"


def _lines(error: BaseException) -> Iterator[tuple[str, int]]:
    """Yield the lines that were running when it came up, the outermost first."""
    at = error.__traceback__
    while at is not None:
        yield at.tb_frame.f_code.co_filename, at.tb_lineno
        at = at.tb_next


def _decorated(file: str, line: int) -> str | None:
    """Return the function that a decorator at this line stands above: when it raises, there is no function yet."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            above = (one.lineno <= line <= (one.end_lineno or one.lineno) for one in node.decorator_list)
            if any(above):
                return node.name
    return None


_OWN_FILES = ("<frozen ", __file__, importlib.__file__, contextlib.__file__)
"""The files between this one and the code of a module."""

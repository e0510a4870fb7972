"""Jobs of other schedulers as definitions, and the report on what became of all that they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from batchctl.domain.definitions.defined import Defined
from batchctl.domain.definitions.foreign_jobs import ForeignJob, MappedHow
from batchctl.domain.errors import ConfigurationError
from batchctl.domain.records import JsonValue
from batchctl.domain.text import unfit, visible
from batchctl.operations.column_lists import ColumnList, StatusWord

LONGEST = 8 * 1024 * 1024
"""Bytes of a file that is read."""
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
JOBS = ColumnList[ForeignJob](
    "Jobs",
    {
        "Where": lambda one: one.where,
        "ProcessBatchName": lambda one: one.name or None,
        "Outcome": lambda one: one.how,
        "Findings": lambda one: [*one.findings],
        "Parameters": lambda one: [
            {
                "Parameter": each.parameter,
                "Value": each.written,
                "Became": each.became,
                "Finding": each.finding,
                "Note": each.note,
            }
            for each in one.mapped
        ],
    },
    {
        "where": "Where",
        "batch": "ProcessBatchName",
        "outcome": lambda one: StatusWord(one.how),
        "findings": lambda one: "; ".join(one.findings),
    },
)


@dataclass(frozen=True, slots=True)
class ForeignJobs:
    """What was read of some files."""

    jobs: Sequence[ForeignJob]

    @property
    def defined(self) -> list[Defined]:
        """Return the definitions that say what the jobs said, all of them disabled."""
        return [each for one in self.jobs for each in one.defined]

    @property
    def has_findings(self) -> bool:
        """Say whether a person has to know or decide something."""
        return any(one.how is not MappedHow.WHOLE for one in self.jobs)

    @property
    def notes(self) -> list[str]:
        """Return what is the same for several jobs, once."""
        said = (
            f"{each.parameter} {each.written}: {each.note}" for one in self.jobs for each in one.mapped if each.note
        )
        return [*dict.fromkeys(said)]

    @property
    def verdict(self) -> str:
        """Say how many jobs are mapped."""
        many = Counter(one.how for one in self.jobs)
        return ", ".join(f"{many[how]} {how}" for how in MappedHow)


def report_columns(imported: ForeignJobs) -> JsonValue:
    """Return the report as JSON."""
    return JOBS.as_json(imported.jobs)


def text_of(path: Path) -> str:
    """Read a file of another scheduler; raises `ConfigurationError`."""
    called = visible(str(path))
    try:
        size = path.stat().st_size
        if size > LONGEST:
            message = f"{called} has {size:,} bytes, and a file that is imported has {LONGEST:,} at most."
            raise ConfigurationError(message, next_step="see that it is the file, or part it")
        content = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{called} cannot be read: {error.strerror}.", next_step="correct the path") from error
    encoding = next((name for mark, name in _MARKS.items() if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        message = f"{called} is written neither in UTF-8 nor, with its mark, in UTF-16."
        raise ConfigurationError(message, next_step="save it in UTF-8") from error
    if (why := unfit(text)) is not None:
        raise ConfigurationError(f"{called} cannot be read as text: {why}.", next_step="save it in UTF-8")
    return text.replace("\r\n", "\n")

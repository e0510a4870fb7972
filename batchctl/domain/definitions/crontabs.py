"""Crontab files: lines of times and commands, between settings of the environment that hold for the lines below them.

Source: crontab(5) of Vixie's cron as Debian has it; CRON_TZ and RANDOM_DELAY are those of cronie.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from batchctl.domain.configuring import KEPT_FROM_VIEW
from batchctl.domain.definitions.defined import Columns, Defined
from batchctl.domain.definitions.foreign_jobs import ForeignJob, Mapped, braced, distinct
from batchctl.domain.scheduling.column_text import UnfitText
from batchctl.domain.scheduling.cron_text import NotCron, read_cron
from batchctl.domain.scheduling.timing_text import checked_zone
from batchctl.domain.text import shorten, visible
from batchctl.domain.values import named_value

MOST_NAME = 100
_SETTING = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|([^\s=#"']+))\s*=\s*(.*?)\s*\Z""")
_FIELDS = ("minute", "hour", "day of month", "month", "day of week")
_NAMES = {
    "month": ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
    "day of week": ["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
}
_MOST = {"minute": (0, 59), "hour": (0, 23), "day of month": (1, 31), "month": (1, 12), "day of week": (0, 7)}
_NICKNAMES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_SH = ("sh", "bash", "dash", "ksh", "zsh")
_NO_NAME = {"cd", "test", "[", "[[", "export", "source", ".", "set", "umask", "ulimit", "sleep", "true", "!"}
"""Commands that prepare for the one a line is about."""
_BEFORE = {
    *("nice", "ionice", "nohup", "exec", "time", "env", "flock", "timeout", "sudo", "chronic", "command"),
    *("sh", "bash", "python", "python3", "perl", "php", "ruby", "node", "java", "Rscript", "pwsh"),
}
"""Commands that run another one."""
_PERCENT = re.compile(r"(?<!\\)%")
_NOT_MAILED = "no output is mailed: it is in the history, and [alerts] of batchctl.toml says who hears of a failure"


@named_value
class CronLine:
    """One line that says when a command runs."""

    number: int
    times: str
    """Five fields, or a nickname."""
    user: str | None
    command: str
    settings: Mapping[str, str]
    """What holds for it, by name."""
    above: str
    """The comment right above it."""


class _Above:
    """What stands above a line."""

    def __init__(self) -> None:
        self.settings: dict[str, str] = {}
        self.comment: list[str] = []


def lines_of(text: str, *, with_user: bool) -> Iterator[CronLine | tuple[int, str]]:
    """Yield the lines that run something; of one that is none of what a crontab may hold, its number and why.

    `with_user`: the line names as whom it runs, as in /etc/crontab and /etc/cron.d.
    """
    above = _Above()
    for number, written in enumerate(text.split("\n"), start=1):
        line = written.strip(" \t\r")
        if line.startswith("#"):
            above.comment.append(line.lstrip("#").strip())
            continue
        if line and (found := _SETTING.match(line)) is not None:
            name = found[1] or found[2] or found[3]
            above.settings[name] = _unquoted(found[4])
        elif line:
            yield _line_of(number, line, above, with_user=with_user)
        above.comment.clear()


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if is_quoted else value


def _line_of(number: int, line: str, above: _Above, *, with_user: bool) -> CronLine | tuple[int, str]:
    many = 1 if line.startswith("@") else len(_FIELDS)
    words = line.removeprefix("-").split(None, many + with_user)
    if len(words) <= many + with_user:
        return (
            number,
            f"'{visible(shorten(line, 80))}' has no command behind its times{' and user' if with_user else ''}",
        )
    return CronLine(
        number=number,
        times=" ".join(words[:many]),
        user=words[many] if with_user else None,
        command=words[-1],
        settings=dict(above.settings),
        above=" ".join(filter(None, above.comment)),
    )


def jobs_of(text: str, source: str, *, with_user: bool, zone: str | None, taken: Sequence[str]) -> list[ForeignJob]:
    """Return the jobs of a crontab; `taken` are the names that other batches have, `zone` what their times are of."""
    names, found = [*taken], list[ForeignJob]()
    for line in lines_of(text, with_user=with_user):
        if isinstance(line, tuple):
            number, why = line
            found.append(ForeignJob(where=f"{source}:{number}", name="", mapped=(_finding("line", "", why),)))
            continue
        name = distinct(_name_of(line.command), names)
        names.append(name)
        found.append(_job(line, name, source, zone))
    return found


def _job(line: CronLine, name: str, source: str, zone: str | None) -> ForeignJob:
    where = f"{source}:{line.number}"
    fields, wrong = _cron_of(line.times)
    command, given, no_stdin = _command_of(line)
    mapped = [
        _finding("times", line.times, wrong) if wrong else Mapped("times", line.times, "Schedule.Cron"),
        *([] if line.user is None else [_of_user(line.user)]),
        *_of_settings(line.settings),
        _finding("command", line.command, no_stdin)
        if no_stdin
        else Mapped("command", line.command, "ProcessControl.Data1"),
        *([Mapped("input", given, "ProcessControl.Data1")] if given and not no_stdin else []),
    ]
    if fields is None or command is None:
        return ForeignJob(where=where, name=name, mapped=tuple(mapped))
    step: dict[str, str | int] = {"ProcessName": name, "ProcessType": "os_command", "Data1": command}
    if home := line.settings.get("HOME"):
        step["Data2"] = braced(home)
    if environment := _environment(line.settings):
        step["Data4"] = environment
    batch: dict[str, str | int] = {"Enabled": 0, "OnFailure": "continue", "Description": line.above or f"of {where}"}
    schedule: dict[str, str | int] = {"Entity": name, "ScheduleType": "cron", "Cron": fields, "Enabled": 0}
    if (its_zone := line.settings.get("CRON_TZ") or zone) is not None:
        schedule["TimeZone"] = its_zone
    parts: dict[str, dict[str | int, Columns]] = {"ProcessControl": {10: step}}
    defined = (Defined("ProcessBatch", name, batch, parts), Defined("Schedule", name, schedule, {}))
    return ForeignJob(where=where, name=name, mapped=tuple(mapped), defined=defined)


def _finding(parameter: str, value: str, finding: str) -> Mapped:
    return Mapped(parameter, value, None, finding)


def _of_user(user: str) -> Mapped:
    return _finding("user", user, f"it ran as {visible(user)}; a step runs as the user of its controller")


def _of_settings(settings: Mapping[str, str]) -> Iterator[Mapped]:
    for name, value in settings.items():
        match name:
            case "SHELL":
                yield Mapped(name, value, "ProcessControl.Data1")
            case "HOME":
                yield Mapped(name, value, "ProcessControl.Data2")
            case "CRON_TZ":
                yield Mapped(name, value, "Schedule.TimeZone", _wrong_zone(value))
            case "MAILTO" | "MAILFROM" | "CONTENT_TYPE" | "CONTENT_TRANSFER_ENCODING":
                yield Mapped(name, value, note=_NOT_MAILED if value and name == "MAILTO" else None)
            case "RANDOM_DELAY":
                yield _finding(name, value, "write up to how many seconds later it may start into Schedule.Jitter")
            case _ if _is_secret(name):
                yield Mapped(name, "", "ProcessControl.Data4", f"it is a secret: write it where [secrets.{name}] says")
            case _:
                yield Mapped(name, value, "ProcessControl.Data4")


def _wrong_zone(zone: str) -> str | None:
    try:
        checked_zone(zone)
    except UnfitText as error:
        return str(error)
    return None


def _cron_of(times: str) -> tuple[str | None, str]:
    """Return five fields as batchctl takes them, and what is wrong with those of the file."""
    if times.startswith("@"):
        if times.lower() in _NICKNAMES:
            return _NICKNAMES[times.lower()], ""
        return (
            None,
            "nothing starts when a host does: let a service run it" if times.lower() == "@reboot" else "no times",
        )
    fields = []
    for name, text in zip(_FIELDS, times.split(), strict=True):
        try:
            fields.append(",".join(_element(name, each) for each in text.split(",")))
        except ValueError as error:
            return None, f"cron does not take '{visible(text)}' as {name}: {error}"
    try:
        read_cron(" ".join(fields))
    except NotCron as error:
        return None, f"it is never due: {error}"
    return " ".join(fields), ""


def _element(field_name: str, text: str) -> str:
    """Return one part of a field with its names as numbers; raises `ValueError`."""
    span, slash, step = text.partition("/")
    if slash and (not step.isdecimal() or int(step) == 0):
        raise ValueError(f"'{visible(step)}' is no step")
    if span == "*":
        return text
    if "~" in span:
        raise ValueError("a time drawn by chance is not always the same here: choose one, or use Schedule.Jitter")
    first, dash, last = span.partition("-")
    ends = [_number(field_name, each) for each in ((first, last) if dash else (first,))]
    if slash and not dash:
        raise ValueError("a step goes with a range or *")
    if ends[0] > ends[-1]:
        raise ValueError(f"{visible(span)} goes backwards")
    if ends[0] == ends[-1]:
        # cronsim takes a step of a single number to the end of the field.
        return str(ends[0])
    return "-".join(map(str, ends)) + slash + step


def _number(field_name: str, text: str) -> int:
    names, (least, most) = _NAMES.get(field_name, []), _MOST[field_name]
    if text.lower() in names:
        return names.index(text.lower()) + least
    if not (text.isascii() and text.isdecimal() and least <= int(text) <= most):
        raise ValueError(f"'{visible(text)}' is not from {least} to {most}")
    return int(text)


def _command_of(line: CronLine) -> tuple[str | None, str, str]:
    """Return the command as a step has it, what it reads, and why it cannot be that."""
    first, *others = _PERCENT.split(line.command)
    given = "\n".join(one.replace("\\%", "%") for one in others)
    command, shell = first.replace("\\%", "%").strip(), line.settings.get("SHELL", "/bin/sh")
    if others and PurePosixPath(shell).name not in _SH:
        return None, given, f"what it reads behind % cannot be said to {visible(shell)}: let a script read it"
    if others:
        # As one command, whatever it is made of; cron ends the last line where the file does not.
        read = given if given.endswith("\n") else f"{given}\n"
        command = f"printf '%s' {shlex.quote(read)} | {{ {command}\n}}"
    return f"{braced(shlex.quote(shell))} -c {braced(shlex.quote(command))}", given, ""


def _environment(settings: Mapping[str, str]) -> str:
    own = {"SHELL", "CRON_TZ", "RANDOM_DELAY", "MAILTO", "MAILFROM", "CONTENT_TYPE", "CONTENT_TRANSFER_ENCODING"}
    given = {name: value for name, value in settings.items() if name not in own}
    return ", ".join(
        f"{name}={{secret:{name}}}" if _is_secret(name) else f"{name}='{braced(value).replace(chr(39), chr(39) * 2)}'"
        for name, value in given.items()
    )


def _is_secret(name: str) -> bool:
    """Say whether a variable is a secret by its name: its value must not reach a table or a report."""
    return re.search(KEPT_FROM_VIEW, name.upper()) is not None


def _name_of(command: str) -> str:
    """Return what to call the batch of a command: the program that it is about."""
    for part in re.split(r"&&|\|\||[;|&\n]", command):
        for word in _words(part):
            name = PurePosixPath(word).name
            if name in _NO_NAME:
                break
            is_about = name not in _BEFORE and not word.startswith("-") and "=" not in word and not word.isdecimal()
            if is_about and re.search(r"[A-Za-z0-9]", name):
                return shorten(visible(PurePosixPath(name).stem), MOST_NAME)
    return "cron"


def _words(text: str) -> Iterable[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()

"""Which arguments of a command are a program text, where a filled value would become code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from batchctl.plugin_api import Literal, Template


@dataclass(frozen=True, slots=True)
class Interpreter:
    """How an interpreter takes program text on its command line."""

    way: str
    """How to pass a value instead."""
    flag: str | None = None
    """What an argument begins with when program text follows: in the same argument or, alone, in the next."""
    attaches: bool = True
    """False when program text is never in the flag's own argument."""
    takes_all: bool = False
    """True when everything behind the flag is program text."""
    is_remote: bool = False
    """True when everything is handed to another shell, flag or not."""
    saving_flag: str | None = None
    """What makes everything behind it plain arguments."""
    valued: frozenset[str] = field(default_factory=frozenset)
    """Options whose value is the next argument."""
    text_first: bool = False
    """True when the first argument that is no option is program text, unless a flag gave it."""


_IN_A_FILE = "put it in a script file, and give it the value as an argument or in Data4"
_UNIX_SHELL = Interpreter(
    "write {program} -c '... \"$1\" ...' {program} {{Data1}}, or name a script file",
    flag="-[A-Za-z]*c",
    attaches=False,
    valued=frozenset({"-o", "+o", "-O", "+O", "--rcfile"}),
)
_POWERSHELL = Interpreter(
    "write {program} -File script.ps1 {{Data1}}", is_remote=True, saving_flag="(?i)[-/](f|fi|fil|file)$"
)
_AWK = Interpreter(
    "write awk -v value={{Data1}} '...'",
    flag="-e|--source",
    saving_flag="-f|--file",
    valued=frozenset({"-v", "-F"}),
    text_first=True,
)
_SED = Interpreter(_IN_A_FILE, flag="-[A-Za-z]*e|--expression", saving_flag="-f|--file", text_first=True)
_SSH = Interpreter("call a script of your own that quotes it for the other side", is_remote=True)
_CMD = Interpreter("call the program itself", flag="/[ckrCKR]", takes_all=True)
_PYTHON = Interpreter("write {program} -c '... sys.argv[1] ...' {{Data1}}, or name a script file", flag="-[A-Za-z]*c")
_PERL = Interpreter("write perl -e '... $ARGV[0] ...' -- {{Data1}}, or name a script file", flag="-[A-Za-z0-9]*[eE]")
_RUBY = Interpreter("write ruby -e '... ARGV[0] ...' -- {{Data1}}, or name a script file", flag="-[A-Za-z]*e")
_NODE = Interpreter("write node -e '... process.argv[1] ...' -- {{Data1}}", flag="-[a-z]*[ep]|--eval|--print")
_PHP = Interpreter("write php -r '... $argv[1] ...' -- {{Data1}}, or name a script file", flag="-[rBRE]|--run")

INTERPRETERS = {
    **dict.fromkeys(("sh", "bash", "dash", "ksh", "mksh", "zsh", "ash", "fish", "csh", "tcsh"), _UNIX_SHELL),
    **dict.fromkeys(("su", "runuser"), Interpreter(_IN_A_FILE, flag="-[A-Za-z]*c|--command|--session-command")),
    **dict.fromkeys(("powershell", "pwsh"), _POWERSHELL),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _AWK),
    **dict.fromkeys(("mysql", "mariadb"), Interpreter("use a step of type sql", flag="-[A-Za-z]*e|--execute")),
    "cmd": _CMD,
    "lua": Interpreter(_IN_A_FILE, flag="-e"),
    "node": _NODE,
    "perl": _PERL,
    "php": _PHP,
    "psql": Interpreter("use a step of type sql", flag="-[A-Za-z]*c|--command"),
    "python": _PYTHON,
    "ruby": _RUBY,
    "sed": _SED,
    "sqlcmd": Interpreter("use a step of type sql", flag="-[qQ]"),
    "ssh": _SSH,
}
_VERSION = re.compile(r"[-0-9.]+\Z")


def program_name(word: str) -> str:
    """Return the name of a program without folder, `.exe` and version."""
    name = re.split(r"[/\\]", word)[-1].lower().removesuffix(".exe")
    return _VERSION.sub("", name) or name


def is_batch_file(word: str) -> bool:
    """Say whether Windows would hand this program's arguments to cmd."""
    return word.lower().rstrip(". ").endswith((".bat", ".cmd"))


def batch_file(words: Sequence[Template]) -> int | None:
    """Return the place of the word that names a batch file; all behind it are arguments that cmd reads."""
    constants = (_constant(word) for word in words)
    return next((at for at, text in enumerate(constants) if text is not None and is_batch_file(text)), None)


def scripts(words: Sequence[Template]) -> Iterator[tuple[int, str, str]]:
    """Yield the place of every program text, its interpreter, and how to pass a value instead."""
    for at, word in enumerate(words):
        text = _constant(word)
        if text is None:
            continue
        name = program_name(text)
        interpreter = INTERPRETERS.get(name)
        if interpreter is not None:
            way = interpreter.way.format(program=name)
            yield from ((place, name, way) for place in _script_places(words, at + 1, interpreter))


def _script_places(words: Sequence[Template], start: int, interpreter: Interpreter) -> Iterator[int]:
    text_is_due, value_is_due, all_is_text = interpreter.text_first, False, interpreter.is_remote
    for at in range(start, len(words)):
        begins = _beginning(words[at])
        flag = re.match(interpreter.flag, begins) if interpreter.flag else None
        if interpreter.saving_flag and re.match(interpreter.saving_flag, begins):
            return
        if all_is_text:
            yield at
        elif value_is_due:
            value_is_due = False
        elif flag:
            yield at
            all_is_text = interpreter.takes_all
            text_is_due = not interpreter.attaches or flag.end() == len(begins)
        elif begins in interpreter.valued:
            value_is_due = True
        elif not begins.startswith(("-", "+")):
            if not text_is_due:
                return
            yield at
            text_is_due = False


def _constant(word: Template) -> str | None:
    match word:
        case (Literal(text),):
            return text
        case _:
            return None


def _beginning(word: Template) -> str:
    match word:
        case (Literal(text), *_):
            return text
        case _:
            return ""

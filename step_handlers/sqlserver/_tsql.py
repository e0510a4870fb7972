"""T-SQL batches: the same text is sent with `?` and pasted into sqlcmd or SSMS with literals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from batchctl.plugin_api import JsonValue, StepContext, visible
from step_handlers.databases._database import Argument, Bound, secret_source
from step_handlers.databases._statements import Grammar, MalformedSql, Statement, Token, TokenKind, name_parts

# SET LANGUAGE sets the date format too, so it comes first.
_LANGUAGE = (
    "SET LANGUAGE us_english; SET DATEFORMAT ymd; SET LOCK_TIMEOUT -1; SET NOCOUNT OFF; SET IMPLICIT_TRANSACTIONS OFF; "
    "SET TRANSACTION ISOLATION LEVEL READ COMMITTED;"
)
_ANSI = (
    "SET ANSI_NULLS ON; SET ANSI_PADDING ON; SET ANSI_WARNINGS ON; SET ARITHABORT ON; "
    "SET CONCAT_NULL_YIELDS_NULL ON; SET QUOTED_IDENTIFIER ON; SET NUMERIC_ROUNDABORT OFF;"
)
SETTINGS = (_LANGUAGE, _ANSI)
"""What clients and logins set differently, and what the meaning of a batch depends on."""

RETURN_CODE = "batchctl_return_code"
ERROR = ("batchctl_error", "severity", "state", "line", "procedure", "message")
"""The columns in which a batch reports its error: drivers know neither the line nor the procedure."""

_CATCH = (
    "END TRY BEGIN CATCH IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION; "
    "SELECT ERROR_NUMBER() AS batchctl_error, ERROR_SEVERITY() AS severity, ERROR_STATE() AS state, "
    "ERROR_LINE() AS line, ERROR_PROCEDURE() AS [procedure], ERROR_MESSAGE() AS message; THROW; END CATCH;"
)
_LONGEST = 4000
"""UTF-16 units that fit into anything but nvarchar(max); what is joined with + from such texts is cut there."""
_LONGEST_NARROW = 8000
"""Bytes that fit into anything but varchar(max)."""
_PIECES = 60
_PIECE = 1500
"""Characters of one literal: 3000 units at most."""

_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\r\n\f\v]+)
    | (?P<comment>--[^\r\n]* | /\*.*?\*/)
    | (?P<text>[nN]?'(?:[^']|'')*+')
    | (?P<name>"(?:[^"]|"")*+" | \[(?:[^\]]|\]\])*+\])
    | (?P<hole>\x00[0-9]+\x00)
    | (?P<variable>\?)
    | (?P<word>[A-Za-z0-9_@\#\x80-\U0010FFFF][A-Za-z0-9_@\#$\x80-\U0010FFFF]*)
    | (?P<end>;)
    | (?P<open>['"\[] | /\*)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_MAINTENANCE = {
    "BACKUP": {"DATABASE", "LOG"},
    "RESTORE": {"DATABASE", "LOG"},
    "ALTER": {"DATABASE"},
    "CREATE": {"DATABASE"},
    "DROP": {"DATABASE"},
}
"""Statements, by their first two words, that SQL Server refuses inside a transaction."""
_MAINTAINS = {"SP_UPDATESTATS", "[SP_UPDATESTATS]"}
"""Procedures that it refuses there too."""
_SQLCMD = re.compile(
    r"^[ \t]*(GO(?:[ \t]+[0-9]+)?[ \t;]*(?:--.*|/\*.*)?$|:[A-Za-z]|!!|(?:EXIT|QUIT|RESET|ED)(?=[\s;(]|$))",
    re.IGNORECASE | re.MULTILINE,
)
"""What sqlcmd or SSMS act on at the beginning of a line, also inside a text or a comment."""
_ALONE = {"PROC", "PROCEDURE", "VIEW", "FUNCTION", "TRIGGER", "SCHEMA", "RULE", "DEFAULT"}
_PART = re.compile(
    r"\s*(?:\[((?:[^\]]|\]\])+)\]|\"((?:[^\"]|\"\")+)\"|([A-Za-z_#\x80-\U0010FFFF][A-Za-z0-9_@#$\x80-\U0010FFFF]*))"
    r"\s*(?P<dot>\.|\Z)"
)
_VARIABLE_OF_SQLCMD = "$("
_BEGINS_VARIABLE = "begins a variable of sqlcmd"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def _whole(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    """A step is one batch: its variables and temporary tables live as long as it does."""
    yield list(tokens)


GRAMMAR = Grammar(_TOKEN, _whole)
"""How SQL Server reads SQL."""


def refuse(statement: Statement) -> None:
    """Refuse what sqlcmd would act on and what cannot stand in a batch with others; raises `MalformedSql`."""
    text = statement.sql
    if command := _SQLCMD.search(text.replace("\r\n", "\n")):
        word = visible(command.group(1).strip()[:20])
        raise MalformedSql(f"a line with '{word}' is a command of sqlcmd, not SQL; a step is one batch, so take it out")
    if _VARIABLE_OF_SQLCMD in text:
        raise MalformedSql(f"'$(' {_BEGINS_VARIABLE}; in a text write '$' + '('")
    words = statement.words
    if words[0] in {"CREATE", "ALTER"} and _ALONE & {words[1:2][0] if words[1:] else "", *words[3:4]}:
        raise MalformedSql(f"{' '.join(words[:2])} must be the first in its batch; put it into EXEC (N'...')")
    if taken := _taken(statement):
        raise MalformedSql(
            f"'{taken}' is what a placeholder is called where it is sent; give the variable another name"
        )
    meant = _meant(statement)
    for word, after in zip(meant, [*meant[1:], ""], strict=True):
        begins = word == "BEGIN" and after in {"TRAN", "TRANSACTION", "DISTRIBUTED"}
        if begins or word in {"COMMIT", "ROLLBACK"}:
            raise MalformedSql(
                f"every step is one transaction already; take {word} out, or use THROW to undo everything"
            )


def _taken(statement: Statement) -> str | None:
    """Return a variable of the author's that a placeholder takes the name of: it would be declared twice (error 134).

    Drivers send the first value as @P1, and no name is told from another by its letter case. As the name of a procedure's
    parameter, in front of an equals sign, it does no harm.
    """
    markers = {f"@P{number}" for number in range(1, len(statement.names) + 1)}
    ours = {f"@{name}".upper() for name in statement.names}
    meant = _meant(statement)
    for before, word, after in zip(["", *meant], meant, [*meant[1:], ""], strict=False):
        is_declared = before == "DECLARE" and word in markers | ours
        if is_declared or (word in markers and after != "="):
            return word.lower()
    return None


def _meant(statement: Statement) -> list[str]:
    return [token.text.upper() for token in statement.tokens if token.kind not in {TokenKind.SPACE, TokenKind.COMMENT}]


def is_maintenance(statement: Statement) -> bool:
    """Say whether a batch does what cannot be part of a transaction, such as a backup."""
    meant = _meant(statement)
    pairs = zip(meant, [*meant[1:], ""], strict=True)
    return any(after in _MAINTENANCE.get(word, ()) for word, after in pairs) or not _MAINTAINS.isdisjoint(meant)


def call_finding(name: str) -> str | None:
    """Return why a text is no procedure name that can be pasted."""
    if _VARIABLE_OF_SQLCMD in name:
        return f"'$(' {_BEGINS_VARIABLE}, also inside [ ]; call it through a synonym: CREATE SYNONYM"
    if visible(name) == name and identifiers(name):
        return None
    return "write procedure, schema.procedure or database.schema.procedure, in [ ] what SQL would want in brackets"


def identifiers(name: str) -> list[str]:
    """Read a name of one to three parts; empty for no name."""
    return [_unquoted(*part.groups()[:3]) for part in name_parts(name, _PART, most=3)]


def _unquoted(bracketed: str | None, quoted: str | None, plain: str) -> str:
    if bracketed is not None:
        return bracketed.replace("]]", "]")
    return plain if quoted is None else quoted.replace('""', '"')


def identifier(name: str) -> str:
    """Quote a name."""
    return "[" + name.replace("]", "]]") + "]"


def literals(value: JsonValue) -> list[str]:
    """Write a value as SQL; a long text as several, to be joined one after the other."""
    match value:
        case None:
            return ["NULL"]
        case str():
            return list(_joined(_pieces(value))) or ["N''"]
        case float():
            written = repr(value)
            return [written if "e" in written else f"{written}E0"]
        case _:
            return [str(value)]


def _joined(pieces: Iterable[tuple[str, int]]) -> Iterator[str]:
    present: list[str] = []
    length = 0
    for piece, units in pieces:
        if present and (len(present) == _PIECES or length + units > _LONGEST):
            yield "+".join(present)
            present, length = [], 0
        present.append(piece)
        length += units
    if present:
        yield "+".join(present)


def _pieces(value: str) -> Iterator[tuple[str, int]]:
    """Yield expressions for the parts of a text, each with how many UTF-16 units it stands for."""
    for shown, group in groupby(value, lambda at: visible(at) == at):
        run = "".join(group)
        if not shown:
            yield from ((f"NCHAR({unit})", 1) for unit in _units(run))
            continue
        # sqlcmd fills in $(...) inside a text too.
        for part in re.split(r"(?<=\$)(?=\()", run):
            for at in range(0, len(part), _PIECE):
                piece = part[at : at + _PIECE]
                yield "N'" + piece.replace("'", "''") + "'", _length(piece)


def _length(text: str) -> int:
    return len(text.encode("utf-16-le", "replace")) // 2


def _units(text: str) -> Iterator[int]:
    raw = text.encode("utf-16-le")
    return (int.from_bytes(raw[at : at + 2], "little") for at in range(0, len(raw), 2))


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a batch, with its value: `?` when it is sent, a literal when it is pasted."""

    name: str
    value: JsonValue
    output: bool = False

    @property
    def type(self) -> str:
        """Return the type it is declared with."""
        match self.value:
            case int():
                return "bigint"
            case float():
                return "float"
            case str(text) if not self.output and _length(text) <= _LONGEST:
                return "nvarchar(4000)"
            case None if not self.output:
                return "nvarchar(4000)"
            case _:
                return "nvarchar(max)"

    def sent(self) -> str:
        """Declare it, with a marker in place of the value."""
        marked = "" if self.value is None else " = ?"
        return f"DECLARE @{self.name} {self.type}{marked};"

    def pasted(self, context: StepContext) -> str:
        """Declare it, with its value; a secret is filled in by sqlcmd."""
        if self.value is None:
            return self.sent()
        if isinstance(self.value, dict):
            return _secret(context, self.name, self.value)
        first, *more = literals(self.value)
        lines = [f"DECLARE @{self.name} {self.type} = {first};"]
        return "\n".join([*lines, *(f"SET @{self.name} += {literal};" for literal in more)])


def _secret(context: StepContext, name: str, value: Mapping[str, JsonValue]) -> str:
    kind, place = secret_source(context, value)
    known = kind == "env" and _VARIABLE.match(place)
    variable = place if known else f"batchctl_{name}"
    advice = "sqlcmd takes it from the environment" if known else f"start sqlcmd with -v {variable}=..."
    return (
        f"-- the secret comes from {visible(kind)} {visible(place)}: {advice}; elsewhere write it in the variable's place.\n"
        "-- It is put there as it is: double every ' in it, or what stands behind one is carried out as SQL\n"
        f"DECLARE @{name} nvarchar(max) = N'$({variable})';"
    )


def script_body(bound: Bound) -> str:
    """Write the statements of a step as one transaction, where possible, with every placeholder as a variable."""
    text = "".join(token.written(lambda name: f"@{name}", _author_text) for token in bound.statement.tokens)
    if is_maintenance(bound.statement):
        # As many lines as below, so that errors name the author's own.
        return (
            f"BEGIN TRY -- this cannot be done in a transaction: what was done before an error stays\n{text}\n"
            f";IF @@TRANCOUNT <> 0 THROW 50000, N'a transaction was left open', 1;\n{_CATCH}"
        )
    return (
        f"BEGIN TRY BEGIN TRANSACTION;\n{text}\n"
        ";IF @@TRANCOUNT <> 1 THROW 50000, N'the transaction of the step was ended inside', 1;\n"
        f"COMMIT TRANSACTION; {_CATCH}"
    )


def _author_text(text: str) -> str:
    """Write a text of the author's that holds what a terminal would act on."""
    prefix = "N" if text[0] in "nN" else ""
    inside = text[len(prefix) + 1 : -1]
    pieces = _for_long(prefix, inside)
    for shown, group in groupby(inside, lambda at: at == "\n" or visible(at) == at):
        run = "".join(group)
        if shown:
            pieces.append(f"{prefix}'{run}'")
        else:
            pieces += [f"{'CHAR' if unit < 128 and not prefix else 'NCHAR'}({unit})" for unit in _units(run)]
    return f"({'+'.join(pieces)})"


def _for_long(prefix: str, inside: str) -> list[str]:
    """Begin a long text with a type that takes it whole: such a literal has it by itself, what is joined has not."""
    kind = "nvarchar(max)" if prefix else "varchar(max)"
    is_long = _length(inside) > _LONGEST if prefix else len(inside.encode("utf-8", "replace")) > _LONGEST_NARROW
    return [f"CAST({prefix}'' AS {kind})"] if is_long else []


def call_body(parts: Sequence[str], arguments: Sequence[Argument]) -> str:
    """Write a call; its return code and its output parameters are the last result.

    No TRY stands around it: within one, the first error leaves the procedure, and its own handling of errors never runs.
    """
    given = [f"@{one.name} = @arg{at}{' OUTPUT' if one.output else ''}" for at, one in enumerate(arguments, start=1)]
    outputs = [f", @arg{at} AS {identifier(one.name)}" for at, one in enumerate(arguments, start=1) if one.output]
    called = " ".join(["EXEC @rc =", ".".join(map(identifier, parts)), ", ".join(given)]).rstrip()
    return f"DECLARE @rc int;\n{called};\nSELECT @rc AS {RETURN_CODE}{''.join(outputs)};"


def pasted(
    database: str | None,
    place: str,
    password: str | None,
    context: StepContext,
    variables: Sequence[Variable],
    body: str,
    abort: str,
) -> str:
    """Write a script for sqlcmd and SSMS."""
    lines = [f"-- in sqlcmd or SSMS, connected to {visible(place)}"]
    if password is not None:
        lines.append(f"-- the password {visible(password)}; sqlcmd takes it from SQLCMDPASSWORD")
    guard = []
    use = []
    if database:
        use = [f"USE {identifier(database)};"]
        name = "+".join(literals(database))
        guard = [
            "-- sqlcmd and SSMS go on after an error, in whatever database they are: in another one this fails",
            f"IF DB_ID() <> ISNULL(DB_ID({name}), -1) THROW 50000, N'this is another database; nothing was done', 1;",
        ]
    lines.append("-- what clients and logins set differently, and the meaning of the step could hang on")
    lines += [" ".join([*use, *SETTINGS, abort]), "GO", *guard]
    lines += [variable.pasted(context) for variable in variables]
    lines += [body, "GO", "-- nothing of the step stays open", LEFT_OPEN, "GO"]
    return "\n".join(lines)


LEFT_OPEN = (
    "IF @@TRANCOUNT > 0 BEGIN ROLLBACK TRANSACTION; "
    "RAISERROR(N'a transaction was left open; it was rolled back', 16, 1); END;"
)

"""Scripts of SQL Server Agent, as SSMS writes them: calls of msdb's procedures with literals. They are read, and never run.

A script that reckons what it says, such as one that makes jobs in a loop, has to be read from msdb itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from batchctl.domain.values import named_value

Literal: TypeAlias = str | int | None
_TOKEN = re.compile(
    r"""
      (?P<space>\s+ | --[^\r\n]*)
    | (?P<block>/\*)
    | (?P<text>[nN]?'(?:[^']|'')*')
    | (?P<name>\[(?:[^\]]|\]\])*\] | "(?:[^"]|"")*")
    | (?P<number>0[xX][0-9A-Fa-f]* | \d+(?:\.\d+)?)
    | (?P<variable>@@?[\w$\#@]+)
    | (?P<word>[^\W\d][\w$\#@]*)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_BLOCK = re.compile(r"/\*|\*/")
_CALLS = {"EXEC", "EXECUTE"}
_OUTPUT = {"OUT", "OUTPUT"}
_WHOLE = re.compile(r"-?\d+\Z")


class _Token(NamedTuple):
    kind: str
    text: str
    line: int

    @property
    def word(self) -> str:
        """Return it as a word of SQL, if it is one."""
        return self.text.upper() if self.kind == "word" else ""

    @property
    def name(self) -> str | None:
        """Return it as a name, without its quotes; None where it is none."""
        if self.kind == "word":
            return self.text
        return _unquoted(self.text) if self.kind == "name" else None


class ScriptVariable(NamedTuple):
    """A variable whose value no literal has given."""

    name: str


@named_value
class ProcedureCall:
    """A call of a procedure, by names of parameters in small letters without their sign."""

    procedure: str
    """The last part of its name, in small letters."""
    name: str
    """Its name as it is written."""
    line: int
    arguments: Mapping[str, Literal | ScriptVariable]
    outputs: Mapping[str, str]
    """The variables, in small letters, that it fills, by parameter."""
    reckoned: Mapping[str, str]
    """By parameter what is neither a literal nor a variable: what a server would have to reckon."""


def calls_of(script: str) -> Iterator[ProcedureCall]:
    """Yield the calls of procedures in the order of a script, with what variables were given before by literals."""
    tokens, at, known = [*_tokens(script)], 0, dict[str, Literal]()
    while at < len(tokens):
        token = tokens[at]
        if token.word in _CALLS:
            call, at = _call(tokens, at + 1, known)
            if call is not None:
                yield call
                for variable in call.outputs.values():
                    known.pop(variable, None)
        elif token.kind == "variable" and _is(tokens, at + 1, "="):
            value, after = _value(tokens, at + 2)
            if after is not None and not isinstance(value, ScriptVariable):
                known[token.text.lower()] = value
            at += 2
        elif token.kind == "variable":
            at = _declared(tokens, at, known)
        else:
            at += 1


def only_call(script: str) -> ProcedureCall | None:
    """Return the call of which a script consists; None where it is more, or a server would have to reckon something."""
    tokens = [*_tokens(script)]
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    if not tokens or tokens[0].word not in _CALLS:
        return None
    call, end = _call(tokens, 1, {})
    if call is None or end < len(tokens) or call.reckoned or call.outputs:
        return None
    return None if any(isinstance(one, ScriptVariable) for one in call.arguments.values()) else call


def _tokens(script: str) -> Iterator[_Token]:
    at, line = 0, 1
    while at < len(script):
        found = _TOKEN.match(script, at)
        if found is None:
            return
        kind, text = str(found.lastgroup), found.group()
        if kind == "block":
            text = script[at : _end_of_block(script, at)]
        elif kind != "space":
            yield _Token(kind, text, line)
        at, line = at + len(text), line + text.count("\n")


def _end_of_block(script: str, at: int) -> int:
    """Return where a comment ends that may have others in it."""
    depth = 0
    for found in _BLOCK.finditer(script, at):
        depth += 1 if found.group() == "/*" else -1
        if not depth:
            return found.end()
    return len(script)


def _is(tokens: Sequence[_Token], at: int, text: str) -> bool:
    return at < len(tokens) and tokens[at].text == text


def _call(tokens: Sequence[_Token], at: int, known: Mapping[str, Literal]) -> tuple[ProcedureCall | None, int]:
    """Read a call behind its EXEC; return it, and where it ends."""
    if at + 1 < len(tokens) and tokens[at].kind == "variable" and _is(tokens, at + 1, "="):
        at += 2
    line = tokens[at].line if at < len(tokens) else 0
    name, begin = None, at
    while at < len(tokens) and ((part := tokens[at].name) is not None or _is(tokens, at, ".")):
        name, is_dot = (part if part is not None else name), _is(tokens, at, ".")
        at += 1
        if not is_dot and not _is(tokens, at, "."):
            break
    if name is None:
        return None, at
    written = "".join(each.text for each in tokens[begin:at])
    given, outputs, reckoned = dict[str, Literal | ScriptVariable](), dict[str, str](), dict[str, str]()
    while at + 1 < len(tokens) and tokens[at].kind == "variable" and _is(tokens, at + 1, "="):
        parameter = tokens[at].text.lstrip("@").lower()
        value, after = _value(tokens, at + 2)
        if after is None:
            begin, at = at + 2, _end_of_argument(tokens, at + 2)
            reckoned[parameter] = " ".join(each.text for each in tokens[begin:at])
        else:
            at = after
            if at < len(tokens) and tokens[at].word in _OUTPUT:
                at += 1
                if isinstance(value, ScriptVariable):
                    outputs[parameter] = value.name
            elif isinstance(value, ScriptVariable) and value.name in known:
                value = known[value.name]
            given[parameter] = value
        if not _is(tokens, at, ","):
            break
        at += 1
    if at < len(tokens) and tokens[at].kind in {"text", "number", "variable"} and not given and not reckoned:
        begin = at
        while at < len(tokens) and (tokens[at].kind in {"text", "number", "variable"} or _is(tokens, at, ",")):
            at += 1
        reckoned["by place"] = " ".join(each.text for each in tokens[begin:at])
    call = ProcedureCall(
        procedure=name.lower(), name=written, line=line, arguments=given, outputs=outputs, reckoned=reckoned
    )
    return call, at


def _value(tokens: Sequence[_Token], at: int) -> tuple[Literal | ScriptVariable, int | None]:
    """Read a literal or a variable, and say where it ends; None where more than that stands there."""
    is_negative = _is(tokens, at, "-")
    at += is_negative
    if at >= len(tokens):
        return None, None
    token = tokens[at]
    match token.kind:
        case "text":
            value: Literal | ScriptVariable = _unquoted(token.text.lstrip("nN"))
        case "number":
            value = _number(f"{'-' if is_negative else ''}{token.text}")
        case "variable":
            value = ScriptVariable(token.text.lower())
        case "word" if token.word in {"NULL", "DEFAULT"}:
            value = None
        case "name" | "word":
            # A bare word is a text where an argument stands.
            value = token.name
        case _:
            return None, None
    follows = tokens[at + 1].text if at + 1 < len(tokens) else ""
    return (None, None) if follows in {"+", "-", "*", "/", "%", "(", "."} else (value, at + 1)


def _end_of_argument(tokens: Sequence[_Token], at: int) -> int:
    depth = 0
    while at < len(tokens):
        text = tokens[at].text
        is_next = at + 1 < len(tokens) and tokens[at].line != tokens[at - 1].line and tokens[at].kind == "word"
        if (not depth and text in {",", ";"}) or is_next:
            return at
        depth += (text == "(") - (text == ")")
        at += 1
    return at


def _declared(tokens: Sequence[_Token], at: int, known: dict[str, Literal]) -> int:
    """Read a variable that is declared with a value: `@x int = 1`, `@x nvarchar(10) = N'a'`."""
    after = at + 1
    if after < len(tokens) and tokens[after].kind == "word":
        after += 1
        if _is(tokens, after, "("):
            while after < len(tokens) and not _is(tokens, after, ")"):
                after += 1
            after += 1
        if _is(tokens, after, "="):
            value, end = _value(tokens, after + 1)
            if end is not None and not isinstance(value, ScriptVariable):
                known[tokens[at].text.lower()] = value
                return end
    return at + 1


def _unquoted(text: str) -> str:
    quote = text[-1]
    return text[1:-1].replace(quote * 2, quote)


def _number(text: str) -> Literal:
    if text.lower().lstrip("-").startswith("0x"):
        return text
    return int(text) if _WHOLE.match(text) else text

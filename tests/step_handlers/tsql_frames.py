"""The frames of T-SQL that the parser of the tests does not read: what BEGIN, TRY, CATCH and END enclose, and THROW."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\[(?:[^\]]|\]\])*\]|\"(?:[^\"]|\"\")*\"|[\w@#$]+|;|\S", re.DOTALL
)
_BATCH = re.compile(r"^GO$", re.MULTILINE)
_NO_BLOCK = {"TRAN", "TRANSACTION", "DISTRIBUTED", "CONVERSATION", "DIALOG"}


def assert_frames_are_closed(script: str) -> None:
    """Fail where a server would: blocks that are not closed in their batch, TRY without CATCH, THROW without a semicolon."""
    for batch in _BATCH.split(script):
        _look_at(_words(batch), batch)


def _words(batch: str) -> list[str]:
    found = (token for token in _TOKEN.findall(batch) if not token.startswith(("--", "/*")))
    return [token.upper() if re.match(r"\w", token) else token for token in found]


def _look_at(words: list[str], batch: str) -> None:
    opened: list[str] = []
    at = 0
    while at < len(words):
        word, after = words[at], words[at + 1] if at + 1 < len(words) else ""
        block = after if after in {"TRY", "CATCH"} else ""
        if word == "CASE" or (word == "BEGIN" and after not in _NO_BLOCK):
            assert block != "CATCH" or words[max(0, at - 2) : at] == ["END", "TRY"], batch
            opened.append(block if word == "BEGIN" else "CASE")
        elif word == "END":
            assert opened, batch
            kind = opened.pop()
            assert kind == (block if kind in {"TRY", "CATCH"} else kind), batch
            assert kind != "TRY" or words[at + 2 : at + 4] == ["BEGIN", "CATCH"], batch
        elif word == "THROW":
            # After a word THROW would be taken for an alias, or for the name of a savepoint.
            begins = words[at - 1] == ";" or words[at - 2 : at] == ["BEGIN", "CATCH"]
            assert at == 0 or begins or _is_behind_condition(words, at), batch
            assert after == ";" or re.fullmatch(r"[0-9]+", after), batch
        at += 2 if block and word in {"BEGIN", "END"} else 1
    assert not opened, batch


def _is_behind_condition(words: list[str], at: int) -> bool:
    """Say whether the statement is the one that an IF carries out."""
    start = max((place for place in range(at) if words[place] == ";"), default=-1)
    return words[start + 1] == "IF"

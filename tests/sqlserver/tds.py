"""A server on loopback that speaks as much TDS 7.4 as drivers want to hear, and answers from a script.

It knows no SQL: a test says what is answered to which text, and reads what was on the wire: texts, parameters with their types,
attentions. Nothing is encrypted, so a client has to be told `Encrypt=no`.
"""

from __future__ import annotations

import re
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Self

BATCH, RPC, REPLY, ATTENTION, TRANSACTION, LOGIN, PRELOGIN = 0x01, 0x03, 0x04, 0x06, 0x0E, 0x10, 0x12
WHOLE = 0x01
NO_ENCRYPTION = 0x02
MORE, COUNTED, CANCELLED, BROKEN = 0x01, 0x10, 0x20, 0x02
COLLATION = bytes.fromhex("0904d00034")
TYPES = (("varchar", 12, 8000), ("nvarchar", -9, 4000), ("varbinary", -3, 8000))
"""Name, number and length of the types that drivers ask for."""
LOOK_SECONDS = 0.01
LOOKS = 1_000
"""How often a server that holds its answer back looks for an attention before it gives up and answers."""
COLUMNS = (
    *("TYPE_NAME", "DATA_TYPE", "PRECISION", "LITERAL_PREFIX", "LITERAL_SUFFIX", "CREATE_PARAMS", "NULLABLE"),
    *("CASE_SENSITIVE", "SEARCHABLE", "UNSIGNED_ATTRIBUTE", "MONEY", "AUTO_INCREMENT", "LOCAL_TYPE_NAME"),
    *("MINIMUM_SCALE", "MAXIMUM_SCALE", "SQL_DATA_TYPE", "SQL_DATETIME_SUB", "NUM_PREC_RADIX", "INTERVAL_PRECISION"),
    "USERTYPE",
)
PROCEDURES = {
    10: "sp_executesql",
    11: "sp_prepare",
    12: "sp_execute",
    13: "sp_prepexec",
    14: "sp_prepexecrpc",
    15: "sp_unprepare",
}


@dataclass(frozen=True)
class Rows:
    """A result with rows; whole numbers are sent as bigint, everything else as text."""

    names: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Count:
    """A result without rows."""

    changed: int


@dataclass(frozen=True)
class Moment:
    """A result of one datetime2(3)."""

    at: datetime


@dataclass(frozen=True)
class Told:
    """An error of the server, or with a class of 10 and less what it only says."""

    number: int
    text: str
    severity: int = 16


@dataclass(frozen=True)
class Hold:
    """Says nothing more until the client sends an attention, or the test lets it go on; a server that waits in vain gives up."""

    event: threading.Event


@dataclass(frozen=True)
class Drop:
    """Ends the connection."""


Part = Rows | Moment | Count | Told | Hold | Drop


@dataclass(frozen=True)
class Parameter:
    """A parameter as it was on the wire."""

    name: str
    type: str
    value: Any


@dataclass(frozen=True)
class Asked:
    """What a client asked for: a batch, or a procedure with its parameters."""

    text: str
    procedure: str = ""
    parameters: tuple[Parameter, ...] = ()


@dataclass
class Server:
    """The server: `answers` are looked through for the first pattern that is found in a text."""

    answers: list[tuple[str, Sequence[Part]]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    attentions: int = 0
    looks: int = LOOKS
    transactions: list[int] = field(default_factory=list)
    while_held: Callable[[], None] = lambda: None

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._listener.close()

    def wording(self, pattern: str) -> list[Asked]:
        """Return what was asked and has a pattern in its text."""
        return [one for one in self.asked if re.search(pattern, one.text)]

    def parts_for(self, text: str) -> Sequence[Part]:
        """Return the answer to a text."""
        return next((parts for pattern, parts in self.answers if re.search(pattern, text)), [Count(0)])

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=_Talk(self, client).serve, daemon=True).start()


class _Talk:
    """One connection."""

    def __init__(self, server: Server, client: socket.socket) -> None:
        self._server, self._client = server, client
        self._handles: dict[int, str] = {}

    def serve(self) -> None:
        """Answer until the client has gone."""
        with self._client, suppress(OSError, EOFError):
            while True:
                kind, body = self._message()
                match kind:
                    case 0x12:
                        self._send(_prelogin())
                    case 0x10:
                        self._send(_greeting())
                    case 0x01:
                        self._answer(Asked(_after_headers(body).decode("utf-16-le")))
                    case 0x03:
                        self._answer(self._called(_after_headers(body)))
                    case 0x0E:
                        self._server.transactions.append(struct.unpack_from("<H", _after_headers(body))[0])
                        self._send(_done(0))
                    case 0x06:
                        self._attended()
                    case _:
                        raise EOFError

    def _attended(self) -> None:
        self._server.attentions += 1
        self._send(_done(MORE | BROKEN) + _done(CANCELLED))

    def _message(self) -> tuple[int, bytes]:
        body = b""
        while True:
            kind, status, length = struct.unpack(">BBH", self._exactly(4))
            self._exactly(4)
            body += self._exactly(length - 8)
            if status & WHOLE:
                return kind, body

    def _exactly(self, length: int) -> bytes:
        found = b""
        while len(found) < length:
            part = self._client.recv(length - len(found))
            if not part:
                raise EOFError
            found += part
        return found

    def _send(self, body: bytes) -> None:
        pieces = [body[at : at + 4000] for at in range(0, len(body), 4000)] or [b""]
        for number, piece in enumerate(pieces, start=1):
            status = WHOLE if number == len(pieces) else 0
            self._client.sendall(struct.pack(">BBHHBB", REPLY, status, len(piece) + 8, 51, number % 256, 0) + piece)

    def _called(self, body: bytes) -> Asked:
        reader = _Reader(body)
        length = reader.number("<H")
        name = PROCEDURES.get(reader.number("<H"), "?") if length == 0xFFFF else reader.text(length)
        reader.number("<H")
        parameters = []
        while not reader.is_over:
            parameters.append(reader.parameter())
        return self._statement(name.lower(), parameters)

    def _statement(self, name: str, given: list[Parameter]) -> Asked:
        """Return the statement that a procedure of the server's own is to carry out."""
        match name:
            case "sp_executesql":
                return Asked(str(given[0].value), name, tuple(given[2:]))
            case "sp_prepexec" | "sp_prepare":
                self._handles[len(self._handles) + 1] = str(given[2].value)
                return Asked(str(given[2].value), name, tuple(given[3:]))
            case "sp_execute":
                return Asked(self._handles.get(int(given[0].value), ""), name, tuple(given[1:]))
            case _:
                return Asked(name, name, tuple(given))

    def _answer(self, asked: Asked) -> None:
        if asked.procedure.endswith("sp_datatype_info_100"):
            self._send(_types_like(asked.parameters[0].value) + b"\x79" + struct.pack("<i", 0) + _done(0, kind=0xFE))
            return
        is_call, is_prepared_only = bool(asked.procedure), asked.procedure == "sp_prepare"
        if not is_prepared_only:
            self._server.asked.append(asked)
        body = b""
        parts = [] if is_prepared_only else self._server.parts_for(asked.text)
        for part in parts:
            match part:
                case Rows():
                    body += _rows(part, in_call=is_call)
                case Moment(at):
                    body += _moment(at, in_call=is_call)
                case Count(changed):
                    body += _done(MORE | COUNTED, changed, in_call=is_call, command=0xC3)
                case Told():
                    body += _told(part)
                    if part.severity > 10:
                        body += _done(MORE | BROKEN, in_call=is_call)
                case Hold(event):
                    self._server.while_held()
                    if self._is_interrupted(event):
                        self._attended()
                        return
                case Drop():
                    raise EOFError
        if is_call:
            body += b"\x79" + struct.pack("<i", 0)
            if asked.procedure in {"sp_prepexec", "sp_prepare"}:
                body += _handle(len(self._handles))
            body += _done(0, kind=0xFE)
        else:
            body += _done(0)
        self._send(body)

    def _is_interrupted(self, event: threading.Event) -> bool:
        self._client.settimeout(LOOK_SECONDS)
        try:
            for _ in range(self._server.looks):
                if event.is_set():
                    return False
                with suppress(TimeoutError):
                    if not self._client.recv(1, socket.MSG_PEEK):
                        raise EOFError
                    self._client.settimeout(None)
                    kind, _ = self._message()
                    return kind == ATTENTION
        finally:
            self._client.settimeout(None)
        return False


class _Reader:
    """Reads the parameters of a call."""

    def __init__(self, body: bytes) -> None:
        self._body, self._at = body, 0

    @property
    def is_over(self) -> bool:
        return self._at >= len(self._body)

    def number(self, form: str) -> int:
        (found,) = struct.unpack_from(form, self._body, self._at)
        self._at += struct.calcsize(form)
        return int(found)

    def take(self, length: int) -> bytes:
        self._at += length
        return self._body[self._at - length : self._at]

    def text(self, characters: int) -> str:
        return self.take(2 * characters).decode("utf-16-le")

    def parameter(self) -> Parameter:
        name = self.text(self.number("<B"))
        self.number("<B")
        kind = self.number("<B")
        match kind:
            case 0xE7 | 0xA7 | 0xA5 | 0xAD | 0xAF | 0xEF:
                return Parameter(name, *self._characters(kind))
            case 0x63 | 0x23:
                self.take(4 + 5)
                raw = self.take(self.number("<i"))
                return Parameter(
                    name, "ntext" if kind == 0x63 else "text", raw.decode("utf-16-le" if kind == 0x63 else "cp1252")
                )
            case 0x26 | 0x6D | 0x68:
                size, length = self.number("<B"), self.number("<B")
                called = {0x26: f"int{size}", 0x6D: f"float{size}", 0x68: "bit"}[kind]
                return Parameter(name, called, self._figure(kind, length))
            case 0x6A | 0x6C:
                self.take(3)
                return Parameter(name, "decimal", self.take(self.number("<B")) or None)
            case 0x2A | 0x29 | 0x2B:
                called = {0x2A: "datetime2", 0x29: "time", 0x2B: "datetimeoffset"}[kind]
                return Parameter(name, f"{called}({self.number('<B')})", self.take(self.number("<B")) or None)
            case 0x28:
                return Parameter(name, "date", self.take(self.number("<B")) or None)
            case 0x38:
                return Parameter(name, "int4", self.number("<i"))
            case _:
                raise ValueError(f"a parameter of type {kind:#x}")

    def _figure(self, kind: int, length: int) -> int | float | None:
        raw = self.take(length)
        if not raw:
            return None
        if kind == 0x6D:
            return float(struct.unpack("<d" if length == 8 else "<f", raw)[0])
        return int.from_bytes(raw, "little", signed=True)

    def _characters(self, kind: int) -> tuple[str, Any]:
        is_wide, is_text = kind in {0xE7, 0xEF}, kind in {0xE7, 0xA7, 0xEF, 0xAF}
        most = self.number("<H")
        if is_text:
            self.take(5)
        called = ("nvarchar" if is_wide else "varchar" if is_text else "varbinary") + (
            "(max)" if most == 0xFFFF else ""
        )
        raw = self._pieces() if most == 0xFFFF else self._piece()
        if raw is None or not is_text:
            return called, raw
        return called, raw.decode("utf-16-le" if is_wide else "cp1252")

    def _piece(self) -> bytes | None:
        length = self.number("<H")
        return None if length == 0xFFFF else self.take(length)

    def _pieces(self) -> bytes | None:
        if self.number("<Q") == 0xFFFFFFFFFFFFFFFF:
            return None
        found = b""
        while length := self.number("<I"):
            found += self.take(length)
        return found


def _after_headers(body: bytes) -> bytes:
    return body[struct.unpack_from("<I", body)[0] :]


def _short(text: str) -> bytes:
    return bytes([len(text)]) + text.encode("utf-16-le")


def _long(text: str) -> bytes:
    return struct.pack("<H", len(text)) + text.encode("utf-16-le")


def _token(kind: int, body: bytes) -> bytes:
    return bytes([kind]) + struct.pack("<H", len(body)) + body


def _prelogin() -> bytes:
    options = [(0, bytes([15, 0, 0x07, 0xD0, 0, 0])), (1, bytes([NO_ENCRYPTION])), (2, b"\x00"), (3, b""), (4, b"\x00")]
    head, body = b"", b""
    begin = 5 * len(options) + 1
    for kind, value in options:
        head += struct.pack(">BHH", kind, begin + len(body), len(value))
        body += value
    return head + b"\xff" + body


def _greeting() -> bytes:
    database = b"\x01" + _short("walk") + _short("master")
    collation = b"\x07\x05" + COLLATION + b"\x00"
    packet = b"\x04" + _short("4096") + _short("4096")
    acknowledged = b"\x01" + bytes.fromhex("74000004") + _short("Microsoft SQL Server") + bytes([15, 0, 0x07, 0xD0])
    changes = b"".join(_token(0xE3, one) for one in (database, collation, packet))
    return changes + _token(0xAD, acknowledged) + _done(0)


def _done(status: int, count: int = 0, *, in_call: bool = False, kind: int = 0, command: int = 0xC1) -> bytes:
    return bytes([kind or (0xFF if in_call else 0xFD)]) + struct.pack("<HHQ", status, command, count)


def _told(told: Told) -> bytes:
    kind = 0xAA if told.severity > 10 else 0xAB
    said = struct.pack("<IBB", told.number, 1, told.severity) + _long(told.text) + _short("walk") + _short("")
    return _token(kind, said + struct.pack("<I", 1))


def _handle(number: int) -> bytes:
    kind = bytes([0x26, 4])
    return (
        b"\xac"
        + struct.pack("<H", 0)
        + _short("")
        + b"\x01"
        + struct.pack("<IH", 0, 0)
        + kind
        + struct.pack("<Bi", 4, number)
    )


def _rows(result: Rows, *, in_call: bool) -> bytes:
    numeric = [
        all(isinstance(row[at], int) or row[at] is None for row in result.rows) for at in range(len(result.names))
    ]
    body = b"\x81" + struct.pack("<H", len(result.names))
    for name, is_number in zip(result.names, numeric, strict=True):
        kind = bytes([0x26, 8]) if is_number else bytes([0xE7]) + struct.pack("<H", 8000) + COLLATION
        body += struct.pack("<IH", 0, 1) + kind + _short(name)
    for row in result.rows:
        body += b"\xd1"
        for value, is_number in zip(row, numeric, strict=True):
            body += _number(value) if is_number else _text(value)
    return body + _done(MORE | COUNTED, len(result.rows), in_call=in_call)


def _types_like(number: object) -> bytes:
    """Return what `sp_datatype_info_100` says of the types of a number, by which pyodbc learns how long a text may be."""
    found = [(name, at, size, *[None] * (len(COLUMNS) - 3)) for name, at, size in TYPES if at == number]
    return _rows(Rows([*COLUMNS], [list(row) for row in found]), in_call=True)


def _moment(at: datetime, *, in_call: bool) -> bytes:
    since_midnight = (at - at.replace(hour=0, minute=0, second=0, microsecond=0)) // timedelta(milliseconds=1)
    value = since_midnight.to_bytes(4, "little") + (at.date().toordinal() - 1).to_bytes(3, "little")
    head = b"\x81" + struct.pack("<H", 1) + struct.pack("<IH", 0, 1) + bytes([0x2A, 3]) + _short("at")
    return head + b"\xd1" + bytes([len(value)]) + value + _done(MORE | COUNTED, 1, in_call=in_call)


def _number(value: int | None) -> bytes:
    return b"\x00" if value is None else struct.pack("<Bq", 8, value)


def _text(value: object) -> bytes:
    if value is None:
        return b"\xff\xff"
    raw = str(value).encode("utf-16-le")
    return struct.pack("<H", len(raw)) + raw

"""What programs send: one object of JSON, and nothing that two programs would read differently."""

from __future__ import annotations

import json
from typing import Any

from batchctl.domain.errors import InvalidInput
from batchctl.domain.records import JsonValue
from batchctl.domain.text import visible

MOST_BYTES = 1024 * 1024
"""How long a body may be."""
JSON = "application/json"


def object_of(body: bytes) -> dict[str, JsonValue]:
    """Read an object; no body at all is one without members."""
    if not body.strip():
        return {}
    try:
        found = json.loads(body.decode("utf-8"), object_pairs_hook=_object, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise InvalidInput("The body is not UTF-8.", next_step="encode it as UTF-8") from error
    except RecursionError as error:
        raise InvalidInput(
            "The body is nested too deeply.", next_step="send one object, without others in it"
        ) from error
    except ValueError as error:
        raise InvalidInput(f"The body is no JSON: {visible(str(error))}.", next_step="correct it") from error
    if not isinstance(found, dict):
        raise InvalidInput("The body is JSON, but no object.", next_step='send one, such as {"reason": "..."}')
    return found


def flag_in(members: dict[str, JsonValue], name: str) -> bool:
    """Take a flag out of an object; one that is left out, or null, is false."""
    found = members.pop(name, None)
    if found is not None and not isinstance(found, bool):
        raise InvalidInput(f"'{name}' has to be true or false.", next_step="write it without quotes, or leave it out")
    return found is True


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) < len(members):
        raise InvalidInput("The body names a member twice.", next_step="send each once")
    return found


def _no_number(text: str) -> Any:
    raise InvalidInput(f"The body holds {text}, which is no JSON.", next_step="correct it")

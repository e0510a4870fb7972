"""What programs can ask and do, as OpenAPI 3.1 has it: from the same tables that answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import batchctl
from batchctl.web.act_table import ACTS
from batchctl.web.rest.api_errors import MEDIA_TYPE
from batchctl.web.rest.bodies import JSON
from batchctl.web.rest.filters import MOST, Resource
from batchctl.web.rest.resources import RESOURCES
from batchctl.web.wishes import ConsoleAct, FieldKind, FormField

Schema = dict[str, Any]
_ANY_OBJECT: Schema = {"type": "object"}


def path_of(act: ConsoleAct) -> str:
    """Return where an act is done: at the list where it makes a row, else behind the row."""
    if act.makes_row:
        return f"/{act.subject}"
    return f"/{act.subject}/{{key{':path' if act.subject.is_named else ''}}}/{act.name}"


def document() -> Schema:
    """Return the description of the whole API."""
    paths: dict[str, Schema] = {"/openapi.json": {"get": _described()}}
    for resource in RESOURCES:
        paths.setdefault(_shown(resource.path), {})["get"] = _read(resource)
    for act in ACTS.values():
        path = paths.setdefault(_shown(path_of(act)), {})
        path["post"] = _done(act)
        if not act.makes_row:
            path["get"] = _looked_at(act)
    return {
        "openapi": "3.1.0",
        "info": {"title": "batchctl", "version": batchctl.__version__},
        "servers": [{"url": "/api/v1"}],
        "security": [{"token": []}, {"session": []}],
        "paths": paths,
        "components": {
            "schemas": {"Problem": _error_schema()},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "__Host-batchctl"},
            },
        },
    }


def _shown(path: str) -> str:
    return path.replace(":path", "")


def _described() -> Schema:
    answers = {"200": {"description": "This description.", "content": {JSON: {"schema": _ANY_OBJECT}}}}
    return {"summary": "This description.", "operationId": "described", "responses": {**answers, **_errors(401)}}


def _read(resource: Resource) -> Schema:
    rows = {"type": "object", "properties": {name: {} for name in resource.columns}}
    schema: Schema = {"type": "array", "items": rows} if resource.is_list else _ANY_OBJECT
    answer: Schema = {"description": resource.says, "content": {JSON: {"schema": schema}}}
    if any(each.name == "before" for each in resource.filters):
        answer["headers"] = {"Link": {"description": "The next page.", "schema": {"type": "string"}}}
    return {
        "summary": resource.says,
        "description": f"The same as `batchctl {resource.command} --json`.",
        "operationId": _name("get", resource.path),
        "parameters": [*_key(resource.path), *map(_filter, resource.filters)],
        "responses": {"200": answer, **_errors(400, 401, 404, 409, 503)},
    }


def _looked_at(act: ConsoleAct) -> Schema:
    found = {"description": "What would be done.", "content": {JSON: {"schema": _ANY_OBJECT}}}
    return {
        "summary": f"Look only: {act.says}",
        "operationId": _name("look", path_of(act)),
        "parameters": [*_key(path_of(act)), *(_filter(each) for each in act.fields)],
        "responses": {"200": found, **_errors(400, 401, 404, 409, 503)},
    }


def _done(act: ConsoleAct) -> Schema:
    members: dict[str, Schema] = {each.name: _schema(each) for each in act.fields}
    members["dry_run"] = {"type": "boolean", "description": "Only look what would be done."}
    needed = [each.name for each in act.fields if each.is_needed]
    if act.takes_reason:
        members["reason"] = {"type": "string", "description": "Why; kept in the audit log."}
    needed += ["reason"] if act.needs_reason else []
    body = {"type": "object", "properties": members, "additionalProperties": False}
    status = "201" if act.makes_row else "200"
    found = {"description": "What was done.", "content": {JSON: {"schema": _ANY_OBJECT}}}
    return {
        "summary": act.says,
        "operationId": _name("post", path_of(act)),
        "parameters": [*_key(path_of(act)), _IDEMPOTENCY],
        "requestBody": {
            "required": bool(needed),
            "content": {JSON: {"schema": {**body, "required": needed} if needed else body}},
        },
        "responses": {
            status: found,
            **({"200": found} if act.makes_row else {}),
            **({} if act.asks is None else {"202": _ASKED}),
            **_errors(400, 401, 403, 404, 409, 413, 415, 422, 503),
        },
    }


_ASKED: Schema = {
    "description": "Asked for: no controller has answered yet. Location names the request.",
    "headers": {"Location": {"description": "The request.", "schema": {"type": "string"}}},
    "content": {JSON: {"schema": _ANY_OBJECT}},
}
_IDEMPOTENCY: Schema = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A request that is sent twice with the same key acts once, and gets the same answer.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
}


def _key(path: str) -> list[Schema]:
    if "{key" not in path:
        return []
    return [{"name": "key", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}]


def _filter(wanted: FormField) -> Schema:
    return {
        "name": wanted.name,
        "in": "query",
        "description": wanted.label,
        "required": wanted.is_needed,
        "schema": _schema(wanted),
    }


def _schema(wanted: FormField) -> Schema:
    described = {"description": f"{wanted.label} {f'({wanted.hint})' if wanted.hint else ''}".strip()}
    match wanted.kind:
        case FieldKind.NUMBER:
            limits = (
                {"minimum": 1, "maximum": MOST} if wanted.name == "limit" else {"minimum": 0, "maximum": wanted.most}
            )
            return {"type": "integer", **limits, **described}
        case FieldKind.FLAG:
            return {"type": "boolean", **described}
        case FieldKind.TEXT | FieldKind.LONG:
            return {"type": "string", **({"enum": [*wanted.choices]} if wanted.choices else {}), **described}


def _errors(*statuses: int) -> Mapping[str, Schema]:
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {str(status): {"description": "What is wrong, and what to do.", "content": content} for status in statuses}


def _error_schema() -> Schema:
    text = {"type": "string"}
    maybe = {"type": ["string", "null"]}
    members = {"type": text, "title": text, "status": {"type": "integer"}, "detail": text, "next": maybe, "code": maybe}
    return {"type": "object", "properties": members, "required": [*members]}


def _name(verb: str, path: str) -> str:
    words = [word for word in path.replace("{key:path}", "").replace("{key}", "").split("/") if word]
    return "_".join([verb, *words, *(["one"] if path.endswith("}") else [])]).replace("-", "_")

"""Why a call does not fit what a PostgreSQL server has: looked up in its catalog, after it has refused the call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from batchctl.plugin_api import did_you_mean, visible
from step_handlers.postgres import _psql

REFUSED = frozenset({"42883", "42725", "3F000"})
"""No such routine, several that would fit, no such schema."""
_MOST_SHOWN = 4

_HERE = (
    "SELECT current_user, current_setting('search_path'), "
    "EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = %s::text)"
)
_OF_THAT_NAME = (
    "SELECT pg_catalog.quote_ident(n.nspname), pg_catalog.pg_function_is_visible(p.oid), p.prokind = 'p', "
    "pg_catalog.pg_get_function_identity_arguments(p.oid), p.proargnames, p.proargmodes::text[], p.pronargs, "
    "p.pronargdefaults FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace "
    "WHERE p.proname = %s AND p.prokind IN ('p', 'f') AND %s::text IN (n.nspname::text, '') ORDER BY p.oid"
)
_NAMES = (
    "SELECT DISTINCT pg_catalog.quote_ident(p.proname) FROM pg_catalog.pg_proc AS p "
    "JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace "
    "WHERE p.prokind IN ('p', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema') "
    "AND (n.nspname = %(schema)s::text OR (%(schema)s::text = '' AND pg_catalog.pg_function_is_visible(p.oid))) "
    "AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d WHERE d.objid = p.oid AND d.deptype = 'e')"
)
_SCHEMAS = "SELECT pg_catalog.quote_ident(nspname) FROM pg_catalog.pg_namespace WHERE nspname !~ '^pg_'"


@dataclass(frozen=True, slots=True)
class _Routine:
    schema: str
    visible: bool
    is_procedure: bool
    arguments: str
    """As PostgreSQL itself writes them."""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    """Those that a call must list: the OUT parameters of a procedure."""
    defaults: int

    @classmethod
    def of(cls, row: Sequence[Any]) -> _Routine:
        schema, is_visible, is_procedure, arguments, names, modes, count, defaults = row
        named = list(zip(names or [""] * count, modes or "i" * count, strict=False))
        outputs = tuple(name for name, mode in named if mode == "o") if is_procedure else ()
        inputs = tuple(name for name, mode in named if mode in "ibv")
        return cls(schema, is_visible, is_procedure, arguments, inputs, outputs, defaults)

    def fault(self, name: str, given: Sequence[str]) -> str:
        """Return which parameters of a call do not fit."""
        known = [*self.inputs, *self.outputs]
        needed = self.inputs[: len(self.inputs) - self.defaults]
        faults = [
            f"{visible(one)} is missing" if one else "it has a parameter without a name, which no step can give"
            for one in needed
            if one not in given
        ]
        faults += [
            f"{visible(one)} is missing: in PostgreSQL every OUT parameter of a procedure must be listed, "
            f"write @{visible(one)}=OUTPUT"
            for one in self.outputs
            if one not in given
        ]
        faults += [
            f"it has no parameter {visible(one)}.{did_you_mean(one, filter(None, known))}"
            for one in given
            if one not in known
        ]
        said = "; ".join(faults) or "a value has another type than its parameter; in quotes it fits every type"
        return f"{'procedure' if self.is_procedure else 'function'} {name}({visible(self.arguments)}): {said}"


def explain(opened: psycopg.Connection[Any], call: Mapping[str, Any]) -> str:
    """Return which routine is missing, or how the parameters of a call differ from those of the routine."""
    *schemas, name = _psql.identifiers(call["called"]) or [""]
    schema = schemas[0] if schemas else ""
    written = ".".join(visible(_plain(part)) for part in (*schemas, name))
    rows = opened.execute(_OF_THAT_NAME, (name, schema)).fetchall()
    found = [_Routine.of(row) for row in rows]
    near = found if schema else [one for one in found if one.visible]
    if not near:
        return _missing(opened, schema, written, [f"{one.schema}.{_plain(name)}" for one in found])
    called = [one for one in near if one.is_procedure] or near
    faults = [one.fault(written, call["names"]) for one in called[:_MOST_SHOWN]]
    return f"the parameters do not fit; {'; or '.join(faults)}"


def _missing(opened: psycopg.Connection[Any], schema: str, written: str, elsewhere: Sequence[str]) -> str:
    ((role, path, has_schema),) = opened.execute(_HERE, (schema,)).fetchall()
    if schema and not has_schema:
        schemas = [str(name) for (name,) in opened.execute(_SCHEMAS)]
        return f"there is no schema {visible(_plain(schema))}.{did_you_mean(schema, schemas)}"
    where = "" if schema else f" in the search_path ({visible(path)}) of role {visible(role)}"
    if elsewhere:
        hint = f" It is in another schema: write {visible(' or '.join(elsewhere[:_MOST_SHOWN]))} in Data2."
    else:
        names = [str(known) for (known,) in opened.execute(_NAMES, {"schema": schema})]
        hint = did_you_mean(written.rpartition(".")[2], names)
    return f"there is no procedure or function {written}{where}.{hint}"


def _plain(name: str) -> str:
    """Write a name as a person would type it: in quotes only when SQL would read it otherwise."""
    return name if _psql.identifiers(name) == [name] else _psql.identifier(name)

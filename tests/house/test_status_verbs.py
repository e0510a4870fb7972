"""A status moves only through the verbs of five store modules."""

from __future__ import annotations

import ast
import re

from tests.house.source import place, product_files, strings

VERBS = {
    f"batchctl/store/{name}.py"
    for name in ("intake/intake", "instances", "history", "controllers", "alerting/alert_deliveries")
}
SHOWS = "batchctl/store/views/start_views.py"
"""It writes nothing: it shows people the statement with which a FileProcess row is taken in."""
HOLDS = "batchctl/store/maintenance/roles.py"
"""Its script makes a trigger, which pauses rows that nobody may have asked for as the controller would be asked to."""
TRANSLATES = "batchctl/store/repeatable/work.py"
"""Its triggers write the engine's word in the place of that of the seeds."""
SET_STATUS = re.compile(r"\bset\b.*\bstatus\s*=", re.IGNORECASE | re.DOTALL)


def is_status(node: ast.expr | None) -> bool:
    """Whether a key names a status: 'Status', table.c.Status, table.c['Status']."""
    match node:
        case (
            ast.Constant(value=str(name))
            | ast.Attribute(attr=name)
            | ast.Subscript(slice=ast.Constant(value=str(name)))
        ):
            return name.lower() == "status"
        case _:
            return False


def writes_status(call: ast.Call) -> bool:
    """Whether a call is `.values(Status=...)`, `.values({"Status": ...})` or `.values({table.c.Status: ...})`."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "values"):
        return False
    keywords = any((keyword.arg or "").lower() == "status" for keyword in call.keywords)
    mappings = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg is None)]
    return keywords or any(isinstance(arg, ast.Dict) and any(is_status(key) for key in arg.keys) for arg in mappings)


def status_writes(source: str) -> list[int]:
    tree = ast.parse(source)
    calls = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Call) and writes_status(node)]
    return sorted(calls + [line for line, text in strings(tree) if SET_STATUS.search(text)])


def test_no_status_is_written_outside_the_verbs_of_the_store() -> None:
    found = [
        f"{place(path)}:{line}"
        for path in product_files()
        if place(path) not in VERBS | {SHOWS, HOLDS, TRANSLATES}
        for line in status_writes(path.read_text(encoding="utf-8"))
    ]

    assert found == [], f"a status is written by a verb of {sorted(VERBS)}:\n" + "\n".join(found)


def test_every_way_to_write_a_status_is_noticed() -> None:
    source = """
update(instances).values(Status="ready")
update(instances).values({"Status": "ready"})
update(instances).values({instances.c.Status: "ready"})
update(instances).values({instances.c["Status"]: "ready"})
update(instances).values(**{"Status": "ready"})
run("UPDATE BatchControl SET RetryCount = 0, Status = 'ready'")
update(instances).values(RetryCount=0)
counts.values()
"""

    assert status_writes(source) == [2, 3, 4, 5, 6, 7]

"""`batchctl graph` and `batchctl impact`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from batchctl.cli import output
from batchctl.cli.dependencies import graph_mermaid, graph_svg, graph_terminal
from batchctl.cli.session import CliSession, batch_names, reads
from batchctl.domain.errors import BatchctlError
from batchctl.domain.text import typed, visible
from batchctl.operations import shown_columns
from batchctl.operations.dependencies import forecasting, picture, replayed_night

FORMATS = ("terminal", "svg", "mermaid", "json")
_BY_ENDING = {".svg": "svg", ".mmd": "mermaid", ".mermaid": "mermaid", ".json": "json"}


@click.command()
@click.argument("batch", metavar="[BATCH]", required=False, shell_complete=batch_names)
@click.option("--format", "kind", type=click.Choice(FORMATS), help="[default: by the ending of FILE, else terminal]")
@click.option("--output", "file", metavar="FILE", help="Write the drawing there; what the file held is replaced.")
@click.option("--cycle-key", metavar="K", help="Only what happened for this CycleKey.")
@reads
def graph(
    session: CliSession, batch: str | None, kind: str | None, file: str | None, cycle_key: str | None, as_json: bool
) -> None:
    """Draw the batches, what they wait for and how each stands.

    With BATCH: everything that it waits for, what is on the way to it, and when it will be ready. What is complete is
    looked for among the newest 20,000 instances.
    """
    ending = "" if file is None else Path(file).suffix.lower()
    kind = "json" if as_json else kind or _BY_ENDING.get(ending, "terminal")
    if file is not None and kind == "terminal":
        said = "A drawing for the terminal goes into no file: let it end with .svg, .mmd or .json, or add --format."
        raise click.UsageError(said)
    app = session.app
    seen = picture.picture(app.transactions, app.clock, batch, cycle_key)
    for row in seen.unreadable:
        output.say(f"Note: {row.message}, so its batch is left out. {row.mend}")
    on_way = _on_its_way(session, seen) if kind in {"terminal", "json"} else None
    if kind == "terminal":
        graph_terminal.show(seen, on_way)
        output.hints(*_next(seen))
        return
    text = _drawn(kind, seen, on_way)
    if file is None:
        output.verbatim(text.removesuffix("\n"))
    else:
        _write(file, text)
        output.say(f"The drawing is in {visible(file)}.")


@click.command()
@click.argument("batch", metavar="BATCH", shell_complete=batch_names)
@reads
def impact(session: CliSession, batch: str, as_json: bool) -> None:
    """Show everything further on that a failure of BATCH would hold back, the way to it, and what waits there now."""
    found = picture.impact(session.app.transactions, batch)
    if as_json:
        output.print_json(_impact_as_json(found))
    else:
        _show_impact(found)


def _on_its_way(session: CliSession, seen: picture.Picture) -> replayed_night.OnItsWay | None:
    """Replay the night where it is not known already that the batch is complete, or waits for a person."""
    state = seen.target_state
    if seen.target is None or state is None or state.is_complete or state.blockers:
        return None
    return replayed_night.on_its_way(session.app.timetable(), session.app.presence, seen.target, state.cycle_key)


def _drawn(kind: str, seen: picture.Picture, on_way: replayed_night.OnItsWay | None) -> str:
    match kind:
        case "svg":
            return graph_svg.svg(seen)
        case "mermaid":
            return graph_mermaid.mermaid(seen)
        case _:
            return json.dumps(_as_json(seen, on_way), indent=2, ensure_ascii=True) + "\n"


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BatchctlError(f"'{visible(file)}' cannot be written: {error}.", next_step="name another file") from None


def _next(seen: picture.Picture) -> list[str]:
    failing = [node for node in seen.nodes if node.state in {"failed", "held"} and node.stand is not None]
    if failing:
        node = failing[0]
        return [
            f"batchctl show {node.stand.instance_id if node.stand else ''}   (what failed, and how)",
            f"batchctl impact {typed(node.batch.name)}   (what that holds back)",
        ]
    if any(node.in_cycle for node in seen.nodes):
        return ["batchctl check   (names every cycle)"]
    if seen.target is None and seen.linked:
        last = typed(seen.linked[-1].batch.name)
        return [f"batchctl graph {last}   (what it waits for, and when it should be done)"]
    return ["batchctl status"]


def _show_impact(found: picture.Impact) -> None:
    name = visible(found.batch.name)
    many = "1 other batch" if len(found.held) == 1 else f"{len(found.held)} other batches"
    output.line(f"While {name} does not complete, it holds back {many}.", "bold")
    if found.stops_all:
        output.line(f"A failure of {name} stops every other batch as well (OnFailure stop_all).")
    if found.in_line:
        waiting = output.counted(found.in_line, "instance")
        output.line(f"{waiting} of {name} itself would wait (OnFailure {found.batch.on_failure}).")
    if found.held:
        rows = [
            (one.batch.name, " > ".join(one.way), "; ".join(_waits(wait) for wait in one.waits) or None)
            for one in found.held
        ]
        output.table(None, ["batch", "way", "because"], rows)
    if found.spared:
        spared = ", ".join(visible(one.name) for one in found.spared)
        output.line(f"Not held back, because other batches can start them: {spared}.")
    word = typed(found.batch.name)
    output.hints(f"batchctl why batch:{word}", f"batchctl graph {word}   (what it waits for itself)")


def _waits(wait: picture.KeyWait) -> str:
    of = "" if wait.cycle_key is None else f" of {wait.cycle_key}"
    have = "has" if len(wait.has) == 1 else "have"
    return f"{', '.join(wait.has)}{of} {have} waited since {wait.since:%Y-%m-%d %H:%M} UTC for {', '.join(wait.lacks)}"


def _as_json(seen: picture.Picture, on_way: replayed_night.OnItsWay | None) -> shown_columns.Columns:
    return {
        "Now": shown_columns.moment(seen.now),
        "CycleKey": seen.cycle_key,
        "ProcessBatchName": None if seen.target is None else seen.target.name,
        "Batches": [_node_as_json(node) for node in seen.nodes],
        "Dependencies": [
            {
                "BatchDependency_id": dependency.row_id,
                "ProcessBatch_id": node.batch.batch_id,
                "DependsOnBatch_id": dependency.depends_on,
                "DeadlineMins": int(dependency.deadline.total_seconds() // 60),
            }
            for node in seen.nodes
            for dependency in node.batch.dependencies
        ],
        "Forecast": _forecast_as_json(seen.target_state, on_way),
    }


def _node_as_json(node: picture.GraphNode) -> shown_columns.Columns:
    stand = node.stand
    return {
        "ProcessBatch_id": node.batch.batch_id,
        "ProcessBatchName": node.batch.name,
        "Entity": node.batch.entity,
        "Enabled": int(node.batch.enabled),
        "Frozen": node.is_frozen,
        "DependencyMode": node.batch.dependency_mode.value,
        "Level": node.level,
        "InCycle": node.in_cycle,
        "State": node.state,
        "BatchControl_id": None if stand is None else stand.instance_id,
        "Status": None if stand is None else stand.status.value,
        "PrevProcessControlSeq": None if stand is None else stand.last_seq,
        "CycleKey": None if stand is None else stand.cycle_key,
        "z_updated": None if stand is None else shown_columns.moment(stand.changed_at),
        "Instances": {status.value: count for status, count in node.counts.items()},
        "WaitsFor": [_wait_as_json(wait) for wait in node.waits],
    }


def _wait_as_json(wait: picture.KeyWait) -> shown_columns.Columns:
    return {
        "CycleKey": wait.cycle_key,
        "Complete": list(wait.has),
        "Missing": list(wait.lacks),
        "Since": shown_columns.moment(wait.since),
        "Overdue": wait.is_overdue,
    }


def _forecast_as_json(
    state: picture.TargetState | None, on_way: replayed_night.OnItsWay | None
) -> shown_columns.Columns | None:
    if state is None:
        return None
    found = None if on_way is None else forecasting.FORECASTS.of(on_way.forecast)
    return {
        "CycleKey": state.cycle_key,
        "ExpectedFinish": found and found["P50"],
        **{name: found and found[name] for name in ("P90", "NeedsPerson", "Nights", "Decides", "NotKnown")},
        "Obstacles": list(state.blockers),
        "Way": [
            {
                "ProcessBatch_id": leg.batch.batch_id,
                "ProcessBatchName": leg.batch.name,
                "StartTime": shown_columns.moment(leg.starts),
                "EndTime": shown_columns.moment(leg.ends),
                "Seconds": shown_columns.seconds(leg.ends - leg.starts),
            }
            for leg in (() if on_way is None else on_way.legs)
        ],
    }


def _impact_as_json(found: picture.Impact) -> shown_columns.Columns:
    return {
        "ProcessBatch_id": found.batch.batch_id,
        "ProcessBatchName": found.batch.name,
        "OnFailure": found.batch.on_failure.value,
        "StopsAll": found.stops_all,
        "InstancesInLine": found.in_line,
        "HeldBack": [
            {
                "ProcessBatch_id": one.batch.batch_id,
                "ProcessBatchName": one.batch.name,
                "Way": list(one.way),
                "WaitsFor": [_wait_as_json(wait) for wait in one.waits],
            }
            for one in found.held
        ],
        "NotHeldBack": [one.name for one in found.spared],
    }

"""The batches on a terminal: in levels from top to bottom, each with its state in words and what it waits for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from batchctl.cli import output
from batchctl.cli.dependencies import forecast_lines, graph_lines
from batchctl.domain.dependencies import graph
from batchctl.domain.rows import BatchId
from batchctl.domain.status import DependencyMode
from batchctl.domain.text import visible
from batchctl.operations.dependencies.graph_words import MARKS, MEANINGS, about, counted, heading, summary
from batchctl.operations.dependencies.picture import GraphNode, Picture, TargetState
from batchctl.operations.dependencies.replayed_night import OnItsWay

LONGEST_NAME = 40
"""A longer name goes on in the next line."""
MOST_NAMED = 12
"""Of so many batches that one waits for all are named; of more only those that are not complete."""


def show(picture: Picture, on_way: OnItsWay | None = None) -> None:
    """Print the drawing."""
    out = output.console()
    ascii_only = out.options.ascii_only
    output.line(heading(picture), "bold")
    output.line(summary(picture), "dim")
    output.line()
    if drawn := graph_lines.lines(picture.linked, out.width, ascii_only=ascii_only):
        output.put(Text("\n").join(drawn))
    known = {node.batch.batch_id: node for node in picture.nodes}
    for at, level in enumerate(_levels(picture.linked)):
        _show_level(_title(at), level, known, ascii_only=ascii_only)
    if picture.alone:
        _show_level("These wait for nothing, and nothing waits for them:", picture.alone, known, ascii_only=ascii_only)
    if picture.left_out:
        many = sum(picture.left_out.values())
        output.line(f"And {many} more without dependencies: {counted(picture.left_out)}.")
        output.line()
    if picture.target_state is not None:
        _show_ahead(picture, picture.target_state, on_way)
    _show_signs(picture, ascii_only=ascii_only)


def _title(at: int) -> str:
    if at == 0:
        return "These wait for no other batch:"
    return "Then, once what they wait for is complete:" if at == 1 else "Then:"


def _show_level(
    title: str, nodes: Sequence[GraphNode], known: Mapping[BatchId, GraphNode], *, ascii_only: bool
) -> None:
    output.line(title, "bold")
    made = Table.grid(padding=(0, 1))
    made.add_column(width=3, justify="right")
    # In all levels alike, so that the states stand below each other.
    longest = max(output.cell(node.batch.name).cell_len for node in known.values())
    made.add_column(overflow="fold", min_width=min(longest, LONGEST_NAME), max_width=LONGEST_NAME)
    made.add_column(no_wrap=True, min_width=max(map(len, MARKS)))
    made.add_column(overflow="fold")
    for node in nodes:
        lines = [Text(", ".join(about(node)))] if about(node) else []
        if node.batch.dependencies:
            lines.append(_needs(node, known, ascii_only=ascii_only))
        mark = Text(MARKS[node.state][ascii_only], style=output.word(node.state).style)
        made.add_row(mark, output.cell(node.batch.name), output.word(node.state), Text("\n").join(lines))
    output.put(made)


def _needs(node: GraphNode, known: Mapping[BatchId, GraphNode], *, ascii_only: bool) -> Text:
    """Say what a batch waits for, and how that stands."""
    said = Text("<- " if ascii_only else "← ", style="dim")
    needs = graph.needs(node.batch)
    if node.batch.dependency_mode is DependencyMode.ANY and len(needs) > 1:
        said.append("any of ", style="dim")
    named = needs
    if len(needs) > MOST_NAMED:
        named = [one for one in needs if one not in known or known[one].state != "complete"][:MOST_NAMED]
        states = [known[one].state for one in needs if one in known]
        said.append(f"{len(needs)} batches: {counted({state: states.count(state) for state in {*states}})}")
        said.append(": " if named else "")
    for at, one in enumerate(named):
        other = known.get(one)
        said.append(", " if at else "")
        if other is None:
            said.append(f"ProcessBatch {one}, which does not exist", style="bold red")
        else:
            mark = Text(f" {MARKS[other.state][ascii_only]}", style=output.word(other.state).style)
            said.append_text(Text.assemble(output.cell(other.batch.name), mark))
    return said


def _levels(nodes: Sequence[GraphNode]) -> Iterator[list[GraphNode]]:
    for level in sorted({node.level for node in nodes}):
        yield [node for node in nodes if node.level == level]


def _show_signs(picture: Picture, *, ascii_only: bool) -> None:
    """Explain the signs that occur."""
    drawn = {node.state for node in (*picture.linked, *picture.alone)}
    made = Table.grid(padding=(0, 1))
    for state in MARKS:
        if state in drawn:
            made.add_row(
                Text(f"  {MARKS[state][ascii_only]}", style="dim"),
                output.word(state),
                Text(MEANINGS[state], style="dim"),
            )
    if drawn:
        output.put(made)


def _show_ahead(picture: Picture, state: TargetState, on_way: OnItsWay | None) -> None:
    """Say when the batch will be ready, and what is on the way to that."""
    if state.is_complete:
        output.line(_finished(picture, state))
    elif state.blockers:
        output.line("It will not be done before somebody acts:", "bold red")
        for blocker in state.blockers:
            output.line(f"  {visible(blocker)}")
    elif on_way is None:
        output.line("Nothing starts it.", "bold")
    else:
        going = state.cycle_key is not None and on_way.forecast.cycle_key == state.cycle_key
        what = f"Going on with CycleKey {visible(state.cycle_key or '')}" if going else "If all of it began now"
        output.line(f"{what}: {forecast_lines.when(on_way.forecast)}", "bold")
        made = Table.grid(padding=(0, 2))
        for leg in on_way.legs:
            made.add_row(Text("  "), *map(output.shown, (leg.batch.name, leg.ends - leg.starts, leg.starts, leg.ends)))
        output.put(made)
        for text in forecast_lines.because(on_way.forecast):
            output.line(text)
    output.line()


def _finished(picture: Picture, state: TargetState) -> str:
    """Say of a batch that is complete whether it waits to start once more, for another set of completions."""
    waits = any(node.batch == picture.target and node.state == "waits" for node in picture.nodes)
    again = " To start once more, it waits for what stands above." if waits else ""
    return f"It is complete for CycleKey {visible(state.cycle_key or '')}.{again}"

"""docs/BENCHMARKS.md, made from what the parts have found."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.plots import draw
from benchmarks.results import Found, Goal, Table

INTRODUCTION: Final = """# Benchmarks

Written by `./scripts/bench`; every part says when it was run and how busy the machine was. Everything runs on one machine
over loopback, ours and the peers in turns in one run, one server process each. The load keeps a fixed number of calls in
flight and checks every answer: the id must be one that was asked, the structured content the right one. Figures are medians
of the rounds after one that does not count. In the parts server, refusals, handlers and floors everything takes a turn in
every round, and ratios are medians of the ratios in each round.

Peers are measured at their best: JSON answers instead of event streams where they offer it, uvloop and httptools under
uvicorn, no access log, and tool schemas found without listing all tools. Each connection is a client with a session of its
own. Ratios compare our slower wire with the faster one of the fastest peer.
"""


def render_page(found: Sequence[Found], versions: Mapping[str, str], order: Sequence[str]) -> str:
    """The whole page."""
    parts = sorted(found, key=lambda each: order.index(each.part) if each.part in order else len(order))
    return "\n".join(
        [
            INTRODUCTION,
            "## Figures to reach\n",
            _render_goals(parts),
            "## Versions\n",
            render_rows(["what", "version"], [[name, version] for name, version in versions.items()]),
            *(_render_part(each) for each in parts),
        ]
    )


_VERDICTS: Final = {True: "yes", False: "**no**", None: "not measured"}


def _render_goals(parts: Sequence[Found]) -> str:
    rows = [[part.part, *_goal_row(goal)] for part in parts for goal in part.goals]
    return render_rows(["part", "figure", "wanted", "found", "reached"], rows)


def _goal_row(goal: Goal) -> list[str]:
    return [goal.text, goal.wanted, goal.found, _VERDICTS[goal.reached]]


def render_rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table."""
    lines = [_row(columns), _row(["---"] * len(columns)), *(_row(row) for row in rows)]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _render_part(found: Found) -> str:
    stamp = ", ".join(f"{name} {value}" for name, value in found.stamp.items())
    pieces = [f"## {found.part}\n", f"{stamp}.\n" if stamp else "", *(_render_table(table) for table in found.tables)]
    pieces += [f"![{plot.title}](benchmarks/{plot.name}.svg)\n" for plot in found.plots if any(plot.lines.values())]
    if found.text:
        pieces.append(f"```\n{found.text.rstrip()}\n```\n")
    return "\n".join(piece for piece in pieces if piece)


def _render_table(table: Table) -> str:
    note = f"{table.note.strip()}\n" if table.note.strip() else ""
    return "\n".join([f"### {table.title}\n", render_rows(table.columns, table.rows), note])


def write_page(found: Sequence[Found], versions: Mapping[str, str], order: Sequence[str], docs: Path) -> None:
    """The page and its plots."""
    plots = docs / "benchmarks"
    plots.mkdir(parents=True, exist_ok=True)
    for part in found:
        for plot in part.plots:
            if any(plot.lines.values()):
                (plots / f"{plot.name}.svg").write_text(draw(plot))
    (docs / "BENCHMARKS.md").write_text(render_page(found, versions, order))


def render_goals_for_terminal(found: Sequence[Found]) -> str:
    """The goals in lines of plain text."""
    lines = [
        f"{part.part:12} {goal.text}: {goal.found} (wanted {goal.wanted}) {_VERDICTS[goal.reached]}"
        for part in found
        for goal in part.goals
    ]
    return "\n".join(lines)


def render_json(found: Sequence[Found]) -> str:
    """The goals for machines."""
    return json.dumps(
        [
            {"part": part.part, "figure": goal.text, "found": goal.found, "reached": goal.reached}
            for part in found
            for goal in part.goals
        ]
    )

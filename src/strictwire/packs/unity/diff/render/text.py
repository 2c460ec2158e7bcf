"""A difference for people at a terminal, or in a file without colours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from strictwire.fault.escape import for_terminal
from strictwire.packs.unity.diff.model import Action, ProjectDiff
from strictwire.packs.unity.diff.render.lines import SIGNS, Line, describe_file, file_notes, group_changes, summarise

_COLOURS: Final[Mapping[Action, str]] = {
    Action.ADDED: "\x1b[32m",
    Action.REMOVED: "\x1b[31m",
    Action.MOVED: "\x1b[36m",
    Action.REORDERED: "\x1b[36m",
    Action.CHANGED: "\x1b[33m",
}
_STRONG: Final = "\x1b[1m"
_END: Final = "\x1b[0m"


def render_text(diff: ProjectDiff) -> str:
    """Without colours."""
    return "\n".join(_lines(diff, coloured=False)) + "\n"


def render_colour(diff: ProjectDiff) -> str:
    """With colours."""
    return "\n".join(_lines(diff, coloured=True)) + "\n"


def _lines(diff: ProjectDiff, *, coloured: bool) -> Iterator[str]:
    for file in diff.files:
        title = describe_file(file, for_terminal)
        yield f"{_STRONG}{title}{_END}" if coloured else title
        for note in file_notes(file):
            yield f"  ! {for_terminal(note)}"
        for group in group_changes(file.changes, for_terminal):
            name = for_terminal(group.title) or "(settings)"
            yield _paint(group.head, f"{name}: {group.head.text}", coloured) if group.head else f"  {name}"
            for line in group.lines:
                yield "    " + _paint(line, line.text, coloured)
        yield ""
    yield f"{for_terminal(diff.before)} → {for_terminal(diff.after)}: {summarise(diff)}"


def _paint(line: Line, text: str, coloured: bool) -> str:
    signed = f"{SIGNS[line.action]} {text}"
    return f"  {_COLOURS[line.action]}{signed}{_END}" if coloured else f"  {signed}"

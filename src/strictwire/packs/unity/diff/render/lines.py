"""A difference as lines, before they are written for a destination. Values are not escaped here: each renderer does that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from strictwire.check.render.text import count
from strictwire.packs.unity.diff.model import Action, Change, FileDiff, Part, ProjectDiff

SIGNS: Final = {
    Action.ADDED: "+",
    Action.REMOVED: "-",
    Action.MOVED: ">",
    Action.REORDERED: ">",
    Action.CHANGED: "~",
}

Quote = Callable[[str], str]
"""Makes a name or value safe for its destination."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line about an object."""

    action: Action
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What happened to one object."""

    title: str
    """Its path; empty for settings of the file."""
    head: Line | None
    """What happened to the object as a whole."""
    lines: tuple[Line, ...]


def group_changes(changes: Iterable[Change], quote: Quote) -> Iterator[Group]:
    """Changes by object, in their order."""
    for (path, _), found in groupby(changes, key=lambda each: (each.object, each.file_id)):
        every = list(found)
        whole = [each for each in every if each.part is Part.OBJECT]
        head = _line(whole[0], quote) if whole else None
        rest = [*whole[1:], *(each for each in every if each.part is not Part.OBJECT)]
        yield Group(title=path, head=head, lines=tuple(_line(each, quote) for each in rest))


def _line(change: Change, quote: Quote) -> Line:
    return Line(action=change.action, text=_SENTENCES[change.part](change, quote))


def _object(change: Change, quote: Quote) -> str:
    source = f" (instance of {quote(change.source)})" if change.source else ""
    if change.action is Action.MOVED:
        return f"moved from {_parent(change.before, quote)} to {_parent(change.after, quote)}{source}"
    if change.action is Action.REORDERED:
        return f"{change.property} reordered: {quote(change.before or '')} → {quote(change.after or '')}"
    return f"{change.action.value}{source}"


def _parent(path: str | None, quote: Quote) -> str:
    return quote(path) if path else "the root"


def _component(change: Change, quote: Quote) -> str:
    if change.action is Action.MOVED:
        return f"component {quote(change.component)} moved from {quote(change.before or '')}"
    if change.action is Action.REORDERED:
        return f"components reordered: {quote(change.before or '')} → {quote(change.after or '')}"
    return f"component {quote(change.component)} {change.action.value}"


def _field(change: Change, quote: Quote) -> str:
    return f"{quote(_property(change))}: {_values(change, quote)}"


def _override(change: Change, quote: Quote) -> str:
    what = {Action.ADDED: "new override", Action.REMOVED: "override reverted", Action.CHANGED: "override"}
    return f"{what[change.action]} {quote(_property(change))}: {_values(change, quote)}"


def _property(change: Change) -> str:
    return f"{change.component}.{change.property}" if change.component else change.property


def _values(change: Change, quote: Quote) -> str:
    shown = [quote(each) if each is not None else "(unset)" for each in (change.before, change.after)]
    return " → ".join(shown)


_SENTENCES: Final[dict[Part, Callable[[Change, Quote], str]]] = {
    Part.OBJECT: _object,
    Part.COMPONENT: _component,
    Part.FIELD: _field,
    Part.OVERRIDE: _override,
}


def summarise(diff: ProjectDiff) -> str:
    """`2 files: 1 object added, 3 fields changed`."""
    counts = Counter((each.part, each.action) for file in diff.files for each in file.changes)
    parts = [
        f"{count(counts[part, action], part.value)} {action.value}"
        for part in Part
        for action in Action
        if counts[part, action]
    ]
    omitted = sum(each.omitted for each in diff.files)
    parts += [f"{count(omitted, 'more change')} not listed"] if omitted else []
    skipped = sum(1 for each in diff.files if each.problem)
    parts += [f"{count(skipped, 'file')} not fully compared"] if skipped else []
    return f"{count(len(diff.files), 'file')}: {', '.join(parts)}" if parts else count(len(diff.files), "file")


def describe_file(file: FileDiff, quote: Quote) -> str:
    """`Assets/Main.unity (modified)`."""
    origin = f", was {quote(file.old_path)}" if file.old_path else ""
    return f"{quote(file.path)} ({file.status.value}{origin})"


def file_notes(file: FileDiff) -> Iterator[str]:
    """What is to be said about a file besides its changes."""
    if file.problem:
        yield f"Not fully compared: {file.problem}"
    elif not file.changes and not file.old_path:
        yield "Only the formatting changed"
    if file.omitted:
        yield f"{file.omitted:,} more changes are not listed"

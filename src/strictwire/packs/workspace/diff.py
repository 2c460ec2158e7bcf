"""What a plan changed, as unified diffs: from the ledger's hashes and the bytes that the archive kept. Pure but for those.

What the archive has no longer, and no file holds either, is told in a line that begins with `#`; the rest is a patch that
`git apply` and `patch -p1` take.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from strictwire.packs.kit.text import NotText, decode
from strictwire.packs.workspace.ledger import STOOD, Change, Traced

NOWHERE: Final = "/dev/null"
_NO_END: Final = "\\ No newline at end of file\n"

FindBytes = Callable[[str], bytes | None]
"""Hash to bytes, where they can be had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Net:
    """What became of one path from the first change to the last."""

    path: str
    before: str | None
    after: str | None
    is_shared: bool
    """Whether someone outside the plan changed it in between, so that the diff holds their part too."""


def render_net(changes: Iterable[Change], find: FindBytes) -> str:
    """One diff a path."""
    return "".join(part for each in net_changes(changes) for part in _net(each, find))


def render_each(changes: Iterable[Change], find: FindBytes) -> str:
    """One diff a path for every change, in order."""
    return "".join(part for change in changes if change.ended == STOOD for part in _change(change, find))


def net_changes(changes: Iterable[Change]) -> list[Net]:
    """By path; what is in the end as it was in the beginning is left out."""
    found: dict[str, Net] = {}
    for traced in (each for change in changes if change.ended == STOOD for each in change.files):
        old = found.get(traced.path)
        shared = old is not None and (old.is_shared or old.after != traced.before)
        before = traced.before if old is None else old.before
        found[traced.path] = Net(path=traced.path, before=before, after=traced.after, is_shared=shared)
    return [found[path] for path in sorted(found) if found[path].before != found[path].after]


def _net(net: Net, find: FindBytes) -> Iterator[str]:
    if net.is_shared:
        yield f"# {_name(net.path)}: others changed it between two changes of the plan; their part is in this diff\n"
    yield from _diff(Traced(path=net.path, operation="", before=net.before, after=net.after), find)


def _change(change: Change, find: FindBytes) -> Iterator[str]:
    yield f"# {change.at} {change.phase_id} {change.tool} by {_name(change.principal)}\n"
    for traced in change.files:
        yield from _diff(traced, find)


def _diff(traced: Traced, find: FindBytes) -> Iterator[str]:
    name = _name(traced.path)
    sides = [_side(sha256, find) for sha256 in (traced.before, traced.after)]
    if None in sides:
        missing = traced.before if sides[0] is None else traced.after
        yield f"# {name}: the content with SHA-256 {missing} was not kept\n"
        return
    try:
        old, new = (decode(each or b"") for each in sides)
    except NotText:
        yield f"# {name}: not text, {traced.before or 'no file'} -> {traced.after or 'no file'}\n"
        return
    headers = (NOWHERE if traced.before is None else f"a/{name}", NOWHERE if traced.after is None else f"b/{name}")
    lines = difflib.unified_diff(_lines(old), _lines(new), *headers)
    yield from (_ended(line) for line in lines)


def _side(sha256: str | None, find: FindBytes) -> bytes | None:
    return b"" if sha256 is None else find(sha256)


def _lines(text: str) -> list[str]:
    """By line feeds alone: other characters that end lines elsewhere are part of a line here."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    return [*lines, last] if last else lines


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n{_NO_END}"


def _name(name: str) -> str:
    """A name that a terminal shows and does not obey."""
    return name if name.isprintable() else ascii(name)[1:-1]

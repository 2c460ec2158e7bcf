"""Unified diffs of what a plan changed, from the hashes in the ledger and the contents in the archive.

A content that neither the archive nor a file has any more is reported in a line that begins with `#`. The rest is a patch
for `git apply` and `patch -p1`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from strictwire.packs.kit.text import NotText, decode
from strictwire.packs.workspace.ledger import APPLIED, Change, FileRecord

NO_FILE: Final = "/dev/null"
_NO_NEWLINE: Final = "\\ No newline at end of file\n"

FindBytes = Callable[[str], bytes | None]
"""Returns the bytes with a hash, or None if they are not available."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetChange:
    """The difference of one path between the first change and the last."""

    path: str
    before: str | None
    after: str | None
    is_shared: bool
    """Whether the file was changed outside the plan in between; the diff then includes that change."""


def render_net(changes: Iterable[Change], find: FindBytes) -> str:
    """Return one diff per path."""
    return "".join(part for each in net_changes(changes) for part in _net(each, find))


def render_each(changes: Iterable[Change], find: FindBytes) -> str:
    """Return one diff per path for every change, in order."""
    return "".join(part for change in changes if change.ended == APPLIED for part in _change(change, find))


def net_changes(changes: Iterable[Change]) -> list[NetChange]:
    """Return the net changes by path. A path that ends as it began is left out."""
    found: dict[str, NetChange] = {}
    for record in (each for change in changes if change.ended == APPLIED for each in change.files):
        old = found.get(record.path)
        shared = old is not None and (old.is_shared or old.after != record.before)
        before = record.before if old is None else old.before
        found[record.path] = NetChange(path=record.path, before=before, after=record.after, is_shared=shared)
    return [found[path] for path in sorted(found) if found[path].before != found[path].after]


def _net(net: NetChange, find: FindBytes) -> Iterator[str]:
    if net.is_shared:
        yield f"# {_name(net.path)}: changed outside the plan between two changes of the plan; this diff includes that\n"
    yield from _diff(FileRecord(path=net.path, operation="", before=net.before, after=net.after), find)


def _change(change: Change, find: FindBytes) -> Iterator[str]:
    yield f"# {change.at} {change.phase_id} {change.tool} by {_name(change.principal)}\n"
    for record in change.files:
        yield from _diff(record, find)


def _diff(record: FileRecord, find: FindBytes) -> Iterator[str]:
    name = _name(record.path)
    sides = [_side(sha256, find) for sha256 in (record.before, record.after)]
    if None in sides:
        missing = record.before if sides[0] is None else record.after
        yield f"# {name}: the content with SHA-256 {missing} is not available\n"
        return
    try:
        old, new = (decode(each or b"") for each in sides)
    except NotText:
        yield f"# {name}: not text, {record.before or 'no file'} -> {record.after or 'no file'}\n"
        return
    headers = (NO_FILE if record.before is None else f"a/{name}", NO_FILE if record.after is None else f"b/{name}")
    lines = difflib.unified_diff(_lines(old), _lines(new), *headers)
    yield from (_with_newline(line) for line in lines)


def _side(sha256: str | None, find: FindBytes) -> bytes | None:
    return b"" if sha256 is None else find(sha256)


def _lines(text: str) -> list[str]:
    """Split at line feeds only: other characters that end a line in Unicode are part of a line in a patch."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    return [*lines, last] if last else lines


def _with_newline(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}"


def _name(name: str) -> str:
    """Escape a name with control characters, which a terminal would interpret."""
    return name if name.isprintable() else ascii(name)[1:-1]

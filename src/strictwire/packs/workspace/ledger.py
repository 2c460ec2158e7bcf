"""What was changed under each plan, by hash: one file a plan in the state folder, appended to and never rewritten.

A change has two lines: `begin` before the first byte is changed, `end` when it stands or was undone. The second holds the
answer of the tool to the byte, and its digest is in the audit trail: an entry that was altered shows. A change without an
end was cut off by a death; what its files hold says what became of it.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from strictwire.canon.digest import digest, digest_bytes
from strictwire.canon.json import JsonObject, NotStrict, parse_object, render
from strictwire.fault.failure import Refused
from strictwire.packs.workspace.archive import Archive
from strictwire.packs.workspace.book import Session
from strictwire.packs.workspace.content import sha256_of
from strictwire.packs.workspace.moments import render_moment
from strictwire.packs.workspace.plans.model import Operation
from strictwire.packs.workspace.plans.scope import workspace_id
from strictwire.packs.workspace.refusal import refuse

MAX_CHANGES: Final = 20_000
"""Changes of one plan that are read; a plan that needs more is several plans."""

STOOD: Final = "stood"
UNDONE: Final = "undone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """What becomes of one path; None where there is no file."""

    path: str
    operation: Operation
    old: bytes | None
    new: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """The same, by hash."""

    path: str
    operation: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change as it was noted."""

    change: str
    """Its name here."""
    at: str
    session_id: str
    principal: str
    role: str
    tool: str
    plan_hash: str
    phase_id: str
    args_digest: str
    """Of the call's arguments, as its records have it."""
    files: tuple[Traced, ...]
    ended: str | None = None
    """`stood`, `undone`, or None: cut off."""
    answer: str | None = None
    """What the tool answered, to the byte."""

    @property
    def digest(self) -> str | None:
        """The digest of the answer, as the audit trail has it."""
        return None if self.answer is None else digest_bytes(self.answer.encode())


class Pen:
    """In the hand of whoever makes a change."""

    def __init__(self) -> None:
        self.answer: bytes | None = None

    def stood(self, answer: JsonObject) -> JsonObject:
        """The change stands, and this is what its caller is told; returned as it is."""
        self.answer = render(answer)
        return answer


class Ledger:
    """See the module. `now` gives seconds since 1970."""

    def __init__(self, folder: Path, archive: Archive, *, now: Callable[[], float]) -> None:
        self._folder = folder
        self._now = now
        self.archive: Final = archive
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    @contextmanager
    def noting(self, session: Session, arguments: JsonObject, tool: str, touches: list[Touch]) -> Iterator[Pen]:
        """Note a change before it is made, and how it ended. Raises OSError: it cannot be noted; then it is not made."""
        for touch in touches:
            self.archive.put(touch.old)
            self.archive.put(touch.new)
        begin = Change(
            change=secrets.token_hex(16),
            at=render_moment(self._now()),
            session_id=session.id,
            principal=session.principal,
            role=session.role.value,
            tool=tool,
            plan_hash=str(arguments["plan_hash"]),
            phase_id=str(arguments["phase_id"]),
            args_digest=digest(arguments),
            files=tuple(_traced(touch) for touch in touches),
        )
        path = self._path(workspace_id(session.root), begin.plan_hash)
        path.parent.mkdir(exist_ok=True, mode=0o700)
        members = asdict(begin)
        _append(path, {name: members[name] for name in _BEGIN} | {"kind": "begin"})
        pen = Pen()
        try:
            yield pen
        except BaseException as exc:
            if not _is_left_half(exc):
                # What is raised says more than that its note could not be kept.
                with suppress(OSError):
                    _append(path, {"change": begin.change, "ended": UNDONE, "answer": None, "kind": "end"})
            raise
        answer = None if pen.answer is None else pen.answer.decode()
        _append_durably(path, {"change": begin.change, "ended": STOOD, "answer": answer, "kind": "end"})

    def read(self, workspace: str, plan_hash: str) -> tuple[Change, ...]:
        """The changes under a plan, in the order they began. Raises Refused: CAP_EXCEEDED; OSError."""
        found: dict[str, Change] = {}
        for line in _lines(self._path(workspace, plan_hash)):
            name = str(line.get("change"))
            begun = _maybe_change(line) if line.get("kind") == "begin" else None
            if begun is not None:
                found[name] = begun
            elif name in found:
                found[name] = replace(found[name], ended=line.get("ended"), answer=line.get("answer"))
            if len(found) > MAX_CHANGES:
                raise refuse("CAP_EXCEEDED", f"The plan has more than {MAX_CHANGES} changes", "too_many", limit=MAX_CHANGES)
        return tuple(found.values())

    def plans(self, workspace: str) -> list[str]:
        """The hashes of the plans under which something was changed, sorted."""
        return sorted(path.stem for path in (self._folder / workspace).glob("*.jsonl"))

    def _path(self, workspace: str, plan_hash: str) -> Path:
        return self._folder / workspace / f"{plan_hash}.jsonl"


def settle(changes: tuple[Change, ...], now: Callable[[str], str | None]) -> tuple[Change, ...]:
    """The same changes, those that were cut off with what became of them, where that can be told.

    A later change of a path has seen what was left of it; where there is none, `now` gives the hash of the file.
    """
    seen: dict[str, str | None] = {}
    settled: list[Change] = []
    for each in reversed(changes):
        found = [seen[traced.path] if traced.path in seen else now(traced.path) for traced in each.files]
        change = each if each.ended is not None else replace(each, ended=_maybe_end(each, found))
        if change.ended != UNDONE:
            seen |= {traced.path: traced.before for traced in change.files}
        settled.append(change)
    return tuple(reversed(settled))


def _maybe_end(change: Change, found: list[str | None]) -> str | None:
    if found == [each.after for each in change.files]:
        return STOOD
    return UNDONE if found == [each.before for each in change.files] else None


_BEGIN: Final = tuple(name for name in Change.__slots__ if name not in ("ended", "answer"))


def _traced(touch: Touch) -> Traced:
    return Traced(
        path=touch.path,
        operation=touch.operation.value,
        before=None if touch.old is None else sha256_of(touch.old),
        after=None if touch.new is None else sha256_of(touch.new),
    )


def _is_left_half(exc: BaseException) -> bool:
    """Whether a change could not be undone: then nobody knows yet what its files hold."""
    return isinstance(exc, Refused) and exc.failure.code == "INVARIANT_VIOLATION"


def _maybe_change(line: dict[str, Any]) -> Change | None:
    try:
        files = tuple(Traced(**each) for each in line["files"])
        return Change(**({name: line[name] for name in _BEGIN} | {"files": files}))
    except (KeyError, TypeError):
        return None


def _append(path: Path, members: JsonObject) -> None:
    """A power cut before the next `_append_durably` may lose it; then the trail's intent tells that a call was cut off."""
    with _opened(path) as handle:
        _write(handle, members)


def _append_durably(path: Path, members: JsonObject) -> None:
    with _opened(path) as handle:
        _write(handle, members)
        os.fdatasync(handle)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        yield handle
    finally:
        os.close(handle)


def _write(handle: int, members: JsonObject) -> None:
    size = os.fstat(handle).st_size
    # A death may have left a line without its end; the next one does not become part of it.
    is_torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
    line = (b"\n" if is_torn else b"") + render(members) + b"\n"
    if os.write(handle, line) < len(line):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _lines(path: Path) -> Iterator[JsonObject]:
    """What is not a line of ours is passed over: the audit trail tells that it is missing."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        for raw in file:
            with suppress(NotStrict):
                yield parse_object(raw.rstrip(b"\n"))

"""The ledger: what was changed under each plan, by hash. One append-only file per plan in the state folder.

A change has two lines: `begin` before the first byte is changed, and `end` after it was applied or undone. The second line
holds the exact answer of the tool. The audit trail has the digest of that answer, so tampering with an entry is detected.
If the process died in between, the `end` line is missing; the current content of the files then shows the outcome.
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
from strictwire.packs.workspace.content import sha256_of
from strictwire.packs.workspace.path_arguments import as_sent
from strictwire.packs.workspace.plans.model import Operation
from strictwire.packs.workspace.plans.scope import workspace_id
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.session_store import Session
from strictwire.packs.workspace.timestamps import render_timestamp

MAX_CHANGES: Final = 20_000
"""Most changes of one plan that are read. Work that needs more should be split into several plans."""

APPLIED: Final = "stood"
UNDONE: Final = "undone"
"""Values of `ended`. They are stored in ledgers and appear in answers, so they must not change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """What a change does to one path; None if there is no file."""

    path: str
    operation: Operation
    old: bytes | None
    new: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRecord:
    """The same by hash, as the ledger stores it."""

    path: str
    operation: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change in the ledger."""

    change: str
    """Its id in the ledger."""
    at: str
    session_id: str
    principal: str
    role: str
    tool: str
    plan_hash: str
    phase_id: str
    args_digest: str
    """Digest of the arguments of the call, as in its audit records."""
    files: tuple[FileRecord, ...]
    ended: str | None = None
    """APPLIED, UNDONE, or None if the process died."""
    answer: str | None = None
    """The exact answer of the tool."""

    @property
    def digest(self) -> str | None:
        """The digest of the answer, as in the audit trail."""
        return None if self.answer is None else digest_bytes(self.answer.encode())


class LedgerEntry:
    """An open entry of the ledger, while its change is being made."""

    def __init__(self) -> None:
        self.answer: bytes | None = None

    def complete(self, answer: JsonObject) -> JsonObject:
        """Set the answer of the tool and mark the change as applied. Returns the answer."""
        self.answer = render(answer)
        return answer


class Ledger:
    """See the module docstring. `now` returns seconds since 1970."""

    def __init__(self, folder: Path, archive: Archive, *, now: Callable[[], float]) -> None:
        self._folder = folder
        self._now = now
        self.archive: Final = archive
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    @contextmanager
    def record(self, session: Session, arguments: JsonObject, tool: str, changes: list[FileChange]) -> Iterator[LedgerEntry]:
        """Record a change before the block makes it, and its outcome afterwards.

        Raises OSError if it cannot be recorded beforehand; the block then does not run.
        """
        for each in changes:
            self.archive.put(each.old)
            self.archive.put(each.new)
        begin = Change(
            change=secrets.token_hex(16),
            at=render_timestamp(self._now()),
            session_id=session.id,
            principal=session.principal,
            role=session.role.value,
            tool=tool,
            plan_hash=str(arguments["plan_hash"]),
            phase_id=str(arguments["phase_id"]),
            args_digest=digest(as_sent(arguments)),
            files=tuple(_file_record(each) for each in changes),
        )
        path = self._path(workspace_id(session.root), begin.plan_hash)
        path.parent.mkdir(exist_ok=True, mode=0o700)
        members = asdict(begin)
        _append(path, {name: members[name] for name in _BEGIN} | {"kind": "begin"})
        entry = LedgerEntry()
        try:
            yield entry
        except BaseException as exc:
            if not _is_half_done(exc):
                # The original exception says more than a failure to write this line.
                with suppress(OSError):
                    _append(path, {"change": begin.change, "ended": UNDONE, "answer": None, "kind": "end"})
            raise
        answer = None if entry.answer is None else entry.answer.decode()
        _append_durably(path, {"change": begin.change, "ended": APPLIED, "answer": answer, "kind": "end"})

    def read(self, workspace: str, plan_hash: str) -> tuple[Change, ...]:
        """Return the changes under a plan in the order they began. Raises Refused: CAP_EXCEEDED; OSError."""
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
        """Return the hashes of all plans with changes, sorted."""
        return sorted(path.stem for path in (self._folder / workspace).glob("*.jsonl"))

    def _path(self, workspace: str, plan_hash: str) -> Path:
        return self._folder / workspace / f"{plan_hash}.jsonl"


def resolve_unfinished(changes: tuple[Change, ...], now: Callable[[str], str | None]) -> tuple[Change, ...]:
    """Return the changes with the outcome of unfinished ones filled in, as far as it can be determined.

    A later change of the same path has recorded what it found. If there is none, `now` returns the current hash of the file.
    """
    seen: dict[str, str | None] = {}
    resolved: list[Change] = []
    for each in reversed(changes):
        found = [seen[file.path] if file.path in seen else now(file.path) for file in each.files]
        change = each if each.ended is not None else replace(each, ended=_maybe_end(each, found))
        if change.ended != UNDONE:
            seen |= {file.path: file.before for file in change.files}
        resolved.append(change)
    return tuple(reversed(resolved))


def _maybe_end(change: Change, found: list[str | None]) -> str | None:
    if found == [each.after for each in change.files]:
        return APPLIED
    return UNDONE if found == [each.before for each in change.files] else None


_BEGIN: Final = tuple(name for name in Change.__slots__ if name not in ("ended", "answer"))
"""Members of a `begin` line."""


def _file_record(change: FileChange) -> FileRecord:
    return FileRecord(
        path=change.path,
        operation=change.operation.value,
        before=None if change.old is None else sha256_of(change.old),
        after=None if change.new is None else sha256_of(change.new),
    )


def _is_half_done(exc: BaseException) -> bool:
    """Return whether a change could not be undone. Its outcome is then unknown, so no `end` line is written."""
    return isinstance(exc, Refused) and exc.failure.code == "INVARIANT_VIOLATION"


def _maybe_change(line: dict[str, Any]) -> Change | None:
    try:
        files = tuple(FileRecord(**each) for each in line["files"])
        return Change(**({name: line[name] for name in _BEGIN} | {"files": files}))
    except (KeyError, TypeError):
        return None


def _append(path: Path, members: JsonObject) -> None:
    """Append without a sync. A power failure may lose the line; the intent in the audit trail still shows the call."""
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
    # If the process died during a write, the last line has no newline. Start a new line then.
    is_torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
    line = (b"\n" if is_torn else b"") + render(members) + b"\n"
    if os.write(handle, line) < len(line):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _lines(path: Path) -> Iterator[JsonObject]:
    """Yield the lines that parse. Damaged lines are skipped; the audit trail shows that they are missing."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        for raw in file:
            with suppress(NotStrict):
                yield parse_object(raw.rstrip(b"\n"))

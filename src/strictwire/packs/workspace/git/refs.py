"""The current branch: what HEAD points to, and moving it. Only branches are followed, and only by names that git accepts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from dulwich.refs import Ref, check_ref_format

from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail
from strictwire.packs.kit.path import parse_path
from strictwire.packs.kit.root import Links
from strictwire.packs.kit.staging import Existing
from strictwire.packs.workspace.file_operations import make_folders, remove_file
from strictwire.packs.workspace.git.damage import busy, damaged, unsupported
from strictwire.packs.workspace.refusal import refuse

_MAX_REF: Final = 4096
_MAX_PACKED: Final = 64 * 1024 * 1024
"""Largest packed-refs: about a million branches and tags."""

_MAX_LOG: Final = 16 * 1024 * 1024
"""Largest reflog that is extended. A commit does not depend on its reflog."""

_ABSENT: Final = frozenset({"FILE_NOT_FOUND", "PATH_NOT_FOUND"})
_OBJECT: Final = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The current branch."""

    ref: str
    """`refs/heads/<name>`, or HEAD if no branch is checked out."""
    commit: str | None
    """None if the branch has no commit yet."""


def read_head(jail: Jail) -> Head:
    """Read HEAD and its branch. Raises Refused: FILE_WRITE_FAILED."""
    text = _maybe_text(jail, "HEAD")
    if text is None:
        raise damaged("HEAD")
    if not text.startswith("ref:"):
        return Head(ref="HEAD", commit=_object(text, "HEAD"))
    ref = text.removeprefix("ref:").strip()
    if not ref.startswith("refs/heads/") or not ref.isprintable() or not check_ref_format(Ref(ref.encode())):
        raise damaged("HEAD")
    return Head(ref=ref, commit=_maybe_commit(jail, ref))


def move(jail: Jail, head: Head, commit: str, *, logged: str) -> None:
    """Let the branch point to a commit, if it is still where `head` says. `logged` is the end of the reflog line.

    Raises Refused: FILE_WRITE_FAILED.
    """
    make_folders(jail, parse_path(f".git/{head.ref}"))
    with locked(jail, head.ref):
        if read_head(jail) != head:
            raise refuse("FILE_WRITE_FAILED", "The branch was changed in the meantime; call commit_phase again", "moved")
        jail.write(f".git/{head.ref}", f"{commit}\n".encode())
    line = f"{head.commit or '0' * len(commit)} {commit} {logged}\n".encode()
    for ref in sorted({head.ref, "HEAD"}):
        with suppress(Refused):
            _log(jail, f".git/logs/{ref}", line)


@contextmanager
def locked(jail: Jail, name: str) -> Iterator[None]:
    """Hold git's lock on a file of the repository. Raises Refused: FILE_WRITE_FAILED if another process has it."""
    path = f".git/{name}.lock"
    try:
        jail.write(path, b"", Existing.REFUSE)
    except Refused as exc:
        raise (busy(path) if exc.failure.code == "FILE_ALREADY_EXISTS" else damaged(name)) from exc
    try:
        yield
    finally:
        remove_file(jail, parse_path(path))


def _maybe_commit(jail: Jail, ref: str) -> str | None:
    text = _maybe_text(jail, ref)
    if text is not None and text.startswith("ref:"):
        raise unsupported("a branch that is an alias of another branch", "check out the other branch")
    return _object(text, ref) if text is not None else _maybe_packed(jail, ref)


def _maybe_packed(jail: Jail, ref: str) -> str | None:
    text = _maybe_text(jail, "packed-refs", limit=_MAX_PACKED)
    for line in (text or "").split("\n"):
        name, _, found = line.partition(" ")
        if found == ref and not line.startswith(("#", "^")):
            return _object(name, ref)
        if found.startswith(f"{ref}/") or (found and ref.startswith(f"{found}/")):
            # A branch cannot have the name of a folder of branches.
            raise damaged("HEAD")
    return None


def _maybe_text(jail: Jail, name: str, limit: int = _MAX_REF) -> str | None:
    """Return a file of the repository without its last newline; None if it is absent. Raises Refused."""
    try:
        return jail.read(f".git/{name}", limit=limit, links=Links.NEVER).decode().rstrip("\n")
    except UnicodeDecodeError as exc:
        raise damaged(name) from exc
    except Refused as exc:
        if exc.failure.code in _ABSENT:
            return None
        raise damaged(name) from exc


def _object(text: str, where: str) -> str:
    if not _OBJECT.fullmatch(text):
        raise damaged(where)
    return text


def _log(jail: Jail, path: str, line: bytes) -> None:
    """Add a line to a reflog. The file is replaced, because it may be a hard link to a file elsewhere."""
    make_folders(jail, parse_path(path))
    try:
        old = jail.read(path, limit=_MAX_LOG, links=Links.NEVER)
    except Refused as exc:
        if exc.failure.code not in _ABSENT:
            raise
        old = b""
    jail.write(path, old + line)

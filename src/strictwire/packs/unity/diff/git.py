"""Reads versions of files from a git repository: one program, fixed arguments, no shell, no hooks, no filters, no network.

Only object commands are used (`rev-parse`, `ls-tree`, `cat-file`), which run nothing that a repository can configure.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Final, NamedTuple, Self

WORKTREE: Final = "."
"""In place of a ref: the files on disk. No ref can have this name."""

SECONDS: Final = 60.0
"""For one command."""

MAX_BLOB: Final = 256 * 1024 * 1024
"""Bytes of one file that are read."""

_SAFE: Final = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never", "-c", "core.pager=cat",
)  # fmt: skip
"""Settings that go before those of the repository. Without a protocol, a partial clone fetches nothing."""

_FILES: Final = frozenset({"100644", "100755"})
"""Modes of ordinary files. Links and submodules are passed over."""


class GitRefused(Exception):
    """The repository or ref cannot be read; the text says why."""


class Blob(NamedTuple):
    """One file of a version."""

    oid: str


class Repository:
    """One repository. Reads objects through a single process."""

    def __init__(self, folder: Path) -> None:
        """Find the repository around a folder. Raises GitRefused."""
        start = folder if folder.is_dir() else folder.parent
        top = _run(["git", *_SAFE, "-C", str(start), "rev-parse", "--show-toplevel"]).decode("utf-8", "replace").rstrip("\n")
        self.root = Path(top)
        self._reader: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def resolve(self, ref: str) -> str:
        """The commit of a ref. Raises GitRefused: there is none."""
        if not ref or ref.startswith("-") or "\0" in ref:
            raise GitRefused(f"{ref!r} is not a git ref")
        try:
            found = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        except GitRefused:
            raise GitRefused(f"no commit {ref!r} in {self.root.name}; fetch it, or check the name") from None
        return found.decode().strip()

    def files(self, commit: str) -> Mapping[str, Blob]:
        """Every file of a commit, by path."""
        listing = self._git("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit)
        found: dict[str, Blob] = {}
        for row in listing.split(b"\0"):
            fields, _, path = row.partition(b"\t")
            mode, _, oid = fields.decode("ascii", "replace").partition(" blob ")
            if path and mode in _FILES:
                with suppress(UnicodeDecodeError):
                    found[path.decode()] = Blob(oid)
        return MappingProxyType(found)

    def read(self, blob: Blob) -> bytes:
        """The content of a file. Raises GitRefused: it is not in the repository, or too large."""
        process = self._open()
        if process.stdin is None or process.stdout is None:
            raise GitRefused("git did not start")
        try:
            process.stdin.write(f"{blob.oid}\n".encode())
            process.stdin.flush()
            head = process.stdout.readline().split()
        except OSError as exc:
            raise GitRefused("git ended unexpectedly") from exc
        if len(head) != 3:
            raise GitRefused("a file is missing from the repository; a shallow or partial clone may need git fetch")
        size = int(head[2])
        if size > MAX_BLOB:
            self.close()
            raise GitRefused(f"a file of {size:,} bytes is larger than is read")
        content = process.stdout.read(size)
        process.stdout.read(1)
        return content

    def close(self) -> None:
        """End the process that reads objects."""
        process, self._reader = self._reader, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        try:
            process.wait(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _open(self) -> subprocess.Popen[bytes]:
        if self._reader is None:
            command = ["git", *_SAFE, "-C", str(self.root), "cat-file", "--batch"]
            try:
                self._reader = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
                )
            except OSError as exc:
                raise GitRefused("git is not installed") from exc
        return self._reader

    def _git(self, *arguments: str) -> bytes:
        return _run(["git", *_SAFE, "-C", str(self.root), *arguments])


def blob_id(content: bytes, digits: int) -> str:
    """The id that git gives a file of this content, in a repository whose ids have so many digits."""
    hashed = hashlib.sha256 if digits == 64 else hashlib.sha1
    return hashed(b"blob %d\0" % len(content) + content).hexdigest()


def _run(command: list[str]) -> bytes:
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL)
    except OSError as exc:
        raise GitRefused("git is not installed") from exc
    except subprocess.TimeoutExpired as exc:
        raise GitRefused(f"git did not answer within {SECONDS:g} s") from exc
    if done.returncode != 0:
        reason = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise GitRefused(reason.removeprefix("fatal: ") or f"git exited {done.returncode}")
    return done.stdout

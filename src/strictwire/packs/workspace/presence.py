"""Open sessions and settings of each server process, one file each in the state folder, for `strictwire workspace`.

A process holds a lock on its file while it runs, so a file that can be locked is left over from a dead process. Session ids
are shortened: a reader of the folder sees who works, but cannot use their sessions.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from strictwire.canon.digest import digest
from strictwire.canon.json import JsonObject, JsonValue, render
from strictwire.packs.kit.path import is_within
from strictwire.packs.workspace.session_store import Session
from strictwire.packs.workspace.state_files import StateDamaged, read_state
from strictwire.packs.workspace.timestamps import render_timestamp

_SHORT: Final = 8
"""Characters of a session id that are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Open:
    """An open session."""

    session: str
    pid: int
    principal: str
    role: str
    root: str
    expires_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Process:
    """The content of a file."""

    pid: int
    settings: str
    roots: tuple[str, ...]
    sessions: tuple[_Open, ...]


class PresenceFile:
    """The file of this process. Call `close` when the process ends."""

    def __init__(self, folder: Path, *, settings: Mapping[str, JsonValue], roots: tuple[str, ...]) -> None:
        """Writes the file. `settings` are those that the process runs with; only their digest is written."""
        self._about: JsonObject = {"pid": os.getpid(), "settings": digest(dict(settings)), "roots": list(roots)}
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path = folder / f"{os.getpid()}-{secrets.token_hex(4)}.json"
        self._lock = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.write(())

    def write(self, sessions: tuple[Session, ...]) -> None:
        """Write the open sessions. A full disk is ignored: it must not stop the server."""
        draft = self._path.with_suffix(".draft")
        with suppress(OSError):
            draft.write_bytes(render(self._about | {"sessions": [asdict(_as_open(each)) for each in sessions]}))
            draft.rename(self._path)

    def close(self) -> None:
        """Delete the file and release its lock."""
        for path in (self._path, self._path.with_suffix(".draft"), self._path.with_suffix(".lock")):
            path.unlink(missing_ok=True)
        os.close(self._lock)


def read_presence(folder: Path, root: str) -> list[JsonObject]:
    """Read the sessions of all server processes in a workspace. Raises OSError."""
    return [asdict(each) for file in _live_files(folder) for each in file.sessions if each.root == root]


def find_outdated(folder: Path, root: str, settings: Mapping[str, JsonValue]) -> list[int]:
    """Return the process ids of servers that serve this workspace with other settings than these. Raises OSError."""
    current = digest(dict(settings))
    return [
        file.pid
        for file in _live_files(folder)
        if file.settings != current and any(is_within(root, each) for each in file.roots)
    ]


def _live_files(folder: Path) -> Iterator[_Process]:
    for path in sorted(folder.glob("*.json")):
        if _is_alive(path.with_suffix(".lock")):
            with suppress(FileNotFoundError, StateDamaged):
                yield read_state(path, _Process)


def _is_alive(lock: Path) -> bool:
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _as_open(session: Session) -> _Open:
    return _Open(
        session=session.id[:_SHORT],
        pid=os.getpid(),
        principal=session.principal,
        role=session.role.value,
        root=session.root,
        expires_at=render_timestamp(session.expires),
    )

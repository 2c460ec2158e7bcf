"""Who is there, for people: the sessions and locks of every server process of this user, told in files of the state folder.

A process holds the lock of its file while it lives, so a file that can be locked is that of a process that died. Handles of
sessions are not told: whoever reads the folder learns who works, not how to take their place.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject, NotStrict, parse_object, render
from strictwire.packs.workspace.book import Bound, Session, Standing
from strictwire.packs.workspace.moments import render_moment

_SHORT: Final = 8
"""Characters of a session's handle that are told."""


class Roster:
    """Tells of one process. `close` when it ends."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path = folder / f"{os.getpid()}-{secrets.token_hex(4)}.json"
        self._lock = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def tell(self, standing: Standing) -> None:
        """Write who is there now. A disk that is full keeps nobody from working."""
        draft = self._path.with_suffix(".draft")
        with suppress(OSError):
            draft.write_bytes(render(_as_json(standing)))
            draft.rename(self._path)

    def close(self) -> None:
        """The process ends."""
        for path in (self._path, self._path.with_suffix(".draft"), self._path.with_suffix(".lock")):
            path.unlink(missing_ok=True)
        os.close(self._lock)


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """What the processes tell about one workspace."""

    sessions: tuple[JsonObject, ...]
    locks: tuple[JsonObject, ...]


def read_roster(folder: Path, root: str) -> Present:
    """Who is in a workspace. Raises OSError."""
    told = list(_living(folder))
    sessions = [each for one in told for each in one["sessions"] if each["root"] == root]
    locks = [each for one in told for each in one["locks"] if each["root"] == root]
    return Present(sessions=tuple(sessions), locks=tuple(locks))


def _living(folder: Path) -> Iterator[JsonObject]:
    for path in sorted(folder.glob("*.json")):
        if _is_alive(path.with_suffix(".lock")):
            with suppress(FileNotFoundError, NotStrict):
                yield parse_object(path.read_bytes())


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


def _as_json(standing: Standing) -> JsonObject:
    return {"sessions": list(map(_session, standing.sessions)), "locks": list(map(_lock, standing.locks))}


def _session(session: Session) -> JsonObject:
    return {
        "session": session.id[:_SHORT],
        "pid": os.getpid(),
        "principal": session.principal,
        "role": session.role.value,
        "root": session.root,
        "expires_at": render_moment(session.expires),
    }


def _lock(bound: Bound) -> JsonObject:
    told = {"principal": bound.principal, "role": bound.role.value, "root": bound.root}
    return told | {"code": bound.lock.code, "tool": bound.lock.tool, "at": bound.lock.at}

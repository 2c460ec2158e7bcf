"""The open sessions, each with its root held by a descriptor, and the locks that outlive sessions.

A lock belongs to a principal, a role and a folder, not to a session id: a client cannot get rid of it by ending the session
and beginning another. Sessions are kept in the memory of this process, locks in files. Safe to call from any thread.
"""

from __future__ import annotations

import hashlib
import os
import threading
import uuid
import weakref
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from strictwire.canon.json import JsonValue
from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail, RootProblem, RootRefused
from strictwire.packs.kit.path import is_within
from strictwire.packs.workspace.grants import Grants
from strictwire.packs.workspace.lock_files import Lock, LockFiles, Owner
from strictwire.packs.workspace.path_arguments import path_of_uri
from strictwire.packs.workspace.protection import Protection
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.roles import Role
from strictwire.packs.workspace.stops import Stop, Stops
from strictwire.packs.workspace.timestamps import render_timestamp

MAX_SESSIONS: Final = 256
"""Most open sessions. Each holds a file descriptor, and most systems allow 1024 per process."""

OWN_FILES: Final = ("strictwire.toml", "strictwire.lock")
"""Settings and pinned contracts, if they are in the workspace. A change to them during a session must be noticed."""

_MAX_OWN_BYTES: Final = 4 * 1024 * 1024
"""Largest of these files that is hashed; a larger one counts as unreadable."""

_MAX_LISTED: Final = 20
"""Folders that a refusal lists."""

_PROBLEMS: Final = {
    RootProblem.NOT_ABSOLUTE: "workspace_root must be an absolute path",
    RootProblem.ABSENT: "workspace_root does not exist",
    RootProblem.NOT_A_FOLDER: "workspace_root is not a directory",
    RootProblem.DENIED: "workspace_root cannot be opened",
}


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True, eq=False)
class Session:
    """One session. Its root never changes."""

    id: str
    principal: str
    role: Role
    root: str
    """Absolute path with links resolved."""
    identity: tuple[int, int]
    """Device and inode of the root."""
    expires: float
    """Seconds since 1970."""
    pins: Mapping[str, str | None]
    """Hashes of OWN_FILES when the session began; None if a file was absent."""
    jail: Jail = field(repr=False)
    """For files that tools read and change. Refuses changes to protected files."""
    own: Jail = field(repr=False)
    """The same without a guard, for plans, reports and commits."""
    protection: Protection = field(repr=False)

    @property
    def owner(self) -> Owner:
        """To whom a lock of this session belongs."""
        return Owner(principal=self.principal, role=self.role.value, root=self.root, identity=self.identity)

    def is_root_unchanged(self) -> bool:
        """Return whether the path of the root still leads to the folder that was opened."""
        try:
            found = os.stat(self.root, follow_symlinks=False)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self.identity


OnChange: TypeAlias = Callable[[tuple[Session, ...]], None]
"""Called with the open sessions after every change."""


class SessionStore:
    """See the module docstring. `private` are the keys and logs of the server; `now` returns seconds since 1970."""

    def __init__(
        self,
        grants: Grants,
        *,
        private: tuple[Path, ...],
        locks: LockFiles,
        stops: Stops,
        now: Callable[[], float],
        on_change: OnChange = lambda _sessions: None,
    ) -> None:
        self._grants = grants
        self._private = private
        self._locks = locks
        self._stops = stops
        self._now = now
        self._on_change = on_change
        self._prompted: set[str] = set()
        self._sessions: dict[str, Session] = {}
        self._mutex = threading.Lock()

    def begin(self, principal: str, *, role: Role, root: str) -> Session:
        """Open a session. Raises Refused: INSUFFICIENT_PERMISSIONS, SESSION_INITIALIZATION_FAILED."""
        if principal not in self._grants.roles[role]:
            raise _role_not_granted(role, [each.value for each in Role if principal in self._grants.roles[each]])
        made = self._open(principal, role=role, root=root)
        with self._mutex:
            self._drop_expired()
            if len(self._sessions) < MAX_SESSIONS:
                self._sessions[made.id] = made
                self._on_change(tuple(self._sessions.values()))
                return made
        raise refuse("SESSION_INITIALIZATION_FAILED", "Too many sessions are open; end one first", "too_many")

    def find(self, session_id: object, principal: str) -> Session | None:
        """Return the open session with this id if it belongs to this principal, otherwise None."""
        with self._mutex:
            found = self._sessions.get(session_id) if isinstance(session_id, str) else None
        if found is None or found.principal != principal or self._now() >= found.expires:
            return None
        return found

    def end(self, session: Session) -> None:
        """Remove a session. Its root is closed when the last call that uses it has ended."""
        with self._mutex:
            self._sessions.pop(session.id, None)
            self._prompted.discard(session.id)
            self._on_change(tuple(self._sessions.values()))

    def lock(self, session: Session, *, code: str, tool: str) -> None:
        """Lock a session. If it is locked already, the first failure stays the one to report. Raises OSError."""
        made = Lock(code=code, tool=tool, session_id=session.id, at=render_timestamp(self._now()))
        self._locks.add(session.owner, made)

    def unlock(self, session: Session) -> None:
        """Remove the lock. Raises OSError."""
        self._locks.remove(session.owner)

    def maybe_lock(self, session: Session) -> Lock | None:
        """Return the lock of a session, or None. Raises OSError."""
        return self._locks.maybe_find(session.owner)

    def maybe_stop(self, session: Session) -> Stop | None:
        """Return the emergency stop that covers the root of a session, or None. Raises OSError."""
        return self._stops.maybe_find(session.root)

    def mark_prompt_read(self, session: Session) -> None:
        """Record that the session has read its prompt."""
        with self._mutex:
            self._prompted.add(session.id)

    def must_read_prompt(self, session: Session) -> bool:
        """Return whether the settings require the prompt to be read first and the session has not read it."""
        if not self._grants.require_prompt:
            return False
        with self._mutex:
            return session.id not in self._prompted

    def close(self) -> None:
        """Remove all sessions. Locks stay."""
        with self._mutex:
            self._sessions.clear()
            self._prompted.clear()

    def _open(self, principal: str, *, role: Role, root: str) -> Session:
        real, own = self._open_root(root)
        protection = Protection(real)
        status = own.stat(".")
        session = Session(
            id=str(uuid.uuid4()),
            principal=principal,
            role=role,
            root=real,
            identity=status.identity,
            expires=self._now() + self._grants.session_seconds,
            pins={name: hash_file(own, name) for name in OWN_FILES},
            jail=own.guarded(protection),
            own=own,
            protection=protection,
        )
        # A running call may still use the session after its end. The descriptor is closed with the last reference.
        weakref.finalize(session, own.close)
        if not self._is_inside_roots(real, status.identity) or not session.is_root_unchanged():
            raise self._outside_roots()
        with closing(own.enter(".")) as folder:
            problem = protection.find_root_problem(folder.descriptor, private=self._private)
        if problem is not None:
            raise refuse("SESSION_INITIALIZATION_FAILED", problem, "protected")
        return session

    def _open_root(self, given: str) -> tuple[str, Jail]:
        """Resolve and open a root. Outside the allowed folders the refusal is always the same: it must not tell callers
        which files exist there."""
        root = path_of_uri(given)
        if not os.path.isabs(root) or "\x00" in root:
            raise _root_refused(RootProblem.NOT_ABSOLUTE)
        try:
            real = os.path.realpath(root)
        except OSError as exc:
            # A link on the way was removed while it was read.
            raise self._outside_roots() from exc
        if not self._grants.covers(real):
            raise self._outside_roots()
        try:
            return real, Jail(real)
        except RootRefused as exc:
            raise _root_refused(exc.problem) from exc

    def _is_inside_roots(self, real: str, identity: tuple[int, int]) -> bool:
        """Return whether the folder that was opened is reached from an allowed folder without leaving it.

        A folder on the way may have been swapped for a link after the path was resolved: the path alone proves nothing."""
        return any(_is_below(each, real, identity) for each in self._grants.roots if is_within(real, each))

    def _outside_roots(self) -> Refused:
        """Return the refusal of a root outside the allowed folders. The caller has the role, so it may know the folders."""
        text = "workspace_root is not in an allowed folder; cause.allowed lists them"
        return refuse("SESSION_INITIALIZATION_FAILED", text, "not_allowed", allowed=list(self._grants.roots[:_MAX_LISTED]))

    def _drop_expired(self) -> None:
        now = self._now()
        for name in [name for name, session in self._sessions.items() if now >= session.expires]:
            del self._sessions[name]
            self._prompted.discard(name)


def hash_file(jail: Jail, path: str) -> str | None:
    """Return the hash of a file; None if it is absent or cannot be read."""
    try:
        return hashlib.sha256(jail.read(path, limit=_MAX_OWN_BYTES)).hexdigest()
    except Refused:
        return None


def _root_refused(problem: RootProblem) -> Refused:
    return refuse("SESSION_INITIALIZATION_FAILED", _PROBLEMS[problem], problem.value)


def _is_below(top: str, real: str, identity: tuple[int, int]) -> bool:
    try:
        with Jail(top) as jail:
            return jail.stat(os.path.relpath(real, top)).identity == identity
    except (RootRefused, Refused):
        return False


def _role_not_granted(role: Role, granted: list[JsonValue]) -> Refused:
    """Return the refusal of a role, with the roles that this caller may take."""
    what = f"it may take {' or '.join(map(str, granted))}" if granted else "no role is granted to it; ask the operator"
    text = f"This caller may not take the role {role}; {what}"
    return refuse("INSUFFICIENT_PERMISSIONS", text, "role_not_granted", allowed=granted)

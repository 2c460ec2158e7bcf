"""The sessions that are open, each with its root pinned by a descriptor, and the locks that outlive them.

A lock belongs to principal, role and folder, not to a handle: ending a locked session and beginning another does not
shake it off. Everything is kept in this process; any thread may call.
"""

from __future__ import annotations

import hashlib
import os
import threading
import uuid
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail, RootProblem, RootRefused
from strictwire.packs.workspace.grants import Grants
from strictwire.packs.workspace.moments import render_moment
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.roles import Role

MAX_SESSIONS: Final = 256
"""Open at once: each holds a descriptor, and most systems grant a process 1024."""

OWN_FILES: Final = ("strictwire.toml", "strictwire.lock")
"""Settings and pinned contracts, where a workspace holds them: what they say must not change under a session unseen."""

_MAX_OWN: Final = 4 * 1024 * 1024

_PROBLEMS: Final = {
    RootProblem.NOT_ABSOLUTE: "workspace_root must be an absolute path",
    RootProblem.ABSENT: "workspace_root does not exist",
    RootProblem.NOT_A_FOLDER: "workspace_root is not a directory",
    RootProblem.DENIED: "workspace_root cannot be opened",
}

_Owner: TypeAlias = tuple[str, Role, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """Why a session may not go on before a report."""

    code: str
    tool: str
    session_id: str
    """Where it happened; a report names it."""
    at: str

    def as_json(self) -> JsonObject:
        """The member of an answer."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True, eq=False)
class Session:
    """One session. The root never changes while it lives."""

    id: str
    principal: str
    role: Role
    root: str
    """Absolute, links resolved."""
    identity: tuple[int, int]
    """Device and number of the root's folder."""
    expires: float
    """Seconds since 1970."""
    pins: Mapping[str, str | None]
    """The product's own files in the root by their hash when the session began; None where there was none."""
    jail: Jail = field(repr=False)

    @property
    def owner(self) -> _Owner:
        """Whom a lock binds."""
        return self.principal, self.role, self.identity

    def is_at_home(self) -> bool:
        """Whether the root's name still means the folder that was pinned."""
        try:
            found = os.stat(self.root, follow_symlinks=False)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self.identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """Whom a lock binds, and where."""

    principal: str
    role: Role
    root: str
    lock: Lock


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The sessions and locks of one moment."""

    sessions: tuple[Session, ...]
    locks: tuple[Bound, ...]


class SessionBook:
    """See the module. `now` gives seconds since 1970; `tell` is told after every change who is there."""

    def __init__(
        self, grants: Grants, *, now: Callable[[], float], tell: Callable[[Standing], None] = lambda _standing: None
    ) -> None:
        self._grants = grants
        self._now = now
        self._tell = tell
        self._prompted: set[str] = set()
        self._sessions: dict[str, Session] = {}
        self._locks: dict[_Owner, Bound] = {}
        self._mutex = threading.Lock()

    def begin(self, principal: str, *, role: Role, root: str) -> Session:
        """Open a session. Raises Refused: INSUFFICIENT_PERMISSIONS, SESSION_INITIALIZATION_FAILED."""
        if principal not in self._grants.roles[role]:
            raise refuse("INSUFFICIENT_PERMISSIONS", f"This caller may not take the role {role}", "role_not_granted")
        made = self._pin(principal, role=role, root=root)
        with self._mutex:
            self._drop_expired()
            if len(self._sessions) < MAX_SESSIONS:
                self._sessions[made.id] = made
                self._tell(self._standing())
                return made
        raise refuse("SESSION_INITIALIZATION_FAILED", "Too many sessions are open; end one first", "too_many")

    def find(self, session_id: object, principal: str) -> Session | None:
        """The open session with this handle, if it is this principal's."""
        with self._mutex:
            found = self._sessions.get(session_id) if isinstance(session_id, str) else None
        if found is None or found.principal != principal or self._now() >= found.expires:
            return None
        return found

    def end(self, session: Session) -> None:
        """Forget a session. Its root is let go of when no call uses it any more."""
        with self._mutex:
            self._sessions.pop(session.id, None)
            self._prompted.discard(session.id)
            self._tell(self._standing())

    def lock(self, session: Session, *, code: str, tool: str) -> None:
        """Lock, unless it is locked already: the first failure is the one to report."""
        made = Lock(code=code, tool=tool, session_id=session.id, at=render_moment(self._now()))
        with self._mutex:
            bound = Bound(principal=session.principal, role=session.role, root=session.root, lock=made)
            self._locks.setdefault(session.owner, bound)
            self._tell(self._standing())

    def unlock(self, session: Session) -> None:
        """Take the lock away."""
        with self._mutex:
            self._locks.pop(session.owner, None)
            self._tell(self._standing())

    def maybe_lock(self, session: Session) -> Lock | None:
        """What locks the session, if anything does."""
        with self._mutex:
            bound = self._locks.get(session.owner)
        return None if bound is None else bound.lock

    def note_prompt(self, session: Session) -> None:
        """The session has read its prompt."""
        with self._mutex:
            self._prompted.add(session.id)

    def lacks_prompt(self, session: Session) -> bool:
        """Whether the settings ask for the prompt to be read first, and it was not."""
        if not self._grants.require_prompt:
            return False
        with self._mutex:
            return session.id not in self._prompted

    def close(self) -> None:
        """Forget everything and let go of the roots."""
        with self._mutex:
            self._sessions.clear()
            self._locks.clear()
            self._prompted.clear()

    def _standing(self) -> Standing:
        return Standing(sessions=tuple(self._sessions.values()), locks=tuple(self._locks.values()))

    def _pin(self, principal: str, *, role: Role, root: str) -> Session:
        real, jail = _open_root(root)
        look = jail.stat(".")
        session = Session(
            id=str(uuid.uuid4()),
            principal=principal,
            role=role,
            root=real,
            identity=look.identity,
            expires=self._now() + self._grants.session_seconds,
            pins={name: hash_file(jail, name) for name in OWN_FILES},
            jail=jail,
        )
        # A call that still runs may hold the session after its end; the descriptor goes with the last of them.
        weakref.finalize(session, jail.close)
        # Asked after pinning: a folder that was swapped in between is not at home under the name that was judged.
        if self._grants.covers(real) and session.is_at_home():
            return session
        raise refuse("SESSION_INITIALIZATION_FAILED", "workspace_root is not in an allowed folder", "not_allowed")

    def _drop_expired(self) -> None:
        now = self._now()
        for name in [name for name, session in self._sessions.items() if now >= session.expires]:
            del self._sessions[name]
            self._prompted.discard(name)


def hash_file(jail: Jail, path: str) -> str | None:
    """The hash of a file of ours; None if it is not there or cannot be read."""
    try:
        return hashlib.sha256(jail.read(path, limit=_MAX_OWN)).hexdigest()
    except Refused:
        return None


def _open_root(root: str) -> tuple[str, Jail]:
    try:
        real = os.path.realpath(root, strict=True) if os.path.isabs(root) and "\x00" not in root else root
        return real, Jail(real)
    except OSError as exc:
        problem = RootProblem.DENIED if isinstance(exc, PermissionError) else RootProblem.ABSENT
    except RootRefused as exc:
        problem = exc.problem
    raise refuse("SESSION_INITIALIZATION_FAILED", _PROBLEMS[problem], problem.value)

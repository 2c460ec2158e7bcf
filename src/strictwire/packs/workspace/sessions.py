"""begin_session, session_status, end_session."""

from __future__ import annotations

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import CallContext
from strictwire.fault.failure import Refused
from strictwire.packs.workspace.book import Session, SessionBook
from strictwire.packs.workspace.gate import facts_of, governed, how_to_unlock, principal_of
from strictwire.packs.workspace.moments import render_moment
from strictwire.packs.workspace.roles import Role


class Sessions:
    """The tools about sessions themselves."""

    def __init__(self, book: SessionBook) -> None:
        self._book = book

    def begin(self, arguments: JsonObject, context: CallContext) -> JsonObject:
        """begin_session. Raises GovernedError: INSUFFICIENT_PERMISSIONS, SESSION_INITIALIZATION_FAILED.

        A refusal leaves nothing behind, so it may be tried again at once.
        """
        try:
            role = Role(arguments["role"])
            session = self._book.begin(principal_of(context), role=role, root=arguments["workspace_root"])
        except Refused as exc:
            raise governed(exc, facts_of(None, arguments)) from exc
        context.attribute(facts_of(session, arguments))
        return self._shown(session)

    def status(self, session: Session, _arguments: JsonObject) -> JsonObject:
        """session_status."""
        return self._shown(session)

    def end(self, session: Session, _arguments: JsonObject) -> JsonObject:
        """end_session. A lock stays: it binds the caller's next session on the same folder too."""
        self._book.end(session)
        return {"session_id": session.id, "ended": True}

    def _shown(self, session: Session) -> JsonObject:
        lock = self._book.maybe_lock(session)
        return {
            "session_id": session.id,
            "role": session.role.value,
            "workspace_root": session.root,
            "expires_at": render_moment(session.expires),
            "locked": lock is not None,
            "lock": None if lock is None else lock.as_json() | {"how_to_unlock": how_to_unlock(lock)},
        }

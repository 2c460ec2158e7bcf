"""The tools begin_session, session_status and end_session."""

from __future__ import annotations

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import CallContext
from strictwire.fault.failure import Refused
from strictwire.packs.workspace.roles import Role
from strictwire.packs.workspace.session_guard import facts_of, governed, how_to_unlock, principal_of
from strictwire.packs.workspace.session_store import Session, SessionStore
from strictwire.packs.workspace.timestamps import render_timestamp


class Sessions:
    """The tools for sessions."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store

    def begin(self, arguments: JsonObject, context: CallContext) -> JsonObject:
        """The tool begin_session. Raises GovernedError: INSUFFICIENT_PERMISSIONS, SESSION_INITIALIZATION_FAILED.

        A failure leaves nothing behind, so the client may try again at once.
        """
        try:
            role = Role(arguments["role"])
            session = self._store.begin(principal_of(context), role=role, root=arguments["workspace_root"])
        except Refused as exc:
            raise governed(exc, facts_of(None, arguments)) from exc
        context.attribute(facts_of(session, arguments))
        return self._session_json(session)

    def status(self, session: Session, _arguments: JsonObject) -> JsonObject:
        """The tool session_status."""
        return self._session_json(session)

    def end(self, session: Session, _arguments: JsonObject) -> JsonObject:
        """The tool end_session. A lock is kept: it also applies to the caller's next session on the same folder."""
        self._store.end(session)
        return {"session_id": session.id, "ended": True}

    def _session_json(self, session: Session) -> JsonObject:
        lock = self._store.maybe_lock(session)
        return {
            "session_id": session.id,
            "role": session.role.value,
            "workspace_root": session.root,
            "expires_at": render_timestamp(session.expires),
            "locked": lock is not None,
            "lock": None if lock is None else lock.as_json() | {"how_to_unlock": how_to_unlock(lock)},
        }

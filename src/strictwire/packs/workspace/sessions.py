"""The tools begin_session, session_status and end_session."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import Answer, CallContext
from strictwire.fault.failure import Refused
from strictwire.packs.workspace.content import MAX_FILE
from strictwire.packs.workspace.grants import Grants
from strictwire.packs.workspace.plans.lint import MAX_COMMANDS
from strictwire.packs.workspace.preflight import SECONDS
from strictwire.packs.workspace.roles import Role
from strictwire.packs.workspace.session_guard import as_answer, facts_of, governed, how_to_unlock, principal_of
from strictwire.packs.workspace.session_store import Session, SessionStore
from strictwire.packs.workspace.timestamps import render_timestamp


class Sessions:
    """The tools for sessions."""

    def __init__(self, store: SessionStore, grants: Grants) -> None:
        self._store = store
        self._grants = grants

    def begin(self, arguments: JsonObject, context: CallContext) -> Answer:
        """The tool begin_session. Raises GovernedError: INSUFFICIENT_PERMISSIONS, SESSION_INITIALIZATION_FAILED.

        A failure leaves nothing behind, so the client may try again at once.
        """
        try:
            role = Role(arguments["role"])
            session = self._store.begin(principal_of(context), role=role, root=arguments["workspace_root"])
        except Refused as exc:
            raise governed(exc, facts_of(None, arguments)) from exc
        context.attribute(facts_of(session, arguments))
        return as_answer("begin_session", self._session_json(session))

    def status(self, session: Session, _arguments: JsonObject) -> JsonObject:
        """The tool session_status: also what the session may do, so that a plan need not guess."""
        return self._session_json(session) | {"allowed": self._allowed_json(session)}

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

    def _allowed_json(self, session: Session) -> JsonObject:
        grants, programs = self._grants, self._grants.programs
        return {
            "roles": [{"role": role.value} for role in Role if session.principal in grants.roles[role]],
            "folders": [{"path": each} for each in grants.roots],
            "programs": [
                {"name": name, "found": programs.maybe_find(name, session.root)} for name in sorted(programs.names)
            ],
            "search_path": programs.search_path(session.root),
            "approves": session.principal in grants.approvers,
            "audits": session.principal in grants.auditors,
            "limits": dict(LIMITS),
        }


LIMITS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "file_bytes": MAX_FILE,
        "read_bytes": 1024 * 1024,
        "changes_per_call": 64,
        "commands_per_phase": MAX_COMMANDS,
        "command_seconds": int(SECONDS),
    }
)
"""Limits that a plan has to respect."""

"""The check before every tool that needs a session: who calls, in which session, in which state. It also handles failures.

find the session -> role -> lock -> the root is unchanged -> run the tool -> on failure: add facts and invariant, lock
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from msgspec.structs import replace

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import CallContext
from strictwire.fault.dialects.system_v1 import GovernedError, code_of
from strictwire.fault.failure import Facts, Failure, Refused
from strictwire.packs.pack import LOCAL
from strictwire.packs.workspace.lock_files import Lock
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.roles import INVARIANTS_OF, RULES, find_refusal, requires_report
from strictwire.packs.workspace.session_store import Session, SessionStore

SessionTool: TypeAlias = Callable[[Session, JsonObject], JsonObject]
"""A tool that needs a session. Raises Refused, or OSError if the system failed in a way that has no failure code."""

_ROOTLESS: Final = frozenset({"session_status", "end_session", "read_prompt", "verify_workspace_integrity"})
"""Tools that work when the root is gone: they touch no file, or they report that it is gone."""


def principal_of(context: CallContext) -> str:
    """Return the principal that the transport has authenticated."""
    return context.facts.get("principal") or LOCAL


def never(_arguments: JsonObject) -> bool:
    """Return False: most tools never write a failure report."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionGuard:
    """The handler of one tool. See the module docstring."""

    tool: str
    run: SessionTool
    store: SessionStore
    is_report: Callable[[JsonObject], bool] = never
    """Whether a call writes a failure report, which every role may do."""

    def __call__(self, arguments: JsonObject, context: CallContext) -> JsonObject:
        """Raises GovernedError: SESSION_NOT_INITIALIZED, UNAUTHORIZED_ACTION, SESSION_LOCKED, or a failure of the tool."""
        session = self.store.find(arguments.get("session_id"), principal_of(context))
        if session is None:
            raise governed(refuse("SESSION_NOT_INITIALIZED", _NO_SESSION), facts_of(None, arguments))
        facts = facts_of(session, arguments)
        context.attribute(facts)
        try:
            self._admit(session, arguments)
            answer = self.run(session, arguments)
        except Refused as exc:
            error = governed(exc, facts)
            if requires_report(self.tool, error.code):
                self.store.lock(session, code=error.code, tool=self.tool)
            raise error from exc
        except OSError as exc:
            raise GovernedError.from_unknown(exc, facts) from exc
        if self.tool == "create_plan":
            context.attribute(replace(facts, plan_hash=answer["plan_hash"]))
        return answer

    def _admit(self, session: Session, arguments: JsonObject) -> None:
        lock = self.store.maybe_lock(session)
        code = find_refusal(self.tool, role=session.role, is_locked=lock is not None, is_report=self.is_report(arguments))
        if code == "UNAUTHORIZED_ACTION":
            allowed = " or ".join(sorted(RULES[self.tool].roles))
            raise refuse(code, f"{self.tool} is for {allowed}; this session is {session.role}", "role")
        if code is not None and lock is not None:
            raise refuse(code, how_to_unlock(lock), "locked", lock=lock.as_json())
        if not RULES[self.tool].stays_open and self.store.must_read_prompt(session) and not self.is_report(arguments):
            raise refuse("UNAUTHORIZED_ACTION", "Call read_prompt first: this server requires it once per session", "prompt")
        if self.tool not in _ROOTLESS and not session.is_root_unchanged():
            text = "The workspace root was moved, replaced or removed; begin a new session"
            raise refuse("INVARIANT_VIOLATION", text, "root_changed", invariant_id="WORKSPACE_ROOT_FIXED")


_NO_SESSION: Final = "There is no open session with this session_id; call begin_session and pass the session_id it returns"


def how_to_unlock(lock: Lock) -> str:
    """Return the message of a locked session: why it is locked, and how to unlock it."""
    return (
        f"Locked because {lock.tool} failed with {lock.code}. To unlock, write_file docs/reports/<name>.md with "
        f"the lines '# Failure report', 'Session: {lock.session_id}', 'Error code: {lock.code}' and the sections "
        f"'## What happened', '## Cause' and '## Next step'"
    )


def facts_of(session: Session | None, arguments: JsonObject) -> Facts:
    """Return the facts of a call for the error envelope. Without a session its fields are null (clause S9)."""
    plan_hash, phase_id = arguments.get("plan_hash"), arguments.get("phase_id")
    return Facts(
        session_id=session.id if session else None,
        workspace_root=session.root if session else None,
        role=session.role.value if session else None,
        phase_id=phase_id if isinstance(phase_id, str) else None,
        plan_hash=plan_hash if isinstance(plan_hash, str) else None,
    )


def governed(refused: Refused, facts: Facts) -> GovernedError:
    """Return the failure with its facts and with the invariant that it protects, if there is one."""
    return GovernedError(_with_invariant(refused.failure), facts)


def _with_invariant(failure: Failure) -> Failure:
    invariant = failure.invariant_id or INVARIANTS_OF.get(code_of(failure))
    return failure if invariant == failure.invariant_id else replace(failure, invariant_id=invariant)

"""The gate before every tool that needs a session: who calls, in which session, in which state; and what a failure does.

find the session -> role -> lock -> the root is where it was -> the tool -> on failure: facts, invariant, lock
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
from strictwire.packs.workspace.book import Lock, Session, SessionBook
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.roles import INVARIANTS_OF, RULES, demands_report, find_refusal

SessionTool: TypeAlias = Callable[[Session, JsonObject], JsonObject]
"""A tool behind the gate. Raises Refused, or OSError where the system failed in a way that has no code of its own."""

_ROOTLESS: Final = frozenset({"session_status", "end_session", "read_prompt", "verify_workspace_integrity"})
"""Tools that touch no file, and so work when the root is gone; or that tell that it is."""


def principal_of(context: CallContext) -> str:
    """Who calls, as the transport established it."""
    return context.facts.get("principal") or LOCAL


def never(_arguments: JsonObject) -> bool:
    """Of most tools: no call of theirs writes a failure report."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A handler: see the module."""

    tool: str
    run: SessionTool
    book: SessionBook
    is_report: Callable[[JsonObject], bool] = never
    """Whether the call writes a failure report, which is open to everyone."""

    def __call__(self, arguments: JsonObject, context: CallContext) -> JsonObject:
        """Raises GovernedError: SESSION_NOT_INITIALIZED, UNAUTHORIZED_ACTION, SESSION_LOCKED, or what the tool refuses."""
        session = self.book.find(arguments.get("session_id"), principal_of(context))
        if session is None:
            raise governed(refuse("SESSION_NOT_INITIALIZED", _NO_SESSION), facts_of(None, arguments))
        facts = facts_of(session, arguments)
        context.attribute(facts)
        try:
            self._admit(session, arguments)
            answer = self.run(session, arguments)
        except Refused as exc:
            error = governed(exc, facts)
            if demands_report(self.tool, error.code):
                self.book.lock(session, code=error.code, tool=self.tool)
            raise error from exc
        except OSError as exc:
            raise GovernedError.from_unknown(exc, facts) from exc
        if self.tool == "create_plan":
            context.attribute(replace(facts, plan_hash=answer["plan_hash"]))
        return answer

    def _admit(self, session: Session, arguments: JsonObject) -> None:
        lock = self.book.maybe_lock(session)
        code = find_refusal(self.tool, role=session.role, is_locked=lock is not None, is_report=self.is_report(arguments))
        if code == "UNAUTHORIZED_ACTION":
            allowed = " or ".join(sorted(RULES[self.tool].roles))
            raise refuse(code, f"{self.tool} is for {allowed}; this session is {session.role}", "role")
        if code is not None and lock is not None:
            raise refuse(code, how_to_unlock(lock), "locked", lock=lock.as_json())
        if not RULES[self.tool].stays_open and self.book.lacks_prompt(session) and not self.is_report(arguments):
            raise refuse("UNAUTHORIZED_ACTION", "Call read_prompt first: this server asks for it once a session", "prompt")
        if self.tool not in _ROOTLESS and not session.is_at_home():
            text = "The workspace root was moved, replaced or removed; begin a session on the folder that is there now"
            raise refuse("INVARIANT_VIOLATION", text, "root_changed", invariant_id="WORKSPACE_ROOT_FIXED")


_NO_SESSION: Final = "No session with this handle is open; call begin_session and pass its session_id"


def how_to_unlock(lock: Lock) -> str:
    """The sentence of a locked session."""
    return (
        f"Locked since {lock.tool} failed with {lock.code}. To unlock, write_file a report to docs/reports/<name>.md with "
        f"the lines '# Failure report', 'Session: {lock.session_id}', 'Error code: {lock.code}' and the sections "
        f"'## What happened', '## Cause' and '## Next step'"
    )


def facts_of(session: Session | None, arguments: JsonObject) -> Facts:
    """What the envelope tells of the call. Before a session its fields are null (S9)."""
    plan_hash, phase_id = arguments.get("plan_hash"), arguments.get("phase_id")
    return Facts(
        session_id=session.id if session else None,
        workspace_root=session.root if session else None,
        role=session.role.value if session else None,
        phase_id=phase_id if isinstance(phase_id, str) else None,
        plan_hash=plan_hash if isinstance(plan_hash, str) else None,
    )


def governed(refused: Refused, facts: Facts) -> GovernedError:
    """The refusal with its facts and, where it protects one, its invariant."""
    return GovernedError(_with_invariant(refused.failure), facts)


def _with_invariant(failure: Failure) -> Failure:
    invariant = failure.invariant_id or INVARIANTS_OF.get(code_of(failure))
    return failure if invariant == failure.invariant_id else replace(failure, invariant_id=invariant)

"""The check before every tool that needs a session: who calls, in which session, in which state. It also handles failures.

find the session -> make paths relative -> role -> lock -> the root is unchanged -> run the tool
on failure: add facts and invariant, lock
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from msgspec.structs import replace

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import Answer, CallContext
from strictwire.fault.dialects.system_v1 import GovernedError, code_of
from strictwire.fault.failure import Facts, Failure, Refused
from strictwire.fault.plain import plain_text
from strictwire.fault.violations import read_violations
from strictwire.packs.pack import LOCAL
from strictwire.packs.workspace.lock_files import Lock
from strictwire.packs.workspace.path_arguments import with_relative_paths
from strictwire.packs.workspace.refusal import refuse, with_cause, with_path
from strictwire.packs.workspace.roles import INVARIANTS_OF, RULES, find_refusal, requires_report
from strictwire.packs.workspace.schema_advice import explain
from strictwire.packs.workspace.session_store import Session, SessionStore
from strictwire.packs.workspace.texts import text_of

SessionTool: TypeAlias = Callable[[Session, JsonObject], JsonObject]
"""A tool that needs a session. Raises Refused, or OSError if the system failed in a way that has no failure code."""

_ROOTLESS: Final = frozenset({"session_status", "end_session", "read_prompt", "verify_workspace_integrity"})
"""Tools that work when the root is gone: they touch no file, or they report that it is gone."""


_MAX_CAUSE: Final = 500
"""Characters of a message before the instructions to unlock, so that a long message does not cut them off."""


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
    schema: JsonObject = field(default_factory=dict)
    """The input schema of the tool, to say which arguments would be accepted."""

    def __call__(self, arguments: JsonObject, context: CallContext) -> Answer:
        """Raises GovernedError: SESSION_NOT_INITIALIZED, UNAUTHORIZED_ACTION, SESSION_LOCKED, or a failure of the tool."""
        session = self.store.find(arguments.get("session_id"), principal_of(context))
        if session is None:
            raise governed(no_session(), facts_of(None, arguments))
        facts = facts_of(session, arguments)
        context.attribute(facts)
        given = with_relative_paths(session.root, arguments)
        try:
            self._admit(session, given)
            answer = self.run(session, given)
        except Refused as exc:
            raise self._locking(session, governed(with_path(exc, given), facts)) from exc
        except OSError as exc:
            raise GovernedError.from_unknown(exc, facts) from exc
        if self.tool == "create_plan":
            context.attribute(replace(facts, plan_hash=answer["plan_hash"]))
        return as_answer(self.tool, answer)

    def _locking(self, session: Session, error: GovernedError) -> GovernedError:
        """Lock the session if this failure requires a report, and return the failure with how to unlock it."""
        if not requires_report(self.tool, error.code):
            return error
        self.store.lock(session, code=error.code, tool=self.tool)
        lock = self.store.maybe_lock(session)
        return error if lock is None else GovernedError(_with_lock(error.failure, lock), error.facts)

    def explain(self, failure: Failure, arguments: JsonObject, context: CallContext) -> Failure:
        """See contract.handler.ExplainsRefusals. A call without `session_id` has no session, whatever else is wrong with it
        (S12); inside a session every failure has its facts (S9)."""
        session = self.store.find(arguments.get("session_id"), principal_of(context))
        if session is not None:
            context.attribute(facts_of(session, arguments))
        return explain_refusal(failure, arguments, self.schema)

    def _admit(self, session: Session, arguments: JsonObject) -> None:
        lock = self.store.maybe_lock(session)
        code = find_refusal(self.tool, role=session.role, is_locked=lock is not None, is_report=self.is_report(arguments))
        if code == "UNAUTHORIZED_ACTION":
            allowed = " or ".join(sorted(RULES[self.tool].roles))
            raise refuse(code, f"{self.tool} is for {allowed}; this session is {session.role}", "role")
        if code is not None and lock is not None:
            raise refuse(code, how_to_unlock(lock), "locked", lock=lock.as_json())
        stop = None if RULES[self.tool].stays_open else self.store.maybe_stop(session)
        if stop is not None and not self.is_report(arguments):
            text = f"{stop.text}. Reading is still possible. Ask the operator; `strictwire workspace resume` lifts the stop"
            raise refuse("SESSION_LOCKED", text, "stopped", by=stop.by, at=stop.at)
        if not RULES[self.tool].stays_open and self.store.must_read_prompt(session) and not self.is_report(arguments):
            raise refuse("UNAUTHORIZED_ACTION", "Call read_prompt first: this server requires it once per session", "prompt")
        if self.tool not in _ROOTLESS and not session.is_root_unchanged():
            text = "The workspace root was moved, replaced or removed; begin a new session"
            raise refuse("INVARIANT_VIOLATION", text, "root_changed", invariant_id="WORKSPACE_ROOT_FIXED")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningTool:
    """The handler of a tool that needs no session: begin_session."""

    run: Callable[[JsonObject, CallContext], Answer]
    schema: JsonObject = field(default_factory=dict)

    def __call__(self, arguments: JsonObject, context: CallContext) -> Answer:
        """Run the tool."""
        return self.run(arguments, context)

    def explain(self, failure: Failure, arguments: JsonObject, _context: CallContext) -> Failure:
        """See contract.handler.ExplainsRefusals."""
        return explain_refusal(failure, arguments, self.schema)


def no_session() -> Refused:
    """Return the refusal of a call without an open session."""
    text = "There is no open session with this session_id; call begin_session and pass the session_id it returns"
    return refuse("SESSION_NOT_INITIALIZED", text)


def explain_refusal(failure: Failure, arguments: JsonObject, schema: JsonObject) -> Failure:
    """Return the failure of a call whose arguments do not conform: which of them, and what would be accepted."""
    if failure.code != "INVALID_PARAMS":
        return failure
    if "session_id" not in arguments and "session_id" in schema.get("required", ()):
        return replace(_with_invariant(no_session().failure), stage=failure.stage)
    violations = read_violations(failure)
    cause = {"reason": "schema", "violations": [each.as_details() for each in violations]}
    return replace(failure, text=explain(violations, schema), cause=cause)


def as_answer(tool: str, answer: JsonObject) -> Answer:
    """Return the answer of a tool with its text."""
    return Answer(structured=answer, content=({"type": "text", "text": text_of(tool, answer)},))


def how_to_unlock(lock: Lock) -> str:
    """Return the message of a locked session: why it is locked, and how to unlock it."""
    return (
        f"The session is locked because {lock.tool} failed with {lock.code}. To unlock, write_file docs/reports/<name>.md "
        f"with the lines '# Failure report', 'Session: {lock.session_id}', 'Error code: {lock.code}' and the sections "
        f"'## What happened', '## Cause' and '## Next step'"
    )


def _with_lock(failure: Failure, lock: Lock) -> Failure:
    """Return a failure that has locked the session, with how to unlock it: the client must not find out by another call."""
    cause = plain_text(failure.text, _MAX_CAUSE)
    return replace(with_cause(failure, lock=lock.as_json()), text=f"{cause.rstrip('.')}. {how_to_unlock(lock)}")


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

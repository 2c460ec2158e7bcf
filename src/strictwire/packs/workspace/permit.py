"""Decides whether a change is permitted: by the plan, its approval and its scope. Each check has its own failure code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.fault.failure import Refused
from strictwire.packs.kit.path import JailPath
from strictwire.packs.workspace.plans.approval import Approval
from strictwire.packs.workspace.plans.model import Command, Operation, Plan
from strictwire.packs.workspace.plans.plan_files import HOW_TO_APPROVE, PlanFiles
from strictwire.packs.workspace.plans.scope import Action, Outside, find_outside, find_phase
from strictwire.packs.workspace.protection import protected
from strictwire.packs.workspace.refusal import ADVICE, refuse
from strictwire.packs.workspace.session_store import Session

_MESSAGES: Final[Mapping[Outside, str]] = MappingProxyType(
    {
        Outside.PHASE: "The plan has no such phase; cause.phases lists its phases",
        Outside.OPERATION: "The phase does not allow this operation; cause.allowed lists what it allows",
        Outside.FORBIDDEN: "The plan forbids this operation on this path; read_plan shows its Forbidden Actions",
        Outside.PATH: "The path is not in the Path Allowlist of the plan, which cause.allowed lists; others need a new plan",
    }
)

_LACKS_HASH: Final = f"The file exists already, and the phase allows modify, not create; {ADVICE['FILE_ALREADY_EXISTS']}"

_MAX_LISTED: Final = 20
"""Phases, operations or patterns that a refusal lists."""


def _outside(plan: Plan, outside: Outside, request: ChangeRequest, path: str) -> Refused:
    """Return the refusal of a change outside the plan, with what is inside."""
    phase = find_phase(plan, request.phase_id)
    allowed: Mapping[Outside, JsonObject] = {
        Outside.PHASE: {"phases": [each.id for each in plan.phases[:_MAX_LISTED]]},
        Outside.OPERATION: {
            "operation": request.operation.value,
            "allowed": [each.value for each in phase.allowed] if phase else [],
        },
        Outside.FORBIDDEN: {"operation": request.operation.value},
        Outside.PATH: {"allowed": list(plan.paths[:_MAX_LISTED])},
    }
    return refuse("PLAN_SCOPE_VIOLATION", _MESSAGES[outside], outside.value, path=path, **allowed[outside])


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRequest:
    """The change that a client requests."""

    plan_hash: str
    phase_id: str
    operation: Operation
    paths: tuple[JailPath, ...]


class Permits:
    """Checks requests against plans."""

    def __init__(self, plan_files: PlanFiles) -> None:
        self._plan_files = plan_files

    def commands(self, session: Session, request: ChangeRequest) -> tuple[Command, ...]:
        """Check a request and return the verification commands to run after the change.

        Raises Refused with the first of:
        1. PLAN_SCOPE_VIOLATION: a protected path;
        2. PLAN_NOT_FOUND, PLAN_ENFORCEMENT_FAILED: no such plan, or it cannot be used in this workspace or any more;
        3. ROLE_MISMATCH: the plan is for another role;
        4. PLAN_NOT_APPROVED: it has no valid approval;
        5. PLAN_SCOPE_VIOLATION: the phase, operation or path is outside the plan, or a required artifact is missing.
           A create of an existing file that the phase allows to modify is FILE_ALREADY_EXISTS: the client can correct it.
        """
        for path in request.paths:
            _check_protected(session, path)
        plan, _ = self._approved_plan(session, request.plan_hash)
        return _within(plan, session, request)

    def gates(self, session: Session, plan_hash: str, phase_id: str) -> tuple[tuple[Command, ...], Approval]:
        """Return the verification commands of a phase and the approval of its plan. Raises Refused: 2 to 5 of `commands`."""
        plan, approval = self._approved_plan(session, plan_hash)
        phase = find_phase(plan, phase_id)
        if phase is None:
            known: JsonValue = [each.id for each in plan.phases[:_MAX_LISTED]]
            raise refuse("PLAN_SCOPE_VIOLATION", _MESSAGES[Outside.PHASE], Outside.PHASE.value, phases=known)
        return (*phase.commands, *plan.gates), approval

    def _approved_plan(self, session: Session, plan_hash: str) -> tuple[Plan, Approval]:
        plan = self._plan_files.read_usable(session, plan_hash)
        if plan.role != session.role:
            raise refuse("ROLE_MISMATCH", f"The plan is for {plan.role}; this session is {session.role}", "plan_role")
        approval = self._plan_files.maybe_approval(session, plan_hash)
        if approval is None:
            raise refuse("PLAN_NOT_APPROVED", f"The plan is not approved; {HOW_TO_APPROVE}")
        return plan, approval


def _check_protected(session: Session, path: JailPath) -> None:
    """Raises Refused: PLAN_SCOPE_VIOLATION for a protected path. The jail checks every change again when it is made; here
    the check comes before all others, and also covers folders that do not exist yet."""
    if path.segments and session.protection.covers(path):
        raise protected()
    folder = path.parent
    while _is_absent(session, folder) and folder.segments:
        folder = folder.parent


def _is_absent(session: Session, folder: JailPath) -> bool:
    """Return whether a folder is absent. Raises Refused: PLAN_SCOPE_VIOLATION if it exists and is protected."""
    try:
        session.jail.enter(folder.text).close()
    except Refused as exc:
        if exc.failure.code == "PLAN_SCOPE_VIOLATION":
            raise
        return exc.failure.code == "PATH_NOT_FOUND"
    return False


def _within(plan: Plan, session: Session, request: ChangeRequest) -> tuple[Command, ...]:
    for path in request.paths:
        action = Action(phase_id=request.phase_id, operation=request.operation, path=path.text)
        outside = find_outside(plan, action)
        if outside is Outside.OPERATION and _lacks_hash(plan, session, action):
            raise refuse("FILE_ALREADY_EXISTS", _LACKS_HASH, "hash_missing", path=path.text)
        if outside is not None:
            raise _outside(plan, outside, request, path.text)
    phase = find_phase(plan, request.phase_id)
    if phase is None:
        return plan.gates
    missing = [path for path in phase.artifacts if not _exists(session, path)]
    if missing:
        text = "Intent artifacts that the phase requires are missing; create them under another plan or phase first"
        raise refuse("PLAN_SCOPE_VIOLATION", text, "artifact_missing", missing=missing[:_MAX_LISTED])
    return (*phase.commands, *plan.gates)


def _lacks_hash(plan: Plan, session: Session, action: Action) -> bool:
    """Return whether a client forgot the hash of a file that it may modify: without one, the operation is `create`."""
    modify = replace(action, operation=Operation.MODIFY)
    is_create = action.operation is Operation.CREATE
    return is_create and find_outside(plan, modify) is None and _exists(session, action.path)


def _exists(session: Session, path: str) -> bool:
    try:
        session.jail.stat(path)
    except Refused:
        return False
    return True

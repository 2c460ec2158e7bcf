"""Decides whether a change is permitted: by the plan, its approval and its scope. Each check has its own failure code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from strictwire.fault.failure import Refused
from strictwire.packs.kit.path import JailPath
from strictwire.packs.workspace.plans.approval import Approval
from strictwire.packs.workspace.plans.model import Command, Operation, Plan
from strictwire.packs.workspace.plans.plan_files import PlanFiles
from strictwire.packs.workspace.plans.scope import Action, Outside, find_outside, find_phase
from strictwire.packs.workspace.protection import protected
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.session_store import Session

_MESSAGES: Final[Mapping[Outside, str]] = MappingProxyType(
    {
        Outside.PHASE: "The plan has no such phase",
        Outside.OPERATION: "The phase does not allow this operation",
        Outside.FORBIDDEN: "The plan forbids this operation on this path",
        Outside.PATH: "The path is not in the Path Allowlist of the plan",
    }
)


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
            raise refuse("PLAN_SCOPE_VIOLATION", _MESSAGES[Outside.PHASE], Outside.PHASE.value)
        return (*phase.commands, *plan.gates), approval

    def _approved_plan(self, session: Session, plan_hash: str) -> tuple[Plan, Approval]:
        plan = self._plan_files.read_usable(session, plan_hash)
        if plan.role != session.role:
            raise refuse("ROLE_MISMATCH", f"The plan is for {plan.role}; this session is {session.role}", "plan_role")
        approval = self._plan_files.maybe_approval(session, plan_hash)
        if approval is None:
            text = "The plan is not approved; ask an approver to call approve_plan or to run strictwire plan approve"
            raise refuse("PLAN_NOT_APPROVED", text)
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
        if outside is not None:
            raise refuse("PLAN_SCOPE_VIOLATION", _MESSAGES[outside], outside.value)
    phase = find_phase(plan, request.phase_id)
    if phase is None:
        return plan.gates
    missing = [path for path in phase.artifacts if not _exists(session, path)]
    if missing:
        raise refuse("PLAN_SCOPE_VIOLATION", "An intent artifact that the phase requires is missing", "artifact_missing")
    return (*phase.commands, *plan.gates)


def _exists(session: Session, path: str) -> bool:
    try:
        session.jail.stat(path)
    except Refused:
        return False
    return True

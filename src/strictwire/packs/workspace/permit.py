"""Whether an action may happen: the plan, its approval, its scope. Every rung has its code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from strictwire.fault.failure import Refused
from strictwire.packs.kit.path import JailPath
from strictwire.packs.workspace.book import Session
from strictwire.packs.workspace.guarded import is_guarded
from strictwire.packs.workspace.plans.approval import Approval
from strictwire.packs.workspace.plans.model import Command, Operation, Plan
from strictwire.packs.workspace.plans.scope import Action, Outside, find_outside, find_phase
from strictwire.packs.workspace.plans.shelf import Shelf
from strictwire.packs.workspace.refusal import refuse

_SENTENCES: Final[Mapping[Outside, str]] = MappingProxyType(
    {
        Outside.PHASE: "The plan has no such phase",
        Outside.OPERATION: "The phase does not allow this operation",
        Outside.FORBIDDEN: "The plan forbids this operation here",
        Outside.PATH: "The path is not in the plan's Path Allowlist",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked for."""

    plan_hash: str
    phase_id: str
    operation: Operation
    paths: tuple[JailPath, ...]


class Permits:
    """Judges requests."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def commands(self, session: Session, request: Request) -> tuple[Command, ...]:
        """The verification commands of a request that is permitted.

        1. PLAN_SCOPE_VIOLATION: a path that no plan opens;
        2. PLAN_NOT_FOUND, PLAN_ENFORCEMENT_FAILED: no such plan, or not usable here and now;
        3. ROLE_MISMATCH: the plan is for another role;
        4. PLAN_NOT_APPROVED: nobody vouches for it;
        5. PLAN_SCOPE_VIOLATION: phase, operation, path, or an artifact that has to be there first.
        Raises Refused with the first of these.
        """
        if any(map(is_guarded, request.paths)):
            raise refuse(
                "PLAN_SCOPE_VIOLATION", "Plans, reports, logs and the product's own files are never written", "guarded"
            )
        plan, _ = self._admitted(session, request.plan_hash)
        return _within(plan, session, request)

    def gates(self, session: Session, plan_hash: str, phase_id: str) -> tuple[tuple[Command, ...], Approval]:
        """The verification commands of a phase, and who approved its plan. Raises Refused: rungs 2 to 5 of `commands`."""
        plan, approval = self._admitted(session, plan_hash)
        phase = find_phase(plan, phase_id)
        if phase is None:
            raise refuse("PLAN_SCOPE_VIOLATION", _SENTENCES[Outside.PHASE], Outside.PHASE.value)
        return (*phase.commands, *plan.gates), approval

    def _admitted(self, session: Session, plan_hash: str) -> tuple[Plan, Approval]:
        plan = self._shelf.usable(session, plan_hash)
        if plan.role != session.role:
            raise refuse("ROLE_MISMATCH", f"The plan is for {plan.role}; this session is {session.role}", "plan_role")
        approval = self._shelf.maybe_approval(session, plan_hash)
        if approval is None:
            raise refuse("PLAN_NOT_APPROVED", "Nobody has approved the plan; ask an approver, or strictwire plan approve")
        return plan, approval


def _within(plan: Plan, session: Session, request: Request) -> tuple[Command, ...]:
    for path in request.paths:
        action = Action(phase_id=request.phase_id, operation=request.operation, path=path.text)
        outside = find_outside(plan, action)
        if outside is not None:
            raise refuse("PLAN_SCOPE_VIOLATION", _SENTENCES[outside], outside.value)
    phase = find_phase(plan, request.phase_id)
    if phase is None:
        return plan.gates
    missing = [path for path in phase.artifacts if not _is_there(session, path)]
    if missing:
        raise refuse("PLAN_SCOPE_VIOLATION", "An intent artifact that the phase requires is not there", "artifact_missing")
    return (*phase.commands, *plan.gates)


def _is_there(session: Session, path: str) -> bool:
    try:
        session.jail.stat(path)
    except Refused:
        return False
    return True

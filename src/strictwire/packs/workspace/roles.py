"""Who may use which tool, in which state of the session. Pure tables and one decision (S10, S11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Role(StrEnum):
    """What a session is for. No role both plans and executes."""

    ANTIGRAVITY = "ANTIGRAVITY"
    """Plans and reads."""
    WINDSURF = "WINDSURF"
    """Executes plans."""


EVERYONE: Final = frozenset(Role)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRule:
    """When a tool may be used."""

    roles: frozenset[Role] = EVERYONE
    stays_open: bool = True
    """Whether a locked session may still use it."""


_PLANNER: Final = ToolRule(roles=frozenset({Role.ANTIGRAVITY}), stays_open=False)
_EXECUTOR: Final = ToolRule(roles=frozenset({Role.WINDSURF}), stays_open=False)

RULES: Final[Mapping[str, ToolRule]] = MappingProxyType(
    {
        "session_status": ToolRule(),
        "end_session": ToolRule(),
        "read_file": ToolRule(),
        "list_files": ToolRule(),
        "search_text": ToolRule(),
        "list_plans": ToolRule(),
        "read_plan": ToolRule(),
        "lint_plan": ToolRule(),
        "read_prompt": ToolRule(),
        "read_audit_log": ToolRule(),
        "verify_workspace_integrity": ToolRule(),
        "replay_execution": ToolRule(),
        "generate_attestation_bundle": ToolRule(),
        "verify_attestation_bundle": ToolRule(),
        "export_attestation_bundle": ToolRule(),
        "create_plan": _PLANNER,
        "approve_plan": _PLANNER,
        "write_file": _EXECUTOR,
        "move_file": _EXECUTOR,
        "delete_file": _EXECUTOR,
        "apply_changes": _EXECUTOR,
        "commit_phase": _EXECUTOR,
    }
)
"""Every tool that needs a session. Reading and leaving are always open, so that no state is a trap."""

LOCKING: Final = frozenset({"PATH_TRAVERSAL_BLOCKED", "OUTSIDE_WORKSPACE", "INVARIANT_VIOLATION"})
"""Failures that demand a report of whatever tool: the caller tried to leave its bounds, or something is broken."""

LOCKING_CHANGES: Final = frozenset({"PLAN_SCOPE_VIOLATION", "PLAN_ENFORCEMENT_FAILED", "PREFLIGHT_FAILED"})
"""Failures that demand a report of a tool that changes files. A slip that the caller can mend alone (a stale hash, a
missing file, a patch that does not apply, a plan still being written) locks nothing."""

INVARIANTS_OF: Final[Mapping[str, str]] = MappingProxyType(
    {
        "SESSION_NOT_INITIALIZED": "MANDATORY_DIAGNOSTICS",
        "SESSION_INITIALIZATION_FAILED": "VALID_WORKSPACE_ROOT",
        "SESSION_LOCKED": "LOCK_ENFORCED",
        "UNAUTHORIZED_ACTION": "ROLE_SEPARATION",
        "ROLE_MISMATCH": "ROLE_SEPARATION",
        "PATH_TRAVERSAL_BLOCKED": "PATH_WITHIN_WORKSPACE",
        "OUTSIDE_WORKSPACE": "PATH_WITHIN_WORKSPACE",
        "PLAN_NOT_APPROVED": "PLAN_APPROVED",
        "PLAN_SCOPE_VIOLATION": "PLAN_SCOPE_ENFORCED",
        "HASH_MISMATCH": "HASH_BEFORE_WRITE",
    }
)
"""The invariant that a refusal protects, where the refusal does not name one itself."""


def demands_report(tool: str, code: str) -> bool:
    """Whether a session locks after this failure of this tool."""
    return code in LOCKING or (code in LOCKING_CHANGES and RULES[tool] is _EXECUTOR)


def find_refusal(tool: str, *, role: Role, is_locked: bool, is_report: bool) -> str | None:
    """The code why this tool may not be used now; None if it may. Raises KeyError: not a tool that needs a session.

    1. a failure report may be written by either role, locked or not: it is the way out of a lock;
    2. UNAUTHORIZED_ACTION: the role may never use the tool;
    3. SESSION_LOCKED: the role may, but not before a report.
    """
    rule = RULES[tool]
    if is_report:
        return None
    if role not in rule.roles:
        return "UNAUTHORIZED_ACTION"
    return "SESSION_LOCKED" if is_locked and not rule.stays_open else None

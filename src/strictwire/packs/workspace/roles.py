"""Which role may use which tool, and in which state of the session. Pure tables and one decision (clauses S10, S11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Role(StrEnum):
    """The purpose of a session. No role both plans and executes."""

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
"""Every tool that needs a session. Reading and ending are always possible, so that no state is a dead end."""

LOCKING: Final = frozenset({"PATH_TRAVERSAL_BLOCKED", "OUTSIDE_WORKSPACE", "INVARIANT_VIOLATION"})
"""Failures of a tool that plans or changes that require a report: the client tried to leave the workspace, or an invariant
is broken. Tools that only read never lock: a refused read has changed nothing."""

LOCKING_CHANGES: Final = frozenset({"PLAN_SCOPE_VIOLATION", "PLAN_ENFORCEMENT_FAILED", "PREFLIGHT_FAILED"})
"""Failures of a tool that changes files that require a report. Mistakes that a client can correct by itself (an outdated
hash, a missing file, a patch that does not apply, an unfinished plan) do not lock the session."""

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
"""Failure code to the invariant it protects, if the failure does not name one itself."""


def requires_report(tool: str, code: str) -> bool:
    """Return whether this failure of this tool locks the session."""
    rule = RULES[tool]
    return (code in LOCKING and not rule.stays_open) or (code in LOCKING_CHANGES and rule is _EXECUTOR)


def find_refusal(tool: str, *, role: Role, is_locked: bool, is_report: bool) -> str | None:
    """Return the code that refuses this tool in this state, or None. Raises KeyError if the tool does not need a session.

    1. a failure report may be written by either role, locked or not: it is how a session is unlocked;
    2. UNAUTHORIZED_ACTION: the role may never use the tool;
    3. SESSION_LOCKED: the role may use it, but only after a report.
    """
    rule = RULES[tool]
    if is_report:
        return None
    if role not in rule.roles:
        return "UNAUTHORIZED_ACTION"
    return "SESSION_LOCKED" if is_locked and not rule.stays_open else None

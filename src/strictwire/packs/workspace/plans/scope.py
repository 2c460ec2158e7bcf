"""What a plan permits: path patterns, phases and operations. Pure.

A pattern is a relative path. `*` matches any part of a name; `**` as a whole segment matches any number of folders. Patterns
are case-sensitive.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import eq

from strictwire.fault.failure import Refused
from strictwire.packs.kit.path import parse_path
from strictwire.packs.workspace.plans.model import Operation, Phase, Plan


class Outside(StrEnum):
    """Why an action is outside a plan."""

    PHASE = "phase_unknown"
    OPERATION = "operation_not_allowed"
    FORBIDDEN = "operation_forbidden"
    PATH = "path_not_listed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """An operation on a path in a phase."""

    phase_id: str
    operation: Operation
    path: str
    """In canonical spelling: `JailPath.text`."""


def workspace_id(root: str) -> str:
    """Return the id of a workspace folder. A hash, so that a plan does not reveal the path to its readers."""
    return hashlib.sha256(f"workspace\n{root}".encode()).hexdigest()


def find_phase(plan: Plan, phase_id: str) -> Phase | None:
    """Return the phase with this id, or None."""
    return next((phase for phase in plan.phases if phase.id == phase_id), None)


def find_outside(plan: Plan, action: Action) -> Outside | None:
    """Return why the action is outside the plan; None if it is inside."""
    phase = find_phase(plan, action.phase_id)
    if phase is None:
        return Outside.PHASE
    if action.operation not in phase.allowed:
        return Outside.OPERATION
    banned = any(ban.operation is action.operation and matches(ban.pattern, action.path) for ban in plan.bans)
    if banned or action.operation in phase.forbidden:
        return Outside.FORBIDDEN
    return None if any(matches(pattern, action.path) for pattern in plan.paths) else Outside.PATH


def matches(pattern: str, path: str) -> bool:
    """Return whether a path matches a pattern."""
    parts = pattern.split("/")
    # A trailing `**` matches everything below the folder, but not the folder itself.
    if parts[-1] == "**":
        parts.append("*")
    return _fits(parts, path.split("/"), star="**", same=_fits_name)


def _fits_name(pattern: str, name: str) -> bool:
    return _fits(pattern, name, star="*", same=eq)


def _fits(pattern: Sequence[str], subject: Sequence[str], *, star: str, same: Callable[[str, str], bool]) -> bool:
    """Match with backtracking to the last star only, so that the work is bounded by the product of the lengths."""
    at = here = resume = 0
    last = -1
    while here < len(subject):
        if at < len(pattern) and pattern[at] == star:
            last, resume, at = at, here, at + 1
        elif at < len(pattern) and same(pattern[at], subject[here]):
            at, here = at + 1, here + 1
        elif last >= 0:
            resume += 1
            at, here = last + 1, resume
        else:
            return False
    return all(each == star for each in pattern[at:])


def find_pattern_problem(pattern: str) -> str | None:
    """Return the lint code of an invalid pattern; None if it is valid."""
    if "${" in pattern or "\0" in pattern or "***" in pattern:
        return "PLAN_INVALID_PATH"
    try:
        asked = parse_path(pattern)
    except Refused as exc:
        return "PLAN_INVALID_PATH" if exc.failure.code == "INVALID_PATH" else "PLAN_PATH_ESCAPE"
    return None if asked.text == pattern and asked.segments else "PLAN_INVALID_PATH"

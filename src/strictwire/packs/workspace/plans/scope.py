"""What a plan permits: patterns of paths, phases, operations. Pure.

A pattern is a relative path; `*` stands for any part of a name, `**` alone between slashes for any folders. Case counts.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from strictwire.fault.failure import Refused
from strictwire.packs.kit.path import parse_path
from strictwire.packs.workspace.plans.model import Operation, Phase, Plan


class Outside(StrEnum):
    """Why an action is not part of a plan."""

    PHASE = "phase_unknown"
    OPERATION = "operation_not_allowed"
    FORBIDDEN = "operation_forbidden"
    PATH = "path_not_listed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What is to be done, in which phase."""

    phase_id: str
    operation: Operation
    path: str
    """In its one spelling: `JailPath.text`."""


def workspace_id(root: str) -> str:
    """Names the folder a plan is for, without showing it to readers of the plan."""
    return hashlib.sha256(f"workspace\n{root}".encode()).hexdigest()


def find_phase(plan: Plan, phase_id: str) -> Phase | None:
    """The phase with this id."""
    return next((phase for phase in plan.phases if phase.id == phase_id), None)


def find_outside(plan: Plan, action: Action) -> Outside | None:
    """Why the action is outside the plan; None if it is inside."""
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
    """Whether a path fits a pattern."""
    return bool(_compiled(pattern).fullmatch(path))


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = [_segment(each) for each in pattern.split("/")]
    joined = "/".join(parts)
    # `**/` stands for no folder too, and `/**` at the end for everything below.
    return re.compile(joined.replace("\0/", "(?:[^/]+/)*").replace("\0", ".+"), re.DOTALL)


def _segment(text: str) -> str:
    return "\0" if text == "**" else re.escape(text).replace(r"\*", "[^/]*")


def find_pattern_problem(pattern: str) -> str | None:
    """The lint code of a pattern that cannot be used; None if it can."""
    if "${" in pattern or "\0" in pattern or "***" in pattern:
        return "PLAN_INVALID_PATH"
    try:
        asked = parse_path(pattern)
    except Refused as exc:
        return "PLAN_INVALID_PATH" if exc.failure.code == "INVALID_PATH" else "PLAN_PATH_ESCAPE"
    return None if asked.text == pattern and asked.segments else "PLAN_INVALID_PATH"

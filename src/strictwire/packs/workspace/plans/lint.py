"""Lints a plan: its form (`plan_markdown`), its values, its wording, its hash. Pure.

Every finding is an error: a plan with findings cannot be used. Each check is one function in a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from strictwire.packs.workspace.plans.model import Phase, Plan
from strictwire.packs.workspace.plans.plan_markdown import PlanFinding, body_hash, read_plan, split_hash
from strictwire.packs.workspace.plans.scope import find_pattern_problem
from strictwire.packs.workspace.roles import Role
from strictwire.packs.workspace.timestamps import maybe_timestamp

MAX_PLAN: Final = 256 * 1024
"""Largest plan, in bytes: a person has to read it before approving it."""

MAX_COMMANDS: Final = 8
"""Most commands in one phase, and in the gates: all of them run after every change."""

_AMBIGUOUS: Final = re.compile(
    r"""\b( may | should | if\ possible | optional(?:ly)? | try\ to | attempt\ to
      | use\ (?:your\ |best\ )?judge?ment | as\ (?:you\ see\ fit|needed|appropriate) )\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words that leave a decision to the executor. Searched for only in the fields of a phase."""

_CODE: Final = re.compile(r"`|\$\{|</?[A-Za-z][\w-]*>|=>|\b(?:function|const|let|var)\s+\w+\s*[=(;]|[{};]")
"""Signs of code in an objective, which must be prose."""

_PHASE_ID: Final = re.compile(r"[A-Z][A-Z0-9_]*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Linted:
    """The result of linting one text."""

    plan: Plan | None
    hash: str
    """Hash of the text as given."""
    findings: tuple[PlanFinding, ...]

    @property
    def passed(self) -> bool:
        """Whether the plan can be used."""
        return not self.findings


def lint(text: str, *, expected_hash: str | None = None) -> Linted:
    """Lint a text. With an expected hash, also check that the text has this hash."""
    named, body = split_hash(text)
    found = body_hash(body)
    plan, findings = read_plan(text)
    if plan is not None:
        findings = tuple(finding for check in _CHECKS for finding in check(plan))
    if "\r" in text:
        findings += (PlanFinding(code="PLAN_INVALID_STRUCTURE", line=0, message="lines must end with LF, without CR"),)
    if named != found or expected_hash not in (None, found):
        message = "the first line must be 'PLAN_HASH: ' followed by the SHA-256 of everything below it"
        findings += (PlanFinding(code="PLAN_HASH_MISMATCH", line=1, message=message),)
    return Linted(plan=plan, hash=found, findings=findings)


def _check_metadata(plan: Plan) -> Iterator[PlanFinding]:
    if plan.role not in set(Role):
        yield _finding("PLAN_INVALID_STRUCTURE", f"Role must be one of {', '.join(Role)}")
    created, expires = maybe_timestamp(plan.created), maybe_timestamp(plan.expires)
    if created is None or expires is None or expires <= created:
        message = "Created and Expires must be timestamps such as 2026-01-31T12:00:00Z, and Expires the later one"
        yield _finding("PLAN_INVALID_STRUCTURE", message)
    if not re.fullmatch(r"[0-9a-f]{64}", plan.workspace):
        yield _finding("PLAN_INVALID_STRUCTURE", "Workspace must be 64 hexadecimal digits")


def _check_phase_ids(plan: Plan) -> Iterator[PlanFinding]:
    seen: set[str] = set()
    for phase in plan.phases:
        if not _PHASE_ID.fullmatch(phase.id) or phase.id in seen:
            message = f"{phase.id!r}: a Phase ID must be upper-case letters, digits and underscores, and unique"
            yield _finding("PLAN_INVALID_PHASE_ID", message)
        seen.add(phase.id)


def _check_operations(plan: Plan) -> Iterator[PlanFinding]:
    for phase in plan.phases:
        if not phase.allowed or set(phase.allowed) & set(phase.forbidden):
            message = f"{phase.id}: at least one operation must be allowed, and none both allowed and forbidden"
            yield _finding("PLAN_NOT_ENFORCEABLE", message)


def _check_paths(plan: Plan) -> Iterator[PlanFinding]:
    if not plan.paths:
        yield _finding("PLAN_NOT_ENFORCEABLE", "the Path Allowlist is empty")
    artifacts = [path for phase in plan.phases for path in phase.artifacts]
    for pattern in (*plan.paths, *(ban.pattern for ban in plan.bans), *artifacts):
        code = find_pattern_problem(pattern)
        if code is not None:
            yield _finding(code, f"{pattern!r} is not a relative path inside the workspace")


def _check_commands(plan: Plan) -> Iterator[PlanFinding]:
    if any(len(commands) > MAX_COMMANDS for commands in (plan.gates, *(phase.commands for phase in plan.phases))):
        yield _finding("PLAN_NOT_ENFORCEABLE", f"at most {MAX_COMMANDS} commands are allowed per phase and as gates")


def _check_words(plan: Plan) -> Iterator[PlanFinding]:
    for phase in plan.phases:
        for text in (phase.objective, phase.outcomes, phase.stops):
            vague = _AMBIGUOUS.search(text)
            if vague:
                yield _finding("PLAN_AMBIGUOUS_LANGUAGE", f"{phase.id}: {vague[0]!r} leaves open what must be done")
        yield from _check_objective(phase)


def _check_objective(phase: Phase) -> Iterator[PlanFinding]:
    if _CODE.search(phase.objective):
        yield _finding("PLAN_NOT_AUDITABLE", f"{phase.id}: the objective contains code; describe it in words")


def _finding(code: str, message: str) -> PlanFinding:
    return PlanFinding(code=code, line=0, message=message)


_CHECKS: Final[tuple[Callable[[Plan], Iterator[PlanFinding]], ...]] = (
    _check_metadata,
    _check_phase_ids,
    _check_operations,
    _check_paths,
    _check_commands,
    _check_words,
)

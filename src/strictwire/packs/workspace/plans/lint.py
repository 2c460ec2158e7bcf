"""What is wrong with a plan: its form (`text`), its values, its words, its hash. Pure.

Every finding is an error: a plan with one cannot be used. The checks are records; each is one function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from strictwire.packs.workspace.moments import maybe_moment
from strictwire.packs.workspace.plans.model import Phase, Plan
from strictwire.packs.workspace.plans.scope import find_pattern_problem
from strictwire.packs.workspace.plans.text import Finding, body_hash, read_plan, split_hash
from strictwire.packs.workspace.roles import Role

MAX_PLAN: Final = 256 * 1024
"""Bytes of a plan: a person has to read it before it is approved."""

MAX_COMMANDS: Final = 8
"""Commands of one phase, and of all gates: each runs after every change."""

_AMBIGUOUS: Final = re.compile(
    r"""\b( may | should | if\ possible | optional(?:ly)? | try\ to | attempt\ to
      | use\ (?:your\ |best\ )?judge?ment | as\ (?:you\ see\ fit|needed|appropriate) )\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words that leave to the executor what the plan has to say. Looked for in the lines of a phase alone."""

_CODE: Final = re.compile(r"`|\$\{|</?[A-Za-z][\w-]*>|=>|\b(?:function|const|let|var)\s+\w+\s*[=(;]|[{};]")
"""Marks of code in an objective, which is for people."""

_PHASE_ID: Final = re.compile(r"[A-Z][A-Z0-9_]*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Linted:
    """The verdict on one text."""

    plan: Plan | None
    hash: str
    """Of the text as it stands."""
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether it can be used."""
        return not self.findings


def lint(text: str, *, expected_hash: str | None = None) -> Linted:
    """Judge a text; with an expected hash also whether it is that of the text."""
    named, body = split_hash(text)
    found = body_hash(body)
    plan, findings = read_plan(text)
    if plan is not None:
        findings = tuple(finding for check in _CHECKS for finding in check(plan))
    if "\r" in text:
        findings += (Finding(code="PLAN_INVALID_STRUCTURE", line=0, message="lines end with LF, without CR"),)
    if named != found or expected_hash not in (None, found):
        message = "the first line must be 'PLAN_HASH: ' and the SHA-256 of everything below it"
        findings += (Finding(code="PLAN_HASH_MISMATCH", line=1, message=message),)
    return Linted(plan=plan, hash=found, findings=findings)


def _check_metadata(plan: Plan) -> Iterator[Finding]:
    if plan.role not in set(Role):
        yield _finding("PLAN_INVALID_STRUCTURE", f"Role is one of {', '.join(Role)}")
    created, expires = maybe_moment(plan.created), maybe_moment(plan.expires)
    if created is None or expires is None or expires <= created:
        message = "Created and Expires are times such as 2026-01-31T12:00:00Z, and Expires is the later"
        yield _finding("PLAN_INVALID_STRUCTURE", message)
    if not re.fullmatch(r"[0-9a-f]{64}", plan.workspace):
        yield _finding("PLAN_INVALID_STRUCTURE", "Workspace is 64 hexadecimal digits")


def _check_phase_ids(plan: Plan) -> Iterator[Finding]:
    seen: set[str] = set()
    for phase in plan.phases:
        if not _PHASE_ID.fullmatch(phase.id) or phase.id in seen:
            message = f"{phase.id!r}: a Phase ID is upper-case letters, digits and underscores, and unique"
            yield _finding("PLAN_INVALID_PHASE_ID", message)
        seen.add(phase.id)


def _check_operations(plan: Plan) -> Iterator[Finding]:
    for phase in plan.phases:
        if not phase.allowed or set(phase.allowed) & set(phase.forbidden):
            message = f"{phase.id}: some operation is allowed, and none is both allowed and forbidden"
            yield _finding("PLAN_NOT_ENFORCEABLE", message)


def _check_paths(plan: Plan) -> Iterator[Finding]:
    if not plan.paths:
        yield _finding("PLAN_NOT_ENFORCEABLE", "the Path Allowlist names no path")
    artifacts = [path for phase in plan.phases for path in phase.artifacts]
    for pattern in (*plan.paths, *(ban.pattern for ban in plan.bans), *artifacts):
        code = find_pattern_problem(pattern)
        if code is not None:
            yield _finding(code, f"{pattern!r} is not a relative path inside the workspace")


def _check_commands(plan: Plan) -> Iterator[Finding]:
    if any(len(commands) > MAX_COMMANDS for commands in (plan.gates, *(phase.commands for phase in plan.phases))):
        yield _finding("PLAN_NOT_ENFORCEABLE", f"at most {MAX_COMMANDS} commands in one place")


def _check_words(plan: Plan) -> Iterator[Finding]:
    for phase in plan.phases:
        for text in (phase.objective, phase.outcomes, phase.stops):
            vague = _AMBIGUOUS.search(text)
            if vague:
                yield _finding("PLAN_AMBIGUOUS_LANGUAGE", f"{phase.id}: {vague[0]!r} leaves open what is to be done")
        yield from _check_objective(phase)


def _check_objective(phase: Phase) -> Iterator[Finding]:
    if _CODE.search(phase.objective):
        yield _finding("PLAN_NOT_AUDITABLE", f"{phase.id}: the objective holds code; say it in words")


def _finding(code: str, message: str) -> Finding:
    return Finding(code=code, line=0, message=message)


_CHECKS: Final[tuple[Callable[[Plan], Iterator[Finding]], ...]] = (
    _check_metadata,
    _check_phase_ids,
    _check_operations,
    _check_paths,
    _check_commands,
    _check_words,
)

"""Reconciles the audit records and the ledger of plans with the plans themselves. Pure.

Records come from the audit trail, changes from the ledger. Each applied change has a record that holds the digest of its
answer. The same evidence always gives the same result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.packs.workspace.ledger import APPLIED, Change
from strictwire.packs.workspace.plans.approval import Approval
from strictwire.packs.workspace.plans.model import Operation, Plan
from strictwire.packs.workspace.plans.scope import Action, find_outside
from strictwire.packs.workspace.records import AuditRecord


class Severity(StrEnum):
    """Whether a finding is a broken guarantee or only information."""

    VIOLATION = "violation"
    NOTICE = "notice"


FINDINGS: Final[Mapping[str, tuple[Severity, str]]] = MappingProxyType(
    {
        "RECORD_ALTERED": (Severity.VIOLATION, "A record differs from the one that was signed"),
        "RECORD_WITHOUT_CHANGE": (
            Severity.VIOLATION,
            "The trail records a change that is missing from the ledger or differs",
        ),
        "INTENT_MISSING": (Severity.VIOLATION, "A change has no intent record from before it was made"),
        "CHANGE_WITHOUT_RECORD": (Severity.VIOLATION, "The ledger has a change without a record in the trail"),
        "ROLE_MISMATCH": (Severity.VIOLATION, "A change was made in another role than the plan's"),
        "NOT_APPROVED": (Severity.VIOLATION, "A change was made before its plan had a valid approval"),
        "OUTSIDE_PLAN": (Severity.VIOLATION, "A change is outside the paths, operations or phases of its plan"),
        "INVARIANT_BROKEN": (Severity.VIOLATION, "A call failed because an invariant was broken"),
        "PLAN_UNREADABLE": (Severity.VIOLATION, "A plan under which files were changed is missing or was changed itself"),
        "POLICY_BLOCKED": (Severity.NOTICE, "The policy or a verification command refused a change"),
        "UNFINISHED_CALL": (Severity.NOTICE, "A call has no outcome: the process died, or the call is still running"),
        "CHANGED_BETWEEN": (Severity.NOTICE, "A file was changed outside the plan between two changes of the plan"),
        "CHANGED_SINCE": (Severity.NOTICE, "A file differs from what the last change under the plan left"),
    }
)
"""Code to severity and message. Codes are stable."""

CUT_OFF: Final = "cut_off"
"""Outcome of a change without an `end` line whose files show neither the old nor the new content."""

CHANGING: Final = frozenset({"write_file", "move_file", "delete_file", "apply_changes"})
"""Tools that change files."""

_REFUSALS: Final = {
    "POLICY_VIOLATION": "POLICY_BLOCKED",
    "RUST_POLICY_VIOLATION": "POLICY_BLOCKED",
    "PREFLIGHT_FAILED": "POLICY_BLOCKED",
    "INVARIANT_VIOLATION": "INVARIANT_BROKEN",
}
"""Failure code of a call to the finding it causes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayFinding:
    """A finding of replay_execution."""

    code: str
    subject: str
    """The number of a record, or a path."""

    def as_json(self) -> JsonObject:
        """Return one entry of `findings` in the answer."""
        severity, message = FINDINGS[self.code]
        return {"code": self.code, "severity": severity.value, "subject": self.subject, "message": message}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The input of a reconciliation."""

    records: tuple[AuditRecord, ...]
    """Oldest first."""
    changes: tuple[Change, ...]
    plans: Mapping[str, Plan | None] = field(default_factory=dict)
    """Plan hash to plan; None if the plan cannot be read or is not the approved text."""
    approvals: Mapping[str, Approval | None] = field(default_factory=dict)
    has_intents: bool = True
    """Whether the records include intents. Intents name a plan but no session."""

    @property
    def intended(self) -> frozenset[object]:
        """The calls that have an intent record."""
        return frozenset(each.record.get("call_id") for each in self.records if each.record.get("kind") == "intent")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayStep:
    """One call, reconstructed from its records."""

    seq: int
    """Number of its last record."""
    record: JsonObject
    outcome: str
    """`ok`, `error` or `unfinished`."""
    change: Change | None = None
    """Its change in the ledger."""

    def as_json(self) -> JsonObject:
        """Return one entry of `steps` in the answer."""
        record = self.record
        members = {
            name: record.get(name) for name in ("timestamp", "principal", "role", "session_id", "plan_hash", "phase_id")
        }
        files = () if self.change is None else self.change.files
        return {
            "seq": self.seq,
            "tool": record.get("tool_name"),
            "outcome": self.outcome,
            "error_code": record.get("error_code"),
            **members,
            "noted": None if self.change is None else self.change.ended or CUT_OFF,
            "files": [{"path": each.path, "before": each.before, "after": each.after} for each in files],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """The result of a reconciliation."""

    steps: tuple[ReplayStep, ...]
    findings: tuple[ReplayFinding, ...]
    last: Mapping[str, str | None]
    """Path to the hash that the last change left; None if it left no file."""

    @property
    def passed(self) -> bool:
        """Whether there is no violation."""
        return not any(FINDINGS[each.code][0] is Severity.VIOLATION for each in self.findings)


def reconcile(evidence: Evidence) -> Reconciliation:
    """Reconcile records, changes and plans."""
    steps, unmatched = _steps(evidence)
    applied = [step.change for step in steps if step.change is not None and step.change.ended == APPLIED]
    last: dict[str, str | None] = {}
    findings = [*_find_unmatched(unmatched), *(found for step in steps for found in _find_in_step(step, evidence))]
    for change in applied:
        for file in change.files:
            if file.path in last and last[file.path] != file.before:
                findings.append(ReplayFinding(code="CHANGED_BETWEEN", subject=file.path))
            last[file.path] = file.after
    return Reconciliation(steps=tuple(steps), findings=tuple(findings), last=dict(sorted(last.items())))


def _steps(evidence: Evidence) -> tuple[list[ReplayStep], list[Change]]:
    """Return every call with its change, and the applied changes without a call."""
    ended = {each.record.get("call_id") for each in evidence.records if each.record.get("kind") != "intent"}
    unmatched = list(evidence.changes)
    steps: list[ReplayStep] = []
    for each in evidence.records:
        record = each.record
        if record.get("kind") != "intent":
            outcome = str(record.get("outcome", "error"))
            steps.append(ReplayStep(seq=each.seq, record=record, outcome=outcome, change=_take(unmatched, record)))
        elif record.get("call_id") not in ended:
            steps.append(ReplayStep(seq=each.seq, record=record, outcome="unfinished", change=_take(unmatched, record)))
    return steps, [each for each in unmatched if each.ended == APPLIED]


def _take(unmatched: list[Change], record: JsonObject) -> Change | None:
    """Remove and return the first change of this call: same arguments and, if the call succeeded, same answer."""
    found = next((each for each in unmatched if _is_by(each, record)), None)
    if found is not None:
        unmatched.remove(found)
    return found


def _is_by(change: Change, record: JsonObject) -> bool:
    if change.args_digest != record.get("args_digest"):
        return False
    # A failed call has undone its change, unless that failed too. An interrupted call may have had any outcome.
    ends = {"ok": change.digest == record.get("result_digest"), "error": change.ended != APPLIED}
    return ends.get(str(record.get("outcome")), True)


def _find_unmatched(changes: list[Change]) -> Iterator[ReplayFinding]:
    for change in changes:
        yield ReplayFinding(code="CHANGE_WITHOUT_RECORD", subject=change.files[0].path if change.files else change.change)


def _find_in_step(step: ReplayStep, evidence: Evidence) -> Iterator[ReplayFinding]:
    subject, record = str(step.seq), step.record
    if step.outcome == "unfinished":
        yield ReplayFinding(code="UNFINISHED_CALL", subject=subject)
        return
    if step.outcome != "ok":
        code = _REFUSALS.get(str(record.get("error_code")))
        if code is not None:
            yield ReplayFinding(code=code, subject=subject)
        return
    # A failure report is written without a plan.
    if record.get("tool_name") in CHANGING and record.get("plan_hash") is not None:
        yield from (ReplayFinding(code=code, subject=subject) for code in _find_broken(step, evidence))


def _find_broken(step: ReplayStep, evidence: Evidence) -> Iterator[str]:
    record, plan_hash = step.record, str(step.record["plan_hash"])
    if step.change is None:
        yield "RECORD_WITHOUT_CHANGE"
    if evidence.has_intents and record.get("call_id") not in evidence.intended:
        yield "INTENT_MISSING"
    plan = evidence.plans.get(plan_hash)
    if plan is None:
        yield "PLAN_UNREADABLE"
        return
    if record.get("role") not in (None, plan.role):
        yield "ROLE_MISMATCH"
    approval = evidence.approvals.get(plan_hash)
    # Compared by the second, which is the precision of an approval.
    if approval is None or approval.approved_at[:19] > str(record.get("timestamp"))[:19]:
        yield "NOT_APPROVED"
    if step.change is not None and any(_is_outside(plan, step.change.phase_id, each) for each in _actions(step.change)):
        yield "OUTSIDE_PLAN"


def _actions(change: Change) -> Iterator[tuple[str, str]]:
    return ((each.operation, each.path) for each in change.files)


def _is_outside(plan: Plan, phase_id: str, action: tuple[str, str]) -> bool:
    operation, path = action
    if operation not in set(Operation):
        return True
    return find_outside(plan, Action(phase_id=phase_id, operation=Operation(operation), path=path)) is not None

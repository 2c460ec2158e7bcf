"""What the records and the ledger say happened under plans, judged against the plans themselves. Pure.

The records are the audit trail's, the changes the ledger's; each change that stands has a record whose digest is that of its
answer. The same evidence gives the same judgement, whenever it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.packs.workspace.ledger import STOOD, Change
from strictwire.packs.workspace.plans.approval import Approval
from strictwire.packs.workspace.plans.model import Operation, Plan
from strictwire.packs.workspace.plans.scope import Action, find_outside
from strictwire.packs.workspace.records import Recorded


class Severity(StrEnum):
    """Whether a promise was broken, or something is only worth knowing."""

    VIOLATION = "violation"
    NOTICE = "notice"


FINDINGS: Final[Mapping[str, tuple[Severity, str]]] = MappingProxyType(
    {
        "RECORD_ALTERED": (Severity.VIOLATION, "A record is not the one that was signed for"),
        "RECORD_WITHOUT_CHANGE": (Severity.VIOLATION, "The trail records a change that the ledger does not have as it was"),
        "INTENT_MISSING": (Severity.VIOLATION, "A change has no record from before it was made"),
        "CHANGE_WITHOUT_RECORD": (Severity.VIOLATION, "The ledger has a change whose record is not in the trail"),
        "ROLE_MISMATCH": (Severity.VIOLATION, "A change was made in another role than the plan's"),
        "NOT_APPROVED": (Severity.VIOLATION, "A change was made under a plan without a valid approval before it"),
        "OUTSIDE_PLAN": (Severity.VIOLATION, "A change is outside the paths, operations or phases of its plan"),
        "INVARIANT_BROKEN": (Severity.VIOLATION, "A call ended because an invariant was broken"),
        "PLAN_UNREADABLE": (Severity.VIOLATION, "A plan under which something was changed is gone, or was changed itself"),
        "POLICY_BLOCKED": (Severity.NOTICE, "The policy or a verification command refused a change"),
        "UNFINISHED_CALL": (Severity.NOTICE, "A call was begun and has no outcome: it was cut off, or still runs"),
        "CHANGED_BETWEEN": (Severity.NOTICE, "A file was changed between two changes by someone outside the plan"),
        "CHANGED_SINCE": (Severity.NOTICE, "A file is not what the last change under the plan left"),
    }
)
"""Code to its severity and meaning. Codes are stable."""

CUT_OFF: Final = "cut_off"
"""What became of a change that has no end, and whose files tell neither."""

CHANGING: Final = frozenset({"write_file", "move_file", "delete_file", "apply_changes"})

_REFUSALS: Final = {
    "POLICY_VIOLATION": "POLICY_BLOCKED",
    "RUST_POLICY_VIOLATION": "POLICY_BLOCKED",
    "PREFLIGHT_FAILED": "POLICY_BLOCKED",
    "INVARIANT_VIOLATION": "INVARIANT_BROKEN",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One thing to know."""

    code: str
    subject: str
    """The number of a record, or a path."""

    def as_json(self) -> JsonObject:
        """The member of an answer."""
        severity, message = FINDINGS[self.code]
        return {"code": self.code, "severity": severity.value, "subject": self.subject, "message": message}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What there is to judge."""

    records: tuple[Recorded, ...]
    """Oldest first."""
    changes: tuple[Change, ...]
    plans: Mapping[str, Plan | None] = field(default_factory=dict)
    """By hash; None where the plan cannot be read as it was approved."""
    approvals: Mapping[str, Approval | None] = field(default_factory=dict)
    has_intents: bool = True
    """Whether intents are among the records: they name a plan, but no session."""

    @property
    def intended(self) -> frozenset[object]:
        """The calls that have an intent."""
        return frozenset(each.record.get("call_id") for each in self.records if each.record.get("kind") == "intent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call, from its records."""

    seq: int
    """Of its last record."""
    record: JsonObject
    outcome: str
    """`ok`, `error` or `unfinished`."""
    change: Change | None = None
    """What the ledger has of it."""

    def as_json(self) -> JsonObject:
        """The member of an answer."""
        record = self.record
        told = {name: record.get(name) for name in ("timestamp", "principal", "role", "session_id", "plan_hash", "phase_id")}
        files = () if self.change is None else self.change.files
        return {
            "seq": self.seq,
            "tool": record.get("tool_name"),
            "outcome": self.outcome,
            "error_code": record.get("error_code"),
            **told,
            "noted": None if self.change is None else self.change.ended or CUT_OFF,
            "files": [{"path": each.path, "before": each.before, "after": each.after} for each in files],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraced:
    """The judgement."""

    steps: tuple[Step, ...]
    findings: tuple[Found, ...]
    last: Mapping[str, str | None]
    """Path to the hash that the last change left; None where it left no file."""

    @property
    def passed(self) -> bool:
        """Whether nothing was broken."""
        return not any(FINDINGS[each.code][0] is Severity.VIOLATION for each in self.findings)


def retrace(evidence: Evidence) -> Retraced:
    """Judge what happened."""
    steps, unmatched = _steps(evidence)
    stood = [step.change for step in steps if step.change is not None and step.change.ended == STOOD]
    last: dict[str, str | None] = {}
    findings = [*_find_unmatched(unmatched), *(found for step in steps for found in _find_in_step(step, evidence))]
    for change in stood:
        for traced in change.files:
            if traced.path in last and last[traced.path] != traced.before:
                findings.append(Found(code="CHANGED_BETWEEN", subject=traced.path))
            last[traced.path] = traced.after
    return Retraced(steps=tuple(steps), findings=tuple(findings), last=dict(sorted(last.items())))


def _steps(evidence: Evidence) -> tuple[list[Step], list[Change]]:
    """Every call with its change, and the changes that stand without a call."""
    ended = {each.record.get("call_id") for each in evidence.records if each.record.get("kind") != "intent"}
    waiting = list(evidence.changes)
    steps: list[Step] = []
    for each in evidence.records:
        record = each.record
        if record.get("kind") != "intent":
            outcome = str(record.get("outcome", "error"))
            steps.append(Step(seq=each.seq, record=record, outcome=outcome, change=_take(waiting, record)))
        elif record.get("call_id") not in ended:
            steps.append(Step(seq=each.seq, record=record, outcome="unfinished", change=_take(waiting, record)))
    return steps, [each for each in waiting if each.ended == STOOD]


def _take(waiting: list[Change], record: JsonObject) -> Change | None:
    """The first change that was made by the call of a record: of its arguments and, where it succeeded, with its answer."""
    found = next((each for each in waiting if _is_by(each, record)), None)
    if found is not None:
        waiting.remove(found)
    return found


def _is_by(change: Change, record: JsonObject) -> bool:
    if change.args_digest != record.get("args_digest"):
        return False
    # A refusal undid its change, unless that could not be done; a call that was cut off may have come to any end.
    ends = {"ok": change.digest == record.get("result_digest"), "error": change.ended != STOOD}
    return ends.get(str(record.get("outcome")), True)


def _find_unmatched(changes: list[Change]) -> Iterator[Found]:
    for change in changes:
        yield Found(code="CHANGE_WITHOUT_RECORD", subject=change.files[0].path if change.files else change.change)


def _find_in_step(step: Step, evidence: Evidence) -> Iterator[Found]:
    subject, record = str(step.seq), step.record
    if step.outcome == "unfinished":
        yield Found(code="UNFINISHED_CALL", subject=subject)
        return
    if step.outcome != "ok":
        code = _REFUSALS.get(str(record.get("error_code")))
        if code is not None:
            yield Found(code=code, subject=subject)
        return
    # A failure report is written without a plan.
    if record.get("tool_name") in CHANGING and record.get("plan_hash") is not None:
        yield from (Found(code=code, subject=subject) for code in _find_broken(step, evidence))


def _find_broken(step: Step, evidence: Evidence) -> Iterator[str]:
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
    # Up to the second, which is what an approval tells.
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

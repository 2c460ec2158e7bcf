"""`strictwire workspace report`: who changed what under which plan, with the proofs. Reads only.

For every plan: author and approver, which are signed; the steps according to the audit trail, compared with the ledger and
the current files (`replay`); and the signed checkpoint that includes every record of the plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from strictwire.audit.view import TrailView
from strictwire.canon.json import JsonObject
from strictwire.fault.escape import for_terminal
from strictwire.fault.failure import Refused
from strictwire.packs.workspace.plans.plan_files import PlanFiles, WorkspaceFolder
from strictwire.packs.workspace.records import EVIDENCE
from strictwire.packs.workspace.replay import Replay

_SHORT: Final = 12
"""Digits of a hash in the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The sources of a report."""

    folder: WorkspaceFolder
    plan_files: PlanFiles
    replay: Replay
    trail: TrailView

    def report(self, plan_hash: str | None) -> JsonObject:
        """Return the report on one plan, or on all. Raises Refused: PLAN_NOT_FOUND, AUDIT_LOG_FAILED."""
        hashes = self.plan_files.hashes(self.folder) if plan_hash is None else [plan_hash]
        return {
            "workspace": self.folder.root,
            "audit_key": self.trail.key.render(),
            "workspace_key": self.plan_files.verifier.text,
            "plans": [self._plan(each) for each in hashes],
        }

    def _plan(self, plan_hash: str) -> JsonObject:
        summary = self.plan_files.summary(self.folder, plan_hash)
        approval = self.plan_files.maybe_approval(self.folder, plan_hash)
        replayed = self.replay.replay(self.folder, plan_hash=plan_hash)
        return summary | {
            "approved_at": None if approval is None else approval.approved_at,
            "verdict": replayed["verdict"],
            "complete": replayed["complete"],
            "steps": [each for each in replayed["steps"] if each["tool"] in EVIDENCE],
            "files": replayed["files"],
            "findings": replayed["findings"],
            "proof": self._proof([each["seq"] for each in replayed["steps"]]),
        }

    def _proof(self, records: list[int]) -> JsonObject | None:
        """Return the checkpoint that includes these records; None if there are none, or if the trail does not verify."""
        if not records:
            return None
        try:
            proven = self.trail.prove(records)
        except Refused:
            return None
        return {"records": len(proven.proofs), "checkpoint": proven.checkpoint.note.decode()}


def has_problems(report: JsonObject) -> bool:
    """Return whether the evidence of a plan does not hold."""
    return any(plan["verdict"] != "PASS" for plan in report["plans"])


def render_text(report: JsonObject) -> str:
    """Return the report for people."""
    lines = [f"workspace {report['workspace']}", *(line for plan in report["plans"] for line in _plan_lines(plan))]
    # Titles, names and paths come from agents.
    return "".join(f"{for_terminal(line)}\n" for line in (lines if report["plans"] else [*lines, "no plans"]))


def _plan_lines(plan: JsonObject) -> Iterator[str]:
    approved = f"approved by {plan['approver']} at {plan['approved_at']}" if plan["approver"] else "not approved"
    yield ""
    yield f"plan {plan['plan_hash']}  {plan['title']}"
    yield f"  by {plan['author'] or 'unknown'}, {approved}; {plan['state']}"
    for step in plan["steps"]:
        who = f"{step['principal']} ({step['role'] or '-'})"
        ended = step["error_code"] or step["outcome"]
        yield f"  record {step['seq']}  {step['timestamp']}  {step['tool']}  {ended}  by {who}"
        undone = "  (not applied)" if step["error_code"] else ""
        for each in step["files"]:
            yield f"    {each['path']}  {_short(each['before'])} -> {_short(each['after'])}{undone}"
    yield from (f"  now {each['path']} {each['state']}" for each in plan["files"] if each["state"] != "same")
    yield from (f"  {each['severity']} {each['code']} {each['subject']}: {each['message']}" for each in plan["findings"])
    proof = plan["proof"]
    proven = "no records" if proof is None else f"{proof['records']} records included in the checkpoint {_size(proof)}"
    yield f"  {plan['verdict']}{'' if plan['complete'] else ' (incomplete)'}: {proven}"


def _size(proof: JsonObject) -> str:
    """Return the number of records that a checkpoint covers: the second line of its note."""
    return f"over {proof['checkpoint'].splitlines()[1]} records"


def _short(sha256: str | None) -> str:
    return "none" if sha256 is None else sha256[:_SHORT]

"""The tool verify_workspace_integrity: checks whether all guarantees about a workspace still hold. Changes nothing.

trail    the audit trail; a long one is verified over several calls, each continuing where the last one ended
root     the path of the root still leads to the folder that the session opened
plans    each plan has the text that its hash names; each approval is signed for it; no plan that was used is missing
own      settings and pinned contracts in the root are unchanged since the session began
files    files are as the last change under a plan left them; a difference is only a notice, because people may edit files
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from strictwire.audit.view import Judged, TrailView
from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Kind
from strictwire.packs.workspace.journal import maybe_hash
from strictwire.packs.workspace.ledger import APPLIED, Ledger
from strictwire.packs.workspace.plans.plan_files import FOLDER, PlanFiles
from strictwire.packs.workspace.plans.scope import workspace_id
from strictwire.packs.workspace.session_store import Session, hash_file

MAX_CHECKED_RECORDS: Final = 100_000
"""Records of the trail that one call verifies: about a second of work."""

MAX_PLANS: Final = 1_000
"""Plans that one call checks."""

MAX_SHOWN: Final = 200
"""Findings in one answer."""

VIOLATION: Final = "violation"
NOTICE: Final = "notice"


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrityFinding:
    """A guarantee that does not hold, or a notice."""

    severity: str
    check: str
    invariant_id: str | None
    subject: str
    message: str

    def as_json(self) -> JsonObject:
        """Return one entry of `findings` in the answer."""
        return {name: getattr(self, name) for name in self.__slots__}


class Integrity:
    """The tool verify_workspace_integrity."""

    def __init__(self, *, trail: TrailView | None, plan_files: PlanFiles, ledger: Ledger) -> None:
        self._trail = trail
        self._plan_files = plan_files
        self._ledger = ledger
        self._judged: Judged | None = None
        self._mutex = threading.Lock()

    def verify(self, session: Session, arguments: JsonObject) -> JsonObject:
        """Run all checks and report the findings. Raises Refused: AUDIT_LOG_FAILED, AUDIT_LOCK_FAILED (trail unreadable)."""
        from_start = arguments.get("from_start", False)
        judged = None if self._trail is None else self._judge(self._trail, from_start=from_start)
        hashes = self._plan_hashes(session)
        checks: tuple[Callable[[], Iterator[IntegrityFinding]], ...] = (
            lambda: find_in_trail(judged),
            lambda: _find_in_root(session),
            lambda: self._find_in_plans(session, hashes),
            lambda: _find_in_own(session),
            lambda: self._find_in_files(session),
        )
        findings = [found for check in checks for found in check()]
        passed = not any(each.severity == VIOLATION for each in findings)
        return {
            "passed": passed,
            "complete": (judged is None or judged.is_whole or judged.finding is not None) and len(hashes) <= MAX_PLANS,
            "trail": None
            if judged is None
            else {"judged": judged.size, "signed": judged.signed, "whole": judged.is_whole, "root": judged.root.hex()},
            "plans": len(hashes),
            "count": len(findings),
            "findings": [each.as_json() for each in findings[:MAX_SHOWN]],
        }

    def _judge(self, trail: TrailView, *, from_start: bool) -> Judged:
        """Verify the trail from where the last call ended. A trail that fits into one call is always verified as a whole."""
        with self._mutex:
            before = self._judged
            is_short = before is not None and before.size < MAX_CHECKED_RECORDS
            made = trail.judge(None if from_start or is_short else before, limit=MAX_CHECKED_RECORDS)
            # Verification stops at a finding, so the next call starts from the beginning.
            self._judged = made if made.finding is None else None
            return made

    def _plan_hashes(self, session: Session) -> list[str]:
        return sorted({*self._plan_files.hashes(session), *self._ledger.plans(workspace_id(session.root))})

    def _find_in_plans(self, session: Session, hashes: list[str]) -> Iterator[IntegrityFinding]:
        for plan_hash in hashes[:MAX_PLANS]:
            yield from self._find_in_plan(session, plan_hash)
        yield from _find_stray_files(session, set(hashes))

    def _find_in_plan(self, session: Session, plan_hash: str) -> Iterator[IntegrityFinding]:
        try:
            self._plan_files.read_verified(session, plan_hash)
        except Refused as exc:
            invariant = exc.failure.invariant_id or "PLAN_IMMUTABLE"
            yield _violation("plans", invariant, plan_hash, exc.failure.text)
            return
        if self._plan_files.maybe_creation(session, plan_hash) is None:
            text = "This server has no record of who created the plan; it cannot be approved"
            yield IntegrityFinding(severity=NOTICE, check="plans", invariant_id=None, subject=plan_hash, message=text)
        has_file = self._plan_files.maybe_approval_file(session, plan_hash) is not None
        if has_file and self._plan_files.maybe_approval(session, plan_hash) is None:
            text = "The approval file of the plan is not a valid signature of this server for it"
            yield _violation("plans", "PLAN_APPROVED", plan_hash, text)
        elif not has_file and self._ledger.read(workspace_id(session.root), plan_hash):
            yield _violation("plans", "PLAN_APPROVED", plan_hash, "Changes were made under a plan whose approval is missing")

    def _find_in_files(self, session: Session) -> Iterator[IntegrityFinding]:
        for path, expected in sorted(self._expected_hashes(workspace_id(session.root)).items()):
            if maybe_hash(session.jail, path) not in expected:
                text = "The file differs from what the last change under a plan left"
                yield IntegrityFinding(severity=NOTICE, check="files", invariant_id=None, subject=path, message=text)

    def _expected_hashes(self, workspace: str) -> dict[str, set[str | None]]:
        """Return path to expected hash. There are several if changes within one second cannot be ordered."""
        last: dict[str, tuple[str, set[str | None]]] = {}
        for plan_hash in self._ledger.plans(workspace)[:MAX_PLANS]:
            applied = [change for change in self._ledger.read(workspace, plan_hash) if change.ended == APPLIED]
            for at, each in ((change.at, each) for change in applied for each in change.files):
                known = last.get(each.path, ("", set()))
                if at > known[0]:
                    last[each.path] = (at, {each.after})
                elif at == known[0]:
                    known[1].add(each.after)
        return {path: hashes for path, (_, hashes) in last.items()}


def find_in_trail(judged: Judged | None) -> Iterator[IntegrityFinding]:
    """Yield what the verification of the trail found."""
    if judged is None:
        text = "The server keeps no audit trail (audit.mode is off)"
        yield IntegrityFinding(severity=NOTICE, check="trail", invariant_id=None, subject="trail", message=text)
    elif judged.finding is not None:
        missing = judged.finding.reason.value in ("missing", "repeated", "truncated")
        invariant = "SEQUENCE_CONTINUOUS" if missing else "HASH_CHAIN_INTACT"
        yield _violation("trail", invariant, str(judged.finding.record), f"{judged.finding.reason}: {judged.finding}")


def _find_in_root(session: Session) -> Iterator[IntegrityFinding]:
    if not session.is_root_unchanged():
        text = "The workspace root was moved, replaced or removed since the session began"
        yield _violation("root", "WORKSPACE_ROOT_FIXED", ".", text)


def _find_in_own(session: Session) -> Iterator[IntegrityFinding]:
    for name, pinned in session.pins.items():
        if hash_file(session.jail, name) != pinned:
            yield _violation("own", "CONTRACT_LOCKED", name, "The file was changed since the session began")


def _find_stray_files(session: Session, hashes: set[str]) -> Iterator[IntegrityFinding]:
    """Yield files in the plan folder that are neither a plan nor an approval."""
    expected = {f"{each}.md" for each in hashes} | {f"{each}.approval.json" for each in hashes}
    try:
        listed = session.jail.list(FOLDER, limit=10_000).entries
    except Refused:
        return
    for name, kind in listed:
        if name not in expected or kind is not Kind.FILE:
            text = "The file is in the plan folder but is neither a plan nor an approval"
            yield IntegrityFinding(severity=NOTICE, check="plans", invariant_id=None, subject=name, message=text)


def _violation(check: str, invariant_id: str, subject: str, message: str) -> IntegrityFinding:
    return IntegrityFinding(severity=VIOLATION, check=check, invariant_id=invariant_id, subject=subject, message=message)

"""verify_workspace_integrity: whether everything that was promised of a workspace still holds. Changes nothing.

trail    the audit trail, in stretches: a long one is judged over several calls, each going on where the last one ended
root     the folder that the session pinned is still the one under its name
plans    each has the text that its hash names; each approval is signed for its plan here; none that was used is gone
own      settings and pinned contracts in the root are as they were when the session began
files    what the last change under a plan left is what is there; if not, that is a notice: people may change files
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
from strictwire.packs.workspace.book import Session, hash_file
from strictwire.packs.workspace.journal import maybe_hash
from strictwire.packs.workspace.ledger import STOOD, Ledger
from strictwire.packs.workspace.plans.scope import workspace_id
from strictwire.packs.workspace.plans.shelf import FOLDER, Shelf

MAX_JUDGED: Final = 100_000
"""Records of the trail that one call judges: about a second."""

MAX_PLANS: Final = 1_000
"""Plans that one call looks at."""

MAX_TOLD: Final = 200

VIOLATION: Final = "violation"
NOTICE: Final = "notice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that does not hold."""

    severity: str
    check: str
    invariant_id: str | None
    subject: str
    message: str

    def as_json(self) -> JsonObject:
        """The member of an answer."""
        return {name: getattr(self, name) for name in self.__slots__}


class Integrity:
    """The tool."""

    def __init__(self, *, trail: TrailView | None, shelf: Shelf, ledger: Ledger) -> None:
        self._trail = trail
        self._shelf = shelf
        self._ledger = ledger
        self._judged: Judged | None = None
        self._mutex = threading.Lock()

    def verify(self, session: Session, arguments: JsonObject) -> JsonObject:
        """verify_workspace_integrity. Raises Refused: AUDIT_LOG_FAILED, AUDIT_LOCK_FAILED the trail cannot be read."""
        judged = None if self._trail is None else self._judge(self._trail, is_anew=arguments.get("from_start", False))
        names = self._names(session)
        checks: tuple[Callable[[], Iterator[Finding]], ...] = (
            lambda: find_in_trail(judged),
            lambda: _find_in_root(session),
            lambda: self._find_in_plans(session, names),
            lambda: _find_in_own(session),
            lambda: self._find_in_files(session),
        )
        findings = [found for check in checks for found in check()]
        passed = not any(each.severity == VIOLATION for each in findings)
        return {
            "passed": passed,
            "complete": (judged is None or judged.is_whole or judged.finding is not None) and len(names) <= MAX_PLANS,
            "trail": None
            if judged is None
            else {"judged": judged.size, "signed": judged.signed, "whole": judged.is_whole, "root": judged.root.hex()},
            "plans": len(names),
            "count": len(findings),
            "findings": [each.as_json() for each in findings[:MAX_TOLD]],
        }

    def _judge(self, trail: TrailView, *, is_anew: bool) -> Judged:
        """Go on from the last judgement. A trail that fits into one call is judged from its start every time."""
        with self._mutex:
            before = self._judged
            is_short = before is not None and before.size < MAX_JUDGED
            made = trail.judge(None if is_anew or is_short else before, limit=MAX_JUDGED)
            # Behind a finding nothing is judged; the next call looks again from the start.
            self._judged = made if made.finding is None else None
            return made

    def _names(self, session: Session) -> list[str]:
        return sorted({*self._shelf.names(session), *self._ledger.plans(workspace_id(session.root))})

    def _find_in_plans(self, session: Session, names: list[str]) -> Iterator[Finding]:
        for name in names[:MAX_PLANS]:
            yield from self._find_in_plan(session, name)
        yield from _find_strangers(session, set(names))

    def _find_in_plan(self, session: Session, plan_hash: str) -> Iterator[Finding]:
        try:
            self._shelf.whole(session, plan_hash)
        except Refused as exc:
            invariant = exc.failure.invariant_id or "PLAN_IMMUTABLE"
            yield _violation("plans", invariant, plan_hash, exc.failure.text)
            return
        has_file = self._shelf.maybe_approval_file(session, plan_hash) is not None
        if has_file and self._shelf.maybe_approval(session, plan_hash) is None:
            text = "The approval beside the plan is not signed for it by this server"
            yield _violation("plans", "PLAN_APPROVED", plan_hash, text)
        elif not has_file and self._ledger.read(workspace_id(session.root), plan_hash):
            yield _violation("plans", "PLAN_APPROVED", plan_hash, "Changes were made under a plan whose approval is gone")

    def _find_in_files(self, session: Session) -> Iterator[Finding]:
        for path, expected in sorted(self._left(workspace_id(session.root)).items()):
            if maybe_hash(session.jail, path) not in expected:
                text = "The file is not what the last change under a plan left"
                yield Finding(severity=NOTICE, check="files", invariant_id=None, subject=path, message=text)

    def _left(self, workspace: str) -> dict[str, set[str | None]]:
        """Path to what the last change left; several where changes of the same second cannot be put in order."""
        last: dict[str, tuple[str, set[str | None]]] = {}
        for plan_hash in self._ledger.plans(workspace)[:MAX_PLANS]:
            stood = [change for change in self._ledger.read(workspace, plan_hash) if change.ended == STOOD]
            for at, each in ((change.at, each) for change in stood for each in change.files):
                known = last.get(each.path, ("", set()))
                if at > known[0]:
                    last[each.path] = (at, {each.after})
                elif at == known[0]:
                    known[1].add(each.after)
        return {path: hashes for path, (_, hashes) in last.items()}


def find_in_trail(judged: Judged | None) -> Iterator[Finding]:
    """What a judgement of the trail says."""
    if judged is None:
        text = "No audit trail is kept (audit.mode is off)"
        yield Finding(severity=NOTICE, check="trail", invariant_id=None, subject="trail", message=text)
    elif judged.finding is not None:
        missing = judged.finding.reason.value in ("missing", "repeated", "truncated")
        invariant = "SEQUENCE_CONTINUOUS" if missing else "HASH_CHAIN_INTACT"
        yield _violation("trail", invariant, str(judged.finding.record), f"{judged.finding.reason}: {judged.finding}")


def _find_in_root(session: Session) -> Iterator[Finding]:
    if not session.is_at_home():
        text = "The workspace root was moved, replaced or removed since the session began"
        yield _violation("root", "WORKSPACE_ROOT_FIXED", ".", text)


def _find_in_own(session: Session) -> Iterator[Finding]:
    for name, pinned in session.pins.items():
        if hash_file(session.jail, name) != pinned:
            yield _violation("own", "CONTRACT_LOCKED", name, "The file was changed since the session began")


def _find_strangers(session: Session, names: set[str]) -> Iterator[Finding]:
    """What stands among the plans and is none."""
    expected = {f"{name}.md" for name in names} | {f"{name}.approval.json" for name in names}
    try:
        listed = session.jail.list(FOLDER, limit=10_000).entries
    except Refused:
        return
    for name, kind in listed:
        if name not in expected or kind is not Kind.FILE:
            text = "It stands among the plans and is neither a plan nor an approval of one"
            yield Finding(severity=NOTICE, check="plans", invariant_id=None, subject=name, message=text)


def _violation(check: str, invariant_id: str, subject: str, message: str) -> Finding:
    return Finding(severity=VIOLATION, check=check, invariant_id=invariant_id, subject=subject, message=message)

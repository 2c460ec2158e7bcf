"""replay_execution: what the records say happened, against what the files are now. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from strictwire.audit.view import TrailView
from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Refused
from strictwire.packs.workspace.book import Session
from strictwire.packs.workspace.journal import maybe_hash
from strictwire.packs.workspace.ledger import Change, Ledger, settle
from strictwire.packs.workspace.plans.model import Plan
from strictwire.packs.workspace.plans.scope import workspace_id
from strictwire.packs.workspace.plans.shelf import Home, Shelf
from strictwire.packs.workspace.records import Gathered, Recorded, Records, gather, needed_trail
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.retrace import Evidence, Found, Retraced, retrace

MAX_TOLD: Final = 200
"""Steps, files and findings of one answer; how many there are is told too."""

_OF_NO_PHASE: Final = frozenset({"create_plan", "approve_plan"})


class Replay:
    """The tool, and the evidence it works with."""

    def __init__(self, *, trail: TrailView | None, ledger: Ledger, shelf: Shelf, records: Records) -> None:
        self._trail = trail
        self._ledger = ledger
        self._shelf = shelf
        self._records = records

    def run(self, session: Session, arguments: JsonObject) -> JsonObject:
        """replay_execution. Raises Refused: MISSING_REQUIRED_FIELD, INSUFFICIENT_PERMISSIONS, PLAN_NOT_FOUND,
        CAP_EXCEEDED, AUDIT_LOG_FAILED."""
        plan_hash, phase_id, of_session = (arguments.get(name) for name in ("plan_hash", "phase_id", "of_session"))
        if plan_hash is None and of_session is None:
            raise refuse("MISSING_REQUIRED_FIELD", "Give plan_hash or of_session", "plan_hash_or_of_session")
        if of_session is not None:
            self._records.check_session(session, of_session)
        if plan_hash is not None:
            self._shelf.read(session, plan_hash)
        gathered = self.gather(session, plan_hash=plan_hash, phase_id=phase_id, of_session=of_session)
        done = self.judge(session, gathered, phase_id=phase_id, of_session=of_session)
        files = [_file(session, path, expected) for path, expected in done.last.items()]
        changed = tuple(Found(code="CHANGED_SINCE", subject=str(each["path"])) for each in files if each["state"] != "same")
        altered = find_altered(needed_trail(self._trail), gathered.records)
        done = replace(done, findings=(*altered, *done.findings, *changed))
        return {
            "plan_hash": plan_hash,
            "phase_id": phase_id,
            "of_session": of_session,
            "verdict": "PASS" if done.passed else "FAIL",
            "complete": gathered.is_complete,
            "counts": {"steps": len(done.steps), "files": len(files), "findings": len(done.findings)},
            "steps": [each.as_json() for each in done.steps[-MAX_TOLD:]],
            "files": files[:MAX_TOLD],
            "findings": [each.as_json() for each in done.findings[:MAX_TOLD]],
        }

    def gather(
        self, session: Session, *, plan_hash: str | None, phase_id: str | None = None, of_session: str | None = None
    ) -> Gathered:
        """The records of a plan, of one of its phases, or of a session."""

        def is_wanted(record: JsonObject) -> bool:
            # Making and approving a plan belong to all of its phases.
            phase = None if record.get("tool_name") in _OF_NO_PHASE else phase_id
            asked = {"plan_hash": plan_hash, "phase_id": phase, "session_id": of_session}
            is_here = record.get("workspace_root") in (session.root, None)
            return is_here and all(record.get(name) == value for name, value in asked.items() if value is not None)

        needle = plan_hash or of_session or ""
        return gather(needed_trail(self._trail), is_wanted, needle=needle, until=plan_hash)

    def judge(
        self, home: Home, gathered: Gathered, *, phase_id: str | None = None, of_session: str | None = None
    ) -> Retraced:
        """What the records, the ledger and the plans say together."""
        named = [each.record.get("plan_hash") for each in gathered.records]
        hashes = sorted({each for each in named if isinstance(each, str)})
        changes = [change for each in hashes for change in self._changes(home, each) if _is_of(change, phase_id, of_session)]
        return retrace(
            Evidence(
                records=gathered.records,
                changes=tuple(changes),
                plans={each: self._maybe_plan(home, each) for each in hashes},
                approvals={each: self._shelf.maybe_approval(home, each) for each in hashes},
                has_intents=of_session is None,
            )
        )

    def _changes(self, home: Home, plan_hash: str) -> Iterable[Change]:
        noted = self._ledger.read(workspace_id(home.root), plan_hash)
        return settle(noted, lambda path: maybe_hash(home.jail, path))

    def _maybe_plan(self, home: Home, plan_hash: str) -> Plan | None:
        try:
            return self._shelf.whole(home, plan_hash)
        except Refused:
            return None


def find_altered(trail: TrailView, records: tuple[Recorded, ...]) -> tuple[Found, ...]:
    """The first record that is not the one that was signed for. Raises Refused: the trail cannot be read."""
    if not records:
        return ()
    try:
        trail.prove([each.seq for each in records])
    except Refused as exc:
        cause = exc.failure.cause
        if not isinstance(cause, dict) or cause.get("reason") not in ("damaged", "no_such_record"):
            raise
        return (Found(code="RECORD_ALTERED", subject=str(cause.get("record", "checkpoint"))),)
    return ()


def _is_of(change: Change, phase_id: str | None, of_session: str | None) -> bool:
    return phase_id in (None, change.phase_id) and of_session in (None, change.session_id)


def _file(home: Home, path: str, recorded: str | None) -> JsonObject:
    now = maybe_hash(home.jail, path)
    state = "same" if now == recorded else "gone" if now is None else "changed"
    return {"path": path, "recorded": recorded, "now": now, "state": state}

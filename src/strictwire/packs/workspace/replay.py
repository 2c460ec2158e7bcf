"""The tool replay_execution: what the records say happened, compared with the current files. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from strictwire.audit.view import TrailView
from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Refused
from strictwire.packs.workspace.journal import maybe_hash
from strictwire.packs.workspace.ledger import Change, Ledger, resolve_unfinished
from strictwire.packs.workspace.plans.model import Plan
from strictwire.packs.workspace.plans.plan_files import PlanFiles, WorkspaceFolder
from strictwire.packs.workspace.plans.scope import workspace_id
from strictwire.packs.workspace.reconcile import Evidence, Reconciliation, ReplayFinding, reconcile
from strictwire.packs.workspace.records import AuditRecord, GatheredRecords, Records, gather, require_trail
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.session_store import Session

MAX_SHOWN: Final = 200
"""Most steps, files and findings in one answer. The answer also gives their numbers."""

_WHOLE_PLAN: Final = frozenset({"create_plan", "approve_plan"})
"""Tools whose records belong to all phases of a plan."""


class Replay:
    """The tool replay_execution, and the collection of evidence for attestations."""

    def __init__(self, *, trail: TrailView | None, ledger: Ledger, plan_files: PlanFiles, records: Records) -> None:
        self._trail = trail
        self._ledger = ledger
        self._plan_files = plan_files
        self._records = records

    def run(self, session: Session, arguments: JsonObject) -> JsonObject:
        """Replay a plan, one of its phases, or a session.

        Raises Refused: MISSING_REQUIRED_FIELD, INSUFFICIENT_PERMISSIONS, PLAN_NOT_FOUND, CAP_EXCEEDED, AUDIT_LOG_FAILED.
        """
        plan_hash, phase_id, of_session = (arguments.get(name) for name in ("plan_hash", "phase_id", "of_session"))
        if plan_hash is None and of_session is None:
            raise refuse("MISSING_REQUIRED_FIELD", "Give plan_hash or of_session", "plan_hash_or_of_session")
        if of_session is not None:
            self._records.check_session(session, of_session)
        return self.replay(session, plan_hash=plan_hash, phase_id=phase_id, of_session=of_session)

    def replay(
        self, folder: WorkspaceFolder, *, plan_hash: str | None, phase_id: str | None = None, of_session: str | None = None
    ) -> JsonObject:
        """Replay without asking who wants to know. Raises Refused: the codes of `run`."""
        if plan_hash is not None:
            self._plan_files.read(folder, plan_hash)
        try:
            gathered = self.gather(folder, plan_hash=plan_hash, phase_id=phase_id, of_session=of_session)
            altered = find_altered(require_trail(self._trail), gathered.records)
        except Refused as exc:
            # The hash chain is broken: no record behind the altered one can be trusted.
            gathered, altered = GatheredRecords(records=(), is_complete=False), (_as_altered(exc),)
        done = self.reconcile(folder, gathered, phase_id=phase_id, of_session=of_session)
        files = [_file(folder, path, expected) for path, expected in done.last.items()]
        changed = tuple(
            ReplayFinding(code="CHANGED_SINCE", subject=str(each["path"])) for each in files if each["state"] != "same"
        )
        done = replace(done, findings=(*altered, *done.findings, *changed))
        return {
            "plan_hash": plan_hash,
            "phase_id": phase_id,
            "of_session": of_session,
            "verdict": "PASS" if done.passed else "FAIL",
            "complete": gathered.is_complete,
            "counts": {"steps": len(done.steps), "files": len(files), "findings": len(done.findings)},
            "steps": [each.as_json() for each in done.steps[-MAX_SHOWN:]],
            "files": files[:MAX_SHOWN],
            "findings": [each.as_json() for each in done.findings[:MAX_SHOWN]],
        }

    def gather(
        self, folder: WorkspaceFolder, *, plan_hash: str | None, phase_id: str | None = None, of_session: str | None = None
    ) -> GatheredRecords:
        """Return the records of a plan, of one of its phases, or of a session."""

        def is_wanted(record: JsonObject) -> bool:
            phase = None if record.get("tool_name") in _WHOLE_PLAN else phase_id
            expected = {"plan_hash": plan_hash, "phase_id": phase, "session_id": of_session}
            is_here = record.get("workspace_root") in (folder.root, None)
            return is_here and all(record.get(name) == value for name, value in expected.items() if value is not None)

        needle = plan_hash or of_session or ""
        return gather(require_trail(self._trail), is_wanted, needle=needle, until=plan_hash)

    def reconcile(
        self,
        folder: WorkspaceFolder,
        gathered: GatheredRecords,
        *,
        phase_id: str | None = None,
        of_session: str | None = None,
    ) -> Reconciliation:
        """Compare the records with the ledger and the plans."""
        named = [each.record.get("plan_hash") for each in gathered.records]
        hashes = sorted({each for each in named if isinstance(each, str)})
        changes = [
            change for each in hashes for change in self._changes(folder, each) if _is_of(change, phase_id, of_session)
        ]
        return reconcile(
            Evidence(
                records=gathered.records,
                changes=tuple(changes),
                plans={each: self._maybe_plan(folder, each) for each in hashes},
                approvals={each: self._plan_files.maybe_approval(folder, each) for each in hashes},
                has_intents=of_session is None,
            )
        )

    def _changes(self, folder: WorkspaceFolder, plan_hash: str) -> Iterable[Change]:
        recorded = self._ledger.read(workspace_id(folder.root), plan_hash)
        return resolve_unfinished(recorded, lambda path: maybe_hash(folder.own, path))

    def _maybe_plan(self, folder: WorkspaceFolder, plan_hash: str) -> Plan | None:
        try:
            return self._plan_files.read_verified(folder, plan_hash)
        except Refused:
            return None


def find_altered(trail: TrailView, records: tuple[AuditRecord, ...]) -> tuple[ReplayFinding, ...]:
    """Return the first record that differs from the signed one. Raises Refused if the trail cannot be read."""
    if not records:
        return ()
    try:
        trail.prove([each.seq for each in records])
    except Refused as exc:
        return (_as_altered(exc),)
    return ()


def _as_altered(refused: Refused) -> ReplayFinding:
    """RECORD_ALTERED for a trail that does not hold. Raises every other refusal again."""
    cause = refused.failure.cause
    if not isinstance(cause, dict) or cause.get("reason") not in ("damaged", "no_such_record"):
        raise refused
    return ReplayFinding(code="RECORD_ALTERED", subject=str(cause.get("record", "checkpoint")))


def _is_of(change: Change, phase_id: str | None, of_session: str | None) -> bool:
    return phase_id in (None, change.phase_id) and of_session in (None, change.session_id)


def _file(folder: WorkspaceFolder, path: str, recorded: str | None) -> JsonObject:
    now = maybe_hash(folder.own, path)
    state = "same" if now == recorded else "gone" if now is None else "changed"
    return {"path": path, "recorded": recorded, "now": now, "state": state}

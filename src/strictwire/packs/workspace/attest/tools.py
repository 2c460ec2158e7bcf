"""The tools generate_attestation_bundle, verify_attestation_bundle and export_attestation_bundle."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from typing import Any

from strictwire.audit.view import Proof, TrailView
from strictwire.canon.json import JsonObject, indent, parse_object, render
from strictwire.packs.workspace.attest.bundle import FORMAT, bundle_id, render_page, signed_part
from strictwire.packs.workspace.attest.check import MAX_BUNDLE, BundleCheck, TrustedKeys, check_bundle
from strictwire.packs.workspace.journal import maybe_hash
from strictwire.packs.workspace.plans.approval import Signer
from strictwire.packs.workspace.plans.plan_files import PlanFiles
from strictwire.packs.workspace.plans.scope import workspace_id
from strictwire.packs.workspace.reconcile import Reconciliation
from strictwire.packs.workspace.records import require_trail
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.replay import Replay
from strictwire.packs.workspace.session_store import Session


class Attestation:
    """The tools for attestation."""

    def __init__(self, *, trail: TrailView | None, replay: Replay, plan_files: PlanFiles, signer: Signer) -> None:
        self._trail = trail
        self._replay = replay
        self._plan_files = plan_files
        self._signer = signer

    def generate(self, session: Session, arguments: JsonObject) -> JsonObject:
        """The tool generate_attestation_bundle. Raises Refused: PLAN_NOT_FOUND, PLAN_ENFORCEMENT_FAILED, PLAN_NOT_APPROVED,
        CAP_EXCEEDED; AUDIT_LOG_FAILED also if the evidence is inconsistent."""
        plan_hash, phase_id = arguments["plan_hash"], arguments.get("phase_id")
        bundle = self._evidence(session, plan_hash, phase_id)
        bundle["bundle_id"] = bundle_id(bundle)
        bundle["signature"] = self._signer.sign_bundle(signed_part(bundle))
        raw = render(bundle)
        if len(raw) > MAX_BUNDLE:
            text = f"The bundle would have more than {MAX_BUNDLE} bytes; request one phase"
            raise refuse("CAP_EXCEEDED", text, "too_large", limitBytes=MAX_BUNDLE)
        problem = check_bundle(raw, self._trusted()).problem
        if problem is not None:
            text = f"The evidence is inconsistent: {problem.check} {problem.subject}: {problem.message}"
            raise refuse("AUDIT_LOG_FAILED", text, "evidence", check=problem.check, subject=problem.subject)
        return {
            "bundle_id": bundle["bundle_id"],
            "plan_hash": plan_hash,
            "records": len(bundle["records"]),
            "complete": bundle["complete"],
            "bundle": raw.decode(),
        }

    def verify(self, _session: Session, arguments: JsonObject) -> JsonObject:
        """The tool verify_attestation_bundle, with the keys of this server or only those in the bundle."""
        checked = self._checked(arguments)
        problem = checked.problem
        return {
            "passed": checked.passed,
            "bundle_id": None if checked.bundle is None else checked.bundle["bundle_id"],
            "trusted": checked.is_trusted and checked.passed,
            "problem": None
            if problem is None
            else {"check": problem.check, "subject": problem.subject, "message": problem.message},
        }

    def export(self, _session: Session, arguments: JsonObject) -> JsonObject:
        """The tool export_attestation_bundle. Raises Refused: INVALID_INPUT_VALUE if the bundle does not verify."""
        checked = self._checked(arguments)
        if checked.bundle is None or checked.problem is not None:
            problem = checked.problem
            text = (
                "The bundle is invalid" if problem is None else f"The bundle is invalid: {problem.check} {problem.subject}"
            )
            raise refuse("INVALID_INPUT_VALUE", text, "bundle")
        form = arguments.get("format", "json")
        content = render_page(checked.bundle) if form == "markdown" else indent(render(checked.bundle)).decode() + "\n"
        suffix = "md" if form == "markdown" else "json"
        return {
            "bundle_id": checked.bundle["bundle_id"],
            "format": form,
            "file_name": f"{checked.bundle['bundle_id']}.{suffix}",
            "sha256": hashlib.sha256(content.encode()).hexdigest(),
            "content": content,
        }

    def _checked(self, arguments: JsonObject) -> BundleCheck:
        trusted = self._trusted() if arguments.get("keys", "server") == "server" else TrustedKeys()
        return check_bundle(arguments["bundle"].encode(), trusted)

    def _trusted(self) -> TrustedKeys:
        return TrustedKeys(workspace=self._signer.verifier.text, audit=require_trail(self._trail).key.render())

    def _evidence(self, session: Session, plan_hash: str, phase_id: str | None) -> JsonObject:
        """Return the bundle without its id and signature."""
        text = self._plan_files.read(session, plan_hash)
        self._plan_files.read_verified(session, plan_hash)
        if self._plan_files.maybe_approval(session, plan_hash) is None:
            raise refuse("PLAN_NOT_APPROVED", "The plan is not approved, so there is nothing to attest")
        approval = self._plan_files.maybe_approval_file(session, plan_hash) or b"null"
        gathered = self._replay.gather(session, plan_hash=plan_hash, phase_id=phase_id)
        done = self._replay.reconcile(session, gathered, phase_id=phase_id)
        trail = require_trail(self._trail)
        proven = trail.prove([each.seq for each in gathered.records])
        return {
            "format": FORMAT,
            "workspace": workspace_id(session.root),
            "phase_id": phase_id,
            "plan": {"hash": plan_hash, "text": text},
            "approval": parse_object(approval),
            "records": list(map(_record, proven.proofs)),
            "complete": gathered.is_complete,
            "changes": _changes(done),
            "files": [
                {"path": path, "recorded": recorded, "now": maybe_hash(session.jail, path)}
                for path, recorded in done.last.items()
            ],
            "checkpoint": proven.checkpoint.note.decode(),
            "keys": {"workspace": self._signer.verifier.text, "audit": trail.key.render()},
        }


def _record(proof: Proof) -> JsonObject:
    hashes: list[Any] = [b64encode(each).decode() for each in proof.hashes]
    return {"index": proof.index, "line": proof.line.decode(), "proof": hashes}


def _changes(done: Reconciliation) -> list[JsonObject]:
    return [
        {"record": step.seq, "answer": step.change.answer}
        for step in done.steps
        if step.change is not None and step.change.answer is not None
    ]

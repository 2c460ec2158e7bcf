"""generate_attestation_bundle, verify_attestation_bundle, export_attestation_bundle."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from typing import Any

from strictwire.audit.view import Proof, TrailView
from strictwire.canon.json import JsonObject, indent, parse_object, render
from strictwire.packs.workspace.attest.bundle import FORMAT, bundle_id, render_page, signed_part
from strictwire.packs.workspace.attest.check import MAX_BUNDLE, Checked, Trusted, check_bundle
from strictwire.packs.workspace.book import Session
from strictwire.packs.workspace.journal import maybe_hash
from strictwire.packs.workspace.plans.approval import Sealing
from strictwire.packs.workspace.plans.scope import workspace_id
from strictwire.packs.workspace.plans.shelf import Shelf
from strictwire.packs.workspace.records import needed_trail
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.replay import Replay
from strictwire.packs.workspace.retrace import Retraced


class Attestation:
    """The tools."""

    def __init__(self, *, trail: TrailView | None, replay: Replay, shelf: Shelf, sealing: Sealing) -> None:
        self._trail = trail
        self._replay = replay
        self._shelf = shelf
        self._sealing = sealing

    def generate(self, session: Session, arguments: JsonObject) -> JsonObject:
        """generate_attestation_bundle. Raises Refused: PLAN_NOT_FOUND, PLAN_ENFORCEMENT_FAILED, PLAN_NOT_APPROVED,
        CAP_EXCEEDED, AUDIT_LOG_FAILED also where the evidence does not hold together."""
        plan_hash, phase_id = arguments["plan_hash"], arguments.get("phase_id")
        bundle = self._evidence(session, plan_hash, phase_id)
        bundle["bundle_id"] = bundle_id(bundle)
        bundle["signature"] = self._sealing.sign_bundle(signed_part(bundle))
        raw = render(bundle)
        if len(raw) > MAX_BUNDLE:
            text = f"The bundle would have more than {MAX_BUNDLE} bytes; ask for one phase"
            raise refuse("CAP_EXCEEDED", text, "too_large", limitBytes=MAX_BUNDLE)
        problem = check_bundle(raw, self._trusted()).problem
        if problem is not None:
            text = f"The evidence does not hold together: {problem.check} {problem.subject}: {problem.message}"
            raise refuse("AUDIT_LOG_FAILED", text, "evidence", check=problem.check, subject=problem.subject)
        return {
            "bundle_id": bundle["bundle_id"],
            "plan_hash": plan_hash,
            "records": len(bundle["records"]),
            "complete": bundle["complete"],
            "bundle": raw.decode(),
        }

    def verify(self, _session: Session, arguments: JsonObject) -> JsonObject:
        """verify_attestation_bundle: with the keys of this server, or those in the bundle alone."""
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
        """export_attestation_bundle: as a file for others. Raises Refused: INVALID_INPUT_VALUE it does not hold."""
        checked = self._checked(arguments)
        if checked.bundle is None or checked.problem is not None:
            told = checked.problem
            text = "The bundle does not hold" if told is None else f"The bundle does not hold: {told.check} {told.subject}"
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

    def _checked(self, arguments: JsonObject) -> Checked:
        trusted = self._trusted() if arguments.get("keys", "server") == "server" else Trusted()
        return check_bundle(arguments["bundle"].encode(), trusted)

    def _trusted(self) -> Trusted:
        return Trusted(workspace=self._sealing.checking.text, audit=needed_trail(self._trail).key.render())

    def _evidence(self, session: Session, plan_hash: str, phase_id: str | None) -> JsonObject:
        """Everything but the id and the signature."""
        text = self._shelf.read(session, plan_hash)
        self._shelf.whole(session, plan_hash)
        if self._shelf.maybe_approval(session, plan_hash) is None:
            raise refuse("PLAN_NOT_APPROVED", "Nobody has approved the plan, so there is nothing to attest")
        approval = self._shelf.maybe_approval_file(session, plan_hash) or b"null"
        gathered = self._replay.gather(session, plan_hash=plan_hash, phase_id=phase_id)
        done = self._replay.judge(session, gathered, phase_id=phase_id)
        trail = needed_trail(self._trail)
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
            "keys": {"workspace": self._sealing.checking.text, "audit": trail.key.render()},
        }


def _record(proof: Proof) -> JsonObject:
    hashes: list[Any] = [b64encode(each).decode() for each in proof.hashes]
    return {"index": proof.index, "line": proof.line.decode(), "proof": hashes}


def _changes(done: Retraced) -> list[JsonObject]:
    return [
        {"record": step.seq, "answer": step.change.answer}
        for step in done.steps
        if step.change is not None and step.change.answer is not None
    ]

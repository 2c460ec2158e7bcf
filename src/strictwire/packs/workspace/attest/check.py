"""Verifies a bundle by itself, optionally with the keys it should be signed with. Pure.

     1  it has the members of a bundle, each of the right type                   FORMAT
     2  its keys are the trusted ones                                            KEY_NOT_TRUSTED
     3  the text of the plan has the plan's hash, and is for this workspace      PLAN_HASH
     4  the approval is signed for this plan and workspace                       APPROVAL
     5  the checkpoint is signed by the audit key                                CHECKPOINT
     6  each record is in the signed tree and is about the plan                  RECORD
     7  each change is the answer whose digest its record holds                  CHANGE
     8  the files are those that the changes left                                FILES
     9  the id is that of the evidence                                           BUNDLE_ID
    10  everything is signed by the workspace key                                SIGNATURE

The first check that fails is reported, with its subject. Specific checks come before general ones, so that an altered record
is reported as such and not as a bad signature.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from strictwire.audit.checkpoint import Checkpoint, KeyRefused, NoteRefused, PublicKey, open_checkpoint, parse_public_key
from strictwire.audit.merkle import fold_inclusion, leaf_hash
from strictwire.canon.digest import digest_bytes
from strictwire.canon.json import JsonObject, Limits, NotJson, NotStrict, parse_object, render
from strictwire.packs.workspace.attest.bundle import FORMAT, MEMBERS, bundle_id, signed_part
from strictwire.packs.workspace.plans.approval import Verifier, maybe_verifier
from strictwire.packs.workspace.plans.lint import lint
from strictwire.packs.workspace.reconcile import CHANGING

MAX_BUNDLE: Final = 3_000_000
"""Largest bundle, in bytes: enough for a thousand records with their proofs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedKeys:
    """The keys that a bundle should be signed with; None if the caller has no key to compare with."""

    workspace: str | None = None
    audit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleProblem:
    """The first check that failed."""

    check: str
    subject: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleCheck:
    """The result of verifying a bundle."""

    problem: BundleProblem | None
    bundle: JsonObject | None
    """The parsed bundle; None if it could not be parsed."""
    is_trusted: bool
    """Whether its keys were compared with known keys."""

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return self.problem is None


class _Stop(Exception):
    def __init__(self, check: str, subject: str, message: str) -> None:
        super().__init__(check)
        self.problem = BundleProblem(check=check, subject=subject, message=message)


def check_bundle(raw: bytes, trusted: TrustedKeys) -> BundleCheck:
    """Verify a bundle."""
    is_trusted = trusted.workspace is not None and trusted.audit is not None
    bundle: JsonObject | None = None
    try:
        bundle = _parse(raw)
        _check(bundle, trusted)
    except _Stop as stop:
        return BundleCheck(problem=stop.problem, bundle=bundle, is_trusted=is_trusted)
    except NotJson:
        problem = BundleProblem(check="FORMAT", subject="bundle", message="It has numbers without a canonical form")
        return BundleCheck(problem=problem, bundle=None, is_trusted=is_trusted)
    return BundleCheck(problem=None, bundle=bundle, is_trusted=is_trusted)


def _parse(raw: bytes) -> JsonObject:
    try:
        found = parse_object(raw, Limits(size=MAX_BUNDLE))
    except NotStrict as exc:
        raise _Stop("FORMAT", "bundle", "It is not a strict JSON object") from exc
    for name in MEMBERS:
        if name not in found or not _KINDS[name](found[name]):
            raise _Stop("FORMAT", name, "The member is missing or has the wrong type")
    if found.keys() != set(MEMBERS):
        raise _Stop("FORMAT", "bundle", "It has unknown members")
    return found


def _check(bundle: JsonObject, trusted: TrustedKeys) -> None:
    workspace, audit = _keys(bundle, trusted)
    _check_plan(bundle)
    _check_approval(bundle, workspace)
    checkpoint = _checkpoint(bundle, audit)
    indexes = [each["index"] for each in bundle["records"]]
    if sorted(set(indexes)) != indexes:
        raise _Stop("RECORD", "records", "The records are not in ascending order without repetitions")
    _check_changes(bundle, [_record(bundle, each, checkpoint) for each in bundle["records"]])
    if bundle_id(bundle) != bundle["bundle_id"]:
        raise _Stop("BUNDLE_ID", "bundle_id", "The id is not that of the evidence")
    if not workspace.accepts_bundle(signed_part(bundle), bundle["signature"]):
        raise _Stop("SIGNATURE", "signature", "The signature of the workspace key does not match the bundle")


def _keys(bundle: JsonObject, trusted: TrustedKeys) -> tuple[Verifier, PublicKey]:
    given = bundle["keys"]
    for name, known in (("workspace", trusted.workspace), ("audit", trusted.audit)):
        if known is not None and given[name] != known:
            raise _Stop("KEY_NOT_TRUSTED", name, "The bundle is signed with a key that is not the trusted one")
    verifier = maybe_verifier(given["workspace"])
    if verifier is None:
        raise _Stop("FORMAT", "keys", "The workspace key is not a valid key")
    try:
        return verifier, parse_public_key(given["audit"])
    except KeyRefused as exc:
        raise _Stop("FORMAT", "keys", "The audit key is not a valid key") from exc


def _check_plan(bundle: JsonObject) -> None:
    named = bundle["plan"]["hash"]
    linted = lint(bundle["plan"]["text"], expected_hash=named)
    if linted.plan is None or linted.findings or linted.hash != named:
        raise _Stop("PLAN_HASH", named, "The text of the plan does not have the plan's hash")
    if linted.plan.workspace != bundle["workspace"]:
        raise _Stop("PLAN_HASH", named, "The plan is for another workspace")


def _check_approval(bundle: JsonObject, workspace: Verifier) -> None:
    if bundle["approval"] is None:
        raise _Stop("APPROVAL", bundle["plan"]["hash"], "The plan has no approval")
    approval = workspace.maybe_approval(render(bundle["approval"]))
    if approval is None or (approval.plan_hash, approval.workspace) != (bundle["plan"]["hash"], bundle["workspace"]):
        raise _Stop("APPROVAL", bundle["plan"]["hash"], "The approval is not signed for this plan in this workspace")


def _checkpoint(bundle: JsonObject, audit: PublicKey) -> Checkpoint:
    try:
        return open_checkpoint(bundle["checkpoint"].encode(), audit)
    except NoteRefused as exc:
        raise _Stop("CHECKPOINT", "checkpoint", "The signature of the audit key does not match the checkpoint") from exc


def _record(bundle: JsonObject, each: JsonObject, checkpoint: Checkpoint) -> JsonObject:
    index, line = each["index"], each["line"].encode()
    proof = [_hash(index, text) for text in each["proof"]]
    root = fold_inclusion(leaf_hash(line), index=index, size=checkpoint.size, proof=proof)
    if root != checkpoint.root:
        raise _Stop("RECORD", str(index), "The record is not in the log that the checkpoint signs")
    record = _parse_part("RECORD", str(index), line)
    if record.get("plan_hash") != bundle["plan"]["hash"]:
        raise _Stop("RECORD", str(index), "The record is about another plan")
    return record


def _parse_part(check: str, subject: str, raw: bytes) -> JsonObject:
    try:
        return parse_object(raw)
    except NotStrict as exc:
        raise _Stop(check, subject, "It is not a strict JSON object") from exc


def _hash(index: int, text: object) -> bytes:
    try:
        return b64decode(str(text), validate=True)
    except ValueError as exc:
        raise _Stop("RECORD", str(index), "The proof is not valid base64") from exc


def _check_changes(bundle: JsonObject, records: list[JsonObject]) -> None:
    due = {record.get("seq"): record.get("result_digest") for record in records if is_change(record)}
    left: dict[str, str | None] = {}
    for each in bundle["changes"]:
        subject, raw = str(each["record"]), each["answer"].encode()
        if due.pop(each["record"], None) != digest_bytes(raw):
            raise _Stop("CHANGE", subject, "The answer is not the one whose digest was recorded")
        left |= _left_by(subject, _parse_part("CHANGE", subject, raw))
    if due:
        raise _Stop("CHANGE", str(min(due, key=str)), "The record shows a change whose answer is missing")
    listed = {each["path"]: each["recorded"] for each in bundle["files"]}
    if listed != left:
        wrong = sorted(path for path in listed.keys() | left.keys() if listed.get(path, "") != left.get(path, ""))
        raise _Stop("FILES", wrong[0], "The file is not listed as the changes left it")


def is_change(record: JsonObject) -> bool:
    """Return whether a record is of a successful change to files."""
    return record.get("tool_name") in CHANGING and record.get("outcome") == "ok"


def _left_by(subject: str, answer: JsonObject) -> dict[str, str | None]:
    try:
        return left_by(answer)
    except (KeyError, TypeError) as exc:
        raise _Stop("CHANGE", subject, "The answer is not that of a tool that changes files") from exc


def left_by(answer: JsonObject) -> dict[str, str | None]:
    """Return path to hash from the answer of a tool that changes files. Raises KeyError, TypeError."""
    if "files" in answer:
        return {each["path"]: each["sha256"] for each in answer["files"]}
    if "new_path" in answer:
        return {answer["path"]: None, answer["new_path"]: answer["sha256"]}
    return {answer["path"]: answer.get("sha256")}


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_maybe_text(value: object) -> bool:
    return value is None or isinstance(value, str)


def _has(**kinds: Callable[[object], bool]) -> Callable[[object], bool]:
    def is_such(value: object) -> bool:
        return (
            isinstance(value, dict)
            and value.keys() == kinds.keys()
            and all(is_kind(value[name]) for name, is_kind in kinds.items())
        )

    return is_such


def _all(is_kind: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(map(is_kind, value))


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_KINDS: Final[dict[str, Callable[[Any], bool]]] = {
    "format": lambda value: value == FORMAT,
    "bundle_id": _is_text,
    "workspace": _is_text,
    "phase_id": _is_maybe_text,
    "plan": _has(hash=_is_text, text=_is_text),
    "approval": lambda value: value is None or isinstance(value, dict),
    "records": _all(_has(index=_is_number, line=_is_text, proof=_all(_is_text))),
    "complete": lambda value: isinstance(value, bool),
    "changes": _all(_has(record=_is_number, answer=_is_text)),
    "files": _all(_has(path=_is_text, recorded=_is_maybe_text, now=_is_maybe_text)),
    "checkpoint": _is_text,
    "keys": _has(workspace=_is_text, audit=_is_text),
    "signature": _is_text,
}

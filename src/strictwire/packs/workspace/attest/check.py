"""Judging a bundle with nothing but the bundle and, where they are at hand, the keys it should be signed with. Pure.

     1  it has the members of a bundle, each of its kind                         FORMAT
     2  its keys are those that are trusted                                      KEY_NOT_TRUSTED
     3  the plan's text has the plan's hash, and is for this workspace           PLAN_HASH
     4  the approval is signed, for this plan and workspace                      APPROVAL
     5  the checkpoint is signed by the audit key                                CHECKPOINT
     6  each record is in the signed tree, and about the plan                    RECORD
     7  each change is the answer whose digest its record holds                  CHANGE
     8  the files are those that the changes left                                FILES
     9  the id is that of the evidence                                           BUNDLE_ID
    10  all of it is signed by the workspace key                                 SIGNATURE

The first that does not hold is told, with what it is about. What is small comes before what covers everything, so that an
altered record is told as that and not as a bad signature.
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
from strictwire.packs.workspace.plans.approval import Checking, maybe_checking
from strictwire.packs.workspace.plans.lint import lint
from strictwire.packs.workspace.retrace import CHANGING

MAX_BUNDLE: Final = 3_000_000
"""Bytes of a bundle: a thousand records with their proofs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trusted:
    """The keys that a bundle should be signed with; None where whoever asks has none to compare with."""

    workspace: str | None = None
    audit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """The first thing that does not hold."""

    check: str
    subject: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The judgement on one bundle."""

    problem: Problem | None
    bundle: JsonObject | None
    """What was judged; None if it could not be read."""
    is_trusted: bool
    """Whether the keys were compared with some that were known before."""

    @property
    def passed(self) -> bool:
        """Whether everything holds."""
        return self.problem is None


class _Stop(Exception):
    def __init__(self, check: str, subject: str, message: str) -> None:
        super().__init__(check)
        self.problem = Problem(check=check, subject=subject, message=message)


def check_bundle(raw: bytes, trusted: Trusted) -> Checked:
    """Judge a bundle."""
    is_trusted = trusted.workspace is not None and trusted.audit is not None
    bundle: JsonObject | None = None
    try:
        bundle = _parse(raw)
        _check(bundle, trusted)
    except _Stop as stop:
        return Checked(problem=stop.problem, bundle=bundle, is_trusted=is_trusted)
    except NotJson:
        problem = Problem(check="FORMAT", subject="bundle", message="It holds numbers that have no canonical form")
        return Checked(problem=problem, bundle=None, is_trusted=is_trusted)
    return Checked(problem=None, bundle=bundle, is_trusted=is_trusted)


def _parse(raw: bytes) -> JsonObject:
    try:
        found = parse_object(raw, Limits(size=MAX_BUNDLE))
    except NotStrict as exc:
        raise _Stop("FORMAT", "bundle", "It is not one strict JSON object") from exc
    for name in MEMBERS:
        if name not in found or not _KINDS[name](found[name]):
            raise _Stop("FORMAT", name, "The member is missing, or not of its kind")
    if found.keys() != set(MEMBERS):
        raise _Stop("FORMAT", "bundle", "It has members that a bundle does not have")
    return found


def _check(bundle: JsonObject, trusted: Trusted) -> None:
    workspace, audit = _keys(bundle, trusted)
    _check_plan(bundle)
    _check_approval(bundle, workspace)
    checkpoint = _checkpoint(bundle, audit)
    indexes = [each["index"] for each in bundle["records"]]
    if sorted(set(indexes)) != indexes:
        raise _Stop("RECORD", "records", "The records are not in their order, each once")
    _check_changes(bundle, [_record(bundle, each, checkpoint) for each in bundle["records"]])
    if bundle_id(bundle) != bundle["bundle_id"]:
        raise _Stop("BUNDLE_ID", "bundle_id", "The id is not that of the evidence")
    if not workspace.accepts_bundle(signed_part(bundle), bundle["signature"]):
        raise _Stop("SIGNATURE", "signature", "The bundle is not signed by the workspace key as it stands")


def _keys(bundle: JsonObject, trusted: Trusted) -> tuple[Checking, PublicKey]:
    given = bundle["keys"]
    for name, known in (("workspace", trusted.workspace), ("audit", trusted.audit)):
        if known is not None and given[name] != known:
            raise _Stop("KEY_NOT_TRUSTED", name, "The bundle is signed with another key than the one that is trusted")
    checking = maybe_checking(given["workspace"])
    if checking is None:
        raise _Stop("FORMAT", "keys", "The workspace key is not a key")
    try:
        return checking, parse_public_key(given["audit"])
    except KeyRefused as exc:
        raise _Stop("FORMAT", "keys", "The audit key is not a key") from exc


def _check_plan(bundle: JsonObject) -> None:
    named = bundle["plan"]["hash"]
    linted = lint(bundle["plan"]["text"], expected_hash=named)
    if linted.plan is None or linted.findings or linted.hash != named:
        raise _Stop("PLAN_HASH", named, "The text of the plan is not the one that its hash names")
    if linted.plan.workspace != bundle["workspace"]:
        raise _Stop("PLAN_HASH", named, "The plan is for another workspace")


def _check_approval(bundle: JsonObject, workspace: Checking) -> None:
    if bundle["approval"] is None:
        raise _Stop("APPROVAL", bundle["plan"]["hash"], "Nobody has approved the plan")
    approval = workspace.maybe_approval(render(bundle["approval"]))
    if approval is None or (approval.plan_hash, approval.workspace) != (bundle["plan"]["hash"], bundle["workspace"]):
        raise _Stop("APPROVAL", bundle["plan"]["hash"], "The approval is not signed for this plan in this workspace")


def _checkpoint(bundle: JsonObject, audit: PublicKey) -> Checkpoint:
    try:
        return open_checkpoint(bundle["checkpoint"].encode(), audit)
    except NoteRefused as exc:
        raise _Stop("CHECKPOINT", "checkpoint", "The checkpoint is not signed by the audit key as it stands") from exc


def _record(bundle: JsonObject, each: JsonObject, checkpoint: Checkpoint) -> JsonObject:
    index, line = each["index"], each["line"].encode()
    proof = [_hash(index, text) for text in each["proof"]]
    root = fold_inclusion(leaf_hash(line), index=index, size=checkpoint.size, proof=proof)
    if root != checkpoint.root:
        raise _Stop("RECORD", str(index), "The record is not in the log that the checkpoint signs for")
    record = _parse_part("RECORD", str(index), line)
    if record.get("plan_hash") != bundle["plan"]["hash"]:
        raise _Stop("RECORD", str(index), "The record is about another plan")
    return record


def _parse_part(check: str, subject: str, raw: bytes) -> JsonObject:
    try:
        return parse_object(raw)
    except NotStrict as exc:
        raise _Stop(check, subject, "It is not one strict JSON object") from exc


def _hash(index: int, text: object) -> bytes:
    try:
        return b64decode(str(text), validate=True)
    except ValueError as exc:
        raise _Stop("RECORD", str(index), "The proof is not in base64") from exc


def _check_changes(bundle: JsonObject, records: list[JsonObject]) -> None:
    due = {record.get("seq"): record.get("result_digest") for record in records if is_change(record)}
    left: dict[str, str | None] = {}
    for each in bundle["changes"]:
        subject, raw = str(each["record"]), each["answer"].encode()
        if due.pop(each["record"], None) != digest_bytes(raw):
            raise _Stop("CHANGE", subject, "The answer is not the one whose digest was recorded")
        left |= _left_by(subject, _parse_part("CHANGE", subject, raw))
    if due:
        raise _Stop("CHANGE", str(min(due, key=str)), "The record tells of a change whose answer is not here")
    told = {each["path"]: each["recorded"] for each in bundle["files"]}
    if told != left:
        wrong = sorted(path for path in told.keys() | left.keys() if told.get(path, "") != left.get(path, ""))
        raise _Stop("FILES", wrong[0], "The file is not told as the changes left it")


def is_change(record: JsonObject) -> bool:
    """Whether a record says that files were changed."""
    return record.get("tool_name") in CHANGING and record.get("outcome") == "ok"


def _left_by(subject: str, answer: JsonObject) -> dict[str, str | None]:
    try:
        return left_by(answer)
    except (KeyError, TypeError) as exc:
        raise _Stop("CHANGE", subject, "The answer is not that of a tool that changes files") from exc


def left_by(answer: JsonObject) -> dict[str, str | None]:
    """Path to hash, as the answer of a tool that changes files tells it. Raises KeyError, TypeError."""
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

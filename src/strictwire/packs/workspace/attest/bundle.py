"""A bundle as JSON, and as a page for people. Pure.

{
  "format":     "strictwire/attestation@v1",
  "bundle_id":  SHA-256 of the evidence: the same evidence has the same id, whenever the bundle is made,
  "workspace":  which folder, as plans name it,
  "phase_id":   the phase it is about, or null for the whole plan,
  "plan":       {"hash", "text"},
  "approval":   the approval file, or null,
  "records":    [{"index", "line", "proof": [base64, ...]}], every line to the byte,
  "complete":   whether the search for records came to the making of the plan or to the beginning of the trail,
  "changes":    [{"record", "answer"}], the answer whose digest the record holds,
  "files":      [{"path", "recorded", "now"}], hashes,
  "checkpoint": the signed note that the proofs lead to,
  "keys":       {"workspace", "audit"}, public halves,
  "signature":  by the workspace key, over all other members
}

Evidence is everything but `bundle_id`, `checkpoint`, the proofs, `keys` and `signature`, which change as the trail grows.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

from strictwire.canon.jcs import render_canonical
from strictwire.canon.json import JsonObject, NotStrict, parse_object

FORMAT: Final = "strictwire/attestation@v1"

MEMBERS: Final = (
    "format", "bundle_id", "workspace", "phase_id", "plan", "approval", "records", "complete", "changes", "files",
    "checkpoint", "keys", "signature",
)  # fmt: skip

_EVIDENCE: Final = ("format", "workspace", "phase_id", "plan", "approval", "complete", "changes", "files")


def bundle_id(bundle: JsonObject) -> str:
    """The id of the evidence in a bundle."""
    lines = [[each["index"], each["line"]] for each in bundle["records"]]
    return hashlib.sha256(render_canonical({name: bundle[name] for name in _EVIDENCE} | {"records": lines})).hexdigest()


def signed_part(bundle: JsonObject) -> JsonObject:
    """What the signature is over."""
    return {name: value for name, value in bundle.items() if name != "signature"}


def render_page(bundle: JsonObject) -> str:
    """A bundle for people, in Markdown. What it says can be checked in the JSON alone."""
    approval: Any = bundle["approval"] or {}
    head = [
        f"# Attestation {bundle['bundle_id']}",
        "",
        f"- Plan: {bundle['plan']['hash']}" + (f", phase {bundle['phase_id']}" if bundle["phase_id"] else ""),
        f"- Approved by: {_cell(approval.get('approver', 'nobody'))} {approval.get('approved_at', '')}".rstrip(),
        f"- Records: {len(bundle['records'])}" + ("" if bundle["complete"] else " (older ones were not looked for)"),
        f"- Workspace key: {bundle['keys']['workspace']}",
        f"- Audit key: {bundle['keys']['audit']}",
        "",
    ]
    rows = [_row(each) for each in bundle["records"]]
    records = ["| record | time | tool | outcome | by |", "|---|---|---|---|---|", *rows, ""]
    files = ["| file | left by the plan | when this was made |", "|---|---|---|", *map(_file, bundle["files"]), ""]
    return "\n".join([*head, "## Records", "", *records, "## Files", "", *files])


def _row(each: JsonObject) -> str:
    try:
        record = parse_object(str(each["line"]).encode())
    except NotStrict:
        record = {}
    outcome = record.get("error_code") or record.get("outcome") or record.get("kind")
    told = (each["index"], record.get("timestamp"), record.get("tool_name"), outcome, record.get("principal"))
    return "| " + " | ".join(map(_cell, told)) + " |"


def _file(each: JsonObject) -> str:
    return f"| {_cell(each['path'])} | {each['recorded'] or 'no file'} | {each['now'] or 'no file'} |"


def _cell(value: object) -> str:
    """One cell: no bar, no line break and no markup of the caller's."""
    text = str(value).replace("\n", " ").replace("\r", " ")
    return "".join(f"\\{letter}" if letter in "\\|`<>[]*_#" else letter for letter in text)

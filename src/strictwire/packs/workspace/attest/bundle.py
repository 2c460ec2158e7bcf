"""The format of a bundle as JSON, and its rendering as a page for people. Pure.

{
  "format":     "strictwire/attestation@v1",
  "bundle_id":  SHA-256 of the evidence: the same evidence always has the same id,
  "workspace":  id of the workspace folder, as in plans,
  "phase_id":   the phase it covers, or null for the whole plan,
  "plan":       {"hash", "text"},
  "approval":   the approval file, or null,
  "records":    [{"index", "line", "proof": [base64, ...]}], each line exactly as in the trail,
  "complete":   whether the search for records reached the creation of the plan or the start of the trail,
  "changes":    [{"record", "answer"}], the answer whose digest the record holds,
  "files":      [{"path", "recorded", "now"}], hashes,
  "checkpoint": the signed checkpoint that the proofs lead to,
  "keys":       {"workspace", "audit"}, public keys,
  "signature":  by the workspace key, over all other members
}

The evidence is everything except `bundle_id`, `checkpoint`, the proofs, `keys` and `signature`; those change with the trail.
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
    """Return the id of the evidence in a bundle."""
    lines = [[each["index"], each["line"]] for each in bundle["records"]]
    return hashlib.sha256(render_canonical({name: bundle[name] for name in _EVIDENCE} | {"records": lines})).hexdigest()


def signed_part(bundle: JsonObject) -> JsonObject:
    """Return the part of a bundle that is signed."""
    return {name: value for name, value in bundle.items() if name != "signature"}


def render_page(bundle: JsonObject) -> str:
    """Render a bundle for people, in Markdown. Only the JSON form can be verified."""
    approval: Any = bundle["approval"] or {}
    head = [
        f"# Attestation {bundle['bundle_id']}",
        "",
        f"- Plan: {bundle['plan']['hash']}" + (f", phase {bundle['phase_id']}" if bundle["phase_id"] else ""),
        f"- Approved by: {_cell(approval.get('approver', 'nobody'))} {approval.get('approved_at', '')}".rstrip(),
        f"- Records: {len(bundle['records'])}" + ("" if bundle["complete"] else " (the search did not reach older ones)"),
        f"- Workspace key: {bundle['keys']['workspace']}",
        f"- Audit key: {bundle['keys']['audit']}",
        "",
    ]
    rows = [_row(each) for each in bundle["records"]]
    records = ["| record | time | tool | outcome | by |", "|---|---|---|---|---|", *rows, ""]
    files = ["| file | left by the plan | when the bundle was made |", "|---|---|---|", *map(_file, bundle["files"]), ""]
    return "\n".join([*head, "## Records", "", *records, "## Files", "", *files])


def _row(each: JsonObject) -> str:
    try:
        record = parse_object(str(each["line"]).encode())
    except NotStrict:
        record = {}
    outcome = record.get("error_code") or record.get("outcome") or record.get("kind")
    cells = (each["index"], record.get("timestamp"), record.get("tool_name"), outcome, record.get("principal"))
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _file(each: JsonObject) -> str:
    return f"| {_cell(each['path'])} | {each['recorded'] or 'no file'} | {each['now'] or 'no file'} |"


def _cell(value: object) -> str:
    """Escape a table cell: no column separators, line breaks or markup from clients."""
    text = str(value).replace("\n", " ").replace("\r", " ")
    return "".join(f"\\{letter}" if letter in "\\|`<>[]*_#" else letter for letter in text)

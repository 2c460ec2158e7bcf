"""The text of an answer: short, and enough to act on alone, because some clients pass only the text to the model. Pure.

One function for each tool, from the structured answer. `structuredContent` has every member; the text has those that the
next step needs, and says what that step is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from strictwire.canon.json import JsonObject


def text_of(tool: str, answer: JsonObject) -> str:
    """Return the text of an answer. Raises KeyError for a tool of another pack."""
    return TEXTS[tool](answer)


def _session(answer: JsonObject) -> str:
    head = f"session_id {answer['session_id']}: {answer['role']} in {answer['workspace_root']} until {answer['expires_at']}"
    return _lines(head, answer["lock"]["how_to_unlock"] if answer["lock"] else _NEXT[answer["role"]])


_NEXT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ANTIGRAVITY": "Next: read, then create_plan. Others approve it. session_status lists what a plan may use.",
        "WINDSURF": "Next: list_plans for an approved plan, read_plan, then write_file or apply_changes, then commit_phase.",
    }
)
"""What a session does first, by its role."""


def _status(answer: JsonObject) -> str:
    allowed = answer["allowed"]
    programs = (each["name"] + ("" if each["found"] else " (not found)") for each in allowed["programs"])
    limits = ", ".join(f"{name} {value}" for name, value in allowed["limits"].items())
    return _lines(
        _session(answer),
        f"roles: {_joined(each['role'] for each in allowed['roles'])}",
        f"folders: {_joined(each['path'] for each in allowed['folders'])}",
        f"programs: {_joined(programs)}",
        f"may approve plans of others: {'yes' if allowed['approves'] else 'no'}",
        f"limits: {limits}",
    )


def _read(answer: JsonObject) -> str:
    place = f"bytes {answer['offset']} to {answer['offset'] + answer['count']} of {answer['size']}"
    if answer["start_line"] is not None:
        last = answer["start_line"] + answer["line_count"]
        place = f"lines {answer['start_line']} to {last} of {answer['total_lines']}, counted from 0"
    sha256 = f", sha256 {answer['sha256']}" if answer["sha256"] else ""
    return f"{answer['path']}: {place}, {answer['encoding']}{sha256}\n{answer['content']}"


def _listed(answer: JsonObject) -> str:
    names = (each["path"] + ("/" if each["kind"] == "folder" else "") + _size(each) for each in answer["items"])
    ignored = f"{answer['ignored']} ignored; include_ignored shows them" if answer["ignored"] else None
    return _lines(*names, ignored, _cursor(answer)) or "no files"


def _size(item: JsonObject) -> str:
    return "" if item["size"] is None else f" {item['size']}"


def _found(answer: JsonObject) -> str:
    hits = (f"{each['path']}:{each['line']}: {each['text']}" for each in answer["items"])
    skipped = _joined(f"{count} {why}" for why, count in answer["skipped"].items() if count)
    cut = None if answer["complete"] else "The search was stopped at its limit; narrow it with path or glob"
    return _lines(*hits, f"skipped: {skipped}" if skipped != "none" else None, cut, _cursor(answer)) or "no matches"


def _planned(answer: JsonObject) -> str:
    return _lines(
        f"plan_hash {answer['plan_hash']} in {answer['path']}, until {answer['expires_at']}",
        f"Next: someone else approves it, with approve_plan or `strictwire plan approve {answer['plan_hash']}`",
    )


def _linted(answer: JsonObject) -> str:
    findings = (f"{each['line']}: {each['code']}: {each['message']}" for each in answer["findings"])
    return _lines(f"plan_hash {answer['plan_hash']}: {'passed' if answer['passed'] else 'not usable'}", *findings)


def _plans(answer: JsonObject) -> str:
    return _lines(f"{answer['count']} plans", *map(_plan_line, answer["plans"]))


def _plan_line(plan: JsonObject) -> str:
    return f"{plan['plan_hash']} {plan['state']}, for {plan['role']}, until {plan['expires_at']}: {plan['title']}"


def _changed(answer: JsonObject) -> str:
    target = f" to {answer['new_path']}" if "new_path" in answer else ""
    sha256 = f", sha256 {answer['sha256']}" if answer.get("sha256") else ""
    warnings = (f"warning: {each}" for each in answer.get("warnings", ()))
    return _lines(f"{answer['operation']} {answer['path']}{target}{sha256}", _passed(answer), *warnings)


def _change_set(answer: JsonObject) -> str:
    return _lines(*(f"{each['path']}: {each['sha256'] or 'deleted'}" for each in answer["files"]), _passed(answer))


def _committed(answer: JsonObject) -> str:
    if answer["commit"] is None:
        return _lines("nothing to commit", _passed(answer))
    return _lines(f"commit {answer['commit']}: {_joined(each['path'] for each in answer['files'])}", _passed(answer))


def _records(answer: JsonObject) -> str:
    return _lines(*map(_record_line, answer["items"]), _cursor(answer)) or "no records"


def _record_line(record: JsonObject) -> str:
    ended = record["error_code"] or record["outcome"] or "-"
    head = f"{record['seq']} {record['timestamp']} {record['kind']} {record['tool_name']} {ended}"
    return f"{head} by {record['principal']}"


def _integrity(answer: JsonObject) -> str:
    rest = "" if answer["complete"] else "; call again to continue"
    count = "no trail" if answer["trail"] is None else f"{answer['trail']['judged']} records"
    findings = (f"{each['severity']} {each['check']} {each['subject']}: {each['message']}" for each in answer["findings"])
    return _lines(f"{'passed' if answer['passed'] else 'NOT passed'}: {count}{rest}", *findings)


def _replayed(answer: JsonObject) -> str:
    steps = (f"{each['seq']} {each['tool']} {each['error_code'] or each['outcome']}" for each in answer["steps"])
    findings = (f"{each['severity']} {each['code']} {each['subject']}: {each['message']}" for each in answer["findings"])
    return _lines(f"{answer['verdict']}{'' if answer['complete'] else ' (incomplete)'}", *steps, *findings)


def _verified(answer: JsonObject) -> str:
    problem = answer["problem"]
    if problem is not None:
        return f"NOT valid: {problem['check']} {problem['subject']}: {problem['message']}"
    return f"valid: bundle {answer['bundle_id']}, {'trusted' if answer['trusted'] else 'with keys that were not verified'}"


def _passed(answer: JsonObject) -> str | None:
    count = len(answer["preflight"])
    return f"{count} verification command{'s' if count > 1 else ''} passed" if count else None


def _cursor(answer: JsonObject) -> str | None:
    return f"nextCursor {answer['nextCursor']}" if answer["nextCursor"] else None


def _joined(words: Iterable[str]) -> str:
    return ", ".join(words) or "none"


def _lines(*lines: str | None) -> str:
    return "\n".join(line for line in lines if line)


TEXTS: Final[Mapping[str, Callable[[Any], str]]] = MappingProxyType(
    {
        "begin_session": _session,
        "end_session": lambda answer: f"session {answer['session_id']} ended",
        "session_status": _status,
        "read_file": _read,
        "list_files": _listed,
        "search_text": _found,
        "create_plan": _planned,
        "lint_plan": _linted,
        "approve_plan": lambda answer: f"plan {answer['plan_hash']} approved by {answer['approver']}",
        "list_plans": _plans,
        "read_plan": lambda answer: _lines(_plan_line(answer), answer["content"]),
        "write_file": _changed,
        "move_file": _changed,
        "delete_file": _changed,
        "apply_changes": _change_set,
        "commit_phase": _committed,
        "read_prompt": lambda answer: answer["content"],
        "read_audit_log": _records,
        "verify_workspace_integrity": _integrity,
        "replay_execution": _replayed,
        "generate_attestation_bundle": lambda answer: answer["bundle"],
        "verify_attestation_bundle": _verified,
        "export_attestation_bundle": lambda answer: _lines(answer["file_name"], answer["content"]),
    }
)
"""Every tool of the pack to the text of its answer."""

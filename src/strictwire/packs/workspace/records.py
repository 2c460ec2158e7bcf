"""The tool read_audit_log, and the search for records that are evidence for a plan. Reads the trail from its end, bounded.

A client sees the records of its own calls in the workspace of its session; an auditor, named in the settings, sees all
records of the workspace. Records that name a plan are evidence, open to everyone with a session in its workspace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from strictwire.audit.view import TrailView
from strictwire.canon.json import JsonObject, NotStrict, parse_object, render
from strictwire.packs.kit.paging import page_key, parse_cursor, render_cursor
from strictwire.packs.kit.text import cut_characters
from strictwire.packs.workspace.grants import Grants
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.session_store import Session

PAGE_SIZE: Final = 100
"""Records per page if the client gives no size."""

MAX_SCANNED: Final = 50_000
"""Records that one page of read_audit_log scans: a fraction of a second. A cursor continues from there."""

MAX_SEARCHED: Final = 2_000_000
"""Records that are scanned for those of one plan: a few seconds."""

MAX_EVIDENCE: Final = 1_000
"""Most records of one plan in an answer. If there are more, the client must ask for one phase."""

EVIDENCE: Final = frozenset(
    {"create_plan", "approve_plan", "write_file", "move_file", "delete_file", "apply_changes", "commit_phase"}
)
"""Tools whose records show the history of a plan. Reading tools leave records too, but change nothing."""

SHOWN: Final = (
    "seq", "kind", "timestamp", "call_id", "principal", "role", "session_id", "workspace_root", "tool_name", "plan_hash",
    "phase_id", "outcome", "error_code", "invariant_id", "args_digest", "result_digest", "duration_us",
)  # fmt: skip
"""Members of a record that are copied to the answer; null if a record lacks one."""

_MAX_CAUSE: Final = 2000
"""Longest cause in an answer, in characters."""

_FILTERS: Final = {
    "tool": "tool_name",
    "code": "error_code",
    "kind": "kind",
    "plan_hash": "plan_hash",
    "of_session": "session_id",
}
"""Filter argument to member of a record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One audit record, with its line in the trail."""

    seq: int
    line: bytes
    record: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class GatheredRecords:
    """The records that a search found, oldest first."""

    records: tuple[AuditRecord, ...]
    is_complete: bool
    """Whether the search reached the record that created the plan, or the start of the trail."""


class Records:
    """The tool read_audit_log."""

    def __init__(self, trail: TrailView | None, grants: Grants) -> None:
        self._trail = trail
        self._grants = grants

    def read(self, session: Session, arguments: JsonObject) -> JsonObject:
        """Return records, newest first. Raises Refused: INSUFFICIENT_PERMISSIONS, CURSOR_INVALID, AUDIT_LOG_FAILED."""
        is_visible = self._visible(session, arguments.get("scope", "own"))
        inputs = {name: value for name, value in arguments.items() if name not in ("cursor", "pageSize")}
        key = page_key("read_audit_log", [inputs], "trail")
        before = parse_cursor(arguments["cursor"], key) if "cursor" in arguments else None
        scan = _Scan(lines=require_trail(self._trail).lines_back(before), limit=MAX_SCANNED)
        size = int(arguments.get("pageSize", PAGE_SIZE))
        needles = [render(arguments[name]) for name in _FILTERS if name in arguments]
        needles.append(render(session.root if arguments.get("scope") == "workspace" else session.principal))
        wanted = (each for each in scan.records(needles) if is_visible(each.record) and _fits(each.record, arguments))
        items = list(islice(wanted, size))
        is_end = scan.is_done and len(items) < size
        oldest = items[-1].seq if len(items) == size else scan.last
        return {
            "items": [_shown(each.record) for each in items],
            "nextCursor": None if is_end or oldest == 0 else render_cursor(key, oldest),
            "scanned": scan.count,
        }

    def check_session(self, session: Session, asked: str) -> None:
        """Raises Refused: INSUFFICIENT_PERMISSIONS unless it is the caller's own session or the caller is an auditor."""
        if asked != session.id and session.principal not in self._grants.auditors:
            raise refuse("INSUFFICIENT_PERMISSIONS", "Only auditors may read records of other sessions", "not_an_auditor")

    def _visible(self, session: Session, scope: str) -> Callable[[JsonObject], bool]:
        if scope == "workspace":
            if session.principal not in self._grants.auditors:
                raise refuse("INSUFFICIENT_PERMISSIONS", "Only auditors may read records of other callers", "not_an_auditor")
            return lambda record: record.get("workspace_root") == session.root
        return lambda record: (
            record.get("principal") == session.principal and record.get("workspace_root") in (session.root, None)
        )


def require_trail(trail: TrailView | None) -> TrailView:
    """Return the trail. Raises Refused: AUDIT_LOG_FAILED if the server keeps none."""
    if trail is None:
        raise refuse("AUDIT_LOG_FAILED", "This server keeps no audit trail; set audit.mode to sync or batched", "off")
    return trail


def last_records(trail: TrailView, root: str, *, count: int) -> list[JsonObject]:
    """Return the newest records of a workspace, newest first. Raises Refused: AUDIT_LOG_FAILED."""
    scan = _Scan(lines=trail.lines_back(), limit=MAX_SCANNED)
    found = (each.record for each in scan.records([render(root)]) if each.record.get("workspace_root") == root)
    return list(islice(found, count))


def gather(trail: TrailView, wanted: Callable[[JsonObject], bool], *, needle: str, until: str | None) -> GatheredRecords:
    """Return the records of EVIDENCE tools that `wanted` accepts and that contain the text `needle`.

    `until` is a plan hash: the search stops at the record that created this plan.
    Raises Refused: CAP_EXCEEDED, AUDIT_LOG_FAILED.
    """
    scan = _Scan(lines=trail.lines_back(), limit=MAX_SEARCHED)
    found: list[AuditRecord] = []
    is_complete = False
    for each in scan.records([render(needle)]):
        if each.record.get("tool_name") in EVIDENCE and wanted(each.record):
            found.append(each)
        if len(found) > MAX_EVIDENCE:
            text = f"There are more than {MAX_EVIDENCE} records; ask for one phase"
            raise refuse("CAP_EXCEEDED", text, "too_many", limit=MAX_EVIDENCE)
        if until is not None and _is_creation(each.record, until):
            is_complete = True
            break
    return GatheredRecords(records=tuple(reversed(found)), is_complete=is_complete or scan.is_done)


def _is_creation(record: JsonObject, plan_hash: str) -> bool:
    return (record.get("tool_name"), record.get("outcome"), record.get("plan_hash")) == ("create_plan", "ok", plan_hash)


class _Scan:
    """A bounded scan of the trail: how many lines were read, and whether it reached the start of the trail."""

    def __init__(self, *, lines: Iterator[bytes], limit: int) -> None:
        self._lines = lines
        self._limit = limit
        self.count = 0
        self.last = 0
        """The number of the last record that was parsed."""
        self.is_done = False

    def records(self, needles: list[bytes]) -> Iterator[AuditRecord]:
        """Yield the records that contain every needle. Other lines are not parsed, except the last one within the limit."""
        for line in islice(self._lines, self._limit):
            self.count += 1
            if self.count < self._limit and not all(needle in line for needle in needles):
                continue
            found = _maybe_record(line)
            if found is not None:
                self.last = found.seq
                yield found
        self.is_done = self.count < self._limit


def _maybe_record(line: bytes) -> AuditRecord | None:
    """Parse a record. Returns None if it is damaged; `verify_workspace_integrity` reports that."""
    try:
        record = parse_object(line)
    except NotStrict:
        return None
    seq = record.get("seq")
    return AuditRecord(seq=seq, line=line, record=record) if isinstance(seq, int) else None


def _fits(record: JsonObject, arguments: JsonObject) -> bool:
    when = str(record.get("timestamp", ""))
    if ("since" in arguments and when < arguments["since"]) or ("until" in arguments and when >= arguments["until"]):
        return False
    return all(record.get(member) == arguments[name] for name, member in _FILTERS.items() if name in arguments)


def _shown(record: JsonObject) -> JsonObject:
    cause: Any = record.get("cause")
    told = None if cause is None else cut_characters(render(cause).decode(), _MAX_CAUSE).text
    return {name: record.get(name) for name in SHOWN} | {"cause": told}

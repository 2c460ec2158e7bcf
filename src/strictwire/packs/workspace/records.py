"""read_audit_log, and the records that are evidence for a plan. Reads the trail from its end and stops at a bound.

A caller sees the records of its own calls in the workspace of its session; an auditor, whom the settings name, those of
everybody there. Records that name a plan are evidence for everyone who has a session in the plan's workspace.
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
from strictwire.packs.workspace.book import Session
from strictwire.packs.workspace.grants import Grants
from strictwire.packs.workspace.refusal import refuse

PAGE_SIZE: Final = 100

MAX_SCANNED: Final = 50_000
"""Records that one page of read_audit_log looks at: a fraction of a second. A cursor goes on from there."""

MAX_SEARCHED: Final = 2_000_000
"""Records that are looked at for those of one plan: some seconds."""

MAX_EVIDENCE: Final = 1_000
"""Records of one plan that an answer holds; more are asked for by phase."""

EVIDENCE: Final = frozenset(
    {"create_plan", "approve_plan", "write_file", "move_file", "delete_file", "apply_changes", "commit_phase"}
)
"""Tools whose records say what became of a plan. Reading leaves records too, but changes nothing that they tell."""

SHOWN: Final = (
    "seq", "kind", "timestamp", "call_id", "principal", "role", "session_id", "workspace_root", "tool_name", "plan_hash",
    "phase_id", "outcome", "error_code", "invariant_id", "args_digest", "result_digest", "duration_us",
)  # fmt: skip
"""Members of a record that are given as they are; null where a record has none."""

_MAX_CAUSE: Final = 2000

_FILTERS: Final = {
    "tool": "tool_name",
    "code": "error_code",
    "kind": "kind",
    "plan_hash": "plan_hash",
    "of_session": "session_id",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One record."""

    seq: int
    line: bytes
    record: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Records, oldest first."""

    records: tuple[Recorded, ...]
    is_complete: bool
    """Whether the search came to the plan's own record or to the beginning of the trail."""


class Records:
    """The tool."""

    def __init__(self, trail: TrailView | None, grants: Grants) -> None:
        self._trail = trail
        self._grants = grants

    def read(self, session: Session, arguments: JsonObject) -> JsonObject:
        """read_audit_log: newest first. Raises Refused: INSUFFICIENT_PERMISSIONS, CURSOR_INVALID, AUDIT_LOG_FAILED."""
        is_visible = self._visible(session, arguments.get("scope", "own"))
        inputs = {name: value for name, value in arguments.items() if name not in ("cursor", "pageSize")}
        key = page_key("read_audit_log", [inputs], "trail")
        before = parse_cursor(arguments["cursor"], key) if "cursor" in arguments else None
        scan = _Scan(lines=needed_trail(self._trail).lines_back(before), limit=MAX_SCANNED)
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
        """Raises Refused: INSUFFICIENT_PERMISSIONS the session is not the caller's, and the caller is no auditor."""
        if asked != session.id and session.principal not in self._grants.auditors:
            raise refuse("INSUFFICIENT_PERMISSIONS", "Records of other sessions are for auditors", "not_an_auditor")

    def _visible(self, session: Session, scope: str) -> Callable[[JsonObject], bool]:
        if scope == "workspace":
            if session.principal not in self._grants.auditors:
                raise refuse("INSUFFICIENT_PERMISSIONS", "Records of others are for auditors", "not_an_auditor")
            return lambda record: record.get("workspace_root") == session.root
        return lambda record: (
            record.get("principal") == session.principal and record.get("workspace_root") in (session.root, None)
        )


def needed_trail(trail: TrailView | None) -> TrailView:
    """Raises Refused: AUDIT_LOG_FAILED no trail is kept."""
    if trail is None:
        raise refuse("AUDIT_LOG_FAILED", "No audit trail is kept here; set audit.mode to sync or batched", "off")
    return trail


def last_records(trail: TrailView, root: str, *, count: int) -> list[JsonObject]:
    """The newest records of a workspace that say how a call ended, newest first. Raises Refused: AUDIT_LOG_FAILED."""
    scan = _Scan(lines=trail.lines_back(), limit=MAX_SCANNED)
    found = (each.record for each in scan.records([render(root)]) if each.record.get("workspace_root") == root)
    return list(islice(found, count))


def gather(trail: TrailView, wanted: Callable[[JsonObject], bool], *, needle: str, until: str | None) -> Gathered:
    """The records of EVIDENCE tools that are wanted and hold the text `needle`.

    `until` is a plan's hash: the search ends at the record of its making. Raises Refused: CAP_EXCEEDED, AUDIT_LOG_FAILED.
    """
    scan = _Scan(lines=trail.lines_back(), limit=MAX_SEARCHED)
    found: list[Recorded] = []
    is_complete = False
    for each in scan.records([render(needle)]):
        if each.record.get("tool_name") in EVIDENCE and wanted(each.record):
            found.append(each)
        if len(found) > MAX_EVIDENCE:
            text = f"There are more than {MAX_EVIDENCE} records; ask for one phase"
            raise refuse("CAP_EXCEEDED", text, "too_many", limit=MAX_EVIDENCE)
        if until is not None and _is_making(each.record, until):
            is_complete = True
            break
    return Gathered(records=tuple(reversed(found)), is_complete=is_complete or scan.is_done)


def _is_making(record: JsonObject, plan_hash: str) -> bool:
    return (record.get("tool_name"), record.get("outcome"), record.get("plan_hash")) == ("create_plan", "ok", plan_hash)


class _Scan:
    """Lines read so far, and whether the bound or the end of the trail came first."""

    def __init__(self, *, lines: Iterator[bytes], limit: int) -> None:
        self._lines = lines
        self._limit = limit
        self.count = 0
        self.last = 0
        """The number of the record looked at last."""
        self.is_done = False

    def records(self, needles: list[bytes]) -> Iterator[Recorded]:
        """What holds every needle; the others are not parsed."""
        for line in islice(self._lines, self._limit):
            self.count += 1
            if self.count < self._limit and not all(needle in line for needle in needles):
                continue
            found = _maybe_record(line)
            if found is not None:
                self.last = found.seq
                yield found
        self.is_done = self.count < self._limit


def _maybe_record(line: bytes) -> Recorded | None:
    """None for what is no record: `verify_workspace_integrity` tells of it."""
    try:
        record = parse_object(line)
    except NotStrict:
        return None
    seq = record.get("seq")
    return Recorded(seq=seq, line=line, record=record) if isinstance(seq, int) else None


def _fits(record: JsonObject, arguments: JsonObject) -> bool:
    when = str(record.get("timestamp", ""))
    if ("since" in arguments and when < arguments["since"]) or ("until" in arguments and when >= arguments["until"]):
        return False
    return all(record.get(member) == arguments[name] for name, member in _FILTERS.items() if name in arguments)


def _shown(record: JsonObject) -> JsonObject:
    cause: Any = record.get("cause")
    told = None if cause is None else cut_characters(render(cause).decode(), _MAX_CAUSE).text
    return {name: record.get(name) for name in SHOWN} | {"cause": told}

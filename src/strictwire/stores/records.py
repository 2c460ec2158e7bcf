"""Stored records as values: filtering and counting them, whatever store they come from. Streams, for logs of any length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from strictwire.audit.chain import parse_record
from strictwire.canon.json import JsonObject, NotStrict, render

MAX_NAMES: Final = 1_000
"""Distinct tools, codes or principals that are counted separately. Callers choose these names, so memory must be bounded."""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """One record as it stands in the log."""

    line: bytes
    """Its exact bytes, without the line break."""
    record: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which records are wanted. Every filter that is set must match."""

    since: str | None = None
    """At or after this time, in the format of the records."""
    until: str | None = None
    """Before this time."""
    tool: str | None = None
    code: str | None = None
    principal: str | None = None
    session: str | None = None
    kind: str | None = None

    def accepts(self, record: JsonObject) -> bool:
        """Whether a record matches."""
        when = str(record.get("timestamp", ""))
        if (self.since is not None and when < self.since) or (self.until is not None and when >= self.until):
            return False
        if self.code is not None and self.code not in (record.get("error_code"), record.get("failure_code")):
            return False
        return all(record.get(name) == wanted for name, wanted in self._members())

    def may_accept(self, line: bytes) -> bool:
        """Whether a line is worth parsing: it contains every wanted text somewhere."""
        wanted = [value for _, value in self._members()] + ([] if self.code is None else [self.code])
        return all(render(value) in line for value in wanted)

    def _members(self) -> list[tuple[str, str]]:
        wanted = {
            "tool_name": self.tool,
            "principal": self.principal,
            "session_id": self.session,
            "kind": self.kind,
        }
        return [(name, value) for name, value in wanted.items() if value is not None]


EVERYTHING: Final = Filters()


def filter_lines(lines: Iterable[bytes], filters: Filters) -> Iterator[StoredRecord]:
    """The records that match. Lines that are not records are skipped: `verify_trail` reports them."""
    for line in lines:
        if not filters.may_accept(line):
            continue
        text = line.removesuffix(b"\n")
        try:
            record = parse_record(text)
        except NotStrict:
            continue
        if filters.accepts(record):
            yield StoredRecord(text, record)


@dataclass(slots=True, kw_only=True)
class Stats:
    """What a log holds, counted."""

    records: int = 0
    size: int = 0
    """In bytes."""
    first: str | None = None
    """Time of the oldest record."""
    last: str | None = None
    kinds: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    principals: Counter[str] = field(default_factory=Counter)
    malformed: int = 0
    """Inputs that were only counted."""
    open_intents: int = 0
    """Calls with an intent and no outcome: still running, or cut off by a crash."""
    slowest_us: int = 0


def count_records(records: Iterable[StoredRecord]) -> Stats:
    """Count records."""
    stats = Stats()
    intents: set[str] = set()
    for stored in records:
        _count(stats, stored, intents)
    stats.open_intents = len(intents)
    return stats


def _count(stats: Stats, stored: StoredRecord, intents: set[str]) -> None:
    record = stored.record
    stats.records += 1
    stats.size += len(stored.line) + 1
    stats.first = stats.first or record.get("timestamp")
    stats.last = record.get("timestamp")
    for counter, name in (
        (stats.kinds, "kind"),
        (stats.tools, "tool_name"),
        (stats.codes, "error_code"),
        (stats.principals, "principal"),
    ):
        _tally(counter, record.get(name))
    stats.slowest_us = max(stats.slowest_us, record.get("duration_us") or 0)
    if record.get("kind") == "flood":
        stats.malformed += sum(record.get("counts", {}).values())
    elif record.get("kind") == "intent":
        intents.add(str(record.get("call_id")))
    elif record.get("kind") == "outcome":
        intents.discard(str(record.get("call_id")))


def _tally(counter: Counter[str], name: str | None) -> None:
    if name is not None:
        counter[name if name in counter or len(counter) < MAX_NAMES else "(other)"] += 1

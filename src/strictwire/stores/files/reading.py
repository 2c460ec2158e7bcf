"""Reading a trail: filters, following it while it is written, counting it. Streams, so a log of any length will do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject, NotStrict, parse_object, render
from strictwire.stores.files.disk import Disk, OpenFile, ReadingDisk
from strictwire.stores.files.layout import ACTIVE, list_segments, read_lines, read_records
from strictwire.stores.files.progress import Meter, Progress

MAX_NAMES: Final = 1_000
"""Distinct tools, codes or principals that are counted apart. Callers choose these names; memory must not follow them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which records are wanted. Everything that is set has to hold."""

    since: str | None = None
    """Not before this time, written as records write it."""
    until: str | None = None
    """Before this time."""
    tool: str | None = None
    code: str | None = None
    principal: str | None = None
    session: str | None = None
    kind: str | None = None

    def accepts(self, record: JsonObject) -> bool:
        """Whether a record is wanted."""
        when = str(record.get("timestamp", ""))
        if (self.since is not None and when < self.since) or (self.until is not None and when >= self.until):
            return False
        return all(record.get(name) == wanted for name, wanted in self._members() if wanted is not None)

    def may_accept(self, line: bytes) -> bool:
        """Whether a line is worth parsing: it has every text that is asked for somewhere."""
        return all(render(wanted) in line for _, wanted in self._members() if wanted is not None)

    def _members(self) -> tuple[tuple[str, str | None], ...]:
        return (
            ("tool_name", self.tool),
            ("error_code", self.code),
            ("principal", self.principal),
            ("session_id", self.session),
            ("kind", self.kind),
        )


EVERYTHING: Final = Filters()


@dataclass(frozen=True, slots=True)
class Entry:
    """One record as it stands in the log."""

    line: bytes
    """Its exact bytes, without the line break."""
    record: JsonObject


def read_trail(folder: Path, filters: Filters = EVERYTHING, *, progress: Progress | None = None) -> Iterator[Entry]:
    """The records that are wanted, oldest first. What is not a record is passed over: `verify_trail` judges.

    Raises OSError.
    """
    disk = ReadingDisk(folder)
    meter = Meter(disk, progress)
    yield from _accepted(read_records(disk, 0, meter.advance), filters)
    meter.tell()


def follow_trail(folder: Path, filters: Filters = EVERYTHING, *, wait: Callable[[], bool]) -> Iterator[Entry]:
    """The records written from now on. `wait` is called when there are none: it pauses, and returns False to stop.

    Raises OSError.
    """
    follower = _Follower(ReadingDisk(folder))
    try:
        while True:
            yield from _accepted(follower.more(), filters)
            if not wait():
                return
    finally:
        follower.close()


def _accepted(lines: Iterator[bytes], filters: Filters) -> Iterator[Entry]:
    for line in lines:
        if not filters.may_accept(line):
            continue
        text = line.removesuffix(b"\n")
        try:
            record = parse_object(text)
        except NotStrict:
            continue
        if filters.accepts(record):
            yield Entry(text, record)


class _Follower:
    """Keeps its place in the newest file, and goes on in the next when that one is full."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._file: OpenFile | None = None
        self._offset = 0
        look = disk.look(ACTIVE)
        if look is not None:
            self._file = disk.open(ACTIVE)
            self._offset = look.size

    def more(self) -> Iterator[bytes]:
        look = self._disk.look(ACTIVE)
        yield from self._rest()
        if look is not None and (self._file is None or look.ident != self._file.ident):
            yield from self._move_on()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _rest(self) -> Iterator[bytes]:
        if self._file is None:
            return
        for line in read_lines(self._file, self._offset):
            if not line.endswith(b"\n"):
                break
            self._offset += len(line)
            yield line

    def _move_on(self) -> Iterator[bytes]:
        """Through every file behind the one we were in, up to the newest."""
        old = None if self._file is None else self._file.ident
        looks = [(segment.name, self._disk.look(segment.name)) for segment in list_segments(self._disk)]
        idents = [None if look is None else look.ident for _, look in looks]
        behind = looks[idents.index(old) + 1 :] if old in idents else looks[-1:]
        for name, _ in behind:
            self.close()
            self._file, self._offset = self._disk.open(name), 0
            yield from self._rest()


@dataclass(slots=True, kw_only=True)
class Stats:
    """What a log holds, counted."""

    records: int = 0
    size: int = 0
    """Bytes."""
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
    """Calls that were about to run and have no outcome: still running, or cut off by a crash."""
    slowest_us: int = 0


def count_trail(folder: Path, filters: Filters = EVERYTHING, *, progress: Progress | None = None) -> Stats:
    """Count the records that are wanted. Raises OSError."""
    stats = Stats()
    intents: set[str] = set()
    for entry in read_trail(folder, filters, progress=progress):
        _count(stats, entry, intents)
    stats.open_intents = len(intents)
    return stats


def _count(stats: Stats, entry: Entry, intents: set[str]) -> None:
    record = entry.record
    stats.records += 1
    stats.size += len(entry.line) + 1
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

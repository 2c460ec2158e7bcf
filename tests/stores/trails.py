"""Trails for tests: on the crash disk, in a real folder, and events to put in them."""

from __future__ import annotations

import asyncio
import errno
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from strictwire.audit.checkpoint import Checkpoint, SigningKey
from strictwire.audit.event import Call, render_body
from strictwire.audit.recorder import Recorder
from strictwire.audit.verify import Verdict
from strictwire.canon.json import JsonObject, parse_object
from strictwire.fault.failure import Failure
from strictwire.stores.files.anchor import Evidence, parse_anchor
from strictwire.stores.files.config import TrailConfig
from strictwire.stores.files.crash_disk import CrashDisk, Survival
from strictwire.stores.files.disk import Disk
from strictwire.stores.files.keys import public_path, read_public_key
from strictwire.stores.files.layout import read_records
from strictwire.stores.files.location import TrailLocation
from strictwire.stores.files.lock import NoLock
from strictwire.stores.files.reading import read_trail
from strictwire.stores.files.verify import verify_disk, verify_trail
from strictwire.stores.files.writer import TrailWriter
from strictwire.stores.records import Filters
from strictwire.stores.schedule import Clock

KEY = SigningKey(name="test.local/log", seed=bytes(range(32)))
TIME = "2026-01-01T00:00:00.000Z"


def call(name: str, timestamp: str = TIME, **origin: str) -> Call:
    """A call whose id is its name."""
    known = {"tool_name": "add", "principal": "alice", "transport": "stdio", **origin}
    return Call(timestamp=timestamp, call_id=name, duration_us=5, **known)


def body(name: str) -> bytes:
    return render_body(call(name))


async def append(recorder: Recorder, *names: str) -> Failure | None:
    """Commit records together and wait until that is done."""
    done: asyncio.Future[Failure | None] = asyncio.get_running_loop().create_future()
    recorder.append([body(name) for name in names], lambda failure: None if done.done() else done.set_result(failure))
    return await done


def stamp() -> str:
    return TIME


@dataclass
class Machine:
    """A computer with two crash disks that share one power supply."""

    rotate_bytes: int = 1 << 40
    disk: CrashDisk = field(default_factory=CrashDisk)
    anchors: CrashDisk = field(default_factory=CrashDisk)
    boot: str = "boot-1"

    def __post_init__(self) -> None:
        self.anchors.power = self.disk.power

    def log(self) -> TrailWriter:
        location = TrailLocation(
            disk=self.disk,
            lock=NoLock(),
            anchors=self.anchors,
            anchor_names=("anchor",),
            mark_name="mark",
            stamp=stamp,
            boot=self.boot,
            rotate_bytes=self.rotate_bytes,
        )
        return TrailWriter(location, KEY)

    def reboot(self, survival: Survival) -> None:
        self.boot += "+1"
        self.disk.reboot(survival)
        self.anchors.reboot(survival)

    def verify(self) -> Verdict:
        return verify_disk(self.disk, KEY.public, Evidence(anchor=self.anchor(), tag_key=KEY.tag_key))

    def anchor(self) -> Checkpoint | None:
        if self.anchors.stat("anchor") is None:
            return None
        file = self.anchors.open("anchor")
        return parse_anchor(file.read(0, file.size())).checkpoint(KEY.public)

    def records(self) -> list[JsonObject]:
        return records_of(self.disk)


def records_of(disk: Disk) -> list[JsonObject]:
    """Every complete record, through all files."""
    return [parse_object(line) for line in read_records(disk, 0) if line.endswith(b"\n")]


def call_ids(records: list[JsonObject]) -> list[str]:
    return [record["call_id"] for record in records if record["kind"] == "call"]


def trail_in(folder: Path, **changes: object) -> TrailConfig:
    """A real trail below a folder, with its key beside it."""
    return TrailConfig(folder=folder / "audit", key_path=folder / "keys" / "audit.key", **changes)


def hour_of(number: int) -> str:
    return f"2026-01-01T{number:02d}:00:00.000Z"


def seqs(trail: TrailConfig, filters: Filters) -> list[int]:
    return [stored.record["seq"] for stored in read_trail(trail.folder, filters)]


def verify(trail: TrailConfig) -> Verdict:
    return verify_trail(trail.folder, read_public_key(public_path(trail.key_path)), anchor=trail.anchor_path)


@contextmanager
def no_new_files(disk: CrashDisk) -> Iterator[None]:
    """Let the disk be too full for another file; what exists can still be written."""
    step = disk.step

    def refuse(what: str, change: Callable[[], object], size: int = 0) -> None:
        if what == "create":
            raise OSError(errno.ENOSPC, "refused")
        step(what, change, size)

    disk.step = refuse
    try:
        yield
    finally:
        disk.step = step


class HandClock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.clock = Clock(stamp=stamp, monotonic=lambda: self.now)


def remove_folder(folder: Path) -> None:
    """Delete a folder at once: a writer that creates a file in it meanwhile cannot keep it."""
    gone = folder.with_name(f"{folder.name}-gone")
    folder.rename(gone)
    shutil.rmtree(gone)

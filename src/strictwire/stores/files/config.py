"""Where a trail is and how it is kept, and the writer made from that."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from strictwire.stores.fault import DAMAGED, LogFault, mapped_errors
from strictwire.stores.files.anchor import boot_id
from strictwire.stores.files.disk import FolderDisk, make_folder
from strictwire.stores.files.keys import ANCHOR_SUFFIX, KeyUnsafe, anchor_names, load_or_make_key
from strictwire.stores.files.layout import ACTIVE
from strictwire.stores.files.location import ROTATE_BYTES, TrailLocation
from strictwire.stores.files.lock import FolderLock
from strictwire.stores.files.writer import TrailWriter
from strictwire.stores.schedule import SYSTEM_CLOCK, Clock, Mode, Schedule

WORKER: Final = "worker-"
"""How the folder of a worker's log starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailConfig:
    """Where a trail is and how it is kept."""

    folder: Path
    log: str = ""
    """The name of one of several logs, such as `worker-1`; then it is the last part of `folder`."""
    key_path: Path
    """The signing key, outside the folder. Created on first use."""
    mode: Mode = Mode.SYNC
    keeps_values: bool = False
    """Whether records hold arguments and results beside their digests."""
    schedule: Schedule = field(default_factory=Schedule)
    rotate_bytes: int = ROTATE_BYTES
    lock_seconds: float = 2.0
    """How long a commit waits for another process before the call fails."""

    @property
    def anchor_paths(self) -> tuple[Path, ...]:
        """The files beside the key that hold the newest checkpoint. See keys.anchor_names."""
        base = self.folder.parent if self.log else self.folder
        return tuple(self.key_path.parent / name for name in anchor_names(self.key_path, base, self.log))

    @property
    def anchor_path(self) -> Path:
        """The first of them."""
        return self.anchor_paths[0]

    @property
    def mark_path(self) -> Path:
        """The file beside the key that holds the number of records."""
        return self.anchor_path.with_suffix(".mark")

    def for_worker(self, number: int) -> TrailConfig:
        """The log of a worker process. Each worker has its own, so that they never wait for each other."""
        name = f"{WORKER}{number}"
        return replace(self, folder=self.folder / name, log=name)

    def known_workers(self) -> list[int]:
        """The workers that ever had a log here: the folders that exist, and the anchors beside the key."""
        ours = [path.name.removesuffix(ANCHOR_SUFFIX) for path in self.anchor_paths]
        anchors = [path.name for name in ours for path in self.key_path.parent.glob(f"{name}.{WORKER}*{ANCHOR_SUFFIX}")]
        found = [name.removesuffix(ANCHOR_SUFFIX).rpartition(".")[2] for name in anchors]
        found += [path.name for path in self.folder.glob(f"{WORKER}*")]
        numbers = (name.removeprefix(WORKER) for name in found)
        return sorted({int(number) for number in numbers if number.isascii() and number.isdecimal()})


def refuse_missing_logs(config: TrailConfig) -> None:
    """Raises LogFault `damaged` if the log of a worker is gone although its checkpoint is kept beside the key."""
    for number in config.known_workers():
        log = config.for_worker(number)
        if any(path.exists() for path in log.anchor_paths) and not (log.folder / ACTIVE).exists():
            raise LogFault(DAMAGED, detail=f"the log {log.log} is missing")


def open_writer(config: TrailConfig, clock: Clock = SYSTEM_CLOCK) -> TrailWriter:
    """The blocking writer of a trail; folder and key are created if needed. Raises LogFault.

    The log itself is read by the first operation.
    """
    with mapped_errors():
        make_folder(config.folder)
        try:
            key = load_or_make_key(config.key_path, log_folder=config.folder)
        except KeyUnsafe as unsafe:
            raise LogFault(f"key_{unsafe.reason}") from unsafe
    location = TrailLocation(
        disk=FolderDisk(config.folder),
        lock=FolderLock(config.folder, patience=config.lock_seconds),
        anchors=FolderDisk(config.key_path.parent),
        anchor_names=tuple(path.name for path in config.anchor_paths),
        mark_name=config.mark_path.name,
        stamp=clock.stamp,
        boot=boot_id(),
        rotate_bytes=config.rotate_bytes,
    )
    return TrailWriter(location, key.for_log(config.log))

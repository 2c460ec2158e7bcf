"""The search indexes of caches: stored in the state folder, opened on first use, and rebuilt in the background.

An index that is absent, damaged or older than its cache is rebuilt. Callers wait for a rebuild up to a deadline and are
then answered without that cache. Without a state folder, indexes are kept in memory. Safe to call from any thread.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from strictwire.packs.context.files import add_up
from strictwire.packs.context.layout import DOCUMENTS
from strictwire.packs.context.rules import RULES, Unusable
from strictwire.packs.context.search import indexing
from strictwire.packs.context.search.index_file import DamagedIndex, SearchIndex, Stamp

MAX_OPEN: Final = 4096
"""Most indexes that are kept open. A mapped file costs address space, not memory."""

MAX_IN_MEMORY: Final = 64
"""Most indexes that are kept if there is no state folder."""

WAIT_SECONDS: Final = 20.0
"""How long a search waits for an index: a third of its time limit, enough to index about 100 MB of documents."""

LARGE_MANIFEST: Final = 1 << 16
"""Size of a manifest, about 350 documents, from which on another process makes the index, so that the server stays
responsive. Starting an interpreter takes a fifth of a second."""

LARGE_DOCUMENTS: Final = 1 << 22
"""The same for the size of all documents of a cache."""

_WORKERS: Final = 2


@dataclass(frozen=True, slots=True)
class Pending:
    """The index is still being made."""


State: TypeAlias = SearchIndex | Pending | Unusable
"""What a search gets for a cache."""


@dataclass(slots=True)
class _Slot:
    index: SearchIndex | None = None
    building: Future[SearchIndex] | None = None


@dataclass(slots=True)
class _Programs:
    """The running indexing processes."""

    running: set[subprocess.Popen[bytes]] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, cache: Path, file: Path) -> None:
        """Index a cache in another process. Raises Unusable, OSError: no process can be started."""
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # -P: with -m alone, Python would import modules of the working directory first.
        command = [sys.executable, "-P", "-m", indexing.__name__, os.fspath(cache), os.fspath(file)]
        with self.lock:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.running.add(process)
        try:
            rule, _ = process.communicate()
        finally:
            with self.lock:
                self.running.discard(process)
        if process.returncode != 0:
            name = rule.decode("ascii", "replace")
            raise Unusable(name if name in RULES else "READABLE")

    def kill(self) -> None:
        with self.lock:
            for process in self.running:
                process.kill()


class IndexStore:
    """Opens indexes by the directory of their cache."""

    def __init__(self, folder: Path | None, *, wait_seconds: float = WAIT_SECONDS) -> None:
        """`folder` is where index files are kept; None keeps indexes in memory."""
        self._folder = folder
        self._wait_seconds = wait_seconds
        self._capacity = MAX_IN_MEMORY if folder is None else MAX_OPEN
        self._slots: OrderedDict[Path, _Slot] = OrderedDict()
        self._lock = threading.Lock()
        self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="context-index")
        self._programs = _Programs()

    def open_all(self, caches: Iterable[Path]) -> Mapping[Path, State]:
        """Return the current index of each cache, after waiting for those that are being made."""
        started = {cache: self._start(cache) for cache in caches}
        wait([each for each in started.values() if isinstance(each, Future)], self._wait_seconds)
        return {cache: self._outcome(cache, each) for cache, each in started.items()}

    def discard(self, cache: Path) -> None:
        """Forget an index that turned out to be damaged or outdated, and its file. The next search makes a new one."""
        with self._lock:
            self._slots.pop(cache, None)
        if self._folder is not None:
            self._file(cache).unlink(missing_ok=True)

    def close(self) -> None:
        """Stop indexing and drop all indexes."""
        self._workers.shutdown(wait=False, cancel_futures=True)
        self._programs.kill()
        with self._lock:
            self._slots.clear()

    def _start(self, cache: Path) -> SearchIndex | Future[SearchIndex] | Unusable:
        try:
            stamp = indexing.manifest_stamp(cache)
        except Unusable as violation:
            return violation
        with self._lock:
            slot = self._slots.setdefault(cache, _Slot())
            self._slots.move_to_end(cache)
            while len(self._slots) > self._capacity:
                self._slots.popitem(last=False)
            if slot.index is not None and slot.index.identity.stamp == stamp:
                return slot.index
            if slot.building is None:
                stored = self._open_stored(cache)
                if stored is not None and stored.identity.stamp == stamp:
                    slot.index = stored
                    return stored
                slot.building = self._workers.submit(self._build, cache, stamp, stored or slot.index)
            return slot.building

    def _outcome(self, cache: Path, started: SearchIndex | Future[SearchIndex] | Unusable) -> State:
        if not isinstance(started, Future):
            return started
        if not started.done():
            return Pending()
        with self._lock:
            slot = self._slots.get(cache)
            if slot is not None and slot.building is started:
                slot.building = None
                slot.index = None if started.exception() else started.result()
        try:
            return started.result()
        except Unusable as violation:
            return violation

    def _open_stored(self, cache: Path) -> SearchIndex | None:
        if self._folder is None:
            return None
        try:
            return indexing.open_index(self._file(cache))
        except (OSError, DamagedIndex):
            return None

    def _build(self, cache: Path, stamp: Stamp, earlier: SearchIndex | None) -> SearchIndex:
        """Make and store an index. If it cannot be stored, it is kept in memory. Raises Unusable."""
        if self._folder is not None and (stamp[1] >= LARGE_MANIFEST or add_up(cache / DOCUMENTS) >= LARGE_DOCUMENTS):
            with suppress(OSError, DamagedIndex):
                self._programs.run(cache, self._file(cache))
                return indexing.open_index(self._file(cache))
        try:
            raw = indexing.index_cache(cache, earlier)
        except DamagedIndex:
            raw = indexing.index_cache(cache)
        if self._folder is not None:
            with suppress(OSError, DamagedIndex):
                indexing.write_index(self._file(cache), raw)
                return indexing.open_index(self._file(cache))
        return SearchIndex(memoryview(raw))

    def _file(self, cache: Path) -> Path:
        name = hashlib.sha256(os.fsencode(cache)).hexdigest()[:32]
        return (self._folder or Path()) / f"{name}.idx"

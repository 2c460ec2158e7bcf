"""The project index: snapshots and scans kept in memory, and on disk outside the project, and refreshed by comparing stamps.

A file of the index carries a version and a digest. One that is damaged, of another version or of another project is
ignored and written anew. Nothing is ever written into the project.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import Final

import msgspec
from msgspec import Struct

from strictwire.packs.unity.project.project import MetaRecord, Project, open_project, refresh_project
from strictwire.packs.unity.references.graph import Graph, Progress, Scanned, Stop, never, scan_project, silent

_VERSION: Final = 2
"""Raise it whenever a scan finds something else in the same file."""

_MAGIC: Final = b"strictwire-unity-index\n"
_DIGEST_BYTES: Final = 32
MAX_SAVED: Final = 256 * 1024 * 1024
"""Bytes of an index file that are read. A project of 50 MB makes about 1 MB."""

SETTLED_NS: Final = 100_000_000
"""A file that changed this recently may change again within the resolution of its time stamp, so its scan is not kept."""


class _Saved(Struct, frozen=True, array_like=True):
    version: int
    root: str
    metas: dict[str, MetaRecord]
    scans: dict[str, Scanned]


class ProjectIndex:
    """The index of one project. Any thread may call; calls wait for each other."""

    def __init__(
        self,
        root: Path,
        *,
        boundary: Path | None = None,
        folder: Path | None = None,
        has_changed: Callable[[], bool] = lambda: True,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        """Raises NotAProject; ValueError: `folder` is inside the project.

        `folder` is where the index is saved; without one it lives in memory alone. `has_changed` may answer False when a
        file watcher has seen nothing since the last call.
        """
        self._file = _index_file(root.resolve(), folder) if folder is not None else None
        saved = _load(self._file, root.resolve()) if self._file is not None else None
        self._now_ns = now_ns
        self._taken_ns = now_ns()
        self._project = open_project(root, boundary=boundary, known=saved.metas if saved else {})
        self._known: dict[str, Scanned] = dict(saved.scans) if saved else {}
        self._graph: Graph | None = None
        self._has_changed = has_changed
        self._is_fresh = True
        self._lock = RLock()

    def project(self) -> Project:
        """The present state of the project, without looking into assets."""
        with self._lock:
            if not self._is_fresh and self._has_changed():
                settled, self._taken_ns = self._taken_ns - SETTLED_NS, self._now_ns()
                self._replace(refresh_project(self._project, settled_ns=settled))
            self._is_fresh = False
            return self._project

    def graph(self, *, stop: Stop = never, progress: Progress = silent) -> Graph:
        """The references of the present state. One that `stop` ended is partial; the next call continues it."""
        with self._lock:
            project = self.project()
            if self._graph is not None:
                return self._graph
            limit = self._now_ns() - SETTLED_NS
            graph = scan_project(project, known=self._known, stop=stop, progress=progress)
            settled = {path: each for path, each in graph.scans.items() if each.stamp.changed_ns < limit}
            kept = {**self._known, **settled} if graph.is_partial else settled
            has_news = kept.keys() != self._known.keys() or any(kept[path] is not self._known[path] for path in kept)
            self._known = kept
            if not graph.is_partial and len(settled) == len(graph.scans):
                self._graph = graph
            if has_news:
                self._save(project, limit)
            return graph

    def close(self) -> None:
        """Let go of the project."""
        with self._lock:
            self._project.close()

    def _replace(self, project: Project) -> None:
        """A graph stays valid while nothing it was made from has changed."""
        old = self._project
        is_same = project.assets == old.assets and project.metas == old.metas and project.foreign_metas == old.foreign_metas
        if not is_same or project.packages != old.packages or project.obstacles != old.obstacles:
            self._project, self._graph = project, None

    def _save(self, project: Project, limit: int) -> None:
        """A full disk or a read-only folder costs time on the next start and nothing else."""
        if self._file is None:
            return
        metas = {**project.metas, **project.foreign_metas}
        saved = _Saved(
            _VERSION,
            os.fspath(project.root),
            {path: record for path, record in metas.items() if record.stamp.changed_ns < limit},
            self._known,
        )
        with suppress(OSError):
            _write(self._file, saved)


def _index_file(root: Path, folder: Path) -> Path:
    folder = folder.resolve()
    if folder.is_relative_to(root):
        raise ValueError(f"the index must not be kept inside the project: {folder}")
    return folder / f"{hashlib.sha256(os.fsencode(root)).hexdigest()[:32]}.index"


def _load(file: Path, root: Path) -> _Saved | None:
    """A saved index; None if there is none that can be trusted."""
    try:
        if file.stat().st_size > MAX_SAVED:
            return None
        raw = file.read_bytes()
    except OSError:
        return None
    digest, payload = raw[len(_MAGIC) : len(_MAGIC) + _DIGEST_BYTES], raw[len(_MAGIC) + _DIGEST_BYTES :]
    if not raw.startswith(_MAGIC) or hashlib.sha256(payload).digest() != digest:
        return None
    try:
        saved = msgspec.msgpack.decode(payload, type=_Saved)
    except msgspec.MsgspecError:
        return None
    return saved if saved.version == _VERSION and saved.root == os.fspath(root) else None


def _write(file: Path, saved: _Saved) -> None:
    """Replace the file in one step, so that a reader never sees half of it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    payload = msgspec.msgpack.encode(saved)
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=".index-", delete=False) as made:
        place = Path(made.name)
        try:
            made.write(_MAGIC + hashlib.sha256(payload).digest() + payload)
            made.close()
            place.replace(file)
        except OSError:
            place.unlink(missing_ok=True)
            raise

"""The embeddings of caches: stored beside their indexes, opened on first use, and computed in the background.

One thread computes embeddings, one text at a time, so that a row does not depend on the other rows. Work that is interrupted
by `close` is stored and continued later. Safe to call from any thread.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import tempfile
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from strictwire.fault.escape import for_terminal
from strictwire.packs.context.rules import Unusable
from strictwire.packs.context.search.dense import LexicalReason
from strictwire.packs.context.search.index_file import IndexIdentity, SearchIndex
from strictwire.packs.context.search.semantic.model import EmbeddingModel, ModelFailed
from strictwire.packs.context.search.semantic.vector_file import (
    DamagedVectors,
    VectorIdentity,
    Vectors,
    VectorWriter,
    open_vectors,
    text_key,
)
from strictwire.packs.context.search.texts import TextReader

log = logging.getLogger("strictwire.context")

MAX_PASSAGES: Final = 200_000
"""Most passages of a cache that are embedded: 310 MB with 384 dimensions, and about an hour of one core.

all-MiniLM-L6-v2 embeds 50 to 70 passages a second.
"""

WAIT_SECONDS: Final = 2.0
"""How long a search waits for embeddings. Those of a large cache take minutes, and the ranking by words is ready."""

State: TypeAlias = Vectors | LexicalReason
"""What a search gets for a cache."""


@dataclass(slots=True)
class _Slot:
    vectors: Vectors | None = None
    building: Future[Vectors | None] | None = None
    building_for: IndexIdentity | None = None
    failed: IndexIdentity | None = None
    """The state of the cache for which embeddings could not be made. They are tried again when the cache changes."""


class VectorStore:
    """Opens embeddings by the directory of their cache."""

    def __init__(self, folder: Path | None, model: EmbeddingModel, *, wait_seconds: float = WAIT_SECONDS) -> None:
        """`folder` is where the files are kept; None keeps them in a temporary folder until `close`."""
        self._temporary = tempfile.TemporaryDirectory(prefix="strictwire-") if folder is None else None
        self._folder = Path(self._temporary.name) if self._temporary is not None else folder or Path()
        self._model = model
        self._wait_seconds = wait_seconds
        self._slots: dict[Path, _Slot] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="context-embedding")

    def open_all(self, indexes: Mapping[Path, SearchIndex]) -> Mapping[Path, State]:
        """Return the embeddings of each index, after a short wait for those that are being computed."""
        started = {cache: self._start(cache, index) for cache, index in indexes.items()}
        wait([each for each in started.values() if isinstance(each, Future)], self._wait_seconds)
        return {
            cache: self._outcome(cache, indexes[cache], each) if isinstance(each, Future) else each
            for cache, each in started.items()
        }

    def close(self) -> None:
        """Stop after the current text, store what there is, and drop all embeddings."""
        self._stopping.set()
        self._worker.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            self._slots.clear()
        if self._temporary is not None:
            self._temporary.cleanup()

    def _start(self, cache: Path, index: SearchIndex) -> State | Future[Vectors | None]:
        if index.passages > MAX_PASSAGES:
            return "TOO_LARGE"
        with self._lock:
            slot = self._slots.setdefault(cache, _Slot())
            if slot.vectors is not None and self._is_current(slot.vectors, index):
                return slot.vectors
            if slot.failed == index.identity:
                return "FAILED"
            if slot.building is None:
                stored = self._open_stored(cache)
                if stored is not None and self._is_current(stored, index):
                    slot.vectors = stored
                    return stored
                slot.building_for = index.identity
                slot.building = self._worker.submit(self._build, cache, index, stored)
            return slot.building

    def _outcome(self, cache: Path, index: SearchIndex, building: Future[Vectors | None]) -> State:
        if not building.done():
            return "EMBEDDING"
        made = None if building.cancelled() or building.exception() else building.result()
        with self._lock:
            slot = self._slots.setdefault(cache, _Slot())
            if slot.building is building:
                slot.building = None
                slot.vectors = made
                slot.failed = slot.building_for if made is None else None
            has_failed = slot.failed == index.identity
        if has_failed:
            return "FAILED"
        return made if made is not None and self._is_current(made, index) else "EMBEDDING"

    def _is_current(self, vectors: Vectors, index: SearchIndex) -> bool:
        identity = VectorIdentity(model=self._model.digest, index=index.identity)
        return vectors.identity == identity and vectors.matrix.shape == (index.passages, self._model.dimensions)

    def _open_stored(self, cache: Path) -> Vectors | None:
        try:
            return open_vectors(self._file(cache))
        except (OSError, DamagedVectors):
            return None

    def _build(self, cache: Path, index: SearchIndex, earlier: Vectors | None) -> Vectors | None:
        """Compute and store the embeddings of an index. Returns None if that is not possible."""
        file = self._file(cache)
        staging = file.with_name(f"{file.name}.{secrets.token_hex(6)}.tmp")
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._write(staging, cache, index, earlier)
            staging.replace(file)
            return open_vectors(file)
        except (OSError, Unusable, ModelFailed, DamagedVectors) as exc:
            log.warning("cache %s is ranked by words alone: %s", for_terminal(cache.name), _reason(exc))
            return None
        finally:
            staging.unlink(missing_ok=True)

    def _write(self, staging: Path, cache: Path, index: SearchIndex, earlier: Vectors | None) -> None:
        """Write the rows of all passages, or of the first ones if the store is closed meanwhile."""
        known = self._known_rows(earlier)
        identity: IndexIdentity | None = index.identity
        with os.fdopen(os.open(staging, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as handle:
            writer = VectorWriter(handle, self._model.dimensions)
            for text in _passage_texts(cache, index):
                if self._stopping.is_set():
                    identity = None
                    break
                key = text_key(text)
                row = known.get(key)
                writer.add(key, self._model.embed(text) if earlier is None or row is None else earlier.matrix[row])
            writer.finish(VectorIdentity(model=self._model.digest, index=identity))

    def _known_rows(self, earlier: Vectors | None) -> Mapping[bytes, int]:
        """Return the rows of earlier embeddings by the same model."""
        if earlier is None or earlier.identity.model != self._model.digest:
            return {}
        return earlier.rows_by_key()

    def _file(self, cache: Path) -> Path:
        return self._folder / f"{hashlib.sha256(os.fsencode(cache)).hexdigest()[:32]}.vec"


def _reason(exc: OSError | Unusable | ModelFailed | DamagedVectors) -> str:
    """Return why embeddings could not be made, without paths or text of the cache."""
    match exc:
        case ModelFailed():
            return f"the model failed on a passage ({exc})"
        case Unusable():
            return f"the cache breaks the rule {exc.rule.id}"
        case OSError():
            return f"embeddings cannot be stored ({exc.strerror})"
        case _:
            return "the stored embeddings are damaged"


def _passage_texts(cache: Path, index: SearchIndex) -> Iterator[str]:
    """Return what is embedded for each passage: where it is, and its lines. Raises Unusable."""
    texts = TextReader()
    for number in range(index.documents):
        document = index.document(number)
        text = texts.read(cache, document)
        for passage in index.passages_of(number):
            first, last = index.lines(passage)
            place = " > ".join(text.passages[first].headings) or document.source
            yield "\n".join((place, *text.lines[first:last]))

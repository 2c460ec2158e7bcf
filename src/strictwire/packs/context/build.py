"""From a source tree to a cache: parallel, atomic, and incremental with the bytes of a full build.

Above: `verbs`, `follow`. Below: `ingest` finds the files, `shape` makes documents, `publish` puts the result in its place.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Final, TypeAlias

from strictwire.packs.context.extract import KIND_OF
from strictwire.packs.context.ingest import MAX_FILES, NotBuilt, Source, look, walk
from strictwire.packs.context.layout import (
    DOCUMENTS,
    INDEX,
    MANIFEST,
    cache_version_of,
    file_of,
    render_index,
    render_manifest,
    render_time,
)
from strictwire.packs.context.publish import begin_durable, make_durable, publish, refuse_place, workplace
from strictwire.packs.context.shape import Made, file_stamp, make_documents
from strictwire.packs.context.words import extension_of
from strictwire.packs.context.workers import spread

V0_KINDS: Final = frozenset({"markdown"})
"""What v0 takes."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the files done and the files in all."""

_CHUNK: Final = 256
"""Files handed to a worker at once, and between two reports of progress."""

_SETTLED_NS: Final = 2_000_000_000
"""A file changed so shortly before it was read may change again within the resolution of its times: it is read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to build."""

    sources: Path
    output: Path
    force: bool = False
    kinds: frozenset[str] = V0_KINDS
    workers: int = 0
    """Processes; 0 means one for each core, and none for small trees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What came of a build, and what the next one may reuse."""

    cache_version: str
    document_count: int
    reused: int = 0
    replaced: bool = True
    """False where nothing had changed and the cache was left as it stands."""
    known: Mapping[str, Made] = field(default_factory=dict)
    """What was made of each source that was settled when it was read."""


def build(
    order: Order,
    *,
    now: Callable[[], datetime],
    earlier: Built | None = None,
    progress: Progress = lambda _done, _all: None,
) -> Built:
    """Build a cache. With what an earlier build of the same order returned, only changed files are read.

    Raises NotBuilt: IO_ERROR (sources not a directory, output exists, system errors), CACHE_INVALID (two equal ids),
    INTERNAL (two equal contents, a path or a content that is not UTF-8). Nothing is written then.
    """
    refuse_place(order.output, sources=order.sources, force=order.force)
    started = now()
    found = _find(order)
    try:
        with workplace(order.output) as place:
            (place / DOCUMENTS).mkdir()
            kept = _reuse(found, earlier, order.output, place)
            made = _make(found, kept, place, order.workers, progress)
            # A build that follows another may turn out to change nothing: only the first is sure to need the disk.
            with begin_durable(place) if earlier is None else nullcontext():
                chosen = _settle(found, made, place, merge=order.kinds != V0_KINDS)
                built = _describe(place, chosen, kept, earlier, started)
            if built.replaced:
                make_durable(place)
                publish(place, order.output)
            return built
    except OSError as exc:
        raise NotBuilt("IO_ERROR", "the cache could not be written", os.fsdecode(exc.filename or "")) from exc


def _find(order: Order) -> list[Source]:
    if not order.sources.is_dir():
        raise NotBuilt("IO_ERROR", "the sources are not a directory", str(order.sources))
    extensions = {extension for extension, kind in KIND_OF.items() if kind in order.kinds}
    files = walk(os.fsencode(order.sources), lambda name: extension_of(name) in extensions)
    found = list(islice(files, MAX_FILES + 1))
    if len(found) > MAX_FILES:
        raise NotBuilt("IO_ERROR", f"there are more than {MAX_FILES} files", str(order.sources))
    return found


def _reuse(found: Iterable[Source], earlier: Built | None, output: Path, place: Path) -> dict[str, Made]:
    """Link the documents of unchanged sources from the standing cache; whatever cannot be linked is made again."""
    kept: dict[str, Made] = {}
    if earlier is None:
        return kept
    for source in found:
        known = earlier.known.get(source.relative)
        if known is None:
            continue
        file = file_of(known.version)
        with suppress(OSError):
            if look(source) == known.source and file_stamp((output / file).lstat()) == known.file:
                os.link(output / file, place / file)
                kept[source.relative] = known
    return kept


def _make(found: list[Source], kept: Mapping[str, Made], place: Path, workers: int, progress: Progress) -> list[Made]:
    """The document of each source, in the order of `found`."""
    fresh = [source for source in found if source.relative not in kept]
    chunks = [fresh[at : at + _CHUNK] for at in range(0, len(fresh), _CHUNK)]
    done: list[Made] = []
    progress(len(kept), len(found))
    for chunk in spread(partial(make_documents, cache=str(place)), chunks, workers):
        done.extend(map(Made._make, chunk))
        progress(len(kept) + len(done), len(found))
    made = iter(done)
    return [kept.get(source.relative) or next(made) for source in found]


def _settle(found: Iterable[Source], made: Iterable[Made], place: Path, *, merge: bool) -> list[tuple[Source, Made]]:
    """Sort by id and refuse what cannot stand together. v0 addresses a document by its content, so equal contents
    cannot; where other kinds were asked for, the first by id stands for all of them.
    """
    pairs = sorted(zip(found, made, strict=True), key=lambda pair: pair[1].id)
    for (_, left), (_, right) in pairwise(pairs):
        if left.id == right.id:
            raise NotBuilt("CACHE_INVALID", "two files have the same id", left.id)
    first: dict[str, tuple[Source, Made]] = {}
    again: set[str] = set()
    for pair in pairs:
        file = file_of(pair[1].version)
        if first.setdefault(file, pair) is not pair:
            again.add(file)
            if not merge:
                raise NotBuilt("INTERNAL", "two files have the same content", pair[1].id)
    for file in again:
        source, product = first[file]
        made_again = Made(*make_documents([source], cache=str(place))[0])
        first[file] = (source, made_again)
        if made_again.version != product.version:
            raise NotBuilt("IO_ERROR", "a file changed while it was read", source.relative)
    return list(first.values())


def _describe(
    place: Path, chosen: list[tuple[Source, Made]], kept: Mapping[str, Made], earlier: Built | None, started: datetime
) -> Built:
    """Write index and manifest, unless they would be those of the earlier build."""
    entries = [(made.id, made.version) for _, made in chosen]
    version = cache_version_of(entries)
    unchanged = earlier is not None and version == earlier.cache_version and all(s.relative in kept for s, _ in chosen)
    if not unchanged:
        (place / INDEX).write_bytes(render_index(entries))
        (place / MANIFEST).write_bytes(render_manifest(entries, render_time(started)))
    return Built(
        cache_version=version,
        document_count=len(entries),
        reused=len(kept),
        replaced=not unchanged,
        known=_remember(chosen, started),
    )


def _remember(chosen: Iterable[tuple[Source, Made]], started: datetime) -> dict[str, Made]:
    settled = int(started.timestamp() * 1e9) - _SETTLED_NS
    return {source.relative: made for source, made in chosen if max(made.source[2:]) < settled}

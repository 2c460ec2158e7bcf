"""Builds a cache from a source tree: in parallel, atomically, and incrementally with the same bytes as a full build.

Above: `verbs`, `follow`. Below: `survey` finds the files, `documents` writes document files, `conflicts` chooses between
them, `publish` moves the result into place.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from strictwire.packs.context.conflicts import Pair, resolve_conflicts
from strictwire.packs.context.documents import WrittenDocument, document_stamp, make_documents
from strictwire.packs.context.ingest import NotBuilt, Source, look
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
from strictwire.packs.context.parallel_map import map_in_processes
from strictwire.packs.context.publish import check_output, publish, staging_directory, start_sync, sync_tree
from strictwire.packs.context.skips import Report, Skip
from strictwire.packs.context.survey import V0, SourceRules, Survey, survey

V0_KINDS: Final = frozenset({"markdown"})
"""The kinds of source that v0 accepts."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of files done and the total number of files."""

_CHUNK: Final = 256
"""Files per unit of work of a worker process, and per progress report."""

_SETTLED_NS: Final = 2_000_000_000
"""A file that changed less than this before it was read is read again by the next build: it may change once more without
a visible change of its timestamps, because some file systems store times with a resolution of one or two seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to build, and where."""

    sources: Path
    output: Path
    force: bool = False
    kinds: frozenset[str] = V0_KINDS
    rules: SourceRules = V0
    workers: int = 0
    """Number of worker processes; 0 means one per core, and none for a small tree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """Result of a build, with what the next build may reuse."""

    cache_version: str
    document_count: int
    reused: int = 0
    replaced: bool = True
    """False if nothing had changed and the existing cache was left as it is."""
    known: Mapping[str, WrittenDocument] = field(default_factory=dict)
    """Relative path to written document, for each source that had not changed shortly before it was read."""
    report: Report = field(default_factory=Report)


def build(
    order: Order,
    *,
    now: Callable[[], datetime],
    earlier: Built | None = None,
    progress: Progress = lambda _done, _all: None,
) -> Built:
    """Build a cache. With the result of an earlier build of the same order, only changed files are read.

    Raises NotBuilt: IO_ERROR (sources are not a directory, output exists, system errors), CACHE_INVALID (two files have
    the same id), INTERNAL (two files have the same content, a path or a content is not UTF-8). Nothing is written then.
    If the rules are not strict, a file that cannot be taken is skipped and is in the report.
    """
    check_output(order.output, sources=order.sources, force=order.force)
    started = now()
    tree = survey(order.sources, order.kinds, order.rules)
    try:
        with staging_directory(order.output) as staging:
            (staging / DOCUMENTS).mkdir()
            reused = _reuse(tree.found, earlier, order.output, staging)
            written = _write(tree.found, reused, staging, order, progress)
            # The first build always publishes, so its sync can start early. A later build may turn out to change nothing.
            with start_sync(staging) if earlier is None else nullcontext():
                chosen, repeated = resolve_conflicts(_pairs(tree.found, written), staging, order.rules, merge=_merges(order))
                built = _describe(staging, chosen, reused, earlier, started)
            if built.replaced:
                sync_tree(staging)
                publish(staging, order.output)
            return replace(built, report=_report(tree, written, repeated))
    except OSError as exc:
        raise NotBuilt("IO_ERROR", "the cache could not be written", os.fsdecode(exc.filename or "")) from exc


def _merges(order: Order) -> bool:
    """Return whether files with the same content share a document: v0 refuses them."""
    return not order.rules.strict or order.kinds != V0_KINDS


def _pairs(found: Iterable[Source], written: Iterable[WrittenDocument | Skip]) -> list[Pair]:
    return [(source, made) for source, made in zip(found, written, strict=True) if not isinstance(made, Skip)]


def _report(tree: Survey, written: Iterable[WrittenDocument | Skip], repeated: Iterable[Skip]) -> Report:
    made = list(written)
    skipped = [*tree.skipped, *(each for each in made if isinstance(each, Skip)), *repeated]
    encodings = Counter(each.encoding for each in made if isinstance(each, WrittenDocument) and each.encoding)
    return Report(skipped=tuple(sorted(skipped)), converted=encodings, ignored=len(tree.ignored), other=tree.other)


def _reuse(found: Iterable[Source], earlier: Built | None, output: Path, staging: Path) -> dict[str, WrittenDocument]:
    """Hard-link the documents of unchanged sources from the existing cache. What cannot be linked is written again."""
    reused: dict[str, WrittenDocument] = {}
    if earlier is None:
        return reused
    for source in found:
        known = earlier.known.get(source.relative)
        if known is None:
            continue
        file = file_of(known.version)
        with suppress(OSError):
            if look(source) == known.source and document_stamp((output / file).lstat()) == known.file:
                os.link(output / file, staging / file)
                reused[source.relative] = known
    return reused


def _write(
    found: list[Source], reused: Mapping[str, WrittenDocument], staging: Path, order: Order, progress: Progress
) -> list[WrittenDocument | Skip]:
    """Write the documents that are not reused. Returns the document or skip of each source, in the order of `found`."""
    fresh = [source for source in found if source.relative not in reused]
    chunks = [fresh[at : at + _CHUNK] for at in range(0, len(fresh), _CHUNK)]
    done: list[WrittenDocument | Skip] = []
    progress(len(reused), len(found))
    for chunk in map_in_processes(partial(make_documents, cache=str(staging), rules=order.rules), chunks, order.workers):
        done.extend(row if isinstance(row, Skip) else WrittenDocument._make(row) for row in chunk)
        progress(len(reused) + len(done), len(found))
    written = iter(done)
    return [reused.get(source.relative) or next(written) for source in found]


def _describe(
    staging: Path,
    chosen: list[Pair],
    reused: Mapping[str, WrittenDocument],
    earlier: Built | None,
    started: datetime,
) -> Built:
    """Write index and manifest, unless they would equal those of the earlier build."""
    entries = [(document.id, document.version) for _, document in chosen]
    version = cache_version_of(entries)
    unchanged = earlier is not None and version == earlier.cache_version and all(s.relative in reused for s, _ in chosen)
    if not unchanged:
        (staging / INDEX).write_bytes(render_index(entries))
        (staging / MANIFEST).write_bytes(render_manifest(entries, render_time(started)))
    return Built(
        cache_version=version,
        document_count=len(entries),
        reused=len(reused),
        replaced=not unchanged,
        known=_reusable(chosen, started),
    )


def _reusable(chosen: Iterable[Pair], started: datetime) -> dict[str, WrittenDocument]:
    """Return the documents whose sources have had the same timestamps for long enough."""
    settled = int(started.timestamp() * 1e9) - _SETTLED_NS
    return {source.relative: document for source, document in chosen if max(document.source[2:]) < settled}

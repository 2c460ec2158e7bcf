"""Chooses between documents that cannot be in one cache together: equal ids, and equal contents.

A document file is named by the hash of its content, so a cache cannot hold two equal contents.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from strictwire.packs.context.documents import WrittenDocument, make_documents
from strictwire.packs.context.ingest import NotBuilt, Source
from strictwire.packs.context.layout import file_of
from strictwire.packs.context.skips import Skip
from strictwire.packs.context.survey import SourceRules

Pair: TypeAlias = tuple[Source, WrittenDocument]
"""A source and the document that was written for it."""


def resolve_conflicts(
    pairs: Iterable[Pair], staging: Path, rules: SourceRules, *, merge: bool
) -> tuple[list[Pair], list[Skip]]:
    """Return the documents of the cache in ascending order of id, and the sources that are represented by another one.

    Strict rules refuse equal ids; others keep the first by path. With `merge` the first document by id represents all
    documents with the same content; otherwise they are refused. Raises NotBuilt: CACHE_INVALID, INTERNAL, IO_ERROR.
    """
    kept, skipped, dropped = _distinct_ids(sorted(pairs, key=lambda pair: (pair[1].id, pair[0].relative)), rules)
    first: dict[str, Pair] = {}
    repeated: set[str] = set()
    for pair in kept:
        source, document = pair
        file = file_of(document.version)
        if first.setdefault(file, pair) is not pair:
            if not merge:
                raise NotBuilt("INTERNAL", "two files have the same content", document.id)
            repeated.add(file)
            skipped.append(Skip(source.relative, "duplicate", first[file][0].relative))
    # The file on disk may be that of another source with the same content. Write it again for the first one.
    for file in repeated:
        first[file] = _rewrite(first[file], staging, rules)
    for file in {file_of(document.version) for document in dropped} - first.keys():
        (staging / file).unlink(missing_ok=True)
    return list(first.values()), skipped


def _distinct_ids(pairs: Iterable[Pair], rules: SourceRules) -> tuple[list[Pair], list[Skip], list[WrittenDocument]]:
    """Return the pairs that are kept, and the skips and written documents of the others."""
    kept: list[Pair] = []
    skipped: list[Skip] = []
    dropped: list[WrittenDocument] = []
    for source, document in pairs:
        if not kept or kept[-1][1].id != document.id:
            kept.append((source, document))
        elif rules.strict:
            raise NotBuilt("CACHE_INVALID", "two files have the same id", document.id)
        else:
            skipped.append(Skip(source.relative, "same-id", kept[-1][0].relative))
            dropped.append(document)
    return kept, skipped, dropped


def _rewrite(pair: Pair, staging: Path, rules: SourceRules) -> Pair:
    source, document = pair
    row = make_documents([source], str(staging), rules)[0]
    if isinstance(row, Skip) or row[1] != document.version:
        raise NotBuilt("IO_ERROR", "a file changed while it was read", source.relative)
    return source, WrittenDocument._make(row)

"""Loads a cache and checks every rule of v0 once. Writes nothing and repairs nothing.

Above: `library` keeps what is loaded; `inspection` reports all violations. Below: `files`, `layout`.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Final

from strictwire.packs.context.files import list_names, open_directory, read_file
from strictwire.packs.context.layout import (
    BUILD_CONFIG,
    DOCUMENTS,
    HASH_PREFIX,
    INDEX,
    MANIFEST,
    MAX_DOCUMENT_BYTES,
    MAX_MANIFEST_BYTES,
    Document,
    Malformed,
    Manifest,
    ManifestEntry,
    cache_version_of,
    file_of,
    parse_document,
    parse_index,
    parse_manifest,
)
from strictwire.packs.context.paths import require_directory
from strictwire.packs.context.rules import Unusable

_DIGEST: Final = 32
_DIGITS: Final = 2 * _DIGEST
_INDEX_LINE: Final = 256
"""Most bytes per entry of an index, not counting its id: a file name, and generous white space."""

_ESCAPED: Final = 12
"""Most bytes that one character of an id takes in JSON: two \\u escapes (a surrogate pair)."""

_VERSION: Final = re.compile(r"sha256:[0-9a-f]{64}")


class EntryTable:
    """The entries of a consistent manifest in compact form: two byte buffers instead of five objects per document.

    The objects of the parsed manifest are freed before the first document is read, so that the documents can use that
    memory.
    """

    def __init__(self, manifest: Manifest) -> None:
        self.cache_version = manifest.cache_version
        self._ids = bytearray()
        self._ends = array("Q", (0,))
        self._digests = bytearray()
        for entry in manifest.documents:
            self._ids += entry.id.encode()
            self._ends.append(len(self._ids))
            self._digests += bytes.fromhex(entry.version[len(HASH_PREFIX) :])

    def __len__(self) -> int:
        return len(self._ends) - 1

    def part(self, first: int, last: int) -> Iterator[ManifestEntry]:
        """Return the entries from `first` up to but not including `last`."""
        digits = self._digests[first * _DIGEST : last * _DIGEST].hex()
        for number, (start, end) in enumerate(pairwise(self._ends[first : last + 1])):
            version = HASH_PREFIX + digits[number * _DIGITS : (number + 1) * _DIGITS]
            yield ManifestEntry(self._ids[start:end].decode(), version, file_of(version))


@contextmanager
def open_cache(path: Path) -> Iterator[tuple[int, EntryTable]]:
    """Verify everything except the documents. Yields the descriptor of the documents directory, and the entries.

    1. the directory; 2. manifest.json and its shape; 3. the manifest against itself; 4. index.json against the manifest;
    5. documents/ against the manifest. Raises Unusable for the first rule that is broken.
    """
    with open_directory(require_directory(path), rule="CACHE_EXISTS") as cache, ExitStack() as stack:
        yield _verify(cache, stack)


def _verify(cache: int, stack: ExitStack) -> tuple[int, EntryTable]:
    manifest = read_manifest(cache)
    for violation in find_manifest_violations(manifest):
        raise violation
    for violation in find_index_violations(cache, manifest):
        raise violation
    within = -1
    if manifest.documents or DOCUMENTS in list_names(cache):
        within = stack.enter_context(open_directory(DOCUMENTS, within=cache, rule="DOCUMENT_EXISTS"))
        for violation in find_orphans(within, manifest):
            raise violation
    return within, EntryTable(manifest)


def read_manifest(cache: int) -> Manifest:
    """Read and parse the manifest. Raises Unusable: MANIFEST_EXISTS, MANIFEST_SHAPE, MANIFEST_SIZE, READABLE."""
    raw = read_manifest_bytes(cache)
    try:
        return parse_manifest(raw)
    except Malformed as exc:
        raise Unusable("MANIFEST_SHAPE", MANIFEST) from exc


def read_manifest_bytes(cache: int) -> bytes:
    """Read the manifest. Raises Unusable: MANIFEST_EXISTS, MANIFEST_SIZE, READABLE."""
    return read_file(MANIFEST, within=cache, limit=MAX_MANIFEST_BYTES, rule="MANIFEST_EXISTS", too_large="MANIFEST_SIZE")


def find_manifest_violations(manifest: Manifest) -> Iterator[Unusable]:
    """Yield the rules that the manifest breaks by itself."""
    if dict(manifest.build_config) != BUILD_CONFIG:
        yield Unusable("BUILD_CONFIG_KNOWN", MANIFEST)
    if manifest.document_count != len(manifest.documents):
        yield Unusable("COUNT_MATCHES", MANIFEST)
    # Strings compare by code point, which is also the order of UTF-8 bytes. Strict JSON has no lone surrogates.
    for rule, broken in (
        ("IDS_ASCEND", (entry for last, entry in pairwise(manifest.documents) if entry.id <= last.id)),
        ("VERSION_IS_A_HASH", (entry for entry in manifest.documents if _VERSION.fullmatch(entry.version) is None)),
        ("FILE_NAMED_BY_HASH", (entry for entry in manifest.documents if entry.file != file_of(entry.version))),
    ):
        yield from (Unusable(rule, entry.id) for entry in broken)
    if manifest.cache_version != cache_version_of((entry.id, entry.version) for entry in manifest.documents):
        yield Unusable("CACHE_VERSION_MATCHES", MANIFEST)


def find_index_violations(cache: int, manifest: Manifest) -> Iterator[Unusable]:
    """Yield a violation if index.json does not match the manifest. It is not read if it is longer than any valid index.

    Raises Unusable: MANIFEST_SIZE, READABLE.
    """
    longest = _INDEX_LINE * (len(manifest.documents) + 1) + _ESCAPED * sum(len(entry.id) for entry in manifest.documents)
    limit = min(longest, MAX_MANIFEST_BYTES)
    raw = read_file(INDEX, within=cache, limit=limit, rule="INDEX_MATCHES", too_large="MANIFEST_SIZE")
    try:
        files = parse_index(raw)
    except Malformed:
        yield Unusable("INDEX_MATCHES", INDEX)
        return
    if files != {entry.id: entry.file for entry in manifest.documents}:
        yield Unusable("INDEX_MATCHES", INDEX)


def find_orphans(documents: int, manifest: Manifest) -> Iterator[Unusable]:
    """Yield the files in documents/ that have no entry. Raises Unusable: READABLE."""
    found = {f"{DOCUMENTS}/{name}" for name in list_names(documents)}
    for file in sorted(found.difference(entry.file for entry in manifest.documents)):
        yield Unusable("NO_ORPHANS", file.rpartition("/")[2])


def read_document(documents: int, entry: ManifestEntry) -> Document:
    """Read a document and check it against its entry. Raises Unusable: DOCUMENT_*, CONTENT_HASH_MATCHES, READABLE.

    Only the last segment of `file` is used, in the documents directory, so an entry cannot refer to any other place.
    """
    raw = read_file(
        entry.file.rpartition("/")[2],
        within=documents,
        limit=MAX_DOCUMENT_BYTES,
        rule="DOCUMENT_EXISTS",
        too_large="DOCUMENT_SIZE",
    )
    try:
        document = parse_document(raw)
    except Malformed as exc:
        raise Unusable("DOCUMENT_SHAPE", entry.id) from exc
    if document.id != entry.id:
        raise Unusable("DOCUMENT_ID_MATCHES", entry.id)
    if entry.version != HASH_PREFIX + hashlib.sha256(document.content.encode()).hexdigest():
        raise Unusable("CONTENT_HASH_MATCHES", entry.id)
    if document.version != entry.version:
        raise Unusable("DOCUMENT_VERSION_MATCHES", entry.id)
    return document

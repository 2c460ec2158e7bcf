"""Reading a cache with every check of v0 and of its specification, once. Writes nothing, repairs nothing.

Above: `library` keeps what is loaded; `survey` reports every violation. Below: `files`, `layout`.
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
    Entry,
    Malformed,
    Manifest,
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
"""Bytes of an index beside its ids, an entry: a file name, and white space without thrift."""
_ESCAPED: Final = 12
"""Bytes of one character at most: two \\u escapes."""
_VERSION: Final = re.compile(r"sha256:[0-9a-f]{64}")


class Roster:
    """The entries of a manifest that keeps its own rules, packed: two runs of bytes instead of five objects a document.

    The manifest's objects are gone before the first document is read, so that their memory serves the documents.
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

    def part(self, first: int, last: int) -> Iterator[Entry]:
        """The entries from `first` up to, not including, `last`."""
        digits = self._digests[first * _DIGEST : last * _DIGEST].hex()
        for number, (start, end) in enumerate(pairwise(self._ends[first : last + 1])):
            version = HASH_PREFIX + digits[number * _DIGITS : (number + 1) * _DIGITS]
            yield Entry(self._ids[start:end].decode(), version, file_of(version))


@contextmanager
def open_cache(path: Path) -> Iterator[tuple[int, Roster]]:
    """The documents directory of a cache, and its entries, once everything but the documents is verified.

    1. the directory; 2. manifest.json and its shape; 3. the manifest against itself; 4. index.json against it;
    5. documents/ against it. Raises Unusable for the first rule broken.
    """
    with open_directory(require_directory(path), rule="CACHE_EXISTS") as cache, ExitStack() as stack:
        yield _verify(cache, stack)


def _verify(cache: int, stack: ExitStack) -> tuple[int, Roster]:
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
    return within, Roster(manifest)


def read_manifest(cache: int) -> Manifest:
    """Raises Unusable: MANIFEST_EXISTS, MANIFEST_SHAPE, MANIFEST_SIZE, READABLE."""
    raw = read_manifest_bytes(cache)
    try:
        return parse_manifest(raw)
    except Malformed as exc:
        raise Unusable("MANIFEST_SHAPE", MANIFEST) from exc


def read_manifest_bytes(cache: int) -> bytes:
    """Raises Unusable: MANIFEST_EXISTS, MANIFEST_SIZE, READABLE."""
    return read_file(MANIFEST, within=cache, limit=MAX_MANIFEST_BYTES, rule="MANIFEST_EXISTS", too_large="MANIFEST_SIZE")


def find_manifest_violations(manifest: Manifest) -> Iterator[Unusable]:
    """What the manifest says against itself."""
    if dict(manifest.build_config) != BUILD_CONFIG:
        yield Unusable("BUILD_CONFIG_KNOWN", MANIFEST)
    if manifest.document_count != len(manifest.documents):
        yield Unusable("COUNT_MATCHES", MANIFEST)
    # Code points order like UTF-8 bytes, and strict JSON has no lone surrogate to break that.
    for rule, broken in (
        ("IDS_ASCEND", (entry for last, entry in pairwise(manifest.documents) if entry.id <= last.id)),
        ("VERSION_IS_A_HASH", (entry for entry in manifest.documents if _VERSION.fullmatch(entry.version) is None)),
        ("FILE_NAMED_BY_HASH", (entry for entry in manifest.documents if entry.file != file_of(entry.version))),
    ):
        yield from (Unusable(rule, entry.id) for entry in broken)
    if manifest.cache_version != cache_version_of((entry.id, entry.version) for entry in manifest.documents):
        yield Unusable("CACHE_VERSION_MATCHES", MANIFEST)


def find_index_violations(cache: int, manifest: Manifest) -> Iterator[Unusable]:
    """index.json against the manifest, and never read when it is longer than any way to write what it should say.

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
    """What lies in documents/ without an entry. Raises Unusable: READABLE."""
    found = {f"{DOCUMENTS}/{name}" for name in list_names(documents)}
    for file in sorted(found.difference(entry.file for entry in manifest.documents)):
        yield Unusable("NO_ORPHANS", file.rpartition("/")[2])


def read_document(documents: int, entry: Entry) -> Document:
    """One document, proven to be what its entry says. Raises Unusable: DOCUMENT_*, CONTENT_HASH_MATCHES, READABLE.

    Only the last part of `file` is opened, in the documents directory: an entry cannot lead anywhere else.
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

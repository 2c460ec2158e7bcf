"""The three file formats of a cache: how each is parsed strictly and written exactly. Pure.

Not here: where the files are, and whether they agree with each other (`load`, `build`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from strictwire.canon.json import JsonObject, JsonValue, Limits, NotStrict, indent, parse_object, render, slice_members

MANIFEST: Final = "manifest.json"
INDEX: Final = "index.json"
DOCUMENTS: Final = "documents"

BUILD_CONFIG: Final[Mapping[str, str]] = MappingProxyType({"version": "1", "hash_algorithm": "sha256"})
"""The only build configuration of v0. The hash of a cache begins with its compact JSON."""

MAX_MANIFEST_BYTES: Final = 512 * 1024 * 1024
"""Largest manifest and index, enough for about 2.7 million documents. A larger one is an attack or needs another format."""

MAX_ENTRIES: Final = 4_000_000
"""Most JSON objects in a manifest. Full entries reach the size limit first; a flood of empty objects reaches this one."""

MAX_DOCUMENT_BYTES: Final = 64 * 1024 * 1024
"""Largest document file and largest source file: sixteen times the size limit of an answer."""

HASH_PREFIX: Final = "sha256:"
_STEM: Final = slice(len(HASH_PREFIX), len(HASH_PREFIX) + 12)
"""The part of a version that is used as the file name: the first 12 hex digits."""

_I64: Final = range(-(1 << 63), 1 << 63)
_U64: Final = range(1 << 64)
_RFC_3339: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-](\d\d):(\d\d))", re.ASCII
)
_NO_METADATA: Final[Mapping[str, str | int]] = MappingProxyType({})
_MANIFEST_LIMITS: Final = Limits(size=MAX_MANIFEST_BYTES, values=MAX_MANIFEST_BYTES)
_DOCUMENT_LIMITS: Final = Limits(size=MAX_DOCUMENT_BYTES, values=MAX_DOCUMENT_BYTES)
_DOCUMENT_TYPES: Final = (str, str, str, str, dict)


class Malformed(ValueError):
    """The bytes are not a valid file of this kind."""


class ManifestEntry(NamedTuple):
    """One document in the manifest. A tuple for speed: a manifest has one per document."""

    id: str
    version: str
    file: str


_MEMBERS: Final = itemgetter(*ManifestEntry._fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The content of manifest.json."""

    cache_version: str
    build_config: Mapping[str, str]
    created_at: str
    document_count: int
    documents: tuple[ManifestEntry, ...]


class Document(NamedTuple):
    """The content of one document file. A tuple for speed: a cold load creates one per document."""

    id: str
    version: str
    source: str
    content: str
    metadata: Mapping[str, str | int] = _NO_METADATA


def version_of(content: bytes) -> str:
    """Return the version of a content: its hash and nothing else."""
    return HASH_PREFIX + hashlib.sha256(content).hexdigest()


def file_of(version: str) -> str:
    """Return the path of a document with this version, relative to the cache."""
    return f"{DOCUMENTS}/{version[_STEM]}.json"


def cache_version_of(entries: Iterable[tuple[str, str]]) -> str:
    """Return the version of a cache from its (id, version) pairs in ascending order of id."""
    state = hashlib.sha256(render(dict(BUILD_CONFIG)))
    for document_id, version in entries:
        state.update(f"{document_id}:{version}".encode())
    return HASH_PREFIX + state.hexdigest()


def parse_manifest(raw: bytes) -> Manifest:
    """Parse manifest.json; unknown keys are ignored. Raises Malformed."""
    if raw.count(b"{") > MAX_ENTRIES:
        raise Malformed("documents")
    members = _object(raw, _MANIFEST_LIMITS)
    config = _typed(members, "build_config", dict)
    count = _typed(members, "document_count", int)
    # `-0` parses as 0 but is not an unsigned integer; only its bytes differ.
    if count not in _U64 or (count == 0 and slice_members(raw)["document_count"].startswith(b"-")):
        raise Malformed("document_count")
    return Manifest(
        cache_version=_typed(members, "cache_version", str),
        build_config={name: _typed(config, name, str) for name in BUILD_CONFIG},
        created_at=_parse_time(_typed(members, "created_at", str)),
        document_count=count,
        documents=_entries(_typed(members, "documents", list)),
    )


def render_manifest(entries: Iterable[tuple[str, str]], created_at: str) -> bytes:
    """Write manifest.json from (id, version) pairs in ascending order of id."""
    pairs = list(entries)
    return _pretty(
        {
            "cache_version": cache_version_of(pairs),
            "build_config": dict(BUILD_CONFIG),
            "created_at": created_at,
            "document_count": len(pairs),
            "documents": [{"id": name, "version": version, "file": file_of(version)} for name, version in pairs],
        }
    )


def parse_index(raw: bytes) -> Mapping[str, str]:
    """Parse index.json, either flat or in the early form `{"entries": {...}}`. Raises Malformed."""
    members = _object(raw, _MANIFEST_LIMITS)
    early = members.get("entries")
    files = early if isinstance(early, dict) else members
    if not set(map(type, files.values())) <= {str}:
        raise Malformed("index")
    return files


def render_index(entries: Iterable[tuple[str, str]]) -> bytes:
    """Write index.json from (id, version) pairs in ascending order of id."""
    return _pretty({name: file_of(version) for name, version in entries})


def parse_document(raw: bytes) -> Document:
    """Parse one document file; unknown keys are ignored. Raises Malformed."""
    members = _object(raw, _DOCUMENT_LIMITS)
    # All fields are read and checked at once, without a loop in Python: this runs once per document in a cold load.
    document = Document._make(map(members.get, Document._fields))
    if tuple(map(type, document)) != _DOCUMENT_TYPES:
        raise Malformed("document")
    if document.metadata and not all(map(_is_metadata, document.metadata.values())):
        raise Malformed("metadata")
    return document


def render_document(document: Document) -> bytes:
    """Write one document file."""
    return render(
        {
            "id": document.id,
            "version": document.version,
            "source": document.source,
            "content": document.content,
            "metadata": dict(sorted(document.metadata.items())),
        }
    )


def render_time(moment: datetime) -> str:
    """Format as RFC 3339 in UTC with `Z` and the fewest of 0, 3, 6 or 9 fraction digits that lose no precision."""
    text = moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    if moment.microsecond % 1000:
        return f"{text}.{moment.microsecond:06}Z"
    return f"{text}.{moment.microsecond // 1000:03}Z" if moment.microsecond else f"{text}Z"


def _pretty(value: JsonValue) -> bytes:
    return indent(render(value))


def _object(raw: bytes, limits: Limits) -> JsonObject:
    try:
        return parse_object(raw, limits)
    except NotStrict as exc:
        raise Malformed("not strict JSON") from exc


def _typed(members: Mapping[str, Any], name: str, kind: type) -> Any:
    """Return a member that has exactly this type: `true` and `3.0` are not integers here."""
    value = members.get(name)
    if type(value) is not kind:
        raise Malformed(name)
    return value


def _entries(values: list[Any]) -> tuple[ManifestEntry, ...]:
    """Convert all entries without a loop in Python, which would slow down a cold load."""
    try:
        entries = tuple(map(ManifestEntry._make, map(_MEMBERS, values)))
    except (KeyError, TypeError) as exc:
        raise Malformed("documents") from exc
    if not set(map(type, chain.from_iterable(entries))) <= {str}:
        raise Malformed("documents")
    return entries


def _is_metadata(value: object) -> bool:
    return isinstance(value, str) or (type(value) is int and value in _I64)


def _parse_time(text: str) -> str:
    found = _RFC_3339.fullmatch(text)
    if found is None:
        raise Malformed("created_at")
    year, month, day, hour, minute, second, *offset = (int(part or 0) for part in found.groups())
    try:
        # A leap second (:60) is valid in RFC 3339, but datetime cannot represent it.
        datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
    except ValueError as exc:
        raise Malformed("created_at") from exc
    if second > 60 or offset[0] > 23 or offset[1] > 59:
        raise Malformed("created_at")
    return text

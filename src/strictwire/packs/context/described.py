"""The list of caches for agents: title, description, number of documents, size, date and version of each.

v0's list, with two members for each cache, is `inspection.list_caches`; this one has the same members and more.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.packs.context.files import add_up
from strictwire.packs.context.inspection import list_caches
from strictwire.packs.context.layout import DOCUMENTS, MANIFEST
from strictwire.packs.context.rules import Unusable
from strictwire.packs.context.search.index_file import Stamp
from strictwire.packs.context.search.indexing import manifest_stamp
from strictwire.packs.context.sources import BadRegistry, NamedSource, read_sources

_HEAD: Final = 4096
"""Bytes of a manifest that are read: its members before the documents take about 300."""

_VERSION: Final = re.compile(rb'"cache_version": ?"(sha256:[0-9a-f]{64})"')
_CREATED: Final = re.compile(rb'"created_at": ?"([0-9TtZz:.+ -]{1,40})"')
_COUNT: Final = re.compile(rb'"document_count": ?(\d{1,10})')
_UNKNOWN: Final = NamedSource(source="")


@dataclass(frozen=True, slots=True)
class _Size:
    stamp: Stamp
    size: int


class Describer:
    """Describes the caches of a root. The size of a cache is added up once a generation. Safe to call from any thread."""

    def __init__(self) -> None:
        self._sizes: dict[Path, _Size] = {}
        self._lock = threading.Lock()

    def describe(self, root: str) -> JsonObject:
        """Return the caches in the order of v0's list. Nothing is verified here. Raises Unusable: CACHE_EXISTS, READABLE."""
        listed = list_caches(root)["caches"]
        try:
            sources = read_sources(Path(root))
        except BadRegistry:
            sources = {}
        with self._lock:
            return {"caches": [each | self._facts(Path(root), each, sources.get(each["path"])) for each in listed]}

    def _facts(self, root: Path, listed: JsonObject, source: NamedSource | None) -> JsonObject:
        made: JsonObject = {}
        known = source or _UNKNOWN
        for name, value in (("title", known.title), ("description", known.description), ("source", known.source)):
            if value:
                made[name] = value
        if known.version:
            made["source_version"] = known.version
        return made | self._manifest_facts(root / listed["path"]) if listed["has_manifest"] else made

    def _manifest_facts(self, cache: Path) -> JsonObject:
        try:
            stamp = manifest_stamp(cache)
            with (cache / MANIFEST).open("rb") as file:
                head = file.read(_HEAD)
        except (OSError, Unusable):
            return {}
        version, created, count = (pattern.search(head) for pattern in (_VERSION, _CREATED, _COUNT))
        if not version or not created or not count:
            return {}
        return {
            "cache_version": version[1].decode(),
            "created_at": created[1].decode(),
            "document_count": int(count[1]),
            "total_bytes": self._size(cache, stamp),
        }

    def _size(self, cache: Path, stamp: Stamp) -> int:
        known = self._sizes.get(cache)
        if known is None or known.stamp != stamp:
            known = self._sizes[cache] = _Size(stamp, add_up(cache / DOCUMENTS))
        return known.size

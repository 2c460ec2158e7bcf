"""The rules of a usable cache: one record per rule with its failure code, and the exception that names it. Pure.

Unusable (a Refused)
  rule      the rule that is broken
  subject   the document id or file that breaks it; for people and `verify`, never sent over the wire
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from strictwire.fault.failure import Refused, fail


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheRule:
    """One invariant of a cache."""

    id: str
    code: str
    purpose: str


def _rule(rule_id: str, code: str, purpose: str) -> CacheRule:
    return CacheRule(id=rule_id, code=code, purpose=purpose)


_RULES: Final = (
    _rule("CACHE_EXISTS", "CACHE_MISSING", "Checks that the cache path is a directory that can be reached."),
    _rule("CACHE_INSIDE_ROOT", "CACHE_MISSING", "Checks that a cache name stays inside the cache root."),
    _rule("ROOT_RESOLVES", "IO_ERROR", "Checks that the cache root itself can be resolved."),
    _rule("READABLE", "IO_ERROR", "Checks that the system permits reading every file of the cache."),
    _rule("MANIFEST_EXISTS", "CACHE_INVALID", "Checks that manifest.json exists."),
    _rule("MANIFEST_SHAPE", "CACHE_INVALID", "Checks that manifest.json is strict JSON of the frozen shape."),
    _rule("MANIFEST_SIZE", "CACHE_INVALID", "Checks that manifest.json and index.json stay within the size limit."),
    _rule("BUILD_CONFIG_KNOWN", "CACHE_INVALID", "Checks that build_config names version 1 and sha256."),
    _rule("COUNT_MATCHES", "CACHE_INVALID", "Checks that document_count is the number of entries."),
    _rule("IDS_ASCEND", "CACHE_INVALID", "Checks that entries ascend by id and no id occurs twice."),
    _rule("VERSION_IS_A_HASH", "CACHE_INVALID", "Checks that each version is sha256: and 64 hex digits."),
    _rule("FILE_NAMED_BY_HASH", "CACHE_INVALID", "Checks that each file is documents/<first 12 hex of the version>.json."),
    _rule("CACHE_VERSION_MATCHES", "CACHE_INVALID", "Checks that cache_version recomputes from the entries."),
    _rule("INDEX_MATCHES", "CACHE_INVALID", "Checks that index.json maps the same ids to the same files."),
    _rule("NO_ORPHANS", "CACHE_INVALID", "Checks that documents/ has no file that the manifest does not list."),
    _rule("DOCUMENT_EXISTS", "CACHE_INVALID", "Checks that each document file exists as a regular file."),
    _rule("DOCUMENT_SHAPE", "CACHE_INVALID", "Checks that each document file is strict JSON of the frozen shape."),
    _rule("DOCUMENT_SIZE", "CACHE_INVALID", "Checks that each document file stays within the size limit."),
    _rule("DOCUMENT_ID_MATCHES", "CACHE_INVALID", "Checks that each document has the id of its entry."),
    _rule("DOCUMENT_VERSION_MATCHES", "CACHE_INVALID", "Checks that each document has the version of its entry."),
    _rule("CONTENT_HASH_MATCHES", "CACHE_INVALID", "Checks that the hash of each content is the version of its entry."),
)

RULES: Final[Mapping[str, CacheRule]] = MappingProxyType({rule.id: rule for rule in _RULES})
"""Every rule by its id."""


class Unusable(Refused):
    """The cache breaks a rule. The constructor raises KeyError for a rule that is not in the table."""

    def __init__(self, rule: str, subject: str = "") -> None:
        super().__init__(fail(RULES[rule].code, invariant_id=rule))
        self.rule = RULES[rule]
        self.subject = subject

"""Detects renames: something is gone, and something new looks the same."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any, Final

from strictwire.check.inclusion.shape import canonical_schema
from strictwire.check.subject import Subject

NEAR: Final = 0.8
"""Names with this similarity are spellings of one name: `file_path` and `filepaths`, but not `path` and `query`."""


def find_renamed_properties(old: Mapping[str, Any], new: Mapping[str, Any]) -> Mapping[str, str]:
    """The new name of each property that was renamed, from the `properties` of two versions."""
    gone, added = [name for name in old if name not in new], [name for name in new if name not in old]
    renamed: dict[str, str] = {}
    for name in gone:
        alike = [other for other in added if other not in renamed.values() and _is_alike(old[name], new[other])]
        best = max(alike, key=lambda other: _evidence(name, old[name], other, new[other]), default=None)
        is_only_one = len(gone) == len(added) == 1
        if best is not None and (is_only_one or _evidence(name, old[name], best, new[best]) >= NEAR):
            renamed[name] = best
    return renamed


def _is_alike(one: Any, other: Any) -> bool:
    return canonical_schema(one) == canonical_schema(other)


def _evidence(name: str, one: Any, other_name: str, other: Any) -> float:
    """How much speaks for a rename, from 0 to 1: equal descriptions, or the similarity of the names."""
    text = one.get("description") if isinstance(one, dict) else None
    if text and isinstance(other, dict) and text == other.get("description"):
        return 1.0
    return SequenceMatcher(None, _plain(name), _plain(other_name)).ratio()


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(".", "").lower()


def find_renamed_tools(gone: list[Subject], added: list[Subject]) -> Mapping[str, str]:
    """The new name of each tool that was renamed: equal schemas, and an equal description or a similar name."""
    renamed: dict[str, str] = {}
    for old in gone:
        for new in added:
            name = new.contract.name
            if name not in renamed.values() and _is_same_tool(old, new):
                renamed[old.contract.name] = name
                break
    return renamed


def _is_same_tool(old: Subject, new: Subject) -> bool:
    one, other = old.contract, new.contract
    if not (_is_alike(one.input_schema, other.input_schema) and _is_alike(one.output_schema, other.output_schema)):
        return False
    has_equal_text = bool(one.description) and one.description == other.description
    return has_equal_text or SequenceMatcher(None, _plain(one.name), _plain(other.name)).ratio() >= NEAR

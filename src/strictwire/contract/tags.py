"""Tags of tools, resources and prompts: words that an author groups them by, and the filter of a server."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from strictwire.canon.json import JsonObject, JsonValue

META: Final = "fastmcp"
"""The member of `_meta` in lists that holds the tags, as in FastMCP, so that its clients find them."""

MAX_LENGTH: Final = 64
"""Characters of a tag: a word or two, as long as a name may be."""


class TagsRefused(ValueError):
    """Tags that cannot be used. Carries the reason, with what to write instead."""


def check_tags(given: Any, option: str = "tags") -> frozenset[str]:
    """The tags that an author gave. Raises TagsRefused."""
    if isinstance(given, str) or not isinstance(given, Collection):
        example = given if is_tag(given) else "admin"
        raise TagsRefused(f"{option}={given!r} is not a set of tags; write {option}={{{example!r}}}")
    for each in given:
        if not is_tag(each):
            raise TagsRefused(
                f"{option} has {each!r}; a tag is text of 1 to {MAX_LENGTH} printable characters, without spaces at the ends"
            )
    return frozenset(given)


def is_tag(value: object) -> bool:
    """Whether a value can be a tag."""
    return isinstance(value, str) and 0 < len(value) <= MAX_LENGTH and value.isprintable() and value == value.strip()


def meta_with_tags(meta: Mapping[str, JsonValue], tags: frozenset[str]) -> JsonObject:
    """The `_meta` of a list entry: that of the contract, with the tags."""
    if not tags:
        return dict(meta)
    known = meta.get(META)
    return {**meta, META: {**(known if isinstance(known, Mapping) else {}), "tags": sorted(tags)}}


def tags_in_meta(meta: object) -> frozenset[str]:
    """The tags in the `_meta` of a list entry. What cannot be a tag is ignored."""
    known = meta.get(META) if isinstance(meta, Mapping) else None
    listed = known.get("tags") if isinstance(known, Mapping) else None
    return frozenset(each for each in listed if is_tag(each)) if isinstance(listed, list) else frozenset()


def meta_without_tags(meta: Mapping[str, JsonValue]) -> JsonObject:
    """The `_meta` of a list entry as a contract holds it: `meta_with_tags` adds the tags again."""
    if not tags_in_meta(meta):
        return dict(meta)
    known = meta[META]
    others = {name: value for name, value in known.items() if name != "tags"} if isinstance(known, Mapping) else {}
    rest = {name: value for name, value in meta.items() if name != META}
    return {**rest, META: others} if others else rest


@dataclass(frozen=True, slots=True, kw_only=True)
class TagFilter:
    """Which tools, resources and prompts a server offers."""

    include: frozenset[str] = frozenset()
    """Only what has one of these tags is offered. Empty: everything."""
    exclude: frozenset[str] = frozenset()
    """What has one of these tags is not offered, whatever `include` says."""

    def __bool__(self) -> bool:
        return bool(self.include or self.exclude)

    def allows(self, tags: frozenset[str]) -> bool:
        """Whether something with these tags is offered."""
        return self.exclude.isdisjoint(tags) and (not self.include or not self.include.isdisjoint(tags))

    def find_unused(self, tags: Collection[str]) -> str | None:
        """Why the filter is a mistake where only these tags exist; None if each of its tags is used.

        A misspelled `exclude_tags` would offer what its author wants to hide.
        """
        for option, wanted in (("include_tags", self.include), ("exclude_tags", self.exclude)):
            for tag in sorted(wanted.difference(tags)):
                near = difflib.get_close_matches(tag, tags, n=1)
                advice = f"did you mean {near[0]!r}?" if near else "correct or remove it"
                return f"{option} has {tag!r}, which no tool, resource or prompt has; {advice}"
        return None

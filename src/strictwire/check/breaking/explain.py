"""Explains why one subschema accepts less than another. Each function finds candidates of one kind of difference.

`target` is the schema that accepts less. For inputs that means a call that worked before is refused; for outputs, with
old and new exchanged, a result that the old contract excluded. A candidate becomes a claim only if `confirm` finds a
witness for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from strictwire.canon.json import JsonObject
from strictwire.check.inclusion.shape import canonical_text


class SchemaPair(NamedTuple):
    """Two corresponding subschemas. To be compatible, `target` must accept every value that `source` accepts."""

    source: JsonObject
    target: JsonObject
    pointer: str
    """JSON pointer into the new schema."""
    path: tuple[str, ...]
    """The path into the instance."""
    closed: bool | None = None
    """Whether the target rejects undeclared properties. None: as `additionalProperties` says."""

    def is_closed(self) -> bool:
        """Whether the target rejects undeclared properties."""
        rest = self.target.get("additionalProperties")
        return rest is False if self.closed is None else self.closed and not isinstance(rest, dict)


class Difference(NamedTuple):
    """A candidate: the location, the values that only the source may accept, and the constraint that rejects them."""

    pointer: str
    what: str
    fragment: JsonObject
    """The constraint as a schema. A value of the source that violates it confirms the difference."""
    name: str = ""
    """The property that the difference is about."""


class Claim(NamedTuple):
    """A confirmed difference."""

    kind: str
    """The name of the function in this module that found it."""
    pointer: str
    path: tuple[str, ...]
    what: str
    name: str
    witness: Any
    """A value of the whole source that the whole target rejects."""
    source: str
    target: str
    """Excerpts of the two schemas: the keyword that differs."""


def types(pair: SchemaPair) -> Iterator[Difference]:
    """Types that only the source accepts."""
    accepted, remaining = _types(pair.source), _types(pair.target)
    lost = [name for name in accepted if name not in remaining and not (name == "integer" and "number" in remaining)]
    if remaining and (lost or not accepted):
        what = f"values of type {' or '.join(lost) or 'other than ' + ' or '.join(remaining)}"
        yield Difference(f"{pair.pointer}/type", what, {"type": remaining})


def _types(schema: dict[str, Any]) -> list[str]:
    named = schema.get("type")
    return list(named) if isinstance(named, list) else [named] if isinstance(named, str) else []


def listed(pair: SchemaPair) -> Iterator[Difference]:
    """Enum values that only the source accepts."""
    accepted, remaining = _listed(pair.source), _listed(pair.target)
    if remaining is None:
        return
    known = {canonical_text(value) for value in remaining}
    lost = [value for value in accepted or () if canonical_text(value) not in known]
    if lost:
        shown = ", ".join(canonical_text(value)[:40] for value in lost[:5])
        yield Difference(f"{pair.pointer}/enum", f"the enum value {shown}", {"enum": remaining})
    elif accepted is None:
        yield Difference(f"{pair.pointer}/enum", "values outside the enum", {"enum": remaining})


def _listed(schema: dict[str, Any]) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    return schema["enum"] if isinstance(schema.get("enum"), list) else None


_BOUNDS: Final = (
    ("minimum", 1),
    ("exclusiveMinimum", 1),
    ("minLength", 1),
    ("minItems", 1),
    ("minProperties", 1),
    ("maximum", -1),
    ("exclusiveMaximum", -1),
    ("maxLength", -1),
    ("maxItems", -1),
    ("maxProperties", -1),
)
"""Each bound, and the direction in which it becomes tighter."""


def bounds(pair: SchemaPair) -> Iterator[Difference]:
    """Bounds that are tighter in the target."""
    for keyword, direction in _BOUNDS:
        before, after = pair.source.get(keyword), pair.target.get(keyword)
        if isinstance(after, int | float) and (before is None or (after - before) * direction > 0):
            yield Difference(f"{pair.pointer}/{keyword}", f"values outside {keyword} {after}", {keyword: after})
    for keyword in ("multipleOf", "uniqueItems"):
        after = pair.target.get(keyword)
        if after not in (None, False, pair.source.get(keyword)):
            yield Difference(f"{pair.pointer}/{keyword}", f"values outside {keyword} {after}", {keyword: after})


def required(pair: SchemaPair) -> Iterator[Difference]:
    """Properties that only the target requires."""
    for name in pair.target.get("required", ()):
        if name not in pair.source.get("required", ()):
            yield Difference(f"{pair.pointer}/required", f"an object without {name!r}", {"required": [name]}, name)


def members(pair: SchemaPair) -> Iterator[Difference]:
    """Properties that the source declares and the target does not."""
    known = pair.target.get("properties", {})
    for name in pair.source.get("properties", {}) if pair.is_closed() else ():
        if name not in known:
            absent = {"not": {"required": [name]}}
            yield Difference(f"{pair.pointer}/properties", f"the property {name!r}", absent, name)


def undeclared(pair: SchemaPair) -> Iterator[Difference]:
    """Undeclared properties, which only the source allows. If objects are read as closed, only a typed map has them."""
    rest = pair.source.get("additionalProperties", True)
    if pair.is_closed() and rest is not False and (pair.closed is None or isinstance(rest, dict)):
        known = dict.fromkeys([*pair.source.get("properties", {}), *pair.target.get("properties", {})], True)
        closed = {"properties": known, "additionalProperties": False}
        yield Difference(f"{pair.pointer}/additionalProperties", "undeclared properties", closed)


def patterns(pair: SchemaPair) -> Iterator[Difference]:
    """Patterns and formats that only the target has, or that differ."""
    for keyword in ("pattern", "format"):
        after = pair.target.get(keyword)
        if after is not None and after != pair.source.get(keyword):
            yield Difference(
                f"{pair.pointer}/{keyword}", f"strings outside the {keyword} {str(after)[:60]!r}", {keyword: after}
            )


EXPLANATIONS: Final = (types, listed, bounds, required, members, undeclared, patterns)

"""Explains why one subschema accepts less than another. Each function finds one kind of difference.

`target` is the schema that accepts less. For inputs that means a call that worked before is refused; for outputs, with
old and new exchanged, a result that the old contract excluded. `inclusion` decides whether a change is breaking; these
functions only explain the decision.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from strictwire.check.breaking.pair import SchemaPair
from strictwire.check.inclusion.shape import canonical_text


class Difference(NamedTuple):
    """One difference: its location, and the values that only the source accepts."""

    pointer: str
    what: str


def types(pair: SchemaPair) -> Iterator[Difference]:
    """Types that only the source accepts."""
    accepted, remaining = _types(pair.source), _types(pair.target)
    lost = [name for name in accepted if name not in remaining and not (name == "integer" and "number" in remaining)]
    if remaining and (lost or not accepted):
        yield Difference(
            f"{pair.pointer}/type", f"values of type {' or '.join(lost) or 'other than ' + ' or '.join(remaining)}"
        )


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
        yield Difference(f"{pair.pointer}/enum", f"the enum value {shown}")
    elif accepted is None:
        yield Difference(f"{pair.pointer}/enum", "values outside the enum")


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
            yield Difference(f"{pair.pointer}/{keyword}", f"values outside {keyword} {after}")
    for keyword in ("multipleOf", "uniqueItems"):
        if pair.target.get(keyword) not in (None, False, pair.source.get(keyword)):
            yield Difference(f"{pair.pointer}/{keyword}", f"values outside {keyword} {pair.target[keyword]}")


def required(pair: SchemaPair) -> Iterator[Difference]:
    """Properties that only the target requires."""
    for name in pair.target.get("required", ()):
        if name not in pair.source.get("required", ()):
            yield Difference(f"{pair.pointer}/required", f"an object without {name!r}")


def members(pair: SchemaPair) -> Iterator[Difference]:
    """Properties that the source declares or allows and a closed target does not."""
    if pair.target.get("additionalProperties") is not False:
        return
    known = pair.target.get("properties", {})
    for name in pair.source.get("properties", {}):
        if name not in known:
            yield Difference(f"{pair.pointer}/properties", f"the property {name!r}")
    if pair.source.get("additionalProperties") is not False and _is_object(pair.source):
        yield Difference(f"{pair.pointer}/additionalProperties", "undeclared properties")


def _is_object(schema: dict[str, Any]) -> bool:
    return "object" in _types(schema) or "properties" in schema


def patterns(pair: SchemaPair) -> Iterator[Difference]:
    """Patterns and formats that only the target has, or that differ."""
    for keyword in ("pattern", "format"):
        after = pair.target.get(keyword)
        if after is not None and after != pair.source.get(keyword):
            yield Difference(f"{pair.pointer}/{keyword}", f"strings outside the {keyword} {str(after)[:60]!r}")


EXPLANATIONS: Final = (types, listed, bounds, required, members, patterns)

"""Why a schema no longer includes another, at one place. Each function says in which way `target` accepts less.

Read for inputs, less is a call that used to work; read for outputs, with the two exchanged, it is an answer that was never
promised. The verdict is not made here: these only explain it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from strictwire.check.breaking.pair import Step
from strictwire.check.inclusion.shape import value_text


class Cause(NamedTuple):
    """One difference: what is less, said of a thing, and where."""

    pointer: str
    what: str


def types(step: Step) -> Iterator[Cause]:
    """Types that the source takes and the target does not."""
    taken, left = _types(step.source), _types(step.target)
    lost = [name for name in taken if name not in left and not (name == "integer" and "number" in left)]
    if left and (lost or not taken):
        yield Cause(f"{step.pointer}/type", f"values of type {' or '.join(lost) or 'other than ' + ' or '.join(left)}")


def _types(schema: dict[str, Any]) -> list[str]:
    named = schema.get("type")
    return list(named) if isinstance(named, list) else [named] if isinstance(named, str) else []


def listed(step: Step) -> Iterator[Cause]:
    """Listed values that the source takes and the target does not."""
    taken, left = _listed(step.source), _listed(step.target)
    if left is None:
        return
    known = {value_text(value) for value in left}
    lost = [value for value in taken or () if value_text(value) not in known]
    if lost:
        shown = ", ".join(value_text(value)[:40] for value in lost[:5])
        yield Cause(f"{step.pointer}/enum", f"the listed value {shown}")
    elif taken is None:
        yield Cause(f"{step.pointer}/enum", "values that are not listed")


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
"""Each bound, and in which direction it tightens."""


def bounds(step: Step) -> Iterator[Cause]:
    """Bounds that are tighter in the target."""
    for keyword, direction in _BOUNDS:
        before, after = step.source.get(keyword), step.target.get(keyword)
        if isinstance(after, int | float) and (before is None or (after - before) * direction > 0):
            yield Cause(f"{step.pointer}/{keyword}", f"values outside {keyword} {after}")
    for keyword in ("multipleOf", "uniqueItems"):
        if step.target.get(keyword) not in (None, False, step.source.get(keyword)):
            yield Cause(f"{step.pointer}/{keyword}", f"values outside {keyword} {step.target[keyword]}")


def required(step: Step) -> Iterator[Cause]:
    """Members that the target asks for and the source does not."""
    for name in step.target.get("required", ()):
        if name not in step.source.get("required", ()):
            yield Cause(f"{step.pointer}/required", f"an object without {name!r}")


def members(step: Step) -> Iterator[Cause]:
    """Members that the source knows and the closed target does not, or free members that the target refuses."""
    if step.target.get("additionalProperties") is not False:
        return
    known = step.target.get("properties", {})
    for name in step.source.get("properties", {}):
        if name not in known:
            yield Cause(f"{step.pointer}/properties", f"the member {name!r}")
    if step.source.get("additionalProperties") is not False and _is_object(step.source):
        yield Cause(f"{step.pointer}/additionalProperties", "members that are not declared")


def _is_object(schema: dict[str, Any]) -> bool:
    return "object" in _types(schema) or "properties" in schema


def patterns(step: Step) -> Iterator[Cause]:
    """Patterns and formats that the target asks for and the source does not."""
    for keyword in ("pattern", "format"):
        after = step.target.get(keyword)
        if after is not None and after != step.source.get(keyword):
            yield Cause(f"{step.pointer}/{keyword}", f"texts outside the {keyword} {str(after)[:60]!r}")


EXPLANATIONS: Final = (types, listed, bounds, required, members, patterns)

"""The breaking rule about defaults. A validator ignores them; a server that applies them changes what a call does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from strictwire.check.breaking.confirm import shorten
from strictwire.check.breaking.pair import Comparison, ToolPair
from strictwire.check.breaking.walk import VersionPair
from strictwire.check.finding import Impact
from strictwire.check.inclusion.shape import UnsupportedSchema, canonical_text
from strictwire.check.rule import Category, Rule, Scope, rule
from strictwire.check.subject import Problem, Side
from strictwire.contract.schema import SchemaRefused

_ABSENT: Final = object()


@rule(
    id="DEFAULT_KEPT",
    purpose="Checks that no default changes: a caller that omits the argument gets another behaviour.",
    advice="Keep the default, or announce the change: callers that omit the argument do not notice it.",
    category=Category.BASIC,
    scope=Scope.PAIR,
    impact=Impact.CALLER,
    bad='{"force": {"default": false}} → {"force": {"default": true}}',
    good='{"force": {"default": false}} → {"force": {"default": false}}',
)
def default_kept(pair: ToolPair) -> Iterator[Problem]:
    for side in Side:
        comparison = pair.comparison(side)
        for parent in comparison.pairs:
            yield from _changed_defaults(pair, comparison, parent)


def _changed_defaults(pair: ToolPair, comparison: Comparison, parent: VersionPair) -> Iterator[Problem]:
    old, new = parent.old.get("properties") or {}, parent.new.get("properties") or {}
    for name in [name for name in old if name in new]:
        before, after = _default(old[name]), _default(new[name])
        if canonical_text_of(before) == canonical_text_of(after):
            continue
        is_required = name in parent.old.get("required", ()) and name in parent.new.get("required", ())
        impact, whom = _affected(comparison.side, before, is_required=is_required)
        full = ".".join((*parent.path, name))
        yield pair.problem(
            comparison.side,
            f"{parent.pointer}/properties/{name}",
            f"the default of {full!r} {_change(before, after)}; {whom}",
            witness=_call_without(comparison, parent.path, name) if impact is Impact.CALLER else "",
            old=canonical_text_of(before),
            new=canonical_text_of(after),
            impact=impact,
        )


def _default(schema: Any) -> Any:
    return schema.get("default", _ABSENT) if isinstance(schema, dict) else _ABSENT


def canonical_text_of(value: Any) -> str:
    """The canonical JSON of a default, or an empty string if there is none."""
    return "" if value is _ABSENT else shorten(canonical_text(value))


def _change(before: Any, after: Any) -> str:
    if before is _ABSENT:
        return f"is new: {canonical_text_of(after)}"
    if after is _ABSENT:
        return f"{canonical_text_of(before)} was removed"
    return f"changed from {canonical_text_of(before)} to {canonical_text_of(after)}"


def _affected(side: Side, before: Any, *, is_required: bool) -> tuple[Impact, str]:
    """The tier of a changed default, and who is affected."""
    if side is Side.OUTPUT:
        return Impact.COSMETIC, "no reader is affected: a server does not fill in defaults of results"
    if is_required:
        return Impact.MODEL, "no caller is affected, because the argument is required; models read the default"
    if before is _ABSENT:
        return Impact.MODEL, "models read it, and callers that omit the argument may get another behaviour"
    return Impact.CALLER, "callers that omit the argument are affected"


def _call_without(comparison: Comparison, path: tuple[str, ...], name: str) -> str:
    """A call that omits the argument; empty if none is found."""
    try:
        confirmer = comparison.confirmer()
        for whole in confirmer.sampler.boundary_values(confirmer.source.schema, path):
            if confirmer.source_accepts(whole) and _omits(whole, path, name):
                return canonical_text(whole)
    except (UnsupportedSchema, SchemaRefused):
        return ""
    return ""


def _omits(value: Any, path: tuple[str, ...], name: str) -> bool:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else value[0] if isinstance(value, list) and value else None
    return isinstance(value, dict) and name not in value


RULES: Final[tuple[Rule, ...]] = (default_kept,)

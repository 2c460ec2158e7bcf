"""The answer: a proof first, then a search for a value that contradicts it or settles what it left open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.check.inclusion.prove import Gap, Proof
from strictwire.check.inclusion.sample import Dice, Sampler, gather_hints
from strictwire.check.inclusion.shape import Unsupported, open_root, text_of
from strictwire.contract.conform import compile_schema
from strictwire.contract.schema import SchemaRefused

TRIES: Final = 200
"""Values made by chance in one search, after those near the edges."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Included:
    """Every value of the one is a value of the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotIncluded:
    """A value shows the difference."""

    witness: Any
    path: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    """Neither proved nor refuted. Never safe."""

    path: tuple[str, ...]
    reason: str


Verdict: TypeAlias = Included | NotIncluded | Undecided


def decide(source: JsonObject, target: JsonObject, *, seed: int = 0, tries: int = TRIES) -> Verdict:
    """Whether `target` accepts every value that `source` accepts."""
    if text_of(source) == text_of(target):
        return Included()
    try:
        accepts, refuses = compile_schema(source).accepts, compile_schema(target).accepts
        gap = find_gap(source, target)
    except SchemaRefused as exc:
        return Undecided(path=(), reason=f"a schema that is not valid has no meaning to compare ({exc})")
    values = _values(source, target, focus=gap.path if gap else (), dice=Dice(seed), tries=tries)
    for value in values:
        if accepts(value) and not refuses(value):
            reason = gap.reason if gap else "a value was found that the proof had missed"
            return NotIncluded(witness=value, path=gap.path if gap else (), reason=reason)
    return Included() if gap is None else Undecided(path=gap.path, reason=gap.reason)


def find_gap(source: JsonObject, target: JsonObject) -> Gap | None:
    """Where the proof stops, or None if there is a proof. Both schemas are valid in their dialects."""
    try:
        return Proof(source=open_root(source), target=open_root(target)).find_gap(source, target)
    except Unsupported as exc:
        return Gap((), str(exc), clause=True)


def _values(source: JsonObject, target: JsonObject, *, focus: tuple[str, ...], dice: Dice, tries: int) -> Iterator[Any]:
    try:
        sampler = Sampler(root=open_root(source), hints=gather_hints(source, target))
    except Unsupported:
        return
    for aim in (focus, ()) if focus else ((),):
        with suppress(LookupError):
            yield from sampler.edges(source, aim)
    for _ in range(tries):
        with suppress(LookupError):
            yield sampler.chance(source, dice)

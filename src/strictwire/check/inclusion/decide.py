"""Decides inclusion: first a proof, then a search for a counterexample to the proof or to what it left undecided."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.check.inclusion.prove import Gap, Proof
from strictwire.check.inclusion.sample import Sampler, SeededRandom, collect_constants
from strictwire.check.inclusion.shape import UnsupportedSchema, canonical_schema, open_root
from strictwire.contract.conform import compile_schema
from strictwire.contract.schema import SchemaRefused

TRIES: Final = 200
"""Random values generated in one search, after the boundary values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Included:
    """The target accepts every value that the source accepts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotIncluded:
    """The source accepts a value that the target rejects."""

    witness: Any
    """That value."""
    path: tuple[str, ...]
    """Where in the instance the proof stopped."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    """Neither proved nor refuted. Never treat this as safe."""

    path: tuple[str, ...]
    reason: str


InclusionResult: TypeAlias = Included | NotIncluded | Undecided


def decide(source: JsonObject, target: JsonObject, *, seed: int = 0, tries: int = TRIES) -> InclusionResult:
    """Decide whether `target` accepts every value that `source` accepts. Deterministic for equal arguments."""
    if canonical_schema(source) == canonical_schema(target):
        return Included()
    try:
        source_accepts, target_accepts = compile_schema(source).accepts, compile_schema(target).accepts
        gap = find_gap(source, target)
    except SchemaRefused as exc:
        return Undecided(path=(), reason=f"an invalid schema cannot be compared ({exc})")
    values = _values(source, target, focus=gap.path if gap else (), random=SeededRandom(seed), tries=tries)
    for value in values:
        if source_accepts(value) and not target_accepts(value):
            # Without a gap, the counterexample reveals a bug in the proof; the search exists to catch it.
            reason = gap.reason if gap else "the search found a value that the proof missed"
            return NotIncluded(witness=value, path=gap.path if gap else (), reason=reason)
    return Included() if gap is None else Undecided(path=gap.path, reason=gap.reason)


def find_gap(source: JsonObject, target: JsonObject) -> Gap | None:
    """Where the proof stops, or None if it succeeds. Both schemas must be valid in their dialects."""
    try:
        return Proof(source=open_root(source), target=open_root(target)).find_gap(source, target)
    except UnsupportedSchema as exc:
        return Gap((), str(exc), clause=True)


def _values(
    source: JsonObject, target: JsonObject, *, focus: tuple[str, ...], random: SeededRandom, tries: int
) -> Iterator[Any]:
    try:
        sampler = Sampler(root=open_root(source), constants=collect_constants(source, target))
    except UnsupportedSchema:
        return
    for path in (focus, ()) if focus else ((),):
        with suppress(LookupError):
            yield from sampler.boundary_values(source, path)
    for _ in range(tries):
        with suppress(LookupError):
            yield sampler.random_value(source, random)

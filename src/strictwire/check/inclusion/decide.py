"""Decides inclusion: first a proof, then a search for a counterexample to the proof or to what it left undecided."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.check.inclusion.admit import admits
from strictwire.check.inclusion.prove import Gap, Proof
from strictwire.check.inclusion.sample import Sampler, SeededRandom, collect_constants
from strictwire.check.inclusion.shape import Reading, UnsupportedSchema, canonical_schema, open_root
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One of the two schemas of a comparison."""

    schema: JsonObject
    reading: Reading = Reading.AS_WRITTEN

    def acceptor(self) -> Callable[[Any], bool]:
        """Whether the schema, read so, accepts a value. Raises SchemaRefused if the schema is invalid."""
        accepts = compile_schema(self.schema).accepts
        if self.reading is Reading.AS_WRITTEN:
            return accepts
        try:
            root = open_root(self.schema, self.reading)
        except UnsupportedSchema:
            return accepts
        return lambda value: accepts(value) and admits(self.schema, value, root) is not False


def decide(source: JsonObject, target: JsonObject, *, seed: int = 0, tries: int = TRIES) -> InclusionResult:
    """Decide whether `target` accepts every value that `source` accepts. Deterministic for equal arguments."""
    return decide_pair(Compared(schema=source), Compared(schema=target), seed=seed, tries=tries)


def decide_pair(source: Compared, target: Compared, *, seed: int = 0, tries: int = TRIES) -> InclusionResult:
    """`decide` for schemas with a reading each."""
    if source.reading is target.reading and canonical_schema(source.schema) == canonical_schema(target.schema):
        return Included()
    try:
        source_accepts, target_accepts = source.acceptor(), target.acceptor()
    except SchemaRefused as exc:
        return Undecided(path=(), reason=f"an invalid schema cannot be compared ({exc})")
    gap = find_gap(source, target)
    for value in _values(source, target, gap=gap, random=SeededRandom(seed), tries=tries):
        if source_accepts(value) and not target_accepts(value):
            # Without a gap, the counterexample reveals a bug in the proof; the search exists to catch it.
            reason = gap.reason if gap else "the search found a value that the proof missed"
            return NotIncluded(witness=value, path=gap.path if gap else (), reason=reason)
    return Included() if gap is None else Undecided(path=gap.path, reason=gap.reason)


def find_gap(source: Compared, target: Compared) -> Gap | None:
    """Where the proof stops, or None if it succeeds. Both schemas must be valid in their dialects."""
    try:
        proof = Proof(source=open_root(source.schema, source.reading), target=open_root(target.schema, target.reading))
        return proof.find_gap(source.schema, target.schema)
    except UnsupportedSchema as exc:
        return Gap((), str(exc), clause=True)


def _values(source: Compared, target: Compared, *, gap: Gap | None, random: SeededRandom, tries: int) -> Iterator[Any]:
    try:
        root = open_root(source.schema, source.reading)
    except UnsupportedSchema:
        return
    sampler = Sampler(root=root, constants=collect_constants(source.schema, target.schema))
    focus = gap.path if gap else ()
    for example in gap.examples if gap else ():
        yield from sampler.values_with(source.schema, focus, example)
    for path in (focus, ()) if focus else ((),):
        with suppress(LookupError):
            yield from sampler.boundary_values(source.schema, path)
    for _ in range(tries):
        with suppress(LookupError):
            yield sampler.random_value(source.schema, random)

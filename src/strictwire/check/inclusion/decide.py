"""Decides inclusion: first a proof, then a search for a counterexample where the proof stops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Final, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.check.inclusion.admit import admits
from strictwire.check.inclusion.prove import Gap, Proof
from strictwire.check.inclusion.sample import Sampler, SeededRandom, collect_constants
from strictwire.check.inclusion.shape import Reading, Root, UnsupportedSchema, canonical_schema, open_root
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


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One of the two schemas of a comparison."""

    schema: JsonObject
    reading: Reading = Reading.AS_WRITTEN

    @cached_property
    def root(self) -> Root:
        """The document, with what is known about its parts. Raises UnsupportedSchema if its dialect is unknown."""
        return open_root(self.schema, self.reading)

    def acceptor(self) -> Callable[[Any], bool]:
        """Whether the schema, read so, accepts a value. Raises SchemaRefused if the schema is invalid."""
        accepts = compile_schema(self.schema).accepts
        if self.reading is Reading.AS_WRITTEN:
            return accepts
        try:
            root = self.root
        except UnsupportedSchema:
            return accepts
        return lambda value: accepts(value) and admits(self.schema, value, root) is not False


def decide(source: JsonObject, target: JsonObject, *, seed: int = 0, tries: int = TRIES) -> InclusionResult:
    """Decide whether `target` accepts every value that `source` accepts. Deterministic for equal arguments."""
    if canonical_schema(source) == canonical_schema(target):
        return Included()
    return decide_pair(Compared(schema=source), Compared(schema=target), seed=seed, tries=tries)


def decide_pair(
    source: Compared,
    target: Compared,
    *,
    seed: int = 0,
    tries: int = TRIES,
    candidates: Callable[[], Iterable[Any]] = tuple,
) -> InclusionResult:
    """`decide` for schemas with a reading each. `candidates` gives values to try first if there is no proof."""
    try:
        source_accepts, target_accepts = source.acceptor(), target.acceptor()
    except SchemaRefused as exc:
        return Undecided(path=(), reason=f"an invalid schema cannot be compared ({exc})")
    gap = find_gap(source, target)
    if gap is None:
        return Included()
    values = _values(source, target, gap=gap, random=SeededRandom(seed), tries=tries)
    for value in chain(candidates(), values):
        if source_accepts(value) and not target_accepts(value):
            return NotIncluded(witness=value, path=gap.path, reason=gap.reason)
    return Undecided(path=gap.path, reason=gap.reason)


def find_gap(source: Compared, target: Compared) -> Gap | None:
    """Where the proof stops, or None if it succeeds. Both schemas must be valid in their dialects."""
    try:
        return Proof(source=source.root, target=target.root).find_gap(source.schema, target.schema)
    except UnsupportedSchema as exc:
        return Gap((), str(exc), clause=True)


def _values(source: Compared, target: Compared, *, gap: Gap, random: SeededRandom, tries: int) -> Iterator[Any]:
    try:
        sampler = Sampler(root=source.root, constants=collect_constants(source.schema, target.schema))
    except UnsupportedSchema:
        return
    for example in gap.examples:
        yield from sampler.values_with(source.schema, gap.path, example)
    for path in dict.fromkeys((gap.path, ())):
        with suppress(LookupError):
            yield from sampler.boundary_values(source.schema, path)
    for _ in range(tries):
        with suppress(LookupError):
            yield sampler.random_value(source.schema, random)

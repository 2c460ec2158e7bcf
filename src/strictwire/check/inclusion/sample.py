"""Generates values that a schema probably accepts, near the bounds of both schemas that are compared.

Nothing is decided here: `decide` checks every value with the compiled schemas. Deterministic: equal schemas and an equal
seed give equal values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from types import MappingProxyType
from typing import Any, Final

from strictwire.canon.json import JsonObject, NotStrict, parse_object
from strictwire.check.inclusion.admit import piece_admits
from strictwire.check.inclusion.expand import expand
from strictwire.check.inclusion.prove import ITEM
from strictwire.check.inclusion.shape import (
    Piece,
    Root,
    Schema,
    UnsupportedSchema,
    canonical_text,
    fits_number,
    fraction,
    member_schema,
)
from strictwire.check.pattern import UnsupportedPattern, sample_text

MAX_DEPTH: Final = 8
"""Maximum depth of a generated value."""

MAX_EACH: Final = 24
"""Values generated per piece; bounds the product over nested levels."""

MAX_TEXT: Final = 5_000
"""Longest string generated to reach a length bound."""

MAX_ITEMS: Final = 300
"""Largest array or object generated to reach a size bound."""

FORMAT_SAMPLES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "date": ("2026-07-28",),
        "date-time": ("2026-07-28T00:00:00Z",),
        "duration": ("P1D",),
        "email": ("a@example.org",),
        "hostname": ("example.org",),
        "ipv4": ("192.0.2.1",),
        "ipv6": ("2001:db8::1",),
        "regex": ("a",),
        "time": ("00:00:00Z",),
        "uri": ("urn:a", "file:///a", "https://example.org/"),
        "uri-reference": ("a",),
        "uuid": ("00000000-0000-4000-8000-000000000000",),
    }
)


class SeededRandom:
    """Deterministic pseudo-random choices: a linear congruential generator, because this room may not use `random`."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed

    def below(self, bound: int) -> int:
        """A number from 0 to bound - 1."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self._state >> 33) % bound

    def pick(self, choices: list[Any]) -> Any:
        """One of the choices. Raises LookupError if there are none."""
        if not choices:
            raise LookupError("nothing to choose from")
        return choices[self.below(len(choices))]


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaConstants:
    """Constants that occur in the two schemas. Values near them are where the schemas differ."""

    numbers: tuple[float, ...]
    sizes: tuple[int, ...]
    values: tuple[Any, ...]
    names: tuple[str, ...]


_SIZES: Final = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_NUMBERS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")

_BOUNDS: Final = frozenset({*_SIZES, *_NUMBERS})


def collect_constants(*documents: JsonObject) -> SchemaConstants:
    """Collect the bounds, sizes, enum values, examples and property names of schemas."""
    numbers: set[float] = {0, 1, -1, 10**9, -(10**9)}
    sizes = {0, 1, 2}
    values: dict[str, Any] = {}
    names: dict[str, None] = {}
    for part in (part for document in documents for part in _parts(document)):
        for name in part.keys() & _BOUNDS:
            if _is_number(part[name]):
                bound = part[name]
                if name in _NUMBERS:
                    numbers.add(bound)
                else:
                    sizes.add(int(bound))
        listed = [*_as_list(part.get("enum")), *([part["const"]] if "const" in part else [])]
        values.update({canonical_text(value): value for value in listed + _as_list(part.get("examples"))})
        members = part.get("properties")
        names.update(dict.fromkeys(members if isinstance(members, dict) else ()))
        names.update(dict.fromkeys(name for name in _as_list(part.get("required")) if isinstance(name, str)))
        names.update(dict.fromkeys(_names_like(part.get("patternProperties"))))
    near = {size + step for size in sizes for step in (-1, 0, 1)}
    return SchemaConstants(
        numbers=tuple(sorted(numbers)),
        sizes=tuple(sorted(size for size in near if size >= 0)),
        values=tuple(values.values()),
        names=tuple(names),
    )


def _parts(value: Any) -> Iterator[JsonObject]:
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from _parts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _parts(member)


def _names_like(patterned: Any) -> Iterator[str]:
    """Property names that match `patternProperties`."""
    for pattern in patterned if isinstance(patterned, dict) else ():
        with suppress(UnsupportedPattern):
            yield sample_text(pattern)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


ANYTHING: Final[tuple[Any, ...]] = (None, True, 0, 1.5, "", "a", [], {}, -1, [None], {"extra": None})
"""Sample values of a schema without constraints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampler:
    """Generates values of one schema. Caches the pieces and the leaf values."""

    root: Root
    constants: SchemaConstants
    known: dict[int, tuple[Schema, list[Piece]]] = field(default_factory=dict)
    """Pieces by `id()` of the schema. The schema is kept alive so that its id is not reused."""
    leaves: dict[int, list[Any]] = field(default_factory=dict)
    """Values by `id()` of a piece in `known`."""

    def boundary_values(self, schema: Schema, focus: tuple[str, ...] = (), depth: int = 0) -> Iterator[Any]:
        """Values near the bounds. With a focus, they vary only along that path into the instance."""
        if schema is True or schema == {}:
            yield from ANYTHING
            return
        for piece in self._pieces(schema, depth):
            yield from islice(self._piece_values(piece, focus, depth), _share(focus, depth))

    def values_with(self, schema: Schema, path: tuple[str, ...], value: Any, depth: int = 0) -> Iterator[Any]:
        """Values of a schema that have `value` at a path into the instance, with whatever else the schema requires."""
        if not path:
            yield value
            return
        for piece in self._pieces(schema, depth):
            if piece.kind == "object" and piece.literals is None:
                yield from self._objects_with(piece, path, value, depth)
            elif piece.kind == "array" and piece.literals is None:
                at = int(path[0]) if path[0].isdigit() else len({n for layer in piece.layers for n in layer.named})
                size = max(piece.low, at + 1)
                items = self._some(piece, size, depth) if size <= MAX_ITEMS else []
                inner = self.values_with(member_schema(piece, at), path[1:], value, depth + 1)
                yield from ([*items[:at], each, *items[at + 1 :]] for each in islice(inner, 2) if len(items) == size)

    def _objects_with(self, piece: Piece, path: tuple[str, ...], value: Any, depth: int) -> Iterator[JsonObject]:
        base: JsonObject = {}
        for name in sorted(piece.required):
            base.update(self._member(piece, name, depth))
        named = {str(name) for layer in piece.layers for name in layer.named}
        names = [name for name in (*self.constants.names, "extra") if name not in named] if path[0] == ITEM else [path[0]]
        for name in names:
            inner = self.values_with(member_schema(piece, name), path[1:], value, depth + 1)
            for each in islice(inner, 2):
                made = {**base, name: each}
                yield self._padded(piece, made, piece.low, self._names(piece, (), depth), depth)

    def random_value(self, schema: Schema, random: SeededRandom, depth: int = 0) -> Any:
        """One random value. Raises LookupError if none was found."""
        if schema is True or schema == {}:
            return random.pick(list(ANYTHING))
        piece = random.pick(self._pieces(schema, depth))
        if piece.literals is None and piece.kind == "object":
            return self._random_object(piece, random, depth)
        if piece.literals is None and piece.kind == "array":
            sizes = [size for size in range(5) if size >= piece.low and (piece.high is None or size <= piece.high)]
            count = random.pick(sizes or [min(piece.low, MAX_ITEMS)])
            return [self.random_value(member_schema(piece, index), random, depth + 1) for index in range(count)]
        if id(piece) not in self.leaves:
            self.leaves[id(piece)] = list(islice(self._piece_values(piece, (), depth), MAX_EACH))
        return random.pick(self.leaves[id(piece)])

    def _random_object(self, piece: Piece, random: SeededRandom, depth: int) -> JsonObject:
        names = {str(name) for layer in piece.layers for name in layer.named if random.below(2)}
        names.update(name for name in self.constants.names if not random.below(6))
        made: JsonObject = {}
        for name in sorted(names | piece.required):
            try:
                made[name] = self.random_value(member_schema(piece, name), random, depth + 1)
            except LookupError:
                if name in piece.required:
                    raise
        return made

    def _pieces(self, schema: Schema, depth: int) -> list[Piece]:
        if depth >= MAX_DEPTH:
            return []
        if id(schema) not in self.known:
            self.known[id(schema)] = schema, self._expanded(schema)
        return self.known[id(schema)][1]

    def _expanded(self, schema: Schema) -> list[Piece]:
        try:
            return list(expand(schema, self.root))
        except UnsupportedSchema:
            return []

    def _piece_values(self, piece: Piece, focus: tuple[str, ...], depth: int) -> Iterator[Any]:
        if piece.literals is not None:
            return iter(piece.literals)
        makers: Mapping[str, Callable[[], Iterator[Any]]] = {
            "number": lambda: self._numbers(piece),
            "string": lambda: self._strings(piece),
            "array": lambda: self._arrays(piece, focus, depth),
            "object": lambda: self._objects(piece, focus, depth),
        }
        return (value for value in makers[piece.kind]() if self._is_likely(piece, value))

    def _is_likely(self, piece: Piece, value: Any) -> bool:
        """Whether to keep a value. Arrays and objects consist of parts that were checked already."""
        return piece.kind in ("array", "object") or piece_admits(piece, value, self.root) is not False

    def _numbers(self, piece: Piece) -> Iterator[float]:
        edges = [fraction(number) for number in self.constants.numbers]
        edges += [edge for edge in (piece.lower, piece.upper) if edge is not None]
        steps = (Fraction(0), Fraction(1), Fraction(-1), Fraction(1, 2), Fraction(-1, 2))
        near = {edge + step for edge in edges for step in steps}
        near |= {number // m * m for number in near for m in piece.multiples}
        plain = (int(number) if number.denominator == 1 else float(number) for number in sorted(near, key=abs))
        return (number for number in plain if fits_number(number, piece))

    def _strings(self, piece: Piece) -> Iterator[str]:
        texts = [text for clause in sorted(piece.opaque) for text in _strings_for(clause)]
        yield from texts
        most = min(piece.high if piece.high is not None else MAX_TEXT, MAX_TEXT)
        sizes = [
            size for size in dict.fromkeys((piece.low, *self.constants.sizes, piece.high or 0)) if piece.low <= size <= most
        ]
        # To reach a length, continue with any character (pattern without `$`) or repeat the last one (`[a-z]+$`).
        yield from (text.ljust(size, fill) for size in sizes for text in texts[:2] for fill in ("a", text[-1:] or "a"))
        yield from ("a" * size for size in sizes)
        yield from (value for value in self.constants.values if isinstance(value, str))
        yield from (sample for samples in FORMAT_SAMPLES.values() for sample in samples)

    def _objects(self, piece: Piece, focus: tuple[str, ...], depth: int) -> Iterator[JsonObject]:
        base: JsonObject = {}
        for name in sorted(piece.required):
            base.update(self._member(piece, name, depth))
        if len(base) < len(piece.required):
            return
        if depth == 0 and len(base) < piece.low:
            yield self._padded(piece, base, piece.low, [])
        base = self._padded(piece, base, piece.low, self._names(piece, (), depth), depth)
        yield base
        for name in self._names(piece, focus, depth):
            for value in self._varied(member_schema(piece, name), focus, depth):
                yield {**base, name: value}
        if depth == 0:
            yield from self._larger_objects(piece, base, depth)

    def _member(self, piece: Piece, name: str, depth: int) -> JsonObject:
        """The property with its first value; empty if no value is found."""
        first = list(islice(self.boundary_values(member_schema(piece, name), (), depth + 1), 1))
        return dict(zip([name], first, strict=False))

    def _larger_objects(self, piece: Piece, base: JsonObject, depth: int) -> Iterator[JsonObject]:
        full = dict(base)
        for name in self._names(piece, (), depth):
            full = {**self._member(piece, name, depth), **full}
            yield full
        for size in self.constants.sizes:
            if len(base) < size <= MAX_ITEMS:
                yield self._padded(piece, base, size, self._names(piece, (), depth), depth)

    def _padded(self, piece: Piece, base: JsonObject, size: int, preferred: list[str], depth: int = 0) -> JsonObject:
        """The object extended to `size` properties, preferred names first."""
        padded = dict(base)
        names = [*preferred, *(f"extra{index}" for index in range(min(size, MAX_ITEMS)))]
        for name in names if len(padded) < size else ():
            if len(padded) < size and name not in padded:
                padded.update(self._member(piece, name, depth))
        return padded

    def _names(self, piece: Piece, focus: tuple[str, ...], depth: int) -> list[str]:
        """The properties to vary. Names that only the other schema declares are tried at the top and along a focus."""
        if focus and focus[0] != ITEM:
            return [focus[0]]
        named = [str(name) for layer in piece.layers for name in layer.named]
        others = self.constants.names if focus or depth == 0 else ()
        return list(dict.fromkeys([*named, *others, "extra"]))

    def _varied(self, schema: Schema, focus: tuple[str, ...], depth: int) -> Iterator[Any]:
        return islice(self.boundary_values(schema, focus[1:], depth + 1), _share(focus, depth + 1))

    def _arrays(self, piece: Piece, focus: tuple[str, ...], depth: int) -> Iterator[list[Any]]:
        high = piece.high if piece.high is not None else MAX_ITEMS
        sizes = (piece.low, *self.constants.sizes) if depth == 0 or focus == () else (piece.low,)
        for size in dict.fromkeys(sizes):
            if piece.low <= size <= min(high, MAX_ITEMS):
                yield from self._of_size(piece, size, depth)
        varied = max(piece.low, 1)
        rest = self._some(piece, varied, depth)[1:]
        for value in self._varied(member_schema(piece, 0), focus, depth) if varied <= high else ():
            yield [value, *rest]

    def _of_size(self, piece: Piece, size: int, depth: int) -> Iterator[list[Any]]:
        some = self._some(piece, size, depth)
        if len(some) == size:
            yield some
        if size > 1 and not piece.unique and some:
            yield some[:1] * size

    def _some(self, piece: Piece, size: int, depth: int) -> list[Any]:
        """`size` items, distinct as far as possible."""
        made: list[Any] = []
        known: dict[str, list[Any]] = {}
        for index in range(min(size, MAX_ITEMS)):
            schema = member_schema(piece, index)
            key = canonical_text(schema)
            if key not in known:
                known[key] = list(islice(self.boundary_values(schema, (), depth + 1), 4))
            if not known[key]:
                return []
            made.append(known[key][index % len(known[key])])
        return made


def _share(focus: tuple[str, ...], depth: int) -> int:
    """How many values to take from one piece: many along a focus, few where no difference is expected."""
    return MAX_EACH * 4 if focus or depth < 2 else max(2, MAX_EACH >> (2 * depth - 2))


def _strings_for(clause: str) -> Iterator[str]:
    """Strings that match a pattern or a format."""
    try:
        fragment = parse_object(clause.partition(" in ")[0].encode())
        if isinstance(fragment.get("pattern"), str):
            yield from [sample_text(fragment["pattern"], extra) for extra in range(4)]
    except (NotStrict, UnsupportedPattern):
        return
    yield from FORMAT_SAMPLES.get(str(fragment.get("format")), ())

"""Generates arguments that conform to a JSON Schema. Pure, and deterministic for equal seeds.

First the shortest readable value is tried, then the sampler that also finds counterexamples for `breaking`, which knows
references, compositions, bounds and patterns. Nothing is returned that the compiled schema does not accept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from typing import Any, Final, TypeGuard

from strictwire.canon import json
from strictwire.canon.json import JsonObject, JsonValue
from strictwire.check.inclusion.sample import FORMAT_SAMPLES, Sampler, SeededRandom, collect_constants
from strictwire.check.inclusion.shape import UnsupportedSchema, open_root
from strictwire.check.pattern import UnsupportedPattern, sample_text
from strictwire.contract.conform import compile_schema
from strictwire.contract.schema import SchemaRefused

MAX_DEPTH: Final = 16
"""Maximum nesting of the shortest value; the sampler has its own limit."""

MAX_TRIES: Final = 300
"""Values of the sampler that are checked before giving up: a second of work for a large schema."""

MAX_STEPS: Final = 5_000
"""Steps to make one value. A recursive schema with many members could otherwise take any time."""

MAX_BYTES: Final = 64 * 1024
"""Longest arguments that are sent: a schema may require arrays and strings of any size."""


class _TooLarge(LookupError):
    """A value takes more steps than are allowed. A LookupError, as the sampler raises if it finds no value."""


class _BoundedRandom(SeededRandom):
    """Choices for one value; they end after MAX_STEPS."""

    __slots__ = ("_left",)

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._left = MAX_STEPS

    def below(self, bound: int) -> int:
        """A number from 0 to bound - 1. Raises LookupError after too many choices."""
        self._left -= 1
        if self._left < 0:
            raise _TooLarge
        return super().below(bound)


def maybe_arguments(schema: JsonObject, seed: int = 0) -> JsonObject | None:
    """Short arguments that the schema accepts, or None if none were found."""
    return next(chain(_accepted(schema, _shortest(schema)), _sampled(schema, seed)), None)


def random_arguments(schema: JsonObject, seed: int, count: int) -> list[JsonObject]:
    """Up to `count` different arguments that the schema accepts, some of them at its bounds."""
    different = {json.render_sorted(value): value for value in islice(_sampled(schema, seed), 4 * count)}
    return list(different.values())[:count]


def accepts(schema: JsonObject, value: JsonValue) -> bool:
    """Whether the value conforms; also False for a schema that does not compile."""
    try:
        return compile_schema(schema).accepts(value)
    except SchemaRefused:
        return False


def _accepted(schema: JsonObject, values: Iterator[Any]) -> Iterator[JsonObject]:
    try:
        conformer = compile_schema(schema)
    except SchemaRefused:
        return
    for value in values:
        if isinstance(value, dict) and conformer.accepts(value) and len(json.render(value)) <= MAX_BYTES:
            yield value


def _sampled(schema: JsonObject, seed: int) -> Iterator[JsonObject]:
    try:
        sampler = Sampler(root=open_root(schema), constants=collect_constants(schema))
    except UnsupportedSchema:
        return iter(())
    return _accepted(schema, _random_values(sampler, schema, seed))


def _random_values(sampler: Sampler, schema: JsonObject, seed: int) -> Iterator[Any]:
    for number in range(MAX_TRIES):
        with suppress(LookupError):
            yield sampler.random_value(schema, _BoundedRandom(seed * MAX_TRIES + number))


def _shortest(schema: JsonObject) -> Iterator[Any]:
    with suppress(_TooLarge):
        yield _Shortest(schema).value(schema, MAX_DEPTH)


class _Shortest:
    """Makes one short value: required members only, the first of several alternatives."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._left = MAX_STEPS
        self._makers: Mapping[str, Callable[[JsonObject, int], Any]] = {
            "object": self._object,
            "array": self._array,
            "string": lambda schema, _depth: _string(schema),
            "integer": lambda schema, _depth: _number(schema),
            "number": lambda schema, _depth: _number(schema),
            "boolean": lambda _schema, _depth: False,
        }

    def value(self, schema: Any, depth: int) -> Any:
        """A value, which may still not conform. Raises _TooLarge."""
        self._left -= 1
        if self._left < 0:
            raise _TooLarge
        if not isinstance(schema, dict) or depth == 0:
            return None
        literals = _literals(schema)
        if literals:
            return literals[0]
        inner = self._inner(schema)
        if inner is not None:
            return self.value(inner, depth - 1)
        kind = schema.get("type", "object")
        make = self._makers.get(kind[0] if isinstance(kind, list) and kind else str(kind))
        return make(schema, depth) if make else None

    def _inner(self, schema: JsonObject) -> Any:
        """The target of a reference, or the first alternative."""
        if isinstance(reference := schema.get("$ref"), str):
            return _resolve(reference, self._root)
        listed = [schema[keyword] for keyword in ("anyOf", "oneOf") if isinstance(schema.get(keyword), list)]
        return next((branches[0] for branches in listed if branches), None)

    def _array(self, schema: JsonObject, depth: int) -> list[Any]:
        count = _bounded(schema.get("minItems"), 1, 16)
        return [self.value(schema.get("items", {"type": "string"}), depth - 1) for _ in range(count)]

    def _object(self, schema: JsonObject, depth: int) -> JsonObject:
        properties, required = schema.get("properties"), schema.get("required")
        members = properties if isinstance(properties, dict) else {}
        names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
        return {name: self.value(members.get(name, {}), depth - 1) for name in names}


def _literals(schema: JsonObject) -> list[Any]:
    """The values that a schema names itself."""
    single = [schema[keyword] for keyword in ("const", "default") if keyword in schema]
    listed = [schema[keyword] for keyword in ("enum", "examples") if isinstance(schema.get(keyword), list)]
    return [*single, *chain.from_iterable(listed)]


def _resolve(reference: str, root: JsonObject) -> Any:
    target: Any = root
    for token in reference.removeprefix("#").split("/")[1:]:
        target = target.get(token.replace("~1", "/").replace("~0", "~")) if isinstance(target, dict) else None
    return target


def _number(schema: JsonObject) -> int | float:
    if _is_number(above := schema.get("exclusiveMinimum")):
        return int(above) + 1
    low, high = schema.get("minimum"), schema.get("maximum")
    start: int | float = low if _is_number(low) and low > 1 else 1
    return int(high) if _is_number(high) and start > high else start


def _string(schema: JsonObject) -> str:
    if isinstance(pattern := schema.get("pattern"), str):
        with suppress(UnsupportedPattern):
            return sample_text(pattern)
    text = FORMAT_SAMPLES.get(str(schema.get("format")), ("a",))[-1]
    return text.ljust(_bounded(schema.get("minLength"), 0, MAX_BYTES), "a")


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _bounded(value: Any, least: int, most: int) -> int:
    return max(least, min(int(value), most)) if _is_number(value) else least

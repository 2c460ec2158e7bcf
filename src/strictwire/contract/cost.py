"""How much work a schema can demand, found from the schema alone, before any value is checked.

A schema of two kilobytes can demand a billion checks: `anyOf` with two references to a definition that has two references,
and so on. Validation runs on the event loop and cannot be interrupted, so the work is bounded beforehand:

    checks of one value  <=  checks on one path through the schema  x  size of the value

A path follows all keywords that apply to the same part of a value (`allOf`, `anyOf`, `$ref`), and one of those that apply
to different parts (`properties`). So a large schema of many properties is cheap, and a small one that branches is not.
Recursive references count once: the engine remembers what it has checked, but an explanation repeats each of them.

A check takes about 0.1 us (jsonschema-rs 0.60), so MAX_CHECKS of them take half a second.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import unquote

from msgspec import Struct

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.pattern_cost import pattern_checks
from strictwire.contract.schema import SchemaProblem, SchemaRefused, walk
from strictwire.contract.subschemas import subschemas

MAX_CHECKS: Final = 5_000_000
"""Checks of one value: half a second."""

MAX_PATH: Final = 100_000
"""Checks on one path through a schema. Beyond this, a value of 50 parts cannot be checked, so the schema is of no use."""

MAX_LEVELS: Final = 200
"""Nesting of a schema with its references followed. Nested models have about three levels each."""

_BRANCH_WEIGHT: Final = 5
"""Explaining an error inside another takes five times as long: each of them has its own path through the schema."""

_TEXT_UNIT: Final = 64
"""Characters of a string that count as one more value."""

_ONE_OF_MANY: Final = frozenset({"properties", "prefixItems", "items", "additionalProperties", "additionalItems"})
"""Keywords whose schemas apply to different members or items: of all of them, one applies to each."""

_NOT_APPLIED: Final = frozenset({"$defs", "definitions"})
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


class Cost(Struct, frozen=True):
    """An upper bound of the work that values of a schema take."""

    checks: int
    """On the longest path through the schema."""
    recursions: int
    """Recursive references on one path. More than one, and the work of an explanation grows with each level of the value."""
    has_branches: bool
    """Whether one error can have others inside: why each of the branches does not match."""

    def allows(self, value: JsonValue) -> bool:
        """Whether a value can be checked within MAX_CHECKS."""
        limit = MAX_CHECKS // self.checks
        return size_of(value, limit) <= limit

    def of_one_error(self, depth: int) -> int:
        """The work of explaining one error of a value of this depth."""
        repeated = self.recursions ** min(depth, 64) if self.recursions > 1 else 1
        return min(self.checks * repeated * (_BRANCH_WEIGHT if self.has_branches else 1), MAX_CHECKS)


def size_of(value: JsonValue, limit: int) -> int:
    """The number of values in a value, long strings counting as several; stops counting beyond the limit."""
    size, level = 0, [value]
    while level and size <= limit:
        part = level.pop()
        size += 1
        if isinstance(part, dict):
            size += sum(len(name) // _TEXT_UNIT for name in part)
            level.extend(part.values())
        elif isinstance(part, list):
            level.extend(part)
        elif isinstance(part, str):
            size += len(part) // _TEXT_UNIT
    return size


def depth_of(value: JsonValue) -> int:
    """Levels of nesting; a scalar has none."""
    level, depth = [value], -1
    while level:
        depth += 1
        containers = [each for each in level if isinstance(each, dict | list)]
        level = [member for each in containers for member in (each.values() if isinstance(each, dict) else each)]
    return depth


def measure(schema: JsonObject) -> Cost:
    """The cost of a schema. Raises SchemaRefused: TOO_COMPLEX."""
    measuring = _Measuring(schema)
    checks, recursions = measuring.path(schema, schema, 0)
    if checks > MAX_PATH:
        raise SchemaRefused(SchemaProblem.TOO_COMPLEX)
    return Cost(checks, recursions, measuring.has_branches)


class _Measuring:
    """One run. Each subschema is measured once, so the run is linear in the size of the schema."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._known: dict[int, tuple[int, int]] = {}
        """Checks and recursions by the identity of the subschema."""
        self._open: set[int] = set()
        """Subschemas that are being measured: a reference to one of them is recursive."""
        self._names: dict[str, JsonObject] | None = None
        self.has_branches = False

    def path(self, schema: Any, base: JsonObject, level: int) -> tuple[int, int]:
        """The checks and the recursive references on the longest path through a subschema of the document `base`."""
        if not isinstance(schema, dict):
            return 1, 0
        key = id(schema)
        if key in self._open:
            return 1, 1
        if key not in self._known:
            if level > MAX_LEVELS:
                raise SchemaRefused(SchemaProblem.TOO_COMPLEX)
            self._open.add(key)
            self._known[key] = self._add_up(schema, schema if _is_document(schema) else base, level + 1)
            self._open.discard(key)
        return self._known[key]

    def _add_up(self, schema: JsonObject, base: JsonObject, level: int) -> tuple[int, int]:
        one = (0, 0)
        checks, recursions = _own_checks(schema), 0
        self.has_branches |= "anyOf" in schema or "oneOf" in schema
        for keyword, value in schema.items():
            if keyword in _NOT_APPLIED:
                continue
            if keyword in _REFERENCES:
                found = [self.path(*self._resolve(value, base), level)]
            else:
                found = [self.path(child, base, level) for _, child in subschemas(keyword, value)]
            if keyword in _ONE_OF_MANY:
                one = max(one, *found, (0, 0))
            else:
                checks += sum(each[0] for each in found)
                recursions += sum(each[1] for each in found)
        return checks + one[0], recursions + one[1]

    def _resolve(self, reference: Any, base: JsonObject) -> tuple[Any, JsonObject]:
        """The target of a reference, and its document. One that does not resolve leads nowhere: the engine refuses it."""
        target, _, fragment = reference.partition("#") if isinstance(reference, str) else ("", "", "")
        document = self._named(target) if target else base
        if not fragment.startswith("/"):
            return (self._named("#" + fragment) if fragment else document), document
        found: Any = document
        for step in fragment.split("/")[1:]:
            found = _member(found, unquote(step).replace("~1", "/").replace("~0", "~"))
        return found, document

    def _named(self, name: str) -> JsonObject:
        """The schema with this `$id` or anchor."""
        if self._names is None:
            self._names = {}
            for _, part in walk(self._root):
                for keyword, prefix in (("$id", ""), ("id", ""), ("$anchor", "#"), ("$dynamicAnchor", "#")):
                    if isinstance(part.get(keyword), str):
                        self._names.setdefault(prefix + part[keyword], part)
        found = self._names.get(name)
        if found is None and not name.startswith("#"):
            found = next((part for known, part in self._names.items() if known.endswith("/" + name)), None)
        return self._root if found is None else found


def _is_document(schema: JsonObject) -> bool:
    """Whether local references in a schema start at this schema: it has an `$id` that is no anchor."""
    named = schema.get("$id", schema.get("id"))
    return isinstance(named, str) and not named.startswith("#")


def _member(container: Any, step: str) -> Any:
    if isinstance(container, dict):
        return container.get(step)
    if isinstance(container, list) and step.isdecimal() and len(step) < 6 and int(step) < len(container):
        return container[int(step)]
    return None


def _own_checks(schema: JsonObject) -> int:
    """Checks of one schema without its subschemas. The weights are measured: see tests/contract/test_cost.py."""
    checks = 1 + (2 if "const" in schema else 0)
    options = schema.get("enum")
    if isinstance(options, list):
        compared = sum(isinstance(option, dict | list) for option in options)  # scalars are looked up in a hash table
        checks += 4 * compared + len(options) // 64
    checks += sum(len(schema[name]) // 4 for name in _LISTS & schema.keys() if isinstance(schema[name], dict | list))
    if "pattern" in schema:
        checks += pattern_checks(schema["pattern"])
    if isinstance(schema.get("patternProperties"), dict):
        checks += sum(map(pattern_checks, schema["patternProperties"]))
    return checks


_LISTS: Final = frozenset({"required", "dependentRequired", "dependencies"})

"""Validation of values against compiled schemas. Violations never contain a part of the value.

The engine is jsonschema-rs, without network access. It recurses on the native stack, so it may only get values of limited
depth: `canon` decodes no others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any, Final

import jsonschema_rs
from msgspec import Struct

from strictwire.canon.json import MAX_VALUES, JsonObject, JsonValue, parse_object, render
from strictwire.contract.cost import MAX_CHECKS, Cost, depth_of, measure, size_of
from strictwire.contract.error_path import steps_of
from strictwire.contract.schema import SchemaProblem, SchemaRefused, check_schema, draft_of, escape_pointer

MAX_VIOLATIONS: Final = 10
"""Enough to correct a call in one round. A.6 asks for ten."""

MAX_CACHED: Final = 4096
"""Compiled schemas in the cache. Tools with equal schemas share one."""

MAX_CACHED_BYTES: Final = 16 * 1024
"""Larger schemas are not cached: 4,096 of the largest would take 4 GB."""

MAX_UNMEASURED: Final = MAX_CHECKS // MAX_VALUES
"""Checks on one path of a schema that any message may have checked. Only values of costlier schemas are measured first."""

MAX_EXPLAINED: Final = 20_000
"""Work of one explanation. The engine takes 10 us and 1 KB for each failed check, a hundred times as much as for the check,
and five times that for a check inside of `anyOf` or `oneOf` (`Cost.of_one_error`)."""

_PATTERN_OPTIONS: Final = jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)
"""Limits the work of one pattern on one string to 0.2 ms. Above the limit the value is refused."""


class Violation(Struct, frozen=True):
    """One reason why a value does not conform. Has names and values from the schema, never a part of the value."""

    path: str
    """JSON pointer of the invalid part. For a missing or unknown member it ends with the name of the member."""
    keyword: str
    """The keyword of the schema that is violated."""
    expected: str = ""
    """What the keyword requires. Empty if the path says it all, as for `required`."""
    actual: str = ""
    """The JSON type of the invalid part, for `type`."""

    def as_details(self) -> JsonObject:
        """The form in the details of a failure."""
        details: JsonObject = {"path": self.path, "keyword": self.keyword}
        if self.expected:
            details["expected"] = self.expected
        if self.actual:
            details["actual"] = self.actual
        return details


TOO_COSTLY: Final = Violation(path="", keyword="cost", expected=f"a value that takes at most {MAX_CHECKS} checks")
"""The value is too large for a schema with so many branches, and was not checked."""

UNEXPLAINED: Final = Violation(path="", keyword="schema")
"""The value does not conform. Which part does not would take too long to find out."""


class Conformer:
    """A compiled schema that values are validated against."""

    __slots__ = ("_cost", "_validator", "accepts")

    def __init__(self, validator: Any, cost: Cost) -> None:
        self._validator = validator
        self._cost = cost
        self.accepts: Callable[[JsonValue], bool] = (
            validator.is_valid if cost.checks <= MAX_UNMEASURED else self._accepts_measured
        )
        """Whether a value conforms. Fast: call it first, and `find_violations` only if it returns False."""

    def _accepts_measured(self, value: JsonValue) -> bool:
        return self._cost.allows(value) and bool(self._validator.is_valid(value))

    def find_violations(self, value: JsonValue) -> tuple[Violation, ...]:
        """The reasons why a value does not conform, in a fixed order. Empty if it conforms.

        The engine explains every failed check before it returns the first: 20,000 bad items of 40 alternatives take 24 s and
        1.3 GB. So only the first error of a large value is explained, and none if even that is too much.
        """
        if not self._cost.allows(value):
            return (TOO_COSTLY,)
        one_error = self._cost.of_one_error(depth_of(value))
        if one_error * size_of(value, MAX_EXPLAINED) <= MAX_EXPLAINED:
            # Read more errors than are returned, because sorting moves unknown members to the end.
            errors = list(islice(self._validator.iter_errors(value), 4 * MAX_VIOLATIONS))
        elif one_error <= MAX_EXPLAINED:
            errors = self._first_error(value)
        else:
            return () if self._validator.is_valid(value) else (UNEXPLAINED,)
        found = {violation for error in errors for violation in islice(_explain(error, value), 4 * MAX_VIOLATIONS)}
        return tuple(sorted(found, key=_order)[:MAX_VIOLATIONS])

    def _first_error(self, value: JsonValue) -> list[Any]:
        try:
            self._validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            # A traceback refers to this frame and its callers, one of which keeps the error: a cycle that holds the whole
            # request until the garbage collector looks at its oldest generation.
            return [error.with_traceback(None)]
        return []


def _order(violation: Violation) -> tuple[bool, str, str, str]:
    """By path, but unknown members last: there can be any number of them, and they must not displace the others."""
    is_unknown = violation.keyword in ("additionalProperties", "unevaluatedProperties")
    return is_unknown, violation.path, violation.keyword, violation.expected


def compile_schema(schema: JsonObject) -> Conformer:
    """Compile a schema, or take it from the cache. Raises SchemaRefused: see `schema.SchemaProblem`."""
    raw = check_schema(schema)
    return _compile(raw) if len(raw) <= MAX_CACHED_BYTES else _compile.__wrapped__(raw)


@lru_cache(maxsize=MAX_CACHED)
def _compile(raw: bytes) -> Conformer:
    schema = parse_object(raw)
    cost = measure(schema)
    try:
        compiled = _ENGINES[draft_of(schema)](
            _with_integer_bounds(schema) if _FLOAT_BOUND.search(raw) else schema,
            offline=True,
            validate_formats=True,
            pattern_options=_PATTERN_OPTIONS,
            mask="",  # keeps the value out of the messages of the engine
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as exc:
        raise SchemaRefused(SchemaProblem.INVALID) from exc
    return Conformer(compiled, cost)


_ENGINES: Final[Mapping[int, Any]] = MappingProxyType(
    {
        jsonschema_rs.Draft202012: jsonschema_rs.Draft202012Validator,
        jsonschema_rs.Draft201909: jsonschema_rs.Draft201909Validator,
        jsonschema_rs.Draft7: jsonschema_rs.Draft7Validator,
        jsonschema_rs.Draft6: jsonschema_rs.Draft6Validator,
        jsonschema_rs.Draft4: jsonschema_rs.Draft4Validator,
    }
)


def _with_integer_bounds(schema: Any) -> Any:
    """The schema with bounds such as 0.0 as integers. They mean the same, but the engine compares floats ten times slower.

    Only the compiled copy is changed, never the schema that clients see.
    """
    if isinstance(schema, dict):
        return {name: _with_integer_bounds(_integer_bound(name, member)) for name, member in schema.items()}
    if isinstance(schema, list):
        return [_with_integer_bounds(member) for member in schema]
    return schema


_BOUNDS: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_FLOAT_BOUND: Final = re.compile(rb'"(?:m|exclusiveM)(?:inimum|aximum|ultipleOf)":-?[0-9]+[.eE]')
"""Finds a bound that is written as a float. Most schemas have none, and then nothing is rewritten."""


def _integer_bound(name: str, member: Any) -> Any:
    is_integer = name in _BOUNDS and isinstance(member, float) and math.isfinite(member) and member.is_integer()
    return int(member) if is_integer else member


_Kind: Final = jsonschema_rs.ValidationErrorKind


def _explain(error: Any, value: JsonValue) -> Iterable[Violation]:
    """The violations of one error of the engine: one for each missing or unknown member, otherwise one."""
    path = "".join("/" + escape_pointer(str(step)) for step in steps_of(error, value))
    return _EXPLAINERS.get(type(error.kind), _explain_other)(error, path)


def _explain_missing(error: Any, path: str) -> Iterable[Violation]:
    return (Violation(path=f"{path}/{escape_pointer(error.kind.property)}", keyword="required"),)


def _explain_unknown(error: Any, path: str) -> Iterable[Violation]:
    keyword = "additionalProperties" if type(error.kind) is _Kind.AdditionalProperties else "unevaluatedProperties"
    return (Violation(path=f"{path}/{escape_pointer(name)}", keyword=keyword) for name in error.kind.unexpected)


def _explain_type(error: Any, path: str) -> Iterable[Violation]:
    expected, actual = " or ".join(error.kind.types), json_type(error.instance)
    return (Violation(path=path, keyword="type", expected=expected, actual=actual),)


def _explain_other(error: Any, path: str) -> Iterable[Violation]:
    keyword = str(error.schema_path[-1]) if error.schema_path else "false"
    # The schema path of an error inside a list of schemas ends with an index.
    name = error.kind.name if keyword.isdigit() else keyword
    return (Violation(path=path, keyword=name, expected=_expected(error.kind)),)


_EXPLAINERS: Final[Mapping[type, Callable[[Any, str], Iterable[Violation]]]] = MappingProxyType(
    {
        _Kind.Required: _explain_missing,
        _Kind.AdditionalProperties: _explain_unknown,
        _Kind.UnevaluatedProperties: _explain_unknown,
        _Kind.Type: _explain_type,
    }
)
"""Functions for the kinds of error that need special treatment."""

_EXPECTED_FIELDS: Final = ("limit", "format", "pattern", "multiple_of")
"""Fields of the engine's error kinds that hold the value of the violated keyword."""

_MAX_EXPECTED: Final = 200
"""Characters of `Violation.expected`: an enumeration or a pattern can be very long."""


def _expected(kind: Any) -> str:
    if isinstance(kind, _Kind.Enum):
        return _encode(kind.options)
    if isinstance(kind, _Kind.Constant):
        return _encode(kind.expected_value)
    expected = next((getattr(kind, name) for name in _EXPECTED_FIELDS if hasattr(kind, name)), "")
    return str(expected)[:_MAX_EXPECTED]


def _encode(expected: Any) -> str:
    return render(expected).decode()[:_MAX_EXPECTED]


_TYPES: Final[Mapping[type, str]] = MappingProxyType(
    {
        type(None): "null",
        bool: "boolean",
        int: "integer",
        float: "number",
        str: "string",
        list: "array",
        tuple: "array",
        dict: "object",
    }
)


def json_type(value: object) -> str:
    """The name of the JSON Schema type of a value. In JSON Schema `1.0` is an integer."""
    if isinstance(value, float) and value.is_integer():
        return "integer"
    return _TYPES.get(type(value)) or next((name for kind, name in _TYPES.items() if isinstance(value, kind)), "unknown")

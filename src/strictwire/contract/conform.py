"""Whether a value fits a schema: compiled once, asked often, and told without ever repeating a value.

The engine is jsonschema-rs, offline. Everything it is given has bounded depth (`canon`), because it recurses natively.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import jsonschema_rs
from msgspec import Struct

from strictwire.canon.json import JsonObject, JsonValue, parse_object, render
from strictwire.contract.judge import Asked, Program, hasten, maybe_program, maybe_voucher
from strictwire.contract.mistakes import MAX_MISTAKES, Mistake, finder
from strictwire.contract.schema import Problem, SchemaRefused, check_schema, draft_of, escape_pointer

MAX_VIOLATIONS: Final = MAX_MISTAKES
"""Enough to mend a call in one round; more only repeats (A.6 names ten)."""

CACHED: Final = 4096
"""Compiled validators kept. Two tools with equal schemas share one."""

_PATTERN_OPTIONS: Final = jsonschema_rs.FancyRegexOptions(backtrack_limit=100_000)
"""Bounds the work of one pattern on one string; past it the value is refused, not waited for."""


class Violation(Struct, frozen=True):
    """One way in which a value does not fit. Names and words of the schema only, never the value."""

    path: str
    """JSON pointer of the offending part. Ends in the name that is missing or unknown."""
    keyword: str
    expected: str = ""
    actual: str = ""
    """The JSON type that was met, for `type`."""

    def as_details(self) -> JsonObject:
        """The form that failures carry."""
        details: JsonObject = {"path": self.path, "keyword": self.keyword}
        if self.expected:
            details["expected"] = self.expected
        if self.actual:
            details["actual"] = self.actual
        return details


Cause: TypeAlias = tuple[Violation, ...] | tuple[Mistake, ...]
"""Why a value does not fit, as the engine found it or as `mistakes` did."""


class Conformer:
    """A compiled schema."""

    def __init__(self, validator: Any, schema: JsonObject | None) -> None:
        """The schema only where a program may be made of it; that is done when the first value comes."""
        self._validator = validator
        self._schema = schema

    @cached_property
    def _program(self) -> Program | None:
        return None if self._schema is None else maybe_program(self._schema)

    @cached_property
    def accepts(self) -> Asked:
        """Whether the value fits; the fast question, asked first."""
        return hasten(self._program, self._validator.is_valid)

    @cached_property
    def vouch(self) -> Asked | None:
        """Whether the value fits and is plain JSON, to be written as it is: at most a yes. None if that cannot be told."""
        return maybe_voucher(self._program, self._validator.is_valid)

    @cached_property
    def _find_mistakes(self) -> Callable[[JsonValue], list[Mistake] | None] | None:
        return None if self._program is None else finder(self._program)

    def find_violations(self, value: JsonValue) -> tuple[Violation, ...]:
        """Why the value does not fit, in a fixed order; empty if it does."""
        return violations_of(self.find_cause(value))

    def find_cause(self, value: JsonValue) -> Cause:
        """The same as it was found: equal causes have equal violations."""
        mistakes = None if self._find_mistakes is None else self._find_mistakes(value)
        return self._ask_engine(value) if mistakes is None else tuple(mistakes)

    def _ask_engine(self, value: JsonValue) -> tuple[Violation, ...]:
        found: set[Violation] = set()
        for error in islice(self._validator.iter_errors(value), 4 * MAX_VIOLATIONS):
            found.update(_explain(error, value))
        return tuple(sorted(found, key=_order)[:MAX_VIOLATIONS])


def violations_of(cause: Cause) -> tuple[Violation, ...]:
    """What a cause comes to, in a fixed order."""
    found = (each if isinstance(each, Violation) else Violation(*each) for each in cause)
    return tuple(sorted(found, key=_order))


def _order(violation: Violation) -> tuple[bool, str, str, str]:
    """By place, but unknown names last: there can be any number of them, and they must not crowd out the rest."""
    is_unknown = violation.keyword in ("additionalProperties", "unevaluatedProperties")
    return is_unknown, violation.path, violation.keyword, violation.expected


def compile_schema(schema: JsonObject) -> Conformer:
    """Compile, or take from the cache by content. Raises SchemaRefused: see `schema.Problem`."""
    return _compile(check_schema(schema))


@lru_cache(maxsize=CACHED)
def _compile(raw: bytes) -> Conformer:
    schema = parse_object(raw)
    try:
        compiled = _ENGINES[draft_of(schema)](
            _with_whole_bounds(schema) if _FRACTION.search(raw) else schema,
            offline=True,
            validate_formats=True,
            pattern_options=_PATTERN_OPTIONS,
            mask="",
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as exc:
        raise SchemaRefused(Problem.INVALID) from exc
    return Conformer(compiled, schema if draft_of(schema) == jsonschema_rs.Draft202012 else None)


_ENGINES: Final[Mapping[int, Any]] = MappingProxyType(
    {
        jsonschema_rs.Draft202012: jsonschema_rs.Draft202012Validator,
        jsonschema_rs.Draft201909: jsonschema_rs.Draft201909Validator,
        jsonschema_rs.Draft7: jsonschema_rs.Draft7Validator,
        jsonschema_rs.Draft6: jsonschema_rs.Draft6Validator,
        jsonschema_rs.Draft4: jsonschema_rs.Draft4Validator,
    }
)


def _with_whole_bounds(schema: Any) -> Any:
    """`"minimum": 0.0` means 0 but is an order of magnitude slower in the engine; only the compiled copy is changed."""
    if isinstance(schema, dict):
        return {name: _with_whole_bounds(_whole(name, member)) for name, member in schema.items()}
    if isinstance(schema, list):
        return [_with_whole_bounds(member) for member in schema]
    return schema


_BOUNDS: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_FRACTION: Final = re.compile(rb'"(?:m|exclusiveM)(?:inimum|aximum|ultipleOf)":-?[0-9]+[.eE]')
"""A bound that is written as a float: without one there is nothing to change."""


def _whole(name: str, member: Any) -> Any:
    is_whole = name in _BOUNDS and isinstance(member, float) and math.isfinite(member) and member.is_integer()
    return int(member) if is_whole else member


_Kind: Final = jsonschema_rs.ValidationErrorKind


def _explain(error: Any, value: JsonValue) -> Iterable[Violation]:
    """One violation for each name that is missing or unknown, otherwise one for the error."""
    path = ""
    for part in error.instance_path:
        path += "/" + (escape_pointer(part) if isinstance(part, str) else str(part))
    return _EXPLAINED.get(type(error.kind), _explain_other)(error, path, value)


def _explain_missing(error: Any, path: str, _value: JsonValue) -> Iterable[Violation]:
    return (Violation(path=f"{path}/{escape_pointer(error.kind.property)}", keyword="required"),)


def _explain_unknown(error: Any, path: str, _value: JsonValue) -> Iterable[Violation]:
    keyword = "additionalProperties" if type(error.kind) is _Kind.AdditionalProperties else "unevaluatedProperties"
    return (Violation(path=f"{path}/{escape_pointer(name)}", keyword=keyword) for name in error.kind.unexpected)


def _explain_type(error: Any, path: str, value: JsonValue) -> Iterable[Violation]:
    actual = json_type(_part_at(value, error.instance_path))
    return (Violation(path=path, keyword="type", expected=" or ".join(error.kind.types), actual=actual),)


def _explain_other(error: Any, path: str, _value: JsonValue) -> Iterable[Violation]:
    keyword = str(error.schema_path[-1]) if error.schema_path else "false"
    shown = error.kind.name if keyword.isdigit() else keyword
    return (Violation(path=path, keyword=shown, expected=_expected(error.kind)),)


_EXPLAINED: Final[Mapping[type, Callable[[Any, str, JsonValue], Iterable[Violation]]]] = MappingProxyType(
    {
        _Kind.Required: _explain_missing,
        _Kind.AdditionalProperties: _explain_unknown,
        _Kind.UnevaluatedProperties: _explain_unknown,
        _Kind.Type: _explain_type,
    }
)
"""Kinds of error that are told in their own way."""

_LIMITED: Final = ("limit", "format", "pattern", "multiple_of")
"""Fields of the engine's error kinds that hold a word of the schema worth showing."""


def _expected(kind: Any) -> str:
    if isinstance(kind, _Kind.Enum):
        return _shown(kind.options)
    if isinstance(kind, _Kind.Constant):
        return _shown(kind.expected_value)
    shown = next((getattr(kind, name) for name in _LIMITED if hasattr(kind, name)), "")
    return str(shown)[:200]


def _shown(words: Any) -> str:
    return render(words).decode()[:200]


def _part_at(value: Any, path: list[str | int]) -> Any:
    for part in path:
        value = value[part]
    return value


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
    """The JSON Schema name of a value's type; `1.0` is an integer there."""
    if isinstance(value, float) and value.is_integer():
        return "integer"
    return _TYPES.get(type(value)) or next((name for kind, name in _TYPES.items() if isinstance(value, kind)), "unknown")

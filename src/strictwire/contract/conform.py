"""Whether a value fits a schema: compiled once, asked often, and told without ever repeating a value.

The engine is jsonschema-rs, offline. Everything it is given has bounded depth (`canon`), because it recurses natively.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any, Final

import jsonschema_rs

from strictwire.canon.json import JsonObject, JsonValue, parse_object, render
from strictwire.contract.schema import Problem, SchemaRefused, check_schema, draft_of, escape_pointer

MAX_VIOLATIONS: Final = 10
"""Enough to mend a call in one round; more only repeats (A.6 names ten)."""

CACHED: Final = 4096
"""Compiled validators kept. Two tools with equal schemas share one."""

_PATTERN_OPTIONS: Final = jsonschema_rs.FancyRegexOptions(backtrack_limit=100_000)
"""Bounds the work of one pattern on one string; past it the value is refused, not waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One way in which a value does not fit. Names and words of the schema only, never the value."""

    path: str
    """JSON pointer of the offending part. Ends in the name that is missing or unknown."""
    keyword: str
    expected: str = ""
    actual: str = ""
    """The JSON type that was met, for `type`."""

    def as_details(self) -> JsonObject:
        """The form that failures carry."""
        known = {"path": self.path, "keyword": self.keyword, "expected": self.expected, "actual": self.actual}
        return {name: text for name, text in known.items() if text or name in ("path", "keyword")}


class Conformer:
    """A compiled schema."""

    __slots__ = ("_validator", "accepts")

    def __init__(self, validator: Any) -> None:
        self._validator = validator
        self.accepts: Callable[[JsonValue], bool] = validator.is_valid
        """Whether the value fits; the fast question, asked first."""

    def find_violations(self, value: JsonValue) -> tuple[Violation, ...]:
        """Why the value does not fit, in a fixed order; empty if it does."""
        found = (
            each
            for error in islice(self._validator.iter_errors(value), 4 * MAX_VIOLATIONS)
            for each in _explain(error, value)
        )
        return tuple(sorted(set(found), key=_order)[:MAX_VIOLATIONS])


def _order(violation: Violation) -> tuple[bool, str, str, str]:
    """By place, but unknown names last: there can be any number of them, and they must not crowd out the rest."""
    is_unknown = violation.keyword in ("additionalProperties", "unevaluatedProperties")
    return is_unknown, violation.path, violation.keyword, violation.expected


def compile_schema(schema: JsonObject) -> Conformer:
    """Compile, or take from the cache by content. Raises SchemaRefused: see `schema.Problem`."""
    check_schema(schema)
    return _compile(render(schema))


@lru_cache(maxsize=CACHED)
def _compile(raw: bytes) -> Conformer:
    schema = parse_object(raw)
    try:
        engine = _ENGINES[draft_of(schema)]
        return Conformer(
            engine(_with_whole_bounds(schema), offline=True, validate_formats=True, pattern_options=_PATTERN_OPTIONS)
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as exc:
        raise SchemaRefused(Problem.INVALID) from exc


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


def _whole(name: str, member: Any) -> Any:
    is_whole = name in _BOUNDS and isinstance(member, float) and math.isfinite(member) and member.is_integer()
    return int(member) if is_whole else member


def _explain(error: Any, value: JsonValue) -> Iterator[Violation]:
    """One violation for each name that is missing or unknown, otherwise one for the error."""
    path = "".join("/" + escape_pointer(str(part)) for part in error.instance_path)
    keyword = str(error.schema_path[-1]) if error.schema_path else "false"
    kind = error.kind
    match kind:
        case jsonschema_rs.ValidationErrorKind.Required():
            yield Violation(path=f"{path}/{escape_pointer(kind.property)}", keyword="required")
        case jsonschema_rs.ValidationErrorKind.AdditionalProperties():
            for name in kind.unexpected:
                yield Violation(path=f"{path}/{escape_pointer(name)}", keyword="additionalProperties")
        case jsonschema_rs.ValidationErrorKind.UnevaluatedProperties():
            for name in kind.unexpected:
                yield Violation(path=f"{path}/{escape_pointer(name)}", keyword="unevaluatedProperties")
        case jsonschema_rs.ValidationErrorKind.Type():
            actual = json_type(_part_at(value, error.instance_path))
            yield Violation(path=path, keyword="type", expected=" or ".join(kind.types), actual=actual)
        case _:
            yield Violation(path=path, keyword=keyword if not keyword.isdigit() else kind.name, expected=_expected(kind))


_LIMITED: Final = ("limit", "format", "pattern", "multiple_of")
"""Fields of the engine's error kinds that hold a word of the schema worth showing."""


def _expected(kind: Any) -> str:
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Enum):
        return _shown(kind.options)
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Constant):
        return _shown(kind.expected_value)
    shown = next((getattr(kind, name) for name in _LIMITED if hasattr(kind, name)), "")
    return str(shown)[:200]


def _shown(words: Any) -> str:
    return render(words).decode()[:200]


def _part_at(value: Any, path: list[str | int]) -> Any:
    for part in path:
        value = value[part]
    return value


_TYPES: Final[tuple[tuple[type | tuple[type, ...], str], ...]] = (
    (type(None), "null"),
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    ((list, tuple), "array"),
    (dict, "object"),
)


def json_type(value: object) -> str:
    """The JSON Schema name of a value's type; `1.0` is an integer there."""
    if isinstance(value, float) and value.is_integer():
        return "integer"
    return next((name for kind, name in _TYPES if isinstance(value, kind)), "unknown")

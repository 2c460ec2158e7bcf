"""Schema violations of arguments, read from `details["violations"]` of a failure, for dialects that render them.

A violation has the JSON pointer of the argument, the schema keyword and, for `type`, the expected and the actual type.
For a missing argument the keyword is `required`, for an unknown one `additionalProperties`; the pointer ends with its
name. A violation never contains the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.fault.failure import Failure
from strictwire.fault.plain import plain_text

MAX_VIOLATIONS: Final = 10
"""Maximum violations in one failure: enough to correct a call in one round."""

MAX_WORD: Final = 300
"""Longest path, keyword or message in characters."""

MISSING: Final = frozenset({"required", "dependentRequired"})
UNKNOWN: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
MALFORMED: Final = frozenset({"pattern", "format", "contentEncoding", "contentMediaType", "propertyNames"})


class Violation(Struct, frozen=True, kw_only=True):
    """One violation of the input schema."""

    path: str
    keyword: str
    expected: str = ""
    actual: str = ""
    message: str = ""
    """The message, if the failure was read from a dialect that carries one."""
    schema_path: str = ""

    @property
    def parameter(self) -> str:
        """The pointer without its leading slash; for a top-level argument, its name."""
        return self.path.removeprefix("/")

    @property
    def argument(self) -> str:
        """The name of the top-level argument; empty if the violation concerns the arguments as a whole."""
        return self.parameter.partition("/")[0].replace("~1", "/").replace("~0", "~")

    @property
    def sentence(self) -> str:
        """The violation as a sentence, without the value."""
        return self.message or plain_text(f"{self.parameter or 'the value'} {_predicate(self)}", MAX_WORD)

    def as_details(self) -> JsonObject:
        """The form in `details["violations"]`."""
        known = {"expected": self.expected, "actual": self.actual, "message": self.message}
        known["schemaPath"] = self.schema_path
        return {"path": self.path, "keyword": self.keyword} | {name: text for name, text in known.items() if text}


def read_violations(failure: Failure) -> tuple[Violation, ...]:
    """The violations of a failure, at most MAX_VIOLATIONS. Malformed ones are ignored."""
    listed = failure.details.get("violations")
    found = map(_as_violation, listed if isinstance(listed, list | tuple) else ())
    return tuple(each for each in found if each is not None)[:MAX_VIOLATIONS]


def order_by_severity(violations: Iterable[Violation]) -> tuple[Violation, ...]:
    """Sort by severity: arguments that are not an object, missing ones, wrong types, malformed strings, all others.

    The sort is stable.
    """
    return tuple(sorted(violations, key=_rank))


def system_code(violations: Iterable[Violation]) -> str | None:
    """The `system/1.0` code of the most severe violation, or None if there are no violations."""
    return next((_SYSTEM_CODES[_rank(each)] for each in order_by_severity(violations)), None)


def summarise(violations: tuple[Violation, ...]) -> str:
    """The most severe violation as a sentence, and the number of others; empty if there are none."""
    if not violations:
        return ""
    others = len(violations) - 1
    return min(violations, key=_rank).sentence + (f" (and {others} more)" if others else "")


_SYSTEM_CODES: Final = (
    "INVALID_INPUT_FORMAT",
    "MISSING_REQUIRED_FIELD",
    "INVALID_INPUT_TYPE",
    "INVALID_INPUT_FORMAT",
    "INVALID_INPUT_VALUE",
)
"""Indexed by rank."""


_RANKS: Final[Mapping[str, int]] = dict.fromkeys(MISSING, 1) | {"type": 2} | dict.fromkeys(MALFORMED, 3)


def _rank(violation: Violation) -> int:
    if violation.keyword == "type" and not violation.parameter:
        return 0
    return _RANKS.get(violation.keyword, 4)


_PREDICATES: Final[Mapping[str, str]] = MappingProxyType(
    dict.fromkeys(MISSING, "is required")
    | dict.fromkeys(UNKNOWN, "is not a known argument")
    | {
        "type": "has the wrong type",
        "cost": "takes too long to check; send a smaller value",
        "schema": "does not conform to the schema; it is too large to say where",
    }
)

_BOUNDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "minimum": "must be at least {}",
        "maximum": "must be at most {}",
        "exclusiveMinimum": "must be greater than {}",
        "exclusiveMaximum": "must be less than {}",
        "multipleOf": "must be a multiple of {}",
        "minLength": "must have a length of at least {}",
        "maxLength": "must have a length of at most {}",
        "minItems": "must have at least {} items",
        "maxItems": "must have at most {} items",
        "enum": "must be one of {}",
        "const": "must be {}",
    }
)
"""Keywords whose value says what to send instead. A pattern or a format seldom does in a sentence."""


def _predicate(violation: Violation) -> str:
    if violation.keyword == "type" and violation.expected:
        return f"must be {violation.expected}" + (f", not {violation.actual}" if violation.actual else "")
    if violation.keyword in _BOUNDS and violation.expected:
        return _BOUNDS[violation.keyword].format(violation.expected)
    return _PREDICATES.get(violation.keyword) or f"violates {violation.keyword}"


def _as_violation(item: JsonValue) -> Violation | None:
    if not isinstance(item, dict) and not isinstance(item, Mapping):
        return None
    path, keyword = item.get("path"), item.get("keyword")
    if not isinstance(path, str) or not isinstance(keyword, str):
        return None
    return Violation(
        path=_pointer(plain_text(path, MAX_WORD)),
        keyword=plain_text(keyword, MAX_WORD),
        expected=_word(item.get("expected")),
        actual=_word(item.get("actual")),
        message=_word(item.get("message")),
        schema_path=_word(item.get("schemaPath")),
    )


def _word(value: JsonValue) -> str:
    return plain_text(value, MAX_WORD) if value and isinstance(value, str) else ""


def _pointer(path: str) -> str:
    return path if not path or path.startswith("/") else plain_text(f"/{path}", MAX_WORD)

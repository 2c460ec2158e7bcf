"""What is wrong with arguments, read from `details["violations"]` of a failure, for dialects that tell it their way.

A violation names the argument (a JSON pointer), the keyword of the schema, and for `type` what was expected and met.
For a missing argument the keyword is `required` and for an unknown one `additionalProperties`; the pointer ends in its
name. No violation holds a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.fault.failure import Failure
from strictwire.fault.plain import plain_text

MAX_VIOLATIONS: Final = 10
"""Enough to mend a call in one round (A.6 names ten)."""

MAX_WORD: Final = 300
"""Characters of a path, a keyword or a sentence."""

MISSING: Final = frozenset({"required", "dependentRequired"})
UNKNOWN: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
MALFORMED: Final = frozenset({"pattern", "format", "contentEncoding", "contentMediaType", "propertyNames"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One way in which arguments do not fit."""

    path: str
    keyword: str
    expected: str = ""
    actual: str = ""
    message: str = ""
    """The sentence of whoever told it, where this failure was read from a dialect that has one."""
    schema_path: str = ""

    @property
    def parameter(self) -> str:
        """The pointer without its first slash: for an argument at the top, its plain name."""
        return self.path.removeprefix("/")

    @property
    def argument(self) -> str:
        """The argument at the top that this is about; empty for the arguments as a whole."""
        return self.parameter.partition("/")[0].replace("~1", "/").replace("~0", "~")

    @property
    def sentence(self) -> str:
        """What is wrong, without the value."""
        return self.message or plain_text(f"{self.parameter or 'the value'} {_complaint(self)}", MAX_WORD)

    def as_details(self) -> JsonObject:
        """The form that failures carry."""
        known = {"expected": self.expected, "actual": self.actual, "message": self.message}
        known["schemaPath"] = self.schema_path
        return {"path": self.path, "keyword": self.keyword} | {name: text for name, text in known.items() if text}


def read_violations(failure: Failure) -> tuple[Violation, ...]:
    """The violations a failure carries, at most ten; what is not one is passed over."""
    listed = failure.details.get("violations")
    found = map(_as_violation, listed if isinstance(listed, list | tuple) else ())
    return tuple(each for each in found if each is not None)[:MAX_VIOLATIONS]


def order_by_gravity(violations: Iterable[Violation]) -> tuple[Violation, ...]:
    """The order of precedence: arguments that are no object, what is missing, wrong types, malformed texts, the rest.

    Within a rank they keep their order.
    """
    return tuple(sorted(violations, key=_rank))


def system_code(violations: Iterable[Violation]) -> str | None:
    """The code of `system/1.0` for the gravest violation; None if there is none."""
    return next((_SYSTEM_CODES[_rank(each)] for each in order_by_gravity(violations)), None)


def summarise(violations: tuple[Violation, ...]) -> str:
    """The gravest violation as a sentence, and how many more there are; empty if there are none."""
    if not violations:
        return ""
    others = len(violations) - 1
    return order_by_gravity(violations)[0].sentence + (f" (and {others} more)" if others else "")


_SYSTEM_CODES: Final = (
    "INVALID_INPUT_FORMAT",
    "MISSING_REQUIRED_FIELD",
    "INVALID_INPUT_TYPE",
    "INVALID_INPUT_FORMAT",
    "INVALID_INPUT_VALUE",
)
"""By rank."""


def _rank(violation: Violation) -> int:
    kinds = (
        violation.keyword == "type" and not violation.parameter,
        violation.keyword in MISSING,
        violation.keyword == "type",
        violation.keyword in MALFORMED,
    )
    return kinds.index(True) if True in kinds else len(kinds)


_COMPLAINTS: Final[Mapping[str, str]] = MappingProxyType(
    dict.fromkeys(MISSING, "is required")
    | dict.fromkeys(UNKNOWN, "is not a known argument")
    | {"type": "has the wrong type"}
)


def _complaint(violation: Violation) -> str:
    if violation.keyword == "type" and violation.expected:
        return f"must be {violation.expected}" + (f", not {violation.actual}" if violation.actual else "")
    return _COMPLAINTS.get(violation.keyword) or f"breaks {violation.keyword}"


def _as_violation(item: JsonValue) -> Violation | None:
    if not isinstance(item, Mapping):
        return None
    texts = {name: text for name, text in item.items() if isinstance(text, str)}
    if not {"path", "keyword"} <= texts.keys():
        return None
    texts = {name: plain_text(text, MAX_WORD) for name, text in texts.items()}
    return Violation(
        path=_pointer(texts["path"]),
        keyword=texts["keyword"],
        expected=texts.get("expected", ""),
        actual=texts.get("actual", ""),
        message=texts.get("message", ""),
        schema_path=texts.get("schemaPath", ""),
    )


def _pointer(path: str) -> str:
    return path if not path or path.startswith("/") else plain_text(f"/{path}", MAX_WORD)

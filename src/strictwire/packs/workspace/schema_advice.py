"""What is wrong with arguments that do not conform to the schema of a tool, and what would be accepted. Pure.

A violation says where and which keyword; the schema says what is allowed there. No value of the client is repeated.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Any, Final

from strictwire.canon.json import JsonObject
from strictwire.fault.violations import MISSING, UNKNOWN, Violation, order_by_severity

_SHOWN: Final = 5
"""Sentences in one message; the cause lists all violations."""

_BOUNDS: Final = ("pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
"""Keywords whose value says what is allowed."""


def explain(violations: tuple[Violation, ...], schema: JsonObject) -> str:
    """Return a message that names every missing argument, and what is wrong with the others."""
    missing = [each.parameter for each in violations if each.keyword in MISSING]
    others = [each for each in order_by_severity(violations) if each.keyword not in MISSING]
    sentences = [*_required(missing), *(_sentence(each, schema) for each in others[:_SHOWN])]
    if len(others) > _SHOWN:
        sentences.append(f"{len(others) - _SHOWN} more in cause.violations")
    return "; ".join(sentences)


def _required(names: list[str]) -> Iterator[str]:
    if names:
        yield f"{_and(names)} {'is' if len(names) == 1 else 'are'} required"


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _sentence(violation: Violation, schema: JsonObject) -> str:
    if violation.keyword in UNKNOWN:
        return violation.sentence + _did_you_mean(violation, schema)
    found = _schema_at(schema, violation.path)
    if violation.keyword == "enum":
        return f"{violation.parameter} must be one of {', '.join(map(str, found.get('enum', ())))}"
    if violation.keyword in _BOUNDS and violation.keyword in found:
        return f"{violation.parameter} must have {violation.keyword} {found[violation.keyword]}"
    return violation.sentence


def _did_you_mean(violation: Violation, schema: JsonObject) -> str:
    folder, _, name = violation.path.rpartition("/")
    known: Iterable[str] = _schema_at(schema, folder).get("properties", {})
    near = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean {near[0]}?)" if near else f" (known: {', '.join(known)})"


def _schema_at(schema: Any, pointer: str) -> dict[str, Any]:
    """Return the schema of the value at a pointer; empty if there is none."""
    for name in pointer.split("/")[1:]:
        schema = schema.get("properties", {}).get(name, {}) if "properties" in schema else schema.get("items", {})
    return schema if isinstance(schema, dict) else {}

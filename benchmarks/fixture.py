"""The two tools of every server under test, as data: schemas, arguments and expected results.

`add` is small. `echo` takes and returns a nested document with thirty properties, 10 KB by default. Servers read the
schemas from a file (`write_fixture`), so that all of them have the same contracts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]

KINDS: Final = ("text", "count", "ratio", "flag", "words", "rows")
"""Kinds of properties; the document has `PROPERTIES / len(KINDS)` of each."""

PROPERTIES: Final = 30
DEFAULT_ROWS: Final = 26
"""Rows per table for a document of 10 KB."""

_TEXT: Final[Json] = {"type": "string", "minLength": 1, "maxLength": 4000}
_COUNT: Final[Json] = {"type": "integer", "minimum": 0, "maximum": 1000000}
_RATIO: Final[Json] = {"type": "number", "minimum": 0, "maximum": 1000}
_ROW: Final[Json] = {
    "type": "object",
    "properties": {
        "id": _COUNT,
        "name": _TEXT,
        "score": _RATIO,
        "tags": {"type": "array", "items": _TEXT, "maxItems": 10},
    },
    "required": ["id", "name", "score", "tags"],
    "additionalProperties": False,
}
_SCHEMAS: Final[dict[str, Json]] = {
    "text": _TEXT,
    "count": _COUNT,
    "ratio": _RATIO,
    "flag": {"type": "boolean"},
    "words": {"type": "array", "items": _TEXT, "maxItems": 100},
    "rows": {"type": "array", "items": _ROW, "maxItems": 5000},
}


def property_names() -> list[tuple[str, str]]:
    """The name and kind of every property of the document."""
    return [(f"{KINDS[index % len(KINDS)]}_{index:02}", KINDS[index % len(KINDS)]) for index in range(PROPERTIES)]


def document_schema() -> Json:
    """The schema of the document."""
    names = property_names()
    return {
        "type": "object",
        "properties": {name: _SCHEMAS[kind] for name, kind in names},
        "required": [name for name, _ in names],
        "additionalProperties": False,
    }


def _value(kind: str, index: int, salt: int, rows: int) -> Any:
    # Floats with an exact binary fraction that are not integral: every JSON library writes them the same way.
    values: dict[str, Any] = {
        "text": f"property {index} of document {salt}, some words to fill it",
        "count": index * 1000 + salt,
        "ratio": index + 0.25,
        "flag": (index + salt) % 2 == 0,
        "words": [f"word-{index}-{number}" for number in range(6)],
        "rows": [
            {"id": number, "name": f"row {number} of {index}", "score": number + 0.5, "tags": ["red", "green", f"t{salt}"]}
            for number in range(rows)
        ],
    }
    return values[kind]


def document(salt: int, *, rows: int = DEFAULT_ROWS) -> Json:
    """A document that conforms to the schema. A different `salt` gives a different document of about the same size."""
    return {name: _value(kind, index, salt, rows) for index, (name, kind) in enumerate(property_names())}


ADD: Final[Json] = {
    "name": "add",
    "description": "Adds two numbers.",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {"sum": {"type": "integer"}},
        "required": ["sum"],
        "additionalProperties": False,
    },
}


def echo_tool() -> Json:
    """The tool that returns its document."""
    input_schema = {"type": "object", "properties": {"document": document_schema()}, "required": ["document"]}
    return {
        "name": "echo",
        "description": "Returns the document.",
        "inputSchema": input_schema | {"additionalProperties": False},
        "outputSchema": document_schema(),
    }


def tools(count: int = 2) -> list[Json]:
    """`add`, `echo` and copies of `add` up to the count."""
    others = [
        {**ADD, "name": f"add_{number:05}", "description": f"Adds two numbers, {number}."} for number in range(count - 2)
    ]
    return [ADD, echo_tool(), *others][: max(count, 1)]


def write_fixture(path: Path, *, count: int = 2) -> Path:
    """Write the tools to the file that servers read (`BENCH_TOOLS`)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"tools": tools(count), "properties": property_names()}))
    return path


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """One call: the tool, its arguments and the expected result."""

    tool: str
    arguments: Json
    expected: Json | None
    """The structured content; None if the call must be refused."""


def add_calls(count: int = 64) -> tuple[ExpectedCall, ...]:
    """Small calls, all different. The sums have the same number of digits, so that responses have the same length."""
    return tuple(ExpectedCall("add", {"a": 1000 + index, "b": 2000}, {"sum": 3000 + index}) for index in range(count))


def echo_calls(count: int = 4, *, rows: int = DEFAULT_ROWS) -> tuple[ExpectedCall, ...]:
    """Large calls, all different."""
    made = [document(salt, rows=rows) for salt in range(count)]
    return tuple(ExpectedCall("echo", {"document": each}, each) for each in made)


def refused_calls(count: int = 64) -> tuple[ExpectedCall, ...]:
    """Calls of `add` whose arguments violate its schema twice."""
    return tuple(ExpectedCall("add", {"a": f"x{index:03}", "b": 1, "c": True}, None) for index in range(count))

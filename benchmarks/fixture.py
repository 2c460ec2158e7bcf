"""The two tools that every server under test offers, as data: schemas, arguments and the answers that are right.

`add` is small. `echo` takes and returns a nested document of thirty properties, 10 KB unless told otherwise. Servers read
the schemas from a file (`write_fixture`), so that all of them promise the same.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]

KINDS: Final = ("text", "count", "ratio", "flag", "words", "rows")
"""Kinds of property; each comes `PROPERTIES / len(KINDS)` times."""

PROPERTIES: Final = 30
DEFAULT_ROWS: Final = 26
"""Rows a table that make the document 10 KB."""

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
    """Name and kind of every property of the document."""
    return [(f"{KINDS[place % len(KINDS)]}_{place:02}", KINDS[place % len(KINDS)]) for place in range(PROPERTIES)]


def document_schema() -> Json:
    """The contract of the document."""
    names = property_names()
    return {
        "type": "object",
        "properties": {name: _SCHEMAS[kind] for name, kind in names},
        "required": [name for name, _ in names],
        "additionalProperties": False,
    }


def _value(kind: str, place: int, salt: int, rows: int) -> Any:
    # Numbers with a binary fraction and no integral floats: every JSON library writes them the same way.
    values: dict[str, Any] = {
        "text": f"property {place} of document {salt}, some words to fill it",
        "count": place * 1000 + salt,
        "ratio": place + 0.25,
        "flag": (place + salt) % 2 == 0,
        "words": [f"word-{place}-{number}" for number in range(6)],
        "rows": [
            {"id": number, "name": f"row {number} of {place}", "score": number + 0.5, "tags": ["red", "green", f"t{salt}"]}
            for number in range(rows)
        ],
    }
    return values[kind]


def document(salt: int, *, rows: int = DEFAULT_ROWS) -> Json:
    """A document that fits the schema; another `salt` makes another document of about the same size."""
    return {name: _value(kind, place, salt, rows) for place, (name, kind) in enumerate(property_names())}


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
    """The tool that gives a document back."""
    taken = {"type": "object", "properties": {"document": document_schema()}, "required": ["document"]}
    return {
        "name": "echo",
        "description": "Gives the document back.",
        "inputSchema": taken | {"additionalProperties": False},
        "outputSchema": document_schema(),
    }


def tools(count: int = 2) -> list[Json]:
    """`add`, `echo` and as many others like `add` as make up the count."""
    others = [
        {**ADD, "name": f"add_{number:05}", "description": f"Adds two numbers, {number}."} for number in range(count - 2)
    ]
    return [ADD, echo_tool(), *others][: max(count, 1)]


def write_fixture(path: Path, *, count: int = 2) -> Path:
    """Write the tools where servers read them (`BENCH_TOOLS`)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"tools": tools(count), "properties": property_names()}))
    return path


@dataclass(frozen=True, slots=True)
class Question:
    """One call: the tool, its arguments, and what must come back."""

    tool: str
    arguments: Json
    expected: Json | None
    """The structured content; None where the call must be refused."""


def add_questions(count: int = 64) -> tuple[Question, ...]:
    """Small calls, all different. Sums have the same number of digits, so that answers have the same length."""
    return tuple(Question("add", {"a": 1000 + place, "b": 2000}, {"sum": 3000 + place}) for place in range(count))


def echo_questions(count: int = 4, *, rows: int = DEFAULT_ROWS) -> tuple[Question, ...]:
    """Large calls, all different."""
    made = [document(salt, rows=rows) for salt in range(count)]
    return tuple(Question("echo", {"document": each}, each) for each in made)


def refused_questions(count: int = 64) -> tuple[Question, ...]:
    """Calls of `add` whose arguments break its schema twice."""
    return tuple(Question("add", {"a": f"x{place:03}", "b": 1, "c": True}, None) for place in range(count))

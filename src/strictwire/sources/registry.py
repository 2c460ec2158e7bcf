"""`SchemaRegistry`: the schemas of `envelope/v1` from a folder, compiled once and cached by fingerprint (V6, V7).

    <schema_root>/
      envelopes/envelope-request-v1.json    every request
      envelopes/envelope-tool-io-v1.json    a template: what is said to and by any tool
      tools/<tool>.json                     the input of one tool
      tools/<tool>.output.json              its output

A fingerprint is the digest of the canonical JSON of what was compiled, so white space and member order do not change it.
Every load reads the files again: the same content gives the same objects, other content gives new ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from strictwire.canon.digest import digest
from strictwire.canon.json import JsonObject, JsonValue, parse_object
from strictwire.contract.conform import Conformer, Violation, compile_schema
from strictwire.contract.registry import ContractRefused, check_name

PLACEHOLDER: Final = "{{tool_id}}"
"""What the template has where a tool's name belongs."""


class NotConforming(ValueError):
    """A value that does not fit its schema. Carries what does not fit, never the value."""

    def __init__(self, violations: tuple[Violation, ...]) -> None:
        super().__init__(violations)
        self.violations = violations

    def __str__(self) -> str:
        shown = ", ".join(f"{each.path or '/'} ({each.keyword})" for each in self.violations)
        return f"does not conform: {shown}"


@dataclass(frozen=True, slots=True, eq=False)
class Validator:
    """One or more compiled schemas that judge one value, each at its place."""

    fingerprint: str
    parts: tuple[tuple[str | None, Conformer], ...]
    """A member of the value (None: the value itself) and what judges it. A part is judged if those before it fit."""

    def validate(self, value: JsonValue) -> None:
        """Raises NotConforming."""
        for member, conformer in self.parts:
            judged = value if member is None else _member(value, member)
            violations = conformer.find_violations(judged)
            if violations:
                raise NotConforming(violations)

    def accepts(self, value: JsonValue) -> bool:
        """Whether the value fits."""
        try:
            self.validate(value)
        except NotConforming:
            return False
        return True


@dataclass(frozen=True, slots=True, eq=False)
class ToolIo:
    """What may be said to a tool (`{tool, input}`) and what it may answer (`{tool, output}`)."""

    tool: str
    input: Validator
    output: Validator


class SchemaRegistry:
    """Loads and keeps validators."""

    def __init__(self, *, schema_root: Path) -> None:
        self._root = schema_root
        self._validators: dict[str, Validator] = {}
        self._pairs: dict[str, ToolIo] = {}

    def load_envelope(self) -> Validator:
        """What judges requests. Raises OSError, NotStrict or SchemaRefused: the schema is not there, or is none."""
        return self._compile((None, self._read("envelopes/envelope-request-v1.json")))

    def load_tool_io(self, tool_id: str) -> ToolIo:
        """What judges the two sides of a tool.

        Raises KeyError: no such tool; OSError, NotStrict or SchemaRefused: a schema is not there, or is none.
        """
        given, answered = self._tool_schemas(tool_id)
        template = self._read("envelopes/envelope-tool-io-v1.json")
        pair = ToolIo(
            tool_id,
            self._compile((None, _side(template, "input", tool_id)), ("input", given)),
            self._compile((None, _side(template, "output", tool_id)), ("output", answered)),
        )
        known = self._pairs.get(tool_id)
        if known is not None and known.input is pair.input and known.output is pair.output:
            return known
        self._pairs[tool_id] = pair
        return pair

    def _tool_schemas(self, tool_id: str) -> tuple[JsonObject, JsonObject]:
        try:
            check_name(tool_id)
            return self._read(f"tools/{tool_id}.json"), self._read(f"tools/{tool_id}.output.json")
        except (ContractRefused, FileNotFoundError):
            raise KeyError(tool_id) from None

    def _compile(self, *parts: tuple[str | None, JsonObject]) -> Validator:
        fingerprint = digest([[member, schema] for member, schema in parts])
        if fingerprint not in self._validators:
            compiled = tuple((member, compile_schema(schema)) for member, schema in parts)
            self._validators[fingerprint] = Validator(fingerprint, compiled)
        return self._validators[fingerprint]

    def _read(self, name: str) -> JsonObject:
        return parse_object((self._root / name).read_bytes())


def _member(value: JsonValue, name: str) -> JsonValue:
    """A member of a value that was judged to be an object with it."""
    return value.get(name) if isinstance(value, dict) else None


def _side(template: JsonObject, side: str, tool_id: str) -> JsonObject:
    """One side of the template, for one tool."""
    definitions = _fill(template["$defs"], tool_id)
    return {"$schema": template["$schema"], "$ref": f"#/$defs/{side}", "$defs": definitions}


def _fill(value: JsonValue, tool_id: str) -> JsonValue:
    """The template with the tool's name in its places."""
    if isinstance(value, dict):
        return {name: _fill(member, tool_id) for name, member in value.items()}
    if isinstance(value, list):
        return [_fill(member, tool_id) for member in value]
    return tool_id if value == PLACEHOLDER else value

"""`SchemaRegistry`: the schemas of the `envelope/v1` profile, compiled once and cached by fingerprint (V6, V7).

    <schema_root>/
      envelopes/envelope-request-v1.json    schema of every request
      envelopes/envelope-tool-io-v1.json    template for the parameters and the result of a tool call
      tools/<tool>.json                     input schema of one tool
      tools/<tool>.output.json              output schema of one tool

A fingerprint is the digest of the canonical JSON of the compiled schemas, so whitespace and member order do not change
it. Every load reads the files again: equal content gives the same objects, changed content gives new ones.
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
"""The value in the template that is replaced by the tool's name."""


class NotConforming(ValueError):
    """A value does not conform to its schema. Carries the violations, never the value."""

    def __init__(self, violations: tuple[Violation, ...]) -> None:
        super().__init__(violations)
        self.violations = violations

    def __str__(self) -> str:
        shown = ", ".join(f"{each.path or '/'} ({each.keyword})" for each in self.violations)
        return f"does not conform: {shown}"


@dataclass(frozen=True, slots=True, eq=False)
class Validator:
    """Compiled schemas for one value and, where given, for members of it."""

    fingerprint: str
    parts: tuple[tuple[str | None, Conformer], ...]
    """The member to validate (None: the whole value) and its schema. A part is validated only if all before it conform."""

    def validate(self, value: JsonValue) -> None:
        """Raises NotConforming."""
        for member, conformer in self.parts:
            part = value if member is None else _member(value, member)
            violations = conformer.find_violations(part)
            if violations:
                raise NotConforming(violations)

    def accepts(self, value: JsonValue) -> bool:
        """Whether the value conforms."""
        try:
            self.validate(value)
        except NotConforming:
            return False
        return True


@dataclass(frozen=True, slots=True, eq=False)
class ToolIo:
    """The validators of one tool: for `{tool, input}` and for `{tool, output}`."""

    tool: str
    input: Validator
    output: Validator


class SchemaRegistry:
    """Loads validators and caches them by fingerprint."""

    def __init__(self, *, schema_root: Path) -> None:
        self._root = schema_root
        self._validators: dict[str, Validator] = {}
        self._pairs: dict[str, ToolIo] = {}

    def load_envelope(self) -> Validator:
        """The validator of requests. Raises OSError, NotStrict or SchemaRefused if the schema is missing or invalid."""
        return self._compile((None, self._read("envelopes/envelope-request-v1.json")))

    def load_tool_io(self, tool_id: str) -> ToolIo:
        """The validators of one tool.

        Raises KeyError if there is no such tool; OSError, NotStrict or SchemaRefused if a schema is unreadable or invalid.
        """
        input_schema, output_schema = self._tool_schemas(tool_id)
        template = self._read("envelopes/envelope-tool-io-v1.json")
        pair = ToolIo(
            tool_id,
            self._compile((None, _side(template, "input", tool_id)), ("input", input_schema)),
            self._compile((None, _side(template, "output", tool_id)), ("output", output_schema)),
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
    """A member of a value that an earlier part has validated as an object."""
    return value.get(name) if isinstance(value, dict) else None


def _side(template: JsonObject, side: str, tool_id: str) -> JsonObject:
    """The schema for one side (`input` or `output`) of one tool."""
    definitions = _fill(template["$defs"], tool_id)
    return {"$schema": template["$schema"], "$ref": f"#/$defs/{side}", "$defs": definitions}


def _fill(value: JsonValue, tool_id: str) -> JsonValue:
    """The template with every placeholder replaced by the tool's name."""
    if isinstance(value, dict):
        return {name: _fill(member, tool_id) for name, member in value.items()}
    if isinstance(value, list):
        return [_fill(member, tool_id) for member in value]
    return tool_id if value == PLACEHOLDER else value

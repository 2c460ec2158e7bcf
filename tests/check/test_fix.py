"""Fixes change one place, keep the layout and the accepted values, and leave alone what is not certain."""

from __future__ import annotations

import json
from typing import Any

import pytest

from strictwire.canon.json import DEFAULT_LIMITS, parse, render
from strictwire.check.engine import lint, select_rules
from strictwire.check.fix import FIXES, fix_text
from strictwire.check.inclusion.decide import Compared, Included, decide_pair
from strictwire.check.lint import RULES
from strictwire.check.policy import LintPolicy
from strictwire.check.rulesets import LATEST, RULESETS
from strictwire.contract.schema import DIALECT
from strictwire.sources.folder import build_folder

SEVEN = "http://json-schema.org/draft-07/schema#"


def fixed(text: str, *rules: str, name: str = "t.output.json") -> str:
    """The text of an output schema after the fixes of the rules, or of all that have one."""
    policy = LintPolicy(select=rules or tuple(FIXES))
    files = {"t.json": b'{"type": "object"}', name: text.encode()}
    tools = build_folder(files, label="schemas", prefix="")
    report = lint(tools, select_rules(RULES, RULESETS[LATEST], policy), policy, version=LATEST)
    return fix_text(text.encode(), [each for each in report.findings if each.file == name], DEFAULT_LIMITS).raw.decode()


@pytest.mark.parametrize(
    ("rule", "before", "after"),
    [
        ("SCHEMA_DIALECT", '{"type": "object"}\n', f'{{"$schema": "{DIALECT}","type": "object"}}\n'),
        ("SCHEMA_DIALECT", '{\n    "type": "object"\n}', f'{{\n    "$schema": "{DIALECT}",\n    "type": "object"\n}}'),
        ("SCHEMA_DIALECT", '{\t"type":"object"}', f'{{\t"$schema": "{DIALECT}",\t"type":"object"}}'),
        ("CLIENT_OUTPUT_DIALECT", f'{{ "$schema" : "{SEVEN}" , "a":1}}', f'{{ "$schema" : "{DIALECT}" , "a":1}}'),
        (
            "REQUIRED_EXPLICIT",
            '{\n  "type": "object",\n  "properties": {"a": {"type": ["string",  "null"]}}\n}\n',
            '{\n  "type": "object",\n  "required": [],\n  "properties": {"a": {"type": ["string",  "null"]}}\n}\n',
        ),
        ("DEFS_USED", '{"type": "object", "$defs": {"a": {}, "b": {}}}', '{"type": "object", "$defs": {}}'),
        (
            "DEFS_USED",
            '{\n  "$defs": {\n    "a": {"x": "\\u00e9"},\n    "b": {}\n  },\n  "items": {"$ref": "#/$defs/b"}\n}',
            '{\n  "$defs": {\n    "b": {}\n  },\n  "items": {"$ref": "#/$defs/b"}\n}',
        ),
        (
            "DEFS_USED",
            '{\n  "$defs": {\n    "b": {},\n    "a": {"maximum": 1.50}\n  },\n  "items": {"$ref": "#/$defs/b"}\n}',
            '{\n  "$defs": {\n    "b": {}\n  },\n  "items": {"$ref": "#/$defs/b"}\n}',
        ),
    ],
)  # fmt: skip
def test_a_fix_changes_one_place_and_keeps_the_layout(rule: str, before: str, after: str) -> None:
    assert fixed(before, rule) == after


@pytest.mark.parametrize(
    "part",
    [
        {"items": [{"type": "string"}]},
        {"properties": {"a": {"$ref": "#/definitions/x", "minLength": 1}}},
        {"dependencies": {"a": ["b"]}},
        {"unevaluatedProperties": False},
        {"$id": "https://example.org/x"},
    ],
)
def test_a_dialect_is_kept_if_a_keyword_means_something_else_in_the_other(part: dict[str, Any]) -> None:
    text = render({"$schema": SEVEN, "type": "object", "definitions": {"x": {}}, **part}).decode()

    assert fixed(text, "CLIENT_OUTPUT_DIALECT") == text


@pytest.mark.parametrize(
    "dialect", ["http://json-schema.org/draft-04/schema#", "https://json-schema.org/draft/2019-09/schema"]
)
def test_other_dialects_are_kept(dialect: str) -> None:
    text = render({"$schema": dialect, "type": "object", "properties": {"a": {}}}).decode()

    assert fixed(text, "CLIENT_OUTPUT_DIALECT") == text


CASES = [
    {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "object", "properties": {"c": {}}}}},
    {"$schema": SEVEN, "type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "definitions": {"old": {}}},
    {"type": "object", "$defs": {"x": {"enum": [1]}}, "properties": {"a": {"anyOf": [{"type": "null"}, {"const": 2}]}}},
]


@pytest.mark.parametrize("schema", CASES)
@pytest.mark.parametrize("spaces", [None, 2, 4])
def test_all_fixes_together_keep_the_accepted_values_and_are_stable(schema: dict[str, Any], spaces: int | None) -> None:
    text = json.dumps(schema, indent=spaces)
    once = fixed(text)
    old, new = Compared(schema=schema), Compared(schema=parse(once.encode()))  # type: ignore[arg-type]

    assert once != text
    assert fixed(once) == once
    assert (type(decide_pair(old, new)), type(decide_pair(new, old))) == (Included, Included)

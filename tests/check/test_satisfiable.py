"""SCHEMA_SATISFIABLE agrees with the schema engine for every combination of enum values and types."""

from __future__ import annotations

from itertools import product
from typing import Any

import jsonschema_rs

from strictwire.canon.json import render
from strictwire.check.engine import lint, select_rules
from strictwire.check.lint import RULES
from strictwire.check.policy import LintPolicy
from strictwire.check.rule import Category
from strictwire.check.rulesets import RULESETS
from strictwire.sources.dump import parse_dump

RULE = "SCHEMA_SATISFIABLE"
VALUES: tuple[Any, ...] = (None, True, 1, 1.0, 1.5, "a", [], {})
TYPES: tuple[Any, ...] = (
    None, "null", "boolean", "integer", "number", "string", "array", "object", ["string", "null"], ["integer", "string"]
)  # fmt: skip
BESIDE: tuple[dict[str, Any], ...] = ({}, {"description": "x", "default": 1}, {"minLength": 2}, {"x-mine": 1})


def cases() -> list[dict[str, Any]]:
    listed = [{"const": value} for value in VALUES]
    listed += [{"enum": [first, second]} for first, second in product(VALUES, VALUES) if first is not second]
    listed += [{"enum": [value, "a"], "const": "a"} for value in VALUES]
    listed += [{"enum": ["a"], "const": value} for value in VALUES]
    return [
        {**each, **beside, **({} if named is None else {"type": named})}
        for each, named, beside in product(listed, TYPES, BESIDE)
    ]


def found_in(schemas: list[dict[str, Any]]) -> set[int]:
    """The indexes of the schemas for which the rule reports a finding."""
    properties = {f"p{index}": schema for index, schema in enumerate(schemas)}
    tool = {"name": "t", "inputSchema": {"type": "object", "properties": properties}}
    policy = LintPolicy(category=Category.BASIC)
    ruleset = RULESETS["2026.11"]
    tools = parse_dump(render({"tools": [tool]}), "tools.json")
    report = lint(tools, select_rules(RULES, ruleset, policy), policy, version=ruleset.version)
    return {int(each.pointer.rpartition("/p")[2]) for each in report.findings if each.rule == RULE}


def test_an_enum_is_unsatisfiable_exactly_if_no_value_conforms() -> None:
    schemas = cases()
    empty = set()
    for index, schema in enumerate(schemas):
        values = schema["enum"] if "enum" in schema else [schema["const"]]
        engine = jsonschema_rs.Draft202012Validator(schema, offline=True)
        if not any(engine.is_valid(value) for value in values):
            empty.add(index)

    assert 0 < len(empty) < len(schemas)
    assert found_in(schemas) == empty

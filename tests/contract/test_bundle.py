"""Bundling: references to other files become local definitions, and nothing is fetched (G15)."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.contract.bundle import BundleRefused, bundle
from strictwire.contract.conform import compile_schema

POSITION = {"type": "object", "properties": {"line": {"$ref": "#/$defs/count"}}, "required": ["line"]}
COMMON: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "common",
    "$defs": {
        "position": POSITION,
        "count": {"type": "integer", "minimum": 0},
        "tree": {"type": "object", "properties": {"child": {"$ref": "#/$defs/tree"}}},
    },
}
DOCUMENTS = {"common.schema.json": COMMON, "whole.schema.json": {"$id": "w", "type": "string"}}


def bundled(schema: dict[str, Any]) -> dict[str, Any]:
    return bundle(schema, file="probe.json", documents=DOCUMENTS)


@pytest.mark.clause("G15")
def test_a_reference_to_another_file_becomes_a_definition_with_what_it_needs() -> None:
    result = bundled({"type": "object", "properties": {"at": {"$ref": "common.schema.json#/$defs/position"}}})

    assert result == {
        "type": "object",
        "properties": {"at": {"$ref": "#/$defs/position"}},
        "$defs": {"count": {"type": "integer", "minimum": 0}, "position": POSITION},
    }
    assert not compile_schema(result).accepts({"at": {"line": -1}})


def test_a_schema_without_references_to_other_files_is_unchanged() -> None:
    schema = {"$defs": {"a": {"type": "string"}}, "properties": {"x": {"$ref": "#/$defs/a"}}}

    assert bundled(schema) == schema


def test_a_taken_name_gets_a_number_and_a_target_is_copied_once() -> None:
    two = {"$ref": "common.schema.json#/$defs/count"}
    result = bundled({"$defs": {"count": {"type": "string"}}, "properties": {"a": two, "b": two}})

    assert result == {
        "$defs": {"count": {"type": "string"}, "count_2": {"type": "integer", "minimum": 0}},
        "properties": {"a": {"$ref": "#/$defs/count_2"}, "b": {"$ref": "#/$defs/count_2"}},
    }


def test_recursive_definitions_and_whole_files_are_copied() -> None:
    result = bundled({"anyOf": [{"$ref": "common.schema.json#/$defs/tree"}, {"$ref": "whole.schema.json"}]})

    assert result["$defs"] == {
        "tree": {"type": "object", "properties": {"child": {"$ref": "#/$defs/tree"}}},
        "whole": {"type": "string"},
    }


def test_data_that_looks_like_a_reference_is_unchanged() -> None:
    schema = {"const": {"$ref": "common.schema.json"}, "properties": {"$ref": {"type": "string"}}}

    assert bundled(schema) == schema


@pytest.mark.parametrize(
    "reference",
    [
        "https://example.org/x.json",
        "urn:x",
        "/etc/passwd",
        "../other.json",
        "missing.schema.json",
        "common.schema.json#/$defs/none",
        "common.schema.json#anchor",
    ],
)
def test_a_reference_that_cannot_be_copied_is_refused(reference: str) -> None:
    with pytest.raises(BundleRefused) as refused:
        bundled({"properties": {"a": {"$ref": reference}}})

    assert refused.value.reference == reference

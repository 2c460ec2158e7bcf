"""Paths of errors: names that read as numbers, or are empty, stay names."""

from __future__ import annotations

import jsonschema_rs
import pytest

from strictwire.contract.conform import Violation, compile_schema
from strictwire.contract.error_path import Steps, steps_of

NAMES = ["1", "01", "+1", "0", "00", "+0", "-1", "+", "", "1" * 5000, "a/b~c", "\u0661"]
"""Names of which the engine reports some as the numbers 0 and 1, and one not at all."""

NUMBERS = {"additionalProperties": {"items": {"type": "number"}, "additionalProperties": {"type": "number"}}}


@pytest.mark.parametrize(
    ("value", "steps"),
    [
        *(({"m": {name: "x"}}, ("m", name)) for name in NAMES),
        *(({name: {"1": 1, "01": "x"}}, (name, "01")) for name in NAMES),
        ({"m": {"1": 1, "+1": 1, "001": "x"}}, ("m", "001")),
        ({"1": {"0": 1}, "01": {"0": "x"}}, ("01", "0")),
        ({"01": [0, "x"]}, ("01", 1)),
        ({"": [0, "x"]}, ("", 1)),
        ({"": {"a": "x"}, "a": {}}, ("", "a")),
        ({"": {"": "x"}}, ("", "")),
        ({"": {}, "a": {"": "x"}}, ("a", "")),
    ],
    ids=lambda given: str(given)[:40],
)
def test_the_path_leads_to_the_part_that_does_not_conform(value: object, steps: Steps) -> None:
    [error] = jsonschema_rs.Draft202012Validator(NUMBERS).iter_errors(value)

    assert steps_of(error, value) == steps


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_type_under_any_name_is_explained(name: str) -> None:
    conformer = compile_schema({"type": "object", "additionalProperties": {"type": "string"}})
    path = "/" + name.replace("~", "~0").replace("/", "~1")

    assert conformer.find_violations({name: 5}) == (
        Violation(path=path, keyword="type", expected="string", actual="integer"),
    )

"""Contract documents: reading is strict, and the round trip changes nothing."""

from __future__ import annotations

import pytest

from strictwire.contract.document import read_contract, render_contract
from strictwire.contract.registry import ContractRefused
from strictwire.contract.safety import Safety
from strictwire.contract.tool import Caps, ToolContract
from strictwire.fault.raised import NotFound

WHOLE = ToolContract(
    failures=(NotFound.described,),
    name="t",
    title="T",
    description="d",
    input_schema={"type": "object"},
    output_schema={"type": "object"},
    annotations={"readOnlyHint": False},
    category="c",
    tier="pro",
    safety=Safety.DESTRUCTIVE,
    roles=frozenset({"B", "A"}),
    capabilities=frozenset({"sampling"}),
    caps=Caps(timeout_ms=1, response_bytes=2, concurrency=3),
    dialect="system/1.0",
    text_json=True,
    lists_output=False,
    notes="n",
    icons=({"src": "data:,"},),
    meta={"a/b": 1},
)


def test_a_contract_with_every_member_survives_the_round_trip() -> None:
    document = render_contract(WHOLE)

    assert read_contract("t", input_schema={"type": "object"}, output_schema={"type": "object"}, document=document) == WHOLE


def test_defaults_are_left_out_except_safety() -> None:
    assert render_contract(ToolContract(name="t", description="d", input_schema={})) == {
        "description": "d",
        "safety": "undeclared",
    }


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"teir": "core"}, "did you mean 'tier'"),
        ({"xyzzy": 1}, "known: title"),
        ({"tier": 5}, "'tier' of its contract document: expected a string"),
        (
            {"safety": "harmless"},
            "'safety' .*: safety .* is unknown; use one of read-only, mutating",
        ),
        ({"safety": []}, "'safety' .*: safety .* is unknown; use one of read-only, mutating"),
        ({"roles": "A"}, "'roles' .*: expected an array"),
        ({"roles": [1]}, "'roles' .*: expected a string"),
        ({"caps": []}, "'caps' .*: expected an object"),
        ({"caps": {"timeoutMs": "1"}}, "'caps' .*: expected an integer"),
        ({"caps": {"timeoutMs": True}}, "'caps' .*: expected an integer"),
        ({"caps": {"timeout": 1}}, "'caps' .*: unknown member 'timeout'; known: timeoutMs"),
        ({"textJson": 1}, "'textJson' .*: expected true or false"),
        ({"listsOutput": "no"}, "'listsOutput' .*: expected true or false"),
    ],
)
def test_an_unknown_member_or_an_invalid_value_is_refused(document: dict[str, object], words: str) -> None:
    with pytest.raises(ContractRefused, match=words):
        read_contract("t", input_schema={}, output_schema=None, document=document)

"""Contract documents: read strictly, written back the same."""

from __future__ import annotations

import pytest

from strictwire.contract.document import read_contract, render_contract
from strictwire.contract.registry import ContractRefused
from strictwire.contract.tool import Caps, Safety, ToolContract

WHOLE = ToolContract(
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
    list_output=False,
    notes="n",
    icons=({"src": "data:,"},),
    meta={"a/b": 1},
)


def test_a_whole_contract_survives_the_round_trip() -> None:
    document = render_contract(WHOLE)

    assert read_contract("t", input_schema={"type": "object"}, output_schema={"type": "object"}, document=document) == WHOLE


def test_defaults_are_left_out() -> None:
    assert render_contract(ToolContract(name="t", description="d", input_schema={})) == {"description": "d"}


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"teir": "core"}, "did you mean 'tier'"),
        ({"xyzzy": 1}, "known: title"),
        ({"tier": 5}, "'tier'"),
        ({"safety": "harmless"}, "'safety'"),
        ({"roles": "A"}, "'roles'"),
        ({"roles": [1]}, "'roles'"),
        ({"caps": {"timeoutMs": "1"}}, "'caps'"),
        ({"caps": {"timeoutMs": True}}, "'caps'"),
        ({"caps": {"timeout": 1}}, "'caps'"),
        ({"textJson": 1}, "'textJson'"),
        ({"listOutput": "no"}, "'listOutput'"),
    ],
)
def test_what_is_misspelt_or_of_the_wrong_type_is_refused(document: dict[str, object], words: str) -> None:
    with pytest.raises(ContractRefused, match=words):
        read_contract("t", input_schema={}, output_schema=None, document=document)

"""Safety levels and hints: what an author may declare, and what the hints of any server amount to."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.contract.safety import Safety, SafetyRefused, declare_safety, is_callable_unasked, safety_of
from strictwire.contract.tool import ToolContract

READ_ONLY = {"readOnlyHint": True, "destructiveHint": False}
MUTATING = {"readOnlyHint": False, "destructiveHint": False}
DESTRUCTIVE = {"readOnlyHint": False, "destructiveHint": True}

DECLARED: list[tuple[Any, dict[str, Any], Safety, dict[str, Any]]] = [
    (None, {}, Safety.UNDECLARED, {"readOnlyHint": False}),
    (None, {"openWorldHint": True}, Safety.UNDECLARED, {"readOnlyHint": False, "openWorldHint": True}),
    (None, {"title": "T"}, Safety.UNDECLARED, {"readOnlyHint": False, "title": "T"}),
    (None, {"readOnlyHint": True}, Safety.READ_ONLY, READ_ONLY),
    (None, {"readOnlyHint": True, "idempotentHint": False}, Safety.READ_ONLY, READ_ONLY | {"idempotentHint": False}),
    (None, MUTATING, Safety.MUTATING, MUTATING),
    (None, DESTRUCTIVE, Safety.DESTRUCTIVE, DESTRUCTIVE),
    ("destructive", {}, Safety.DESTRUCTIVE, DESTRUCTIVE),
    (Safety.READ_ONLY, {}, Safety.READ_ONLY, READ_ONLY),
    (Safety.MUTATING, {"readOnlyHint": False}, Safety.MUTATING, MUTATING),
    (Safety.DESTRUCTIVE, {"idempotentHint": True}, Safety.DESTRUCTIVE, DESTRUCTIVE | {"idempotentHint": True}),
    (Safety.UNDECLARED, {}, Safety.UNDECLARED, {"readOnlyHint": False}),
]


@pytest.mark.parametrize(("safety", "annotations", "level", "shown"), DECLARED)
def test_level_and_hints_complete_each_other(
    safety: Any, annotations: dict[str, Any], level: Safety, shown: dict[str, Any]
) -> None:
    declared, hints = declare_safety(safety, annotations)

    assert (declared, dict(hints)) == (level, shown)
    assert safety_of(hints) is level


REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    ("harmless", {}, "safety 'harmless' is unknown; use one of read-only, mutating, destructive, undeclared"),
    (7, {}, "safety 7 is unknown"),
    (None, {"readonlyHint": True}, "annotation 'readonlyHint' is unknown; did you mean 'readOnlyHint'?"),
    (None, {"colour": "red"}, "annotation 'colour' is unknown; MCP defines title, readOnlyHint"),
    (None, {"readOnlyHint": "yes"}, "annotation 'readOnlyHint' is 'yes'; use a bool"),
    (None, {"readOnlyHint": True, "destructiveHint": True}, "both true"),
    (None, {"destructiveHint": True}, "destructiveHint is given without readOnlyHint; add readOnlyHint"),
    (None, {"idempotentHint": True}, "idempotentHint is given without readOnlyHint"),
    (None, {"readOnlyHint": False}, "readOnlyHint is false without destructiveHint; add destructiveHint"),
    (Safety.READ_ONLY, {"destructiveHint": True}, "safety is read-only, but destructiveHint is true; remove one"),
    ("mutating", {"readOnlyHint": True}, "safety is mutating, but readOnlyHint is true"),
    (Safety.UNDECLARED, {"readOnlyHint": True}, "safety is undeclared, but readOnlyHint is true"),
]


@pytest.mark.parametrize(("safety", "annotations", "message"), REFUSED)
def test_a_contradiction_an_unknown_value_or_a_partial_hint_is_refused(
    safety: Any, annotations: dict[str, Any], message: str
) -> None:
    with pytest.raises(SafetyRefused) as refused:
        declare_safety(safety, annotations)

    assert message in str(refused.value)


OF_ANY_SERVER: list[tuple[dict[str, Any], Safety]] = [
    ({}, Safety.UNDECLARED),
    ({"readOnlyHint": True}, Safety.READ_ONLY),
    ({"readOnlyHint": "true"}, Safety.UNDECLARED),
    ({"readOnlyHint": 1}, Safety.UNDECLARED),
    ({"readOnlyHint": True, "destructiveHint": True}, Safety.UNDECLARED),
    ({"destructiveHint": True}, Safety.DESTRUCTIVE),
    ({"destructiveHint": False}, Safety.MUTATING),
    ({"readOnlyHint": {"nested": []}}, Safety.UNDECLARED),
]


@pytest.mark.parametrize(("annotations", "level"), OF_ANY_SERVER)
def test_hints_of_any_server_never_fail_and_doubt_is_undeclared(annotations: dict[str, Any], level: Safety) -> None:
    assert safety_of(annotations) is level
    assert is_callable_unasked(level) is (level is Safety.READ_ONLY)


def test_a_contract_with_annotations_alone_derives_its_level() -> None:
    contract = ToolContract(name="t", description="d", input_schema={}, annotations={"readOnlyHint": True})

    assert contract.safety is Safety.READ_ONLY

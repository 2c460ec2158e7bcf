"""Failures that authors raise: the values, and how every dialect shows them."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.fault.dialects.index import DIALECTS
from strictwire.fault.dialects.terminal import render_text
from strictwire.fault.failure import Facts, Refused
from strictwire.fault.failure_code import FailureCode
from strictwire.fault.raised import Conflict, NotFound, ToolError, Unavailable
from strictwire.fault.reading import read_failure


class OutOfStock(
    Conflict, code="shop/OUT_OF_STOCK", meaning="The item is sold out.", action="Choose another item.", retryable=True
):
    """Sold out."""


class Sold(OutOfStock):
    """A subclass without a code of its own."""


RAISED: list[tuple[ToolError, tuple[Any, ...]]] = [
    (ToolError("The printer is on fire"), ("TOOL_FAILED", None, "The printer is on fire", None, False)),
    (ToolError(), ("TOOL_FAILED", None, "The tool failed", None, False)),
    (NotFound("note 7"), ("NOT_FOUND", None, "Not found: note 7", None, False)),
    (NotFound("note 7", action="List the notes."), ("NOT_FOUND", None, "Not found: note 7", "List the notes.", False)),
    (Conflict(), ("CONFLICT", None, "The state does not allow this", None, False)),
    (
        Unavailable("weather API"),
        ("UNAVAILABLE", None, "A service that the tool needs is not available: weather API", None, True),
    ),
    (
        OutOfStock("item 7"),
        ("CONFLICT", "shop/OUT_OF_STOCK", "The item is sold out: item 7", "Choose another item.", True),
    ),
    (Sold(action="Wait."), ("CONFLICT", "shop/OUT_OF_STOCK", "The item is sold out", "Wait.", True)),
]


@pytest.mark.parametrize(("raised", "expected"), RAISED)
def test_an_exception_is_a_failure(raised: ToolError, expected: tuple[Any, ...]) -> None:
    failure = raised.failure

    assert isinstance(raised, Refused)
    assert (failure.code, failure.own_code, failure.text, failure.action, failure.retryable) == expected
    assert str(raised) == failure.text


def test_the_codes_of_a_class_are_documented() -> None:
    assert OutOfStock.described == FailureCode(
        code="shop/OUT_OF_STOCK", meaning="The item is sold out.", action="Choose another item.", retryable=True
    )


@pytest.mark.parametrize(
    "options",
    [
        {"code": "OUT_OF_STOCK", "meaning": "m", "action": "a"},
        {"code": "shop/out", "meaning": "m", "action": "a"},
        {"code": "shop/OUT", "action": "a"},
        {"code": "shop/OUT", "meaning": "m"},
    ],
)
def test_a_code_without_a_namespace_or_its_texts_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="class Bad: use code='namespace/UPPER_CASE' together with meaning"):
        type("Bad", (ToolError,), {}, **options)


SHOWN: dict[str, Any] = {
    "mcp protocol": ("shop/OUT_OF_STOCK", -32603),
    "mcp": ("shop/OUT_OF_STOCK", "Choose another item."),
    "mcp/v1": ("INVALID_PARAMS", -32602),
    "resolve/v0": "cache_invalid",
    "system/1.0": "HASH_MISMATCH",
    "canonical": -32603,
    "editor/0.1": "shop/OUT_OF_STOCK",
    "http": "CONFLICT",
}


def _code(dialect: str, body: Any) -> Any:
    reads = {
        "mcp protocol": lambda: (body["data"]["code"], body["code"]),
        "mcp": lambda: (body["error"]["code"], body["error"]["action"]),
        "mcp/v1": lambda: (body["data"]["code"], body["code"]),
        "resolve/v0": lambda: body["error"]["code"],
        "system/1.0": lambda: body["error_code"],
        "canonical": lambda: body["code"],
        "editor/0.1": lambda: body["data"]["details"]["code"],
        "http": lambda: body["code"],
    }
    return reads[dialect]()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_shows_the_code_of_the_author_or_of_its_base(dialect: str) -> None:
    body = DIALECTS[dialect](OutOfStock("item 7", details={"item": 7}).failure, Facts(tool="buy"))

    assert _code(dialect, body) == SHOWN[dialect]


def test_the_terminal_shows_the_code_and_the_action() -> None:
    assert render_text(OutOfStock("item 7").failure, Facts()) == (
        "error shop/OUT_OF_STOCK: The item is sold out: item 7\n  next: Choose another item."
    )


def test_a_client_reads_the_code_of_an_author() -> None:
    failure = read_failure(DIALECTS["mcp"](OutOfStock("item 7").failure, Facts()))

    assert (failure.own_code, failure.action, failure.retryable) == ("shop/OUT_OF_STOCK", "Choose another item.", True)

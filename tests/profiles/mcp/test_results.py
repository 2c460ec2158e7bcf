"""How a success looks over MCP."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from strictwire import MemoryClient, Server
from strictwire.profiles.mcp.results import summarise

OPEN = {"type": "object"}


def result_of(answer: dict[str, Any], *, text_json: bool) -> dict[str, Any]:
    server = Server("s", version="1")
    server.tool(safety="read-only", name="t", description="d", input_schema=OPEN, output_schema=OPEN, text_json=text_json)(
        lambda _arguments: answer
    )

    async def call() -> dict[str, Any]:
        async with MemoryClient(server) as client:
            return await client.call_tool("t")

    return asyncio.run(call())


@pytest.mark.clause("G12")
def test_success_is_structured_content_with_a_minimal_text() -> None:
    result = result_of({"b": 1, "a": "secret"}, text_json=False)

    assert result["structuredContent"] == {"b": 1, "a": "secret"}
    assert result["content"] == [{"type": "text", "text": "Structured result: a, b."}]
    assert "isError" not in result


def test_a_contract_may_ask_for_the_json_as_text() -> None:
    assert result_of({"b": 1}, text_json=True)["content"] == [{"type": "text", "text": '{"b":1}'}]


@pytest.mark.clause("G14")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"summary": "Two files.", "files": [1, 2]}, "Two files."),
        ({}, "Structured result: empty."),
        ({f"m{number:02}": 0 for number in range(20)}, None),
        ([1, 2, 3], "Structured result: 3 items."),
        (5, "Structured result."),
    ],
)
def test_a_summary_is_short_and_made_from_the_structured_content_alone(value: Any, text: str | None) -> None:
    made = summarise(value)

    assert made == summarise(value)
    assert len(made) < 200
    assert text is None or made == text

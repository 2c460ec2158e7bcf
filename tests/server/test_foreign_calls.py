"""Questions of tools of FastMCP and of the official SDK reach the client of the call, in both eras."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from strictwire import Client, Elicitation, Sampling, Stdio, ToolFailed
from tests.fixtures.live import HERE
from tests.fixtures.stories import story
from tests.server.test_foreign import FASTMCP

pytestmark = pytest.mark.slow

MODERN, LEGACY = "modern", "legacy"


def fill_in(question: Elicitation) -> Any:
    """As many seats as the city has letters, so that each call has an answer of its own."""
    city = question.message.removeprefix("How many seats to ").removesuffix("?")
    return {"seats": len(city)}


def model(question: Sampling) -> str:
    return f"{len(question.messages)} message, {question.max_tokens} tokens"


@asynccontextmanager
async def connect(kind: str, era: Any, **options: Any) -> AsyncIterator[Client]:
    assert FASTMCP.exists(), "run ./scripts/peers"
    target = Stdio([str(FASTMCP), str(HERE / "foreign.py"), kind], cwd=str(HERE))
    async with Client(target, era=era, **options) as client:
        yield client


@pytest.mark.parametrize("kind", ["fastmcp", "stateless-sdk"])
@story
async def test_a_tool_may_ask_while_it_runs(kind: str) -> None:
    async with connect(kind, LEGACY, on_elicit=fill_in, on_sample=model) as client:
        booked = await asyncio.gather(*(client.call_tool("book", {"city": city}) for city in ("Bern", "Oslo", "Rome!")))
        thought = await client.call_tool("think")

    assert [each.text for each in booked] == ["Bern accept 4", "Oslo accept 4", "Rome! accept 5"]
    assert thought.text == "model: 1 message, 9 tokens"


@pytest.mark.parametrize("answer", ["decline", "cancel"])
@pytest.mark.parametrize("kind", ["fastmcp", "stateless-sdk"])
@story
async def test_a_tool_sees_that_the_user_declined(kind: str, answer: str) -> None:
    async with connect(kind, LEGACY, on_elicit=lambda _question: answer) as client:
        done = await client.call_tool("book", {"city": "Bern"})

    assert done.text == f"Bern {answer} 0"


@pytest.mark.parametrize("kind", ["fastmcp", "sdk", "stateless-sdk"])
@story
async def test_a_tool_may_end_with_questions_and_run_again(kind: str) -> None:
    async with connect(kind, MODERN, on_elicit=lambda _question: {"seats": 2}, on_sample=model) as client:
        done = await client.call_tool("rounds")

    assert done.text == "accept {'seats': 2} 1 message, 9 tokens"


@pytest.mark.parametrize("kind", ["fastmcp", "sdk", "stateless-sdk"])
@story
async def test_a_client_that_cannot_answer_learns_what_is_missing(kind: str) -> None:
    async with connect(kind, MODERN) as client:
        with pytest.raises(Exception, match="MISSING_CAPABILITY"):
            await client.call_tool("rounds")


@pytest.mark.parametrize("kind", ["fastmcp", "stateless-sdk"])
@story
async def test_the_failure_of_a_question_is_the_failure_of_the_call(kind: str) -> None:
    async with connect(kind, LEGACY, on_elicit=lambda _question: {"seats": "many"}) as client:
        with pytest.raises(ToolFailed) as caught:
            await client.call_tool("book", {"city": "Bern"})

    assert caught.value.failure.text == "The client refused the question"


@pytest.mark.parametrize("kind", ["fastmcp", "stateless-sdk"])
@story
async def test_a_tool_sees_only_the_capabilities_of_the_client_of_its_call(kind: str) -> None:
    async with connect(kind, LEGACY, on_elicit=fill_in) as client:
        declared = await client.call_tool("declared")

    assert declared.text == "elicitation"


@pytest.mark.parametrize(("kind", "era"), [("fastmcp", MODERN), ("sdk", MODERN), ("sdk", LEGACY)])
@story
async def test_a_question_that_the_library_cannot_send_fails_the_call(kind: str, era: str) -> None:
    """2026-07-28 has no requests to the client, and a second client of the SDK would open the lifespan again."""
    async with connect(kind, era, on_elicit=fill_in) as client:
        with pytest.raises(ToolFailed) as caught:
            await client.call_tool("book", {"city": "Bern"})
        state = await client.call_tool("state")

    assert caught.value.failure.code == "TOOL_FAILED"
    assert state.text == "open"


@story
async def test_tags_of_fastmcp_are_kept() -> None:
    async with connect("fastmcp", MODERN) as client:
        tags = {tool.name: tool.tags for tool in await client.list_tools()}

    assert (tags["tagged"], tags["add"]) == ({"slow"}, frozenset())

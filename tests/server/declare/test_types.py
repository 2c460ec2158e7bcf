"""Every type hint accepts and refuses what docs/TYPES.md says, and pydantic agrees unless the table says why."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pydantic
import pytest

from strictwire import MemoryClient, Server
from tests.server.declare.type_cases import CASES, Case
from tests.server.declare.types_page import as_text, render_page

cases = pytest.mark.parametrize("case", CASES, ids=[case.text for case in CASES])


def verdicts(hint: Any, values: list[Any]) -> list[bool]:
    """Whether a tool with a parameter of that type runs, for each value."""
    server = Server("types", version="1.0.0")

    def take(value: Any) -> None:
        """Takes a value."""

    take.__annotations__ = {"value": hint, "return": None}
    server.tool(safety="read-only")(take)

    async def ask() -> list[bool]:
        async with MemoryClient(server) as client, asyncio.timeout(30):
            results = [await client.call_tool("take", {"value": value}) for value in values]
        assert all("isError" not in each or _code(each) == "INVALID_PARAMS" for each in results)
        return [not each.get("isError", False) for each in results]

    return asyncio.run(ask())


def _code(result: dict[str, Any]) -> str:
    return str(result["structuredContent"]["error"]["code"])


@cases
def test_the_values_of_the_table_are_accepted_and_refused(case: Case) -> None:
    assert verdicts(case.hint, case.accepted) == [True] * len(case.accepted)
    assert verdicts(case.hint, case.refused) == [False] * len(case.refused)


def pydantic_accepts(hint: Any, value: Any) -> bool:
    adapter = pydantic.TypeAdapter(hint)
    try:
        adapter.validate_json(as_text(value))
    except pydantic.ValidationError:
        return False
    return True


@pytest.mark.parametrize("case", [case for case in CASES if case.in_pydantic], ids=lambda case: case.text)
def test_pydantic_agrees_except_where_the_table_gives_a_reason(case: Case) -> None:
    accepted = [value for value in case.accepted if not pydantic_accepts(case.hint, value)]
    refused = {as_text(value) for value in case.refused if pydantic_accepts(case.hint, value)}

    assert (accepted, refused) == ([], set(case.differs))


def test_the_table_has_at_least_sixty_types_and_the_page_shows_it() -> None:
    page = Path(__file__).parents[3] / "docs" / "TYPES.md"

    assert len({case.text for case in CASES}) == len(CASES) >= 60
    assert page.read_text(encoding="utf-8") == render_page(), "run ./scripts/types-page"

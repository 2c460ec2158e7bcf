"""Return values: what a type promises is enforced, and content stands beside structured data."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import pathlib
import uuid
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pydantic
import pytest

from strictwire import Image, MemoryClient, Result, Server

Item = TypeVar("Item")


class Stats(pydantic.BaseModel):
    low: int = pydantic.Field(serialization_alias="min")
    high: int

    @pydantic.computed_field  # type: ignore[prop-decorator]
    @property
    def spread(self) -> int:
        return self.high - self.low


class Page(pydantic.BaseModel, Generic[Item]):
    items: list[Item]


@dataclass
class Cat:
    lives: int


@dataclass
class Dog:
    name: str


@dataclass
class Report:
    stats: Stats
    path: pathlib.PurePosixPath
    counts: dict[int, str]


STATS = {"min": 1, "high": 3, "spread": 2}
NOON = dt.datetime(2026, 1, 31, 12)  # noqa: DTZ001 - results may have no offset

GOOD: list[tuple[Any, Any, Any]] = [
    (Stats, Stats(low=1, high=3), STATS),
    (list[Stats], [Stats(low=1, high=3)], {"result": [STATS]}),
    (Page[Cat], Page[Cat](items=[Cat(9)]), {"items": [{"lives": 9}]}),
    (Report, Report(Stats(low=1, high=3), pathlib.PurePosixPath("/a"), {7: "x"}),
     {"stats": STATS, "path": "/a", "counts": {"7": "x"}}),
    (Cat | Dog, Dog("Rex"), {"result": {"name": "Rex"}}),
    (list[Cat | Dog], [Cat(9), Dog("Rex")], {"result": [{"lives": 9}, {"name": "Rex"}]}),
    (dict[int, str], {1: "a"}, {"1": "a"}),
    (pathlib.PurePosixPath, pathlib.PurePosixPath("/a"), {"result": "/a"}),
    (dt.datetime, NOON, {"result": "2026-01-31T12:00:00"}),
    (uuid.UUID, uuid.UUID(int=1), {"result": "00000000-0000-0000-0000-000000000001"}),
    (dict[str, Any], {"a": Stats(low=1, high=3)}, {"a": STATS}),
    (None, None, None),
    (str, "text", None),
    (Any, {"a": 1}, {"a": 1}),
]  # fmt: skip

BAD: list[tuple[Any, Any]] = [
    (None, "text"),
    (None, {"a": 1}),
    (str, 5),
    (str, None),
    (Image, {"a": 1}),
    (Result[Stats], Stats(low=1, high=3)),
    (Stats, {"min": 1}),
    (Cat | Dog, {"legs": 4}),
    (int, "5"),
]


def called(hint: Any, value: Any) -> Any:
    server = Server("results", version="1.0.0")

    def give() -> Any:
        """Gives."""
        return value

    give.__annotations__ = {"return": hint}
    server.tool(safety="read-only")(give)

    async def ask() -> Any:
        async with MemoryClient(server) as client, asyncio.timeout(10):
            return await client.call_tool("give", {})

    return asyncio.run(ask())


@pytest.mark.parametrize(("hint", "value", "expected"), GOOD, ids=lambda value: str(value)[:40])
def test_a_value_of_the_promised_type_is_structured_content(hint: Any, value: Any, expected: Any) -> None:
    result = called(hint, value)

    assert "isError" not in result
    assert result.get("structuredContent") == expected


@pytest.mark.parametrize(("hint", "value"), BAD, ids=lambda value: str(value)[:40])
def test_a_value_of_another_type_is_invalid_and_the_author_sees_why(
    hint: Any, value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "strictwire"):
        result = called(hint, value)

    assert result["isError"]
    assert "tool give returned an invalid result: {" in caplog.text
    assert "OUTPUT_INVALID" in str(result)


def test_a_result_has_structured_data_and_content() -> None:
    result = called(Result[Stats], Result(Stats(low=1, high=3), [Image(b"\x00"), "A chart"]))

    assert result["structuredContent"] == STATS
    assert result["content"][-2:] == [
        {"type": "image", "data": "AA==", "mimeType": "image/png"},
        {"type": "text", "text": "A chart"},
    ]

"""Resources and prompts convert the texts of a client to the types of the parameters."""

from __future__ import annotations

import asyncio
import datetime as dt
import enum
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from strictwire import Context, MemoryClient, Server
from strictwire.transport.memory import CallFailed


class Tone(enum.Enum):
    KIND = "kind"
    DRY = "dry"


class Person(BaseModel):
    name: str
    age: int


server = Server("texts", version="1.0.0")


@server.resource("days://{day}/{number}{?tone,limit}")
def day_of(day: dt.date, number: int, tone: Tone = Tone.KIND, limit: Annotated[int, Field(ge=1)] = 9) -> str:
    """A day."""
    return repr((day.isoformat(), number, tone.value, limit))


@server.resource("files://{+path}")
async def read_file(path: str, context: Context) -> str:
    """A file."""
    return f"{path} {context.facts['transport']}"


@server.prompt
def greet(
    name: Annotated[str, "The name"], times: int = 2, tone: Tone = Tone.KIND, people: list[Person] | None = None
) -> str:
    """Greets.

    Args:
        times: How often.
    """
    return repr((name, times, tone.value, [person.age for person in people or []]))


def ask(method: str, **params: Any) -> Any:
    async def main() -> Any:
        async with MemoryClient(server) as client, asyncio.timeout(10):
            return await client.request(method, params)

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("uri", "text"),
    [
        ("days://2026-01-31/5", "('2026-01-31', 5, 'kind', 9)"),
        ("days://2026-01-31/5?limit=3&tone=dry", "('2026-01-31', 5, 'dry', 3)"),
        ("files://a/b%20c", "a/b c memory"),
    ],
)
def test_the_variables_of_a_uri_are_typed(uri: str, text: str) -> None:
    assert ask("resources/read", uri=uri)["contents"][0]["text"] == text


@pytest.mark.parametrize(
    ("uri", "path", "reason"),
    [
        ("days://tomorrow/5", "/day", "day: invalid RFC3339 encoded date"),
        ("days://2026-01-31/five", "/number", "number: expected `int`, got `str`"),
        ("days://2026-01-31/5?tone=rude", "/tone", "tone: invalid enum value ..."),
        ("days://2026-01-31/5?limit=0", "/limit", "limit: expected `int` >= 1"),
    ],
)
def test_a_variable_of_another_type_is_refused_by_name(uri: str, path: str, reason: str) -> None:
    with pytest.raises(CallFailed) as caught:
        ask("resources/read", uri=uri)

    assert caught.value.error["code"] == -32602
    assert caught.value.error["data"]["details"]["violations"] == [{"path": path, "keyword": "format", "message": reason}]


def test_the_arguments_of_a_prompt_have_descriptions_and_types() -> None:
    (prompt,) = ask("prompts/list")["prompts"]

    assert prompt["arguments"] == [
        {"name": "name", "description": "The name", "required": True},
        {
            "name": "times",
            "description": 'How often. Default: 2. Value of the JSON Schema {"type":"integer"}',
            "required": False,
        },
        {
            "name": "tone",
            "description": 'Default: "kind". Value of the JSON Schema {"enum":["dry","kind"]}',
            "required": False,
        },
        {"name": "people", "description": prompt["arguments"][3]["description"], "required": False},
    ]
    assert prompt["arguments"][3]["description"].startswith("JSON text of the JSON Schema {")


def test_the_arguments_of_a_prompt_are_converted() -> None:
    texts = {"name": "5", "times": "3", "tone": "dry", "people": '[{"name":"Ann","age":7}]'}

    assert ask("prompts/get", name="greet", arguments=texts)["messages"][0]["content"]["text"] == "('5', 3, 'dry', [7])"
    assert (
        ask("prompts/get", name="greet", arguments={"name": "A"})["messages"][0]["content"]["text"] == "('A', 2, 'kind', [])"
    )


@pytest.mark.parametrize(
    ("argument", "reason"),
    [({"times": "x"}, "times: expected `int`, got `str`"), ({"people": "[{"}, "people: it must be JSON text")],
)
def test_an_argument_of_another_type_is_refused_by_name(argument: dict[str, str], reason: str) -> None:
    with pytest.raises(CallFailed) as caught:
        ask("prompts/get", name="greet", arguments={"name": "A"} | argument)

    assert caught.value.error["data"]["details"]["violations"][0]["message"] == reason

"""Contracts from type hints: closed schemas, typed arguments without coercion, and clear errors for unsupported hints."""

from __future__ import annotations

import datetime as dt
import enum
import functools
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec
import pydantic
import pytest

from strictwire import Context, Embedded, Image, Refused, Text
from strictwire.contract.conform import compile_schema
from strictwire.contract.schema import DIALECT
from strictwire.server.declare.parameters import read_parameters
from strictwire.server.declare.pydantic import write_models
from strictwire.server.declare.refused import DeclarationRefused
from strictwire.server.declare.tool import declare_tool


class Signature:
    """What the type hints of a function come to."""

    def __init__(self, function: Callable[..., Any]) -> None:
        contract, _handler = declare_tool(function, {"name": "f"})
        parameters = read_parameters(function)
        self.input_schema, self.output_schema = contract.input_schema, contract.output_schema
        self.read, self.context = parameters.reader(), parameters.context

    @property
    def wraps(self) -> bool:
        return self.output_schema is not None and list(self.output_schema.get("properties", ())) == ["result"]


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: int = 0


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Track(msgspec.Struct):
    name: str
    tags: list[str] = []


class Node(msgspec.Struct):
    value: int
    next: Node | None = None


class Part(pydantic.BaseModel):
    count: int
    when: dt.date
    color: Color = Color.RED


class Tree(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    parts: list[Part]
    children: list[Tree] = []


class Even(pydantic.BaseModel):
    number: int

    @pydantic.field_validator("number")
    @classmethod
    def is_even(cls, number: int) -> int:
        if number % 2:
            raise ValueError(f"{number} is odd")
        return number


class Aliased(pydantic.BaseModel):
    from_: int = pydantic.Field(alias="from")


def everything(
    point: Point, movie: Movie, track: Track, tree: Tree, color: Color, word: Literal["a", "b"],
    small: Annotated[int, msgspec.Meta(ge=1, le=9)], maybe: str | None = None, number: float = 1.5,
) -> None:  # fmt: skip
    """Takes one parameter of each kind."""


GOOD: dict[str, Any] = {
    "point": {"x": 1},
    "movie": {"title": "m", "year": 1999},
    "track": {"name": "t", "tags": ["a"]},
    "tree": {"parts": [{"count": 1, "when": "2026-07-28", "color": "blue"}], "children": [{"parts": []}]},
    "color": "red",
    "word": "a",
    "small": 5,
}


def test_arguments_of_every_supported_type_are_converted() -> None:
    signature = Signature(everything)
    assert compile_schema(signature.input_schema).accepts(GOOD)

    assert signature.read(GOOD) == {
        "point": Point(1, 0),
        "movie": {"title": "m", "year": 1999},
        "track": Track("t", ["a"]),
        "tree": Tree(parts=[Part(count=1, when=dt.date(2026, 7, 28), color=Color.BLUE)], children=[Tree(parts=[])]),
        "color": Color.RED,
        "word": "a",
        "small": 5,
        "maybe": None,
        "number": 1.5,
    }


@pytest.mark.parametrize(
    "change",
    [
        {"point": {"x": "1"}},
        {"point": {"x": True}},
        {"point": {"x": 1.5}},
        {"point": {}},
        {"point": {"x": 1, "z": 1}},
        {"point": [1, 2]},
        {"movie": {"year": 1999}},
        {"movie": {"title": "m", "extra": 1}},
        {"track": {"name": 5}},
        {"track": {"name": "t", "tags": "a"}},
        {"tree": {"parts": [{"count": "1", "when": "2026-07-28"}]}},
        {"tree": {"parts": [{"count": 1, "when": "2026-07-28", "x": 1}]}},
        {"tree": {"parts": [{"count": 1, "when": "yesterday"}]}},
        {"tree": {"parts": [], "extra": 1}},
        {"color": "green"},
        {"color": "RED"},
        {"word": "c"},
        {"small": 0},
        {"small": 10},
        {"maybe": 5},
        {"number": "1.5"},
        {"number": True},
        {"unknown": 1},
    ],
)
def test_invalid_arguments_are_refused_by_the_schema(change: dict[str, Any]) -> None:
    assert not compile_schema(Signature(everything).input_schema).accepts({**GOOD, **change})


def test_one_point_zero_is_an_integer_at_any_depth() -> None:
    given = {**GOOD, "small": 5.0, "point": {"x": 1.0}, "tree": {"parts": [{"count": 2.0, "when": "2026-07-28"}]}}
    signature = Signature(everything)
    found = signature.read(given)

    assert compile_schema(signature.input_schema).accepts(given)
    assert (found["small"], found["point"].x, found["tree"].parts[0].count) == (5, 1, 2)
    assert type(found["small"]) is type(found["point"].x) is type(found["tree"].parts[0].count) is int


def test_integers_of_any_size_are_accepted() -> None:
    def count(number: int) -> int:
        """Counts."""
        return number

    assert Signature(count).read({"number": 10**30}) == {"number": 10**30}


def test_the_schema_is_closed_lists_required_members_and_has_no_defaults() -> None:
    def search(query: str, limit: int = 10) -> list[str]:
        """Searches."""
        return []

    signature = Signature(search)

    assert signature.input_schema == {
        "$schema": DIALECT,
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "description": "Default: 10."}},
        "required": ["query"],
        "additionalProperties": False,
    }
    assert signature.output_schema == {
        "$schema": DIALECT,
        "type": "object",
        "properties": {"result": {"type": "array", "items": {"type": "string"}}},
        "required": ["result"],
        "additionalProperties": False,
    }


def test_a_parameter_can_have_the_name_of_a_schema_keyword() -> None:
    def odd(title: str, default: str, required: bool) -> None:
        """Odd names."""

    assert set(Signature(odd).input_schema["properties"]) == {"title", "default", "required"}


def test_a_pydantic_validator_gives_its_reason_without_the_value() -> None:
    def halve(even: Even) -> int:
        """Halves."""
        return even.number // 2

    with pytest.raises(Refused) as caught:
        Signature(halve).read({"even": {"number": 31}})

    assert caught.value.failure.code == "INVALID_PARAMS"
    assert caught.value.failure.details == {
        "violations": [{"path": "/even/number", "keyword": "value_error", "message": "even/number: ... is odd"}]
    }


def test_models_in_results_use_their_aliases() -> None:
    flattened = write_models([Aliased(**{"from": 1}), (Part(count=1, when=dt.date(2026, 7, 28)),), {"a": Even(number=2)}])

    assert flattened == [{"from": 1}, [{"count": 1, "when": "2026-07-28", "color": "red"}], {"a": {"number": 2}}]


RETURNS: list[tuple[Any, bool, bool]] = [
    (None, False, False),
    (str, False, False),
    (Any, False, False),
    (Text, False, False),
    (list[Image | str], False, False),
    (list[Text | Embedded], False, False),
    (list[str], True, True),
    (str | None, True, True),
    (int, True, True),
    (Point, True, False),
    (Movie, True, False),
    (Track, True, False),
    (Tree, True, False),
    (Node, True, False),
    (list[Node], True, True),
    (dict[str, int], True, False),
    (list[Tree], True, True),
    (uuid.UUID, True, True),
    (tuple[int, str], True, True),
]


@pytest.mark.parametrize(("hint", "has_schema", "wrapped"), RETURNS, ids=lambda value: str(value))
def test_the_return_type_becomes_the_output_schema(hint: Any, has_schema: bool, wrapped: bool) -> None:
    def give() -> Any:
        """Gives."""

    give.__annotations__["return"] = hint
    signature = Signature(give)

    assert (signature.output_schema is not None, signature.wraps) == (has_schema, wrapped)
    if signature.output_schema is not None:
        assert signature.output_schema["type"] == "object"
        compile_schema(signature.output_schema)


def test_a_recursive_type_is_validated_at_every_depth() -> None:
    def count(node: Node, tree: Tree) -> Node:
        """Counts."""
        return node

    accepts = compile_schema(Signature(count).output_schema or {}).accepts

    assert accepts({"value": 1, "next": {"value": 2, "next": None}})
    assert not accepts({"value": 1, "next": {"value": "2"}})
    assert not accepts({"value": 1, "next": {"value": 2, "next": {"value": 3, "x": 1}}})


def test_the_context_is_found_by_its_type_and_is_not_an_argument() -> None:
    def act(a: int, whatever: Context) -> None:
        """Acts."""

    signature = Signature(act)

    assert (signature.context, list(signature.input_schema["properties"])) == ("whatever", ["a"])


def no_hint(a, b: int) -> None:  # type: ignore[no-untyped-def]
    pass


def variadic(*args: int) -> None:
    pass


def keywords(**named: int) -> None:
    pass


def positional(a: int, /) -> None:
    pass


def unsupported(b: int, a: Callable[[], int]) -> None:
    pass


def undefined_name(a: Nowhere) -> None:  # type: ignore[name-defined]  # noqa: F821
    pass


def unsupported_result() -> Iterator[int]:
    yield 1


def bytes_result() -> bytes:
    return b""


def nested_bytes_result() -> dict[str, list[bytes]]:
    return {}


def test_a_partial_function_has_the_hints_and_the_docstring_of_its_function() -> None:
    def add(a: int, b: int) -> int:
        """Adds two numbers."""
        return a + b

    contract, _handler = declare_tool(functools.partial(add, 1), {"name": "increment"})

    assert contract.description == "Adds two numbers."
    assert contract.input_schema["required"] == ["b"]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (no_hint, "no_hint(): parameter 'a' has no type hint"),
        (variadic, "variadic(): parameter 'args' is *args"),
        (keywords, "keywords(): parameter 'named' is *args, **kwargs"),
        (positional, "positional(): parameter 'a' is *args, **kwargs or positional-only"),
        (unsupported, "unsupported(): parameter 'a' has type collections.abc.Callable[[], int], which has no JSON Schema"),
        (undefined_name, "undefined_name(): its type hints cannot be resolved (name 'Nowhere' is not defined)"),
        (functools.partial(positional), "parameter 'a' is *args, **kwargs or positional-only"),
        (unsupported_result, "unsupported_result(): it is a generator, but a call has one result; return a list"),
        (bytes_result, "bytes_result(): the result has bytes, which JSON cannot represent; return Image"),
        (nested_bytes_result, "nested_bytes_result(): the result has bytes"),
    ],
)
def test_an_unsupported_function_is_refused_with_the_parameter_and_the_reason(
    function: Callable[..., Any], message: str
) -> None:
    with pytest.raises(DeclarationRefused) as caught:
        Signature(function)

    assert message in str(caught.value)


def test_a_missing_argument_gets_the_default_of_the_function() -> None:
    def act(a: int = 5, b: list[int] | None = None) -> None:
        """Acts."""

    assert Signature(act).read({}) == {"a": 5, "b": None}

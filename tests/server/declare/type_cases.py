"""The table of type hints: each with JSON values that a tool accepts and values that it refuses. Makes docs/TYPES.md."""

from __future__ import annotations

import collections.abc as cabc
import datetime as dt
import decimal
import enum
import fractions
import ipaddress
import pathlib
import typing
import uuid
import zoneinfo
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, NotRequired, Optional, TypeVar, Union

import annotated_types as at
import msgspec
import pydantic
import typing_extensions
from msgspec import Meta
from pydantic import AfterValidator, BaseModel, Field, HttpUrl

T = TypeVar("T")


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Point:
    x: int
    y: int = 0


@dataclass
class Cat:
    lives: int


@dataclass
class Dog:
    name: str


@dataclass
class Home:
    path: pathlib.Path
    pets: list[Cat | Dog] = field(default_factory=list)


@dataclass
class Even:
    number: int

    def __post_init__(self) -> None:
        if self.number % 2:
            raise ValueError("it must be even")


@dataclass
class Box(Generic[T]):
    value: T


@dataclass
class Branch:
    name: pathlib.PurePosixPath
    below: list[Branch] = field(default_factory=list)


class Movie(typing_extensions.TypedDict):
    title: str
    year: NotRequired[int]


class Pair(NamedTuple):
    left: int
    right: str


class Track(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    length: float = 1.0


class Model(BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    count: int = Field(ge=1)
    when: dt.date | None = None


class Checked(BaseModel):
    number: int

    @pydantic.field_validator("number")
    @classmethod
    def is_even(cls, number: int) -> int:
        if number % 2:
            raise ValueError("it must be even")
        return number


class Aliased(BaseModel):
    from_: int = Field(alias="from")


class Page(BaseModel, Generic[T]):
    items: list[T]


@dataclass
class Holder:
    model: Model


def _is_even(number: int) -> int:
    if number % 2:
        raise ValueError("it must be even")
    return number


UserId = NewType("UserId", int)
Names = typing_extensions.TypeAliasType("Names", list[str])


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    hint: Any
    text: str
    """The hint as an author writes it."""
    accepted: list[Any]
    refused: list[Any]
    differs: dict[str, str] = field(default_factory=dict)
    """Values, as JSON, on which pydantic decides differently, and why."""
    in_pydantic: bool = True
    """Whether pydantic supports the type."""


COERCES = "pydantic converts it; a schema says one type"
OFFSET = "RFC 3339 requires an offset from UTC"


CASES: list[Case] = [
    Case(str, "str", ["", "a"], [1, None, True, ["a"]]),
    Case(int, "int", [0, -5, 10**20, 1.0], ["1", 1.5, None, True], {'"1"': COERCES, "true": COERCES}),
    Case(float, "float", [0, 1.5, -2], ["1.5", None, True], {'"1.5"': COERCES, "true": COERCES}),
    Case(bool, "bool", [True, False], [0, 1, "true", None], {"0": COERCES, "1": COERCES, '"true"': COERCES}),
    Case(None, "None", [None], [0, "", False]),
    Case(Any, "Any", [None, 1, "a", [1], {"a": 1}], []),
    Case(object, "object", [None, 1, "a"], []),
    Case(typing.LiteralString, "LiteralString", ["a"], [1], in_pydantic=False),
    Case(bytes, "bytes", ["AAE=", ""], [1, "!", "AAE"], {'"!"': "bytes are base64", '"AAE"': "bytes are base64"}),
    Case(dt.datetime, "datetime", ["2026-01-31T09:00:00Z", "2026-01-31T09:00:00.5+02:00"],
         ["2026-01-31T09:00:00", "yesterday", 1, "2026-02-31T09:00:00Z"],
         {'"2026-01-31T09:00:00"': OFFSET, "1": "a number is no date-time"}),
    Case(dt.date, "date", ["2026-01-31"], ["2026-02-31", "31.1.2026", 1]),
    Case(dt.time, "time", ["09:00:00", "09:00:00.25", "09:00:00+02:00"], ["25:00:00", "nine", 9],
         {"9": "a number is no time"}),
    Case(dt.timedelta, "timedelta", ["P1D", "PT1H30M"], ["1 day", 5], {"5": COERCES, '"1 day"': COERCES}),
    Case(decimal.Decimal, "Decimal", ["1.50", 1.5, 3, "-0.1"], ["a", None, "1,5"]),
    Case(fractions.Fraction, "Fraction", ["1/3", "2"], ["1/0", "a", 1], {"1": COERCES}),
    Case(uuid.UUID, "UUID", ["12345678-1234-5678-1234-567812345678"], ["1234", 1]),
    Case(pathlib.Path, "Path", ["/tmp/x", "a/b"], [1, None]),
    Case(pathlib.PurePosixPath, "PurePosixPath", ["a/b"], [1]),
    Case(ipaddress.IPv4Address, "IPv4Address", ["127.0.0.1"], ["127.0.0.256", "::1", 1], {"1": COERCES}),
    Case(ipaddress.IPv6Address, "IPv6Address", ["::1"], ["127.0.0.1", 1], {"1": COERCES}),
    Case(ipaddress.IPv4Network, "IPv4Network", ["10.0.0.0/8"], ["10.0.0.1/8", "x"]),
    Case(ipaddress.IPv4Interface, "IPv4Interface", ["10.0.0.1/8"], ["10.0.0.1/40"]),
    Case(zoneinfo.ZoneInfo, "ZoneInfo", ["UTC"], ["Mars/Olympus", 1]),
    Case(Color, "an Enum", ["red"], ["RED", "green", 1]),
    Case(Level, "an IntEnum", [1, 2], [3, "LOW"]),
    Case(Literal["a", "b"], 'Literal["a", "b"]', ["a"], ["c", 1]),
    Case(Literal[1, "x"], 'Literal[1, "x"]', [1, "x"], [2, "1"]),
    Case(list, "list", [[], [1, "a"]], [{}, "ab"]),
    Case(list[int], "list[int]", [[], [1, 2]], [["1"], {}, 1, "12"], {'["1"]': COERCES}),
    Case(set[int], "set[int]", [[1, 2]], [[1, 1], ["1"]], {'["1"]': COERCES, "[1,1]": "a set has each member once"}),
    Case(frozenset[str], "frozenset[str]", [["a"]], [["a", "a"], [1]], {'["a","a"]': "a set has each member once"}),
    Case(tuple[int, ...], "tuple[int, ...]", [[], [1, 2]], [["a"]]),
    Case(tuple[int, str], "tuple[int, str]", [[1, "a"]], [[1], [1, "a", 2], ["a", 1]]),
    Case(cabc.Sequence[int], "Sequence[int]", [[1]], [["a"], 1]),
    Case(cabc.Iterable[int], "Iterable[int]", [[1]], [["a"], 1], {'["a"]': "pydantic checks the items when they are read"}),
    Case(dict, "dict", [{}, {"a": 1}], [[], "a"]),
    Case(dict[str, int], "dict[str, int]", [{"a": 1}], [{"a": "1"}, []], {'{"a":"1"}': COERCES}),
    Case(dict[int, str], "dict[int, str]", [{"1": "a"}, {}], [{"a": "a"}, {"1": 1}, {"1.5": "a"}]),
    Case(dict[Color, int], "dict[Color, int]", [{"red": 1}], [{"green": 1}]),
    Case(dict[dt.date, int], "dict[date, int]", [{"2026-01-31": 1}], [{"today": 1}]),
    Case(dict[uuid.UUID, int], "dict[UUID, int]", [{"12345678-1234-5678-1234-567812345678": 1}], [{"x": 1}]),
    Case(cabc.Mapping[str, bool], "Mapping[str, bool]", [{"a": True}], [{"a": 1}], {'{"a":1}': COERCES}),
    Case(Optional[int], "int | None", [1, None], ["1", ""], {'"1"': COERCES}),  # noqa: UP045
    Case(Union[int, str], "int | str", [1, "a"], [None, 1.5]),  # noqa: UP007
    Case(dt.date | str, "date | str", ["2026-01-31", "soon"], [1]),
    Case(list[int] | dict[str, int], "list[int] | dict[str, int]", [[1], {"a": 1}], ["a", ["a"]]),
    Case(list[int] | tuple[str, str], "list[int] | tuple[str, str]", [[1, 2], ["a", "b"]], [["a"], "a"]),
    Case(Cat | Dog, "Cat | Dog (dataclasses)", [{"lives": 9}, {"name": "Rex"}],
         [{}, {"lives": "9"}, {"lives": 9, "name": "R"}],
         {'{"lives":"9"}': COERCES, '{"lives":9,"name":"R"}': "objects are closed"}),
    Case(Point, "a dataclass", [{"x": 1}, {"x": 1, "y": 2}], [{}, {"x": "1"}, {"x": 1, "z": 1}, [1]],
         {'{"x":"1"}': COERCES, '{"x":1,"z":1}': "objects are closed"}),
    Case(Home, "a dataclass with a Path and a union", [{"path": "/h", "pets": [{"lives": 1}, {"name": "R"}]}],
         [{"path": 1}, {"path": "/h", "pets": [{}]}]),
    Case(Even, "a dataclass with __post_init__", [{"number": 2}], [{"number": 3}]),
    Case(Branch, "a recursive dataclass", [{"name": "a", "below": [{"name": "b"}]}], [{"name": "a", "below": [{}]}]),
    Case(Box[int], "a generic dataclass", [{"value": 1}], [{"value": "a"}]),
    Case(Box[pathlib.Path], "a generic dataclass of Path", [{"value": "/x"}], [{"value": 1}]),
    Case(Movie, "a TypedDict", [{"title": "m"}, {"title": "m", "year": 1}], [{}, {"title": "m", "x": 1}],
         {'{"title":"m","x":1}': "objects are closed"}),
    Case(Pair, "a NamedTuple", [[1, "a"]], [[1], ["a", 1]]),
    Case(Track, "a msgspec struct", [{"name": "t"}], [{}, {"name": 1}, {"name": "t", "x": 1}],
         in_pydantic=False),
    Case(UserId, "a NewType of int", [7], ["7"], {'"7"': COERCES}),
    Case(Names, "a TypeAliasType of list[str]", [["a"]], [[1], "a"]),
    Case(Annotated[int, Meta(ge=1, le=9)], "Annotated[int, msgspec.Meta(ge=1, le=9)]", [1, 9], [0, 10],
         {"0": "pydantic ignores msgspec.Meta", "10": "pydantic ignores msgspec.Meta"}),
    Case(Annotated[int, Field(ge=1, le=9)], "Annotated[int, Field(ge=1, le=9)]", [1, 9], [0, 10]),
    Case(Annotated[int, at.Interval(gt=0, lt=10)], "Annotated[int, annotated_types.Interval(gt=0, lt=10)]", [1, 9], [0, 10]),
    Case(Annotated[int, at.MultipleOf(5)], "Annotated[int, annotated_types.MultipleOf(5)]", [10], [11]),
    Case(Annotated[str, Field(min_length=2, max_length=3)], "Annotated[str, Field(min_length=2, max_length=3)]",
         ["ab"], ["a", "abcd"]),
    Case(Annotated[str, Field(pattern="^[a-z]+$")], 'Annotated[str, Field(pattern="^[a-z]+$")]', ["abc"], ["ABC", ""]),
    Case(Annotated[list[int], at.Len(1, 2)], "Annotated[list[int], annotated_types.Len(1, 2)]", [[1]], [[], [1, 2, 3]]),
    Case(Annotated[int | None, Field(ge=1)], "Annotated[int | None, Field(ge=1)]", [1, None], [0]),
    Case(Annotated[decimal.Decimal, Field(ge=0)], "Annotated[Decimal, Field(ge=0)]", ["1.5", 0], [-1, "-1"]),
    Case(Annotated[dt.date, at.Ge(dt.date(2026, 1, 1))], "Annotated[date, annotated_types.Ge(...)]",
         ["2026-01-01"], ["2025-12-31"]),
    Case(Annotated[int, AfterValidator(_is_even)], "Annotated[int, AfterValidator(...)]", [2], [3, "a"]),
    Case(Annotated[str, "The name"], 'Annotated[str, "a description"]', ["a"], [1]),
    Case(Model, "a pydantic model", [{"count": 1}, {"count": 1, "when": "2026-01-31"}],
         [{}, {"count": 0}, {"count": 1, "when": "x"}, {"count": 1, "x": 1}]),
    Case(Checked, "a pydantic model with a validator", [{"number": 2}], [{"number": 3}]),
    Case(Aliased, "a pydantic model with an alias", [{"from": 1}], [{"from_": 1}]),
    Case(Page[Point], "a generic pydantic model", [{"items": [{"x": 1}]}], [{"items": [{}]}]),
    Case(list[Model], "list of pydantic models", [[{"count": 1}]], [[{"count": 0}]]),
    Case(Holder, "a dataclass with a pydantic model", [{"model": {"count": 1}}], [{"model": {"count": 0}}]),
    Case(HttpUrl, "pydantic.HttpUrl", ["https://example.com/x"], ["ftp://example.com", "x"]),
    Case(pydantic.PositiveInt, "pydantic.PositiveInt", [1], [0]),
]  # fmt: skip

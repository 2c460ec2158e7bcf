"""Structured content becomes the type of the caller, or an error that says where it does not fit."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import msgspec
import pydantic
import pytest

from strictwire.client.errors import OutputInvalid
from strictwire.server.client.convert import convert


@dataclass
class Point:
    x: int
    y: int = 2


@dataclass
class Place:
    where: Point | None
    folder: Path


class Trip(TypedDict):
    city: str


class Kind(enum.Enum):
    A = "a"


class Model(pydantic.BaseModel):
    size: int = pydantic.Field(alias="theSize")


class Struct(msgspec.Struct):
    name: str


@dataclass
class Wrapped:
    result: int


CASES: list[tuple[Any, Any, Any]] = [
    ({"x": 1}, Point, Point(1)),
    ({"x": 1.0, "y": 3}, Point, Point(1, 3)),
    ({"where": {"x": 1}, "folder": "/a"}, Place, Place(Point(1), Path("/a"))),
    ({"city": "Rome"}, Trip, {"city": "Rome"}),
    ({"theSize": 3}, Model, Model(theSize=3)),
    ({"name": "n"}, Struct, Struct("n")),
    ({"result": 3}, int, 3),
    ({"result": 3}, Wrapped, Wrapped(3)),
    ({"result": [1, 2]}, list[int], [1, 2]),
    ({"result": "a"}, Kind, Kind.A),
    ({"result": "2026-07-28"}, dt.date, dt.date(2026, 7, 28)),
    ({"result": "1.50"}, decimal.Decimal, decimal.Decimal("1.50")),
    ({"result": "12345678-1234-5678-1234-567812345678"}, uuid.UUID, uuid.UUID("12345678-1234-5678-1234-567812345678")),
    ({"result": [{"x": 1}]}, list[Point], [Point(1)]),
    ([1, 2], list[int], [1, 2]),
    (None, type(None), None),
]


@pytest.mark.parametrize(("value", "kind", "expected"), CASES)
def test_content_is_converted(value: Any, kind: Any, expected: Any) -> None:
    assert convert(value, kind, "t") == expected


@pytest.mark.parametrize(
    ("value", "kind", "path"),
    [
        ({"x": "1"}, Point, "/x"),
        ({"y": 1}, Point, ""),
        ({"theSize": "many"}, Model, "/theSize"),
        ({"result": "secret"}, int, ""),
        (None, Point, ""),
    ],
)
def test_content_that_does_not_fit_is_refused_with_its_place_and_without_its_value(value: Any, kind: Any, path: str) -> None:
    with pytest.raises(OutputInvalid) as caught:
        convert(value, kind, "t")

    assert [each["path"] for each in caught.value.violations] == [path]
    assert "secret" not in f"{caught.value} {caught.value.violations}"


def test_a_type_without_a_json_form_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError, match="complex"):
        convert({}, complex, "t")

"""Forms are made from classes with typed fields. What a form cannot show is refused by name, with a remedy."""

from __future__ import annotations

import enum
import pathlib
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import annotated_types
import msgspec
import pytest
from pydantic import BaseModel, Field, HttpUrl, PositiveInt

from strictwire import DeclarationRefused
from strictwire.server.declare.forms import form_of

Choice = Literal["a", "b"]


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


FIELDS: list[tuple[Any, dict[str, Any]]] = [
    (str, {"type": "string"}),
    (Annotated[str, msgspec.Meta(min_length=1, max_length=9)], {"type": "string", "minLength": 1, "maxLength": 9}),
    (Annotated[str, msgspec.Meta(title="T", description="D")], {"type": "string", "title": "T", "description": "D"}),
    (Annotated[str, msgspec.Meta(extra_json_schema={"format": "email"})], {"type": "string", "format": "email"}),
    (Annotated[str, "The text"], {"type": "string", "description": "The text"}),
    (int, {"type": "integer"}),
    (Annotated[int, annotated_types.Interval(ge=1, le=9)], {"type": "integer", "minimum": 1, "maximum": 9}),
    (Annotated[int, annotated_types.Interval(gt=0, lt=10)], {"type": "integer", "minimum": 1, "maximum": 9}),
    (float, {"type": "number"}),
    (Annotated[float, msgspec.Meta(ge=0)], {"type": "number", "minimum": 0}),
    (bool, {"type": "boolean"}),
    (date, {"type": "string", "format": "date"}),
    (datetime, {"type": "string", "format": "date-time"}),
    (Choice, {"type": "string", "enum": ["a", "b"]}),
    (Literal["a"], {"type": "string", "enum": ["a"]}),
    (Color, {"type": "string", "enum": ["blue", "red"]}),
    (list[Choice], {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}),
    (list[Color], {"type": "array", "items": {"type": "string", "enum": ["blue", "red"]}}),
    (
        Annotated[list[Choice], msgspec.Meta(min_length=1, max_length=2)],
        {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1, "maxItems": 2},
    ),
]


@pytest.mark.parametrize(("hint", "schema"), FIELDS, ids=[str(hint) for hint, _ in FIELDS])
def test_each_kind_of_field_is_shown(hint: Any, schema: dict[str, Any]) -> None:
    made = msgspec.defstruct("Made", [("x", hint)])

    assert form_of(made).schema == {"type": "object", "properties": {"x": schema}, "required": ["x"]}


class Account(BaseModel):
    email: str = Field(json_schema_extra={"format": "email"})
    site: HttpUrl | None = None
    seats: PositiveInt = Field(default=1, title="Seats", description="How many")
    plan: Choice = "a"
    color: Color = Color.RED


def test_a_pydantic_model_keeps_titles_and_defaults() -> None:
    assert form_of(Account).schema == {
        "type": "object",
        "properties": {
            "email": {"type": "string", "format": "email", "title": "Email"},
            "site": {"type": "string", "format": "uri", "minLength": 1, "maxLength": 2083, "title": "Site"},
            "seats": {"type": "integer", "minimum": 1, "title": "Seats", "description": "How many", "default": 1},
            "plan": {"type": "string", "enum": ["a", "b"], "title": "Plan", "default": "a"},
            "color": {"type": "string", "enum": ["red", "blue"], "default": "red"},
        },
        "required": ["email"],
    }
    assert form_of(Account).read({"email": "a@b.de", "color": "blue"}) == Account(email="a@b.de", color=Color.BLUE)


@dataclass
class Note:
    text: str
    tags: list[Choice] = field(default_factory=list)
    until: date | None = None
    urgent: bool = False


class Partial(TypedDict):
    text: str
    tag: NotRequired[Choice | None]


class Renamed(msgspec.Struct, rename="camel"):
    due_date: date


def test_fields_with_a_default_may_be_left_empty() -> None:
    shown = form_of(Note).schema

    assert (shown["required"], [("default" in each) for each in shown["properties"].values()]) == (
        ["text"], [False, False, False, True],
    )  # fmt: skip
    assert form_of(Note).read({"text": "x"}) == Note("x")


def test_a_typed_dict_has_optional_members() -> None:
    assert form_of(Partial).schema["required"] == ["text"]
    assert form_of(Partial).schema["properties"]["tag"] == {"type": "string", "enum": ["a", "b"]}


def test_a_renamed_field_has_its_name_on_the_wire() -> None:
    assert list(form_of(Renamed).schema["properties"]) == ["dueDate"]
    assert form_of(Renamed).read({"dueDate": "2026-01-31"}) == Renamed(date(2026, 1, 31))


@dataclass
class Inner:
    x: int


USE = "use str, int, float, bool, date, datetime, a Literal or Enum of strings, or a list of one"
CHECK = "which a form cannot express; describe it in the description, and check it in the class or in the handler"
REFUSED: list[tuple[Any, str]] = [
    (Inner, f"has a type that a form cannot show; {USE}"),
    (dict[str, str], f"has a type that a form cannot show; {USE}"),
    (list[str], f"is a list of values that are no choice, which a form cannot show; {USE}"),
    (list[Inner], f"is a list of values that are no choice, which a form cannot show; {USE}"),
    (int | str, f"has a type that a form cannot show; {USE}"),
    (Literal[1, 2], f"has a type that a form cannot show; {USE}"),
    (Decimal, f"has a type that a form cannot show; {USE}"),
    (pathlib.Path, "has the format 'path', which a form does not have; use str"),
    (Annotated[str, msgspec.Meta(pattern="x")], f"has the constraint `pattern`, {CHECK}"),
    (Annotated[float, msgspec.Meta(gt=0)], f"has the constraint `exclusiveMinimum`, {CHECK}"),
    (Annotated[int, msgspec.Meta(multiple_of=5)], f"has the constraint `multipleOf`, {CHECK}"),
    (str | None, "may be None, which a form cannot send; write `= None` after it, so that it can be left empty"),
]


@pytest.mark.parametrize(("hint", "problem"), REFUSED, ids=[str(hint) for hint, _ in REFUSED])
def test_a_field_that_a_form_cannot_show_is_refused_by_name(hint: Any, problem: str) -> None:
    made = msgspec.defstruct("Made", [("x", hint)])

    with pytest.raises(DeclarationRefused) as refused:
        form_of(made)
    assert str(refused.value) == f"elicit(): field 'x' of Made {problem}"


@pytest.mark.parametrize(
    ("kind", "schema", "given", "value"),
    [
        (str, {"type": "string"}, "x", "x"),
        (int, {"type": "integer"}, 5.0, 5),
        (bool, {"type": "boolean"}, True, True),
        (date, {"type": "string", "format": "date"}, "2026-01-31", date(2026, 1, 31)),
        (Color, {"type": "string", "enum": ["blue", "red"]}, "red", Color.RED),
        (Choice, {"type": "string", "enum": ["a", "b"]}, "a", "a"),
        (
            HttpUrl,
            {"type": "string", "format": "uri", "minLength": 1, "maxLength": 2083, "title": "Value"},
            "https://a.b/",
            HttpUrl("https://a.b/"),
        ),
    ],
)
def test_a_single_value_is_a_form_with_one_field(kind: Any, schema: dict[str, Any], given: Any, value: Any) -> None:
    form = form_of(kind)

    assert form.schema == {"type": "object", "properties": {"value": schema}, "required": ["value"]}
    assert form.read({"value": given}) == value


class Point(NamedTuple):
    x: int


def test_a_class_of_another_kind_is_refused() -> None:
    with pytest.raises(DeclarationRefused, match=r"elicit\(\): Point is no form; use a dataclass"):
        form_of(Point)


def test_a_single_value_that_a_form_cannot_show_is_refused() -> None:
    with pytest.raises(DeclarationRefused, match=r"elicit\(\): field 'value' of list\[str\] is a list of values"):
        form_of(list[str])


def test_metadata_that_no_library_defines_is_refused() -> None:
    made = msgspec.defstruct("Made", [("x", Annotated[int, object()])])

    with pytest.raises(DeclarationRefused, match=r"elicit\(\): Made has metadata of class builtins.object, which is not"):
        form_of(made)

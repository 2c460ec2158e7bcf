"""What is vouched for is what the usual way finds too: it fits, it is JSON, and those are its bytes."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import threading
import uuid
from collections import OrderedDict
from contextvars import Context
from typing import Any

import msgspec
import pytest

from strictwire.canon.json import MAX_DEPTH, NotJson, as_json, render
from strictwire.contract.conform import compile_schema
from strictwire.contract.vouch import voucher
from tests.contract.made import Maker

SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "number"},
        "i": {"type": "integer"},
        "s": {"type": "string"},
        "t": {"type": "array", "items": {"type": "string"}},
        "m": {"type": "object", "additionalProperties": {"type": "number"}},
        "r": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": ["number", "null"]}}}},
    },
    "required": ["n"],
}


PATIENCE = 10.0


class Word(enum.Enum):
    A = "a"


class Text(enum.StrEnum):
    A = "a"


class Count(enum.IntEnum):
    ONE = 1


class Subclass(str):
    __slots__ = ()


ODD = [
    decimal.Decimal("1.5"),
    decimal.Decimal(2),
    decimal.Decimal("NaN"),
    float("nan"),
    float("inf"),
    -float("inf"),
    b"a",
    bytearray(b"a"),
    memoryview(b"a"),
    dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
    dt.date(2026, 1, 1),
    dt.timedelta(1),
    uuid.UUID(int=1),
    Word.A,
    Text.A,
    Count.ONE,
    Subclass("a"),
    "\ud800",
    {"a"},
    {"b", "a", "c"},
    frozenset({"a"}),
    ("a",),
    (),
    {1: 1.0},
    {Word.A: 1.0},
    {Text.A: 1.0},
    {"a": decimal.Decimal("0.5")},
    OrderedDict(a=1.0),
    [Text.A],
    [{"x": float("nan")}],
    [{"x": decimal.Decimal("0.5")}],
    [{"x": 1, "y": {"a"}}],
    msgspec.Raw(b"1"),
    msgspec.UNSET,
    object(),
    iter("ab"),
    range(2),
    {"a": 1}.keys(),
    1 + 2j,
    2**70,
    True,
    None,
]
"""What handlers return by mistake, or because Python has no one type for it."""


def _usual(schema: dict[str, Any], value: Any) -> tuple[Any, bytes] | None:
    """What the usual way makes of it; None if it is no JSON or does not fit."""
    try:
        plain, raw = as_json(value)
    except NotJson:
        return None
    return (plain, raw) if compile_schema(schema).accepts(plain) else None


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
@pytest.mark.parametrize("place", ["n", "i", "s", "t", "m", "r", "other"])
def test_a_value_with_an_odd_part_is_vouched_for_only_if_it_is_json_all_the_same(place: str, odd: Any) -> None:
    value = {"n": 1.5, place: odd}
    raw = voucher(SCHEMA)(value)

    assert raw is None or (value, raw) == _usual(SCHEMA, value)


@pytest.mark.parametrize(
    "value",
    [
        {"n": 1},
        {"n": 1.5, "i": 3, "s": "x", "t": ["a", "b"], "m": {"k": 1, "l": 2.5}, "r": [{}, {"x": 1}]},
        {"s": 'a:"\\\n😀', "n": -0.0},
    ],
)
def test_plain_values_are_vouched_for(value: dict[str, Any]) -> None:
    assert voucher(SCHEMA)(value) == render(value)


@pytest.mark.parametrize(
    "value", [{}, {"n": "x"}, {"n": 1, "t": [1]}, {"n": 1, "other": 1}, {"n": 1, "s": "null"}, [], None, 1]
)
def test_others_are_left_to_the_usual_way(value: Any) -> None:
    """Members that no property names are not looked at, and a null may have been NaN."""
    assert voucher(SCHEMA)(value) is None


def _compare(seed: int, schemas: int) -> tuple[int, int]:
    """How many values are fine, and how many of them are vouched for."""
    maker, fine, vouched = Maker(seed), 0, 0
    for _ in range(schemas):
        schema = maker.document()
        vouch = voucher(schema)
        for value in [_bend(maker, maker.value(schema)) for _ in range(12)]:
            raw, usual = vouch(value), _usual(schema, value)

            assert raw is None or usual == (value, raw), (seed, schema, value)
            fine, vouched = fine + (usual is not None), vouched + (raw is not None)
    return fine, vouched


def _bend(maker: Maker, value: Any) -> Any:
    """The same value, now and then with another Python type somewhere."""
    if maker.chance.random() < 0.03:
        return maker.chance.choice(ODD)
    if isinstance(value, dict):
        return {name: _bend(maker, member) for name, member in value.items()}
    if isinstance(value, list):
        bent = [_bend(maker, item) for item in value]
        return tuple(bent) if maker.chance.random() < 0.03 else bent
    if isinstance(value, float) and maker.chance.random() < 0.1:
        return decimal.Decimal(value)
    return value


def test_what_is_vouched_for_is_found_by_the_usual_way_too() -> None:
    fine, vouched = _compare(seed=1, schemas=200)

    assert vouched > fine / 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_what_is_vouched_for_is_found_by_the_usual_way_too_in_thousands_of_cases(seed: int) -> None:
    fine, vouched = _compare(seed=seed, schemas=1_500)

    assert vouched > fine / 20


def test_vouching_leaves_nothing_behind_in_the_context_of_a_call() -> None:
    context = Context()

    assert context.run(voucher(SCHEMA), {"n": 1}) == b'{"n":1}'
    assert list(context) == []


def test_while_another_thread_compares_the_usual_way_is_left() -> None:
    comparing, go_on = threading.Event(), threading.Event()

    class Slow(dict[str, int]):
        __hash__ = None

        def __eq__(self, other: object) -> bool:
            comparing.set()
            return go_on.wait(PATIENCE)

    vouch = voucher(SCHEMA)
    thread = threading.Thread(target=vouch, args=({"n": 1, "m": Slow()},))
    thread.start()
    assert comparing.wait(PATIENCE)
    meanwhile = vouch({"n": 1})
    go_on.set()
    thread.join(PATIENCE)

    assert meanwhile is None
    assert vouch({"n": 1}) == b'{"n":1}'


def test_looking_for_decimals_leaves_no_trace_in_the_context_of_the_author() -> None:
    with decimal.localcontext() as context:
        context.flags[decimal.FloatOperation] = True
        voucher(SCHEMA)({"n": 1.5})
        kept = context.flags[decimal.FloatOperation]
        context.flags[decimal.FloatOperation] = False
        voucher(SCHEMA)({"n": decimal.Decimal("1.5")})

        assert (kept, context.flags[decimal.FloatOperation]) == (True, False)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {}}},
        {"type": "object", "properties": {"a": True}},
        {"type": "object", "properties": {"a": {"type": "array"}}},
        {"type": "object", "properties": {"a": {"type": "object"}}},
        {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["a"]},
        {"type": "object"},
    ],
)
def test_where_a_part_may_be_anything_nothing_is_vouched_for(schema: dict[str, Any]) -> None:
    assert voucher(schema)({"a": [{"b", "c"}], "b": "x"}) is None


def test_a_schema_that_is_deeper_than_results_may_be_vouches_for_nothing() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}}
    value: dict[str, Any] = {"a": 1}
    for _ in range(MAX_DEPTH):
        schema = {"type": "object", "properties": {"a": schema}}
        value = {"a": value}

    assert voucher(schema)(value) is None

"""The faster yes is never wrong: what a program says yes to fits by the general engine, and is JSON as it stands."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import gc
import sys
import uuid
import weakref
from collections import OrderedDict
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from strictwire.canon.json import MAX_DEPTH, NotJson, as_json, render
from strictwire.contract.conform import Conformer, compile_schema
from strictwire.contract.judge import ANYTHING, Node, hasten, maybe_program, maybe_voucher
from strictwire.native import speed
from tests.contract.made import HANDLED, LEFT_TO_THE_ENGINE, Maker

SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "number"},
        "i": {"type": "integer"},
        "s": {"type": "string"},
        "t": {"type": "array", "items": {"type": "string"}},
        "m": {"type": "object", "additionalProperties": {"type": "number"}},
        "r": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": ["number", "null"]}}}},
        "any": {},
    },
    "required": ["n"],
}


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


def _engine(schema: dict[str, Any]) -> Any:
    return jsonschema_rs.Draft202012Validator(schema, offline=True, validate_formats=True)


def _says_yes(schema: dict[str, Any], value: Any) -> bool:
    program = maybe_program(schema)
    return program is not None and speed.Judge(program, MAX_DEPTH, None)(value)


def _vouches(schema: dict[str, Any], value: Any) -> bool:
    vouch = maybe_voucher(maybe_program(schema), _engine(schema).is_valid)
    return vouch is not None and vouch(value)


def _usual(schema: dict[str, Any], value: Any) -> tuple[Any, bytes] | None:
    """What the usual way makes of it; None if it is no JSON or does not fit."""
    try:
        plain, raw = as_json(value)
    except NotJson:
        return None
    return (plain, raw) if _engine(schema).is_valid(plain) else None


# Values as they are read.


def _compare(seed: int, schemas: int) -> tuple[int, int]:
    """How many values fit, and to how many of them the program says yes."""
    maker, fitting, certain = Maker(seed), 0, 0
    for _ in range(schemas):
        schema = maker.document()
        engine = _engine(schema)
        judges = hasten(maybe_program(schema), engine.is_valid), compile_schema(schema).accepts
        for value in [maker.value(schema) for _ in range(12)]:
            fits, yes = engine.is_valid(value), _says_yes(schema, value)

            assert fits or not yes, (seed, schema, value)
            assert [judge(value) for judge in judges] == [fits, fits], (seed, schema, value)
            fitting, certain = fitting + fits, certain + yes
    return fitting, certain


def test_a_program_says_yes_only_to_what_fits_by_the_general_engine() -> None:
    fitting, certain = _compare(seed=1, schemas=150)

    assert certain > fitting / 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
def test_a_program_says_yes_only_to_what_fits_by_the_general_engine_in_thousands_of_cases(seed: int) -> None:
    fitting, certain = _compare(seed=seed, schemas=1_000)

    assert certain > fitting / 3


def _of(schema: Any, **more: Any) -> dict[str, Any]:
    document = {"type": "object", "properties": {"v": schema}, "required": ["v"], "additionalProperties": False}
    return {**document, "$defs": {"x": {"type": "string", "maxLength": 2}}, **more}


KNOT = {"type": "object", "properties": {"a": {"$ref": "#/$defs/knot"}}, "additionalProperties": False}
JUDGED = [
    ({"type": "integer", "minimum": 1.0, "exclusiveMaximum": 3}, [1, 2], [0, 3, True, 1.5, "1", None, -(2**70), 2**70]),
    ({"type": "number", "exclusiveMinimum": 0, "maximum": 2**53}, [1, 0.5, 2**53], [0, 0.0, -0.0, 2**53 + 1, True]),
    ({"type": "number", "minimum": -1, "exclusiveMaximum": 1}, [-1, -1.0, 0.999], [1, 1.0, -1.001, 1e300]),
    ({"type": "string", "minLength": 2, "maxLength": 2}, ["ab", "😀😀"], ["a", "abc", "😀", 12]),
    ({"type": ["string", "null"]}, ["a", None], [1, False]),
    ({"type": ["integer", "string"], "minimum": 3, "maxLength": 1}, [3, "", "a"], [2, "ab", None]),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, [1, None], ["1", True, 1.5]),
    ({"anyOf": [False, {"type": "null"}]}, [None], [1]),
    ({"anyOf": [False]}, [], [None, 1]),
    ({"enum": ["a", 1, None]}, ["a", 1, None], ["b", True, 2, False, 1.5]),
    ({"enum": [True, "a"], "type": "boolean"}, [True], [1, "a", False]),
    ({"type": "array", "items": {"type": "boolean"}, "maxItems": 1}, [[], [True]], [[1], [True, True], {}]),
    ({"type": "array", "items": False}, [[]], [[1]]),
    ({"type": "array", "minItems": 2}, [[1, {}], [[], None, "a"]], [[1], []]),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, [{}, {"x": 1}], [{"x": "1"}, []]),
    ({"type": "object", "properties": {"p": {"type": "null"}}}, [{}, {"p": None}, {"q": 1}], [{"p": 1}]),
    ({"type": "object", "required": ["p"], "additionalProperties": {"type": "null"}}, [{"p": None}], [{}, {"p": 1}]),
    ({"type": "object", "minProperties": 1, "maxProperties": 2}, [{"a": 1}], [{}, {"a": 1, "b": 2, "c": 3}]),
    ({"$ref": "#/$defs/x", "description": "d", "x-note": 1}, ["ab"], ["abc", 1]),
    ({"$ref": "#/$defs/knot"}, [{}, {"a": {"a": {}}}], [{"a": {"b": {}}}, {"a": 1}]),
    (True, [1, "a", [{"b": None}]], []),
    (False, [], [1, None]),
]


@pytest.mark.parametrize(("schema", "fitting", "others"), JUDGED, ids=str)
def test_common_schemas_have_a_program_that_says_yes_to_what_fits_and_nothing_else(
    schema: Any, fitting: list[Any], others: list[Any]
) -> None:
    document = _of(schema, **{"$defs": {"x": {"type": "string", "maxLength": 2}, "knot": KNOT}})

    assert [value for value in fitting if not _says_yes(document, {"v": value})] == []
    assert [value for value in others if _says_yes(document, {"v": value})] == []
    assert [_engine(document).is_valid({"v": value}) for value in fitting + others] == [True] * len(fitting) + [False] * len(
        others
    )


@pytest.mark.parametrize("names", ["abc", "cba", "bca"])
def test_members_may_come_in_any_order(names: str) -> None:
    properties = {"a": {"type": "integer"}, "b": {"type": "string"}, "c": {"type": "null"}}
    schema = {"type": "object", "properties": properties, "required": ["a", "c"], "additionalProperties": False}
    value = {"a": 1, "b": "x", "c": None}

    assert _says_yes(schema, {name: value[name] for name in names})
    assert not _says_yes(schema, {name: value[name] for name in names if name != "c"})
    assert not _says_yes(schema, {name: value[name] for name in names} | {"d": 1})


@pytest.mark.parametrize("value", [1.0, 2**63, -(2**63) - 1])
def test_numbers_that_only_the_engine_knows_to_be_integers_are_left_to_it(value: Any) -> None:
    schema = _of({"type": "integer"})

    assert (_says_yes(schema, {"v": value}), _engine(schema).is_valid({"v": value})) == (False, True)
    assert hasten(maybe_program(schema), _engine(schema).is_valid)({"v": value})


@pytest.mark.parametrize("schema", LEFT_TO_THE_ENGINE, ids=str)
def test_a_schema_that_no_program_says_exactly_has_none_and_is_judged_by_the_engine(schema: Any) -> None:
    document = _of(schema, **{"$defs": {"knot": KNOT}})
    is_valid = _engine(document).is_valid

    assert maybe_program(document) is None
    assert hasten(None, is_valid) == is_valid


@pytest.mark.parametrize("schema", HANDLED, ids=str)
def test_these_have_a_program(schema: Any) -> None:
    row = {"type": "object", "properties": {"a": {"type": "integer"}}}

    assert maybe_program(_of(schema, **{"$defs": {"knot": KNOT, "row": row}})) is not None


def test_a_definition_is_made_once_however_often_it_is_referred_to() -> None:
    pairs = {
        f"d{step}": {"type": "object", "properties": {name: {"$ref": f"#/$defs/d{step + 1}"} for name in "ab"}}
        for step in range(40)
    }
    program = maybe_program(_of({"$ref": "#/$defs/d0"}, **{"$defs": {**pairs, "d40": {"type": "string"}}}))

    assert program is not None
    assert len(program) < 200


@pytest.mark.parametrize(
    "definitions",
    [
        {"a": {"$ref": "#/$defs/a"}},
        {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
        {"a": {"$ref": "#/$defs/none"}},
        None,
        {},
    ],
)
def test_a_reference_that_leads_nowhere_has_no_program(definitions: Any) -> None:
    assert maybe_program({"$ref": "#/$defs/a", "$defs": definitions}) is None


def test_an_alias_of_a_definition_that_was_made_before_is_that_definition() -> None:
    schema = _of({"type": "array", "items": {"$ref": "#/$defs/b"}}, **{"$defs": {"a": KNOT, "b": {"$ref": "#/$defs/a"}}})
    schema["properties"]["w"] = {"$ref": "#/$defs/a"}
    schema["$defs"]["knot"] = KNOT

    assert _says_yes(schema, {"v": [{"a": {}}], "w": {}})
    assert not _says_yes(schema, {"v": [{"b": {}}]})


def test_definitions_that_lead_from_one_to_the_next_for_ever_are_given_up_on() -> None:
    steps = {f"d{step}": {"type": "object", "properties": {"a": {"$ref": f"#/$defs/d{step + 1}"}}} for step in range(1_500)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**steps, "d1500": {"type": "string"}}}

    assert maybe_program(schema) is None


def test_more_nodes_than_a_program_may_have_are_given_up_on() -> None:
    assert maybe_program({"type": "object", "properties": {f"p{number}": {} for number in range(2_100)}}) is None


def test_alternatives_of_alternatives_end() -> None:
    """The engine is asked in the end, which is what the last argument stands for here."""
    endless = Node(choices=(0, 0))
    assert not speed.Judge((endless,), MAX_DEPTH, None)(1)

    doubling = (Node(choices=(1, 2)), Node(kinds=32, items=0), Node(kinds=32, items=0))
    value: Any = "neither"
    for _ in range(100):
        value = [value]
    assert not speed.Judge(doubling, MAX_DEPTH, None)(value)


def test_the_other_is_asked_what_the_program_does_not_know() -> None:
    asked: list[Any] = []

    def engine(value: Any) -> bool:
        asked.append(value)
        return True

    judge = speed.Judge((Node(kinds=4),), MAX_DEPTH, engine)

    assert (judge(1), judge(1.0), asked) == (True, True, [1.0])


# Values as handlers return them.


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
@pytest.mark.parametrize("place", ["n", "i", "s", "t", "m", "r", "any", "other"])
def test_a_value_with_an_odd_part_is_vouched_for_only_if_it_is_json_all_the_same(place: str, odd: Any) -> None:
    value = {"n": 1.5, place: odd}

    for schema in (SCHEMA, {**SCHEMA, "patternProperties": {}}):
        if _vouches(schema, value):
            assert (value, render(value)) == _usual(schema, value)


@pytest.mark.parametrize(
    "value",
    [
        {"n": 1},
        {"n": 1.5, "i": 3, "s": "x", "t": ["a", "b"], "m": {"k": 1, "l": 2.5}, "r": [{}, {"x": 1}, {"x": None}]},
        {"s": 'a:"\\\n😀', "n": -0.0, "any": [{"a": None}, "null"], "other": {"more": True}},
    ],
)
@pytest.mark.parametrize("engine_only", [{}, {"patternProperties": {}}])
def test_plain_values_are_vouched_for(value: dict[str, Any], engine_only: dict[str, Any]) -> None:
    assert _vouches(SCHEMA | engine_only, value)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"n": "x"},
        {"n": 1, "t": [1]},
        {"n": float("nan")},
        {"n": 1, "any": {1: 2}},
        {"n": 1, "any": ("a",)},
        {"n": 1, "s": "a\ud800"},
        {"n": 1, "\udfff": 1},
        [],
        None,
        1,
    ],
)
@pytest.mark.parametrize("engine_only", [{}, {"patternProperties": {}}])
def test_others_are_left_to_the_usual_way(value: Any, engine_only: dict[str, Any]) -> None:
    assert not _vouches(SCHEMA | engine_only, value)


def _compare_results(seed: int, schemas: int) -> tuple[int, int]:
    """How many values are fine, and how many of them are vouched for."""
    maker, fine, vouched = Maker(seed), 0, 0
    for _ in range(schemas):
        schema = maker.document()
        for value in [_bend(maker, maker.value(schema)) for _ in range(12)]:
            yes, usual = _vouches(schema, value), _usual(schema, value)

            assert not yes or usual == (value, render(value)), (seed, schema, value)
            fine, vouched = fine + (usual is not None), vouched + yes
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
    fine, vouched = _compare_results(seed=1, schemas=200)

    assert vouched > fine / 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_what_is_vouched_for_is_found_by_the_usual_way_too_in_thousands_of_cases(seed: int) -> None:
    fine, vouched = _compare_results(seed=seed, schemas=1_500)

    assert vouched > fine / 2


def _nested(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def test_what_is_deeper_than_results_may_be_is_not_vouched_for() -> None:
    judge = speed.Judge(ANYTHING, MAX_DEPTH, None)

    assert [judge(_nested(levels)) for levels in (0, MAX_DEPTH, MAX_DEPTH + 1, 100_000)] == [True, True, False, False]


def test_a_value_that_holds_itself_is_not_vouched_for() -> None:
    value: list[Any] = []
    value.append(value)

    assert not speed.Judge(ANYTHING, MAX_DEPTH, None)(value)


def test_a_schema_of_another_draft_is_left_to_the_engine() -> None:
    """In draft 4 `exclusiveMinimum` is a boolean."""
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1, "exclusiveMinimum": True}},
    }
    conformer = compile_schema(schema)

    assert conformer.vouch is not None
    for judge in (conformer.accepts, conformer.vouch):
        assert [judge({"n": number}) for number in (0, 1, 2)] == [False, False, True]


def test_without_the_module_everything_is_left_to_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strictwire.contract.judge.speed", None)
    engine = _engine(SCHEMA)
    conformer = Conformer(engine, SCHEMA)

    assert (conformer.accepts({"n": 1}), conformer.accepts({}), conformer.vouch) == (True, False, None)


# The judge itself.

WORD = Node(kinds=16)


@pytest.mark.parametrize(
    ("program", "error"),
    [
        ((), ValueError),
        ((Node(items=1),), ValueError),
        ((Node(others=-2),), ValueError),
        ((Node(members=(("a", 7, True),)),), ValueError),
        ((Node(choices=(3,)),), ValueError),
        ((Node(choices=("a",)),), TypeError),  # type: ignore[arg-type]
        ((Node(members=((b"a", 0, True),)),), TypeError),  # type: ignore[arg-type]
        ((Node(members=None),), TypeError),  # type: ignore[arg-type]
        ((WORD, (1, 2)), TypeError),
        ((WORD, None), TypeError),
        ([WORD], TypeError),
    ],
)
def test_a_program_that_is_none_is_refused(program: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        speed.Judge(program, MAX_DEPTH, None)


def test_a_judge_is_asked_about_one_value() -> None:
    judge: Any = speed.Judge((WORD,), MAX_DEPTH, None)

    for ask in (lambda: judge(), lambda: judge(1, 2), lambda: judge(value=1)):
        with pytest.raises(TypeError):
            ask()


def test_what_the_other_raises_is_raised() -> None:
    def engine(_value: Any) -> bool:
        raise LookupError

    with pytest.raises(LookupError):
        speed.Judge((WORD,), MAX_DEPTH, engine)(1)


def test_nothing_is_held_that_is_not_needed() -> None:
    class Engine:
        def __call__(self, value: Any) -> bool:
            return value is self

    engine: Any = Engine()
    gone, name, word = weakref.ref(engine), "a name of its own", "a word of its own"
    counts = sys.getrefcount(name), sys.getrefcount(word)
    program = (Node(members=((name, 1, True),), others=1), Node(kinds=16, listed=(word,)))
    judge = speed.Judge(program, MAX_DEPTH, engine)
    value = {name: word}
    held = sys.getrefcount(value)
    assert [judge(value) for _ in range(100)] == [True] * 100
    assert [judge({name: 1}) for _ in range(100)] == [False] * 100
    assert sys.getrefcount(value) == held

    del judge, program, engine, value
    gc.collect()

    assert (gone(), sys.getrefcount(name), sys.getrefcount(word)) == (None, *counts)

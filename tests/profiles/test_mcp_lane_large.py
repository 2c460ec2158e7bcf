"""Large calls and large results, judged in C where that can be: the same bytes, the same records."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from strictwire import Server
from strictwire.canon.json import JsonObject, render
from tests.profiles.lane import MODERN, OPENING, by_answering, by_serving, call, converse

ROW = {
    "type": "object",
    "properties": {
        "id": {
            "type": "integer",
            "minimum": 0,
            "description": "Which row it is, counted from the first one, which is zero.",
        },
        "name": {
            "type": "string",
            "minLength": 1,
            "maxLength": 40,
            "description": "What people call it when they talk of it.",
        },
        "score": {
            "type": "number",
            "minimum": 0,
            "maximum": 1000,
            "description": "How good it is, in no unit that is known.",
        },
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 10, "description": "Words that it is found by."},
        "note": {"type": ["string", "null"], "description": "Whatever else there is to say about it, or nothing at all."},
    },
    "required": ["id", "name"],
    "additionalProperties": False,
}
ROWS = {
    "type": "object",
    "properties": {"rows": {"type": "array", "items": ROW}, "odd": {"type": "string"}},
    "required": ["rows"],
    "additionalProperties": False,
}
OPEN = ROWS | {"additionalProperties": True}


def _row(number: int, **members: Any) -> JsonObject:
    return {"id": number, "name": f"row {number}: of many", "score": number / 4, "tags": ["red", "t1"]} | members


def _rows(*more: JsonObject, **members: Any) -> JsonObject:
    return {"rows": [*(_row(number) for number in range(40)), *more], **members}


ODD: dict[str, Any] = {
    "decimal": Decimal("1.5"),
    "whole decimal": Decimal(2),
    "not a number": float("nan"),
    "endless": float("inf"),
    "text": "2",
    "null": None,
    "flag": True,
    "large": 1001,
    "large decimal": Decimal(1001),
    "nothing odd": 2.5,
}


async def _echo(arguments: JsonObject) -> Any:
    return arguments


async def _shuffle(arguments: JsonObject) -> Any:
    """What handlers return that is not quite JSON, by the name of it."""
    odd = arguments.get("odd", "")
    if odd in ODD:
        return _rows(_row(1, score=ODD[odd]))
    match odd:
        case "a set":
            return _rows(_row(1, tags={"c", "b", "a"}))
        case "a tuple":
            return {"rows": tuple(arguments["rows"])}
        case "a key":
            return _rows({1: 2})
        case "another member":
            return _rows(more=1)
        case "a null":
            return _rows(_row(1, note=None))
        case "the word null":
            return _rows(_row(1, note="null"))
        case "a lone surrogate":
            return _rows(_row(1, note="\ud800"))
    return {"rows": [{**row, "name": row["name"][::-1]} for row in arguments["rows"]]}


RESULTS = [*ODD, "a set", "a tuple", "a key", "another member", "a null", "the word null", "a lone surrogate", ""]


def make_server() -> Server:
    server = Server("large", version="1.0.0")
    for name, given, function in (("rows", ROWS, _echo), ("open", OPEN, _echo), ("shuffle", ROWS, _shuffle)):
        promised = OPEN if name == "open" else ROWS
        server.tool(name=name, description="A tool.", input_schema=given, output_schema=promised)(function)
    return server


talk = partial(converse, make_server=make_server)

ARGUMENTS: dict[str, JsonObject] = {
    "fitting": _rows(),
    "fitting, with a null": _rows(_row(1, note=None)),
    "fitting, whole numbers for a score": _rows(_row(1, score=3)),
    "an integral float for an integer": _rows(_row(1, id=3.0)),
    "an integer beyond 64 bits": _rows(_row(1, id=2**70)),
    "an integer below its bound": _rows(_row(1, id=-1)),
    "a score above its bound": _rows(_row(1, score=1000.5)),
    "a flag for an integer": _rows(_row(1, id=True)),
    "a number for a text": _rows(_row(1, name=3)),
    "an empty name": _rows(_row(1, name="")),
    "a long name": _rows(_row(1, name="x" * 41)),
    "a name of 40 signs beyond the first plane": _rows(_row(1, name="😀" * 40)),
    "too many tags": _rows(_row(1, tags=["x"] * 11)),
    "no name": _rows({"id": 1}),
    "a member too many": _rows(_row(1, more=1)),
    "a member too many at the top": _rows(more={"a": [1]}),
    "a plan hash": _rows(plan_hash="x"),
    "text that looks like more members": _rows(_row(1, name='a":"b","c":"')),
    "colons in texts": _rows(_row(1, name=":::", note="a:b")),
    "no rows": {"odd": "x" * 3000},
    "rows that are none": {"rows": {"a": "x" * 3000}},
}


@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.parametrize("tool", ["rows", "open", "shuffle"])
@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_are_judged_the_same_way(name: str, tool: str, era: str) -> None:
    meta = MODERN if era == "modern" else None
    opening = [] if era == "modern" else [render(OPENING)]
    usual, odd = call(tool, _rows(), meta=meta), call(tool, ARGUMENTS[name], meta=meta, request_id="a:b")
    messages = [*opening, odd, usual, odd, usual, call("open", _rows(), meta=meta), odd]

    short, long = talk(by_answering, messages), talk(by_serving, messages)

    assert short == long


@pytest.mark.parametrize("odd", RESULTS)
def test_results_are_judged_the_same_way(odd: str) -> None:
    messages = [call("shuffle", _rows(odd=odd), meta=MODERN), call("shuffle", _rows(), meta=MODERN)] * 2

    assert talk(by_answering, messages) == talk(by_serving, messages)


PLAIN = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rows","arguments":%s,"_meta":%s}}'
LAST = '{"params":{"arguments":%s,"_meta":%s,"name":"rows"},"method":"tools/call","id":1,"jsonrpc":"2.0"}'
FITTING = render(_rows()).decode()
META = render(MODERN).decode()
WRITTEN: dict[str, str] = {
    "a key twice": PLAIN % (FITTING.replace('"id":7,', '"id":7,"id":7,'), META),
    "a key twice, escaped": PLAIN % (FITTING.replace('"id":7,', '"id":7,"\\u0069d":8,'), META),
    "a member that is not named, twice": PLAIN % (FITTING.replace('"id":7,', '"id":7,"x":1,"x":2,'), META),
    "a member that is not named and no JSON": PLAIN % (FITTING.replace('"id":7,', '"id":7,"x":01,'), META),
    "a member that is not named and no text": PLAIN % (FITTING.replace('"id":7,', '"id":7,"x":"\\ud800",'), META),
    "rows twice": PLAIN % (FITTING.replace('{"rows":', '{"rows":[],"rows":'), META),
    "an escaped colon": PLAIN % (FITTING.replace("row 7:", "row 7\\u003a"), META),
    "an escaped colon beside a key twice": PLAIN % (FITTING.replace("row 7:", '\\u003a","id":7,"note":"'), META),
    "a float that is whole": PLAIN % (FITTING.replace('"id":7,', '"id":7.0,'), META),
    "a number with an exponent": PLAIN % (FITTING.replace('"id":7,', '"id":7e0,'), META),
    "a score with an exponent": PLAIN % (FITTING.replace('"score":1.75', '"score":1.75e2'), META),
    "a score of minus zero": PLAIN % (FITTING.replace('"score":1.75', '"score":-0'), META),
    "a score out of range": PLAIN % (FITTING.replace('"score":1.75', '"score":1e400'), META),
    "spaces": PLAIN.replace(":", " : ") % (FITTING.replace(",", " , "), META),
    "the name last": LAST % (FITTING, META),
    "another parameter": PLAIN.replace('"name":', '"x":1,"name":') % (FITTING, META),
    "cut off": (PLAIN % (FITTING, META))[:-40],
    "raw bytes that are no text": PLAIN % (FITTING.replace("row 7:", "row \udcff"), META),
    "too deep in a member that is not named": PLAIN
    % (FITTING.replace('"id":7,', f'"id":7,"x":{"[" * 130}{"]" * 130},'), META),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_bytes_are_judged_the_same_way(name: str) -> None:
    odd = WRITTEN[name].encode(errors="surrogateescape")
    usual = (PLAIN % (FITTING, META)).encode()
    messages = [usual, odd, usual, odd]

    assert odd != usual
    assert talk(by_answering, messages) == talk(by_serving, messages)

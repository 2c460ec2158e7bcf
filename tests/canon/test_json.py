"""The codec: what is refused, what is kept exactly, and that nothing is repaired."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import random
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strictwire.canon.json import (
    MAX_DEPTH,
    Fault,
    Limits,
    NotJson,
    NotStrict,
    as_json,
    join_members,
    parse,
    parse_object,
    render,
    render_sorted,
    slice_items,
    slice_members,
)

REFUSED = [
    (b"", Fault.SYNTAX),
    (b"{", Fault.SYNTAX),
    (b"nul", Fault.SYNTAX),
    (b"[1,]", Fault.SYNTAX),
    (b'{"a":1,}', Fault.SYNTAX),
    (b"{'a':1}", Fault.SYNTAX),
    (b"01", Fault.SYNTAX),
    (b"+1", Fault.SYNTAX),
    (b".5", Fault.SYNTAX),
    (b"1.", Fault.SYNTAX),
    (b"NaN", Fault.SYNTAX),
    (b"Infinity", Fault.SYNTAX),
    (b"-Infinity", Fault.SYNTAX),
    (b"// comment\n1", Fault.SYNTAX),
    (b"1 2", Fault.SYNTAX),
    (b'{"a":1}\x00', Fault.SYNTAX),
    (b"\xef\xbb\xbf{}", Fault.SYNTAX),
    ("{}".encode("utf-16"), Fault.SYNTAX),
    (b'"\x01"', Fault.SYNTAX),
    (b'"\\x41"', Fault.SYNTAX),
    (b'"\\ud800"', Fault.SYNTAX),
    (b'"\\udc00\\ud800"', Fault.SYNTAX),
    (b'{"\\ud83d":1}', Fault.SYNTAX),
    (b'"\xff"', Fault.ENCODING),
    (b'"\xed\xa0\x80"', Fault.ENCODING),
    (b'{"\xc3\x28":1}', Fault.ENCODING),
    (b"1e400", Fault.NUMBER_RANGE),
    (b"-1e400", Fault.NUMBER_RANGE),
    (b"1" * 5000, Fault.NUMBER_RANGE),
    (b'{"a":1,"a":1}', Fault.DUPLICATE_KEY),
    (b'{"a":1,"\\u0061":2}', Fault.DUPLICATE_KEY),
    (b'{"a":{"b":[{"c":1,"c":2}]}}', Fault.DUPLICATE_KEY),
    (b'{"x":"\\u003a","a":1,"a":2}', Fault.DUPLICATE_KEY),
    (b'{"a":"1:2:3","a":":"}', Fault.DUPLICATE_KEY),
    (b'{"":1,"":2}', Fault.DUPLICATE_KEY),
    (b"[" * 129 + b"]" * 129, Fault.TOO_DEEP),
    (b'{"a":' * 129 + b"1" + b"}" * 129, Fault.TOO_DEEP),
    (b"[" * 100_000, Fault.TOO_DEEP),
]


@pytest.mark.parametrize(("raw", "fault"), REFUSED, ids=lambda value: repr(value)[:40])
def test_what_is_not_strict_json_is_refused_with_its_reason(raw: bytes, fault: Fault) -> None:
    with pytest.raises(NotStrict) as refused:
        parse(raw)

    assert refused.value.fault is fault


@pytest.mark.parametrize("member", ["method", "id", "name", "jsonrpc"])
def test_a_routing_member_twice_is_refused(member: str) -> None:
    raw = b'{"jsonrpc":"2.0","%b":"a","%b":"b"}' % (member.encode(), member.encode())

    with pytest.raises(NotStrict) as refused:
        parse(raw)

    assert refused.value.fault is Fault.DUPLICATE_KEY


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b" [1, 2.5, true, null] ", [1, 2.5, True, None]),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b'{"a":{"b":1},"c":{"b":1}}', {"a": {"b": 1}, "c": {"b": 1}}),
        (b'{"a": ":" , "b" :"\\u003a"}', {"a": ":", "b": ":"}),
        (b"[" * 128 + b"]" * 128, json.loads(b"[" * 128 + b"]" * 128)),
        (b'["' + b"[" * 500 + b'"]', ["[" * 500]),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_strict_json_is_kept_exactly(raw: bytes, value: object) -> None:
    assert parse(raw) == value


def test_a_document_past_the_size_limit_is_not_even_parsed() -> None:
    with pytest.raises(NotStrict) as refused:
        parse(b"[1,2", Limits(size=3))

    assert refused.value.fault is Fault.TOO_LARGE


def test_the_place_of_an_offence_is_told_without_the_input() -> None:
    with pytest.raises(NotStrict) as refused:
        parse(b'{"secret":1,}')

    assert str(refused.value) == "not strict JSON: syntax at byte 12"


def test_parse_object_refuses_what_is_no_object() -> None:
    with pytest.raises(NotStrict) as refused:
        parse_object(b"[]")

    assert refused.value.fault is Fault.NOT_AN_OBJECT


def test_raw_members_are_passed_on_unchanged() -> None:
    raw = b'{"z":1.50,"a":{ "k":"\\u00e9" },"n":1e2}'

    members = slice_members(raw)

    assert members == {"z": b"1.50", "a": b'{ "k":"\\u00e9" }', "n": b"1e2"}
    assert join_members(members) == b'{"z":1.50,"a":{ "k":"\\u00e9" },"n":1e2}'


def test_slices_of_something_else_are_refused() -> None:
    with pytest.raises(NotStrict):
        slice_members(b"[1]")


def test_items_of_an_array_keep_their_text() -> None:
    assert slice_items(b'[1.0, {"b":1e2} ,"\\u00e9"]') == [b"1.0", b'{"b":1e2}', b'"\\u00e9"']


def test_items_of_something_else_are_refused() -> None:
    with pytest.raises(NotStrict):
        slice_items(b"{}")


def test_rendering_keeps_declared_order_and_sorts_on_request() -> None:
    assert render({"b": 1, "a": [True, None]}) == b'{"b":1,"a":[true,null]}'
    assert render_sorted({"b": {"d": 1, "c": 2}, "a": 0}) == b'{"a":0,"b":{"c":2,"d":1}}'


@dataclasses.dataclass
class Point:
    x: int
    when: dt.date


@pytest.mark.parametrize(
    ("value", "raw"),
    [
        ({"b": 1, "a": (1, 2)}, b'{"a":[1,2],"b":1}'),
        (Point(1, dt.date(2026, 1, 2)), b'{"x":1,"when":"2026-01-02"}'),
        ({"big": 2**70}, b'{"big":1180591620717411303424}'),
        ({"s": {3, 1, 2}}, b'{"s":[1,2,3]}'),
        (1.0, b"1.0"),
    ],
    ids=repr,
)
def test_what_a_handler_returns_becomes_plain_json(value: object, raw: bytes) -> None:
    plain, written = as_json(value)

    assert written == raw
    assert plain == json.loads(raw)


class Raises:
    def __str__(self) -> str:
        raise RuntimeError


def _deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


_CYCLE: list[Any] = []
_CYCLE.append(_CYCLE)


@pytest.mark.parametrize(
    "value",
    [float("nan"), {"a": float("inf")}, [float("-inf")],
     "\ud800", {"\udfff": 1}, {1: 2}, {1: 1, "1": 2}, b"x", {"a": [b"x"]},
     object(), Raises(), _deep(200), _deep(5000), _CYCLE, (float("nan"),), {"a": (b"x",)}, Point],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_json_cannot_carry_is_refused_and_never_bent(value: object) -> None:
    with pytest.raises(NotJson):
        as_json(value)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",))),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text(st.characters(exclude_categories=("Cs",))), inner, max_size=5)
    ),
    max_leaves=30,
)


@given(JSON)
def test_what_is_written_reads_back_equal(value: Any) -> None:
    assert parse(render(value)) == value
    assert as_json(value) == (value, render(value))


@given(JSON, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_spaces_escapes_and_order_of_the_sender_do_not_matter(value: Any, ascii_only: bool, indent: Any) -> None:
    raw = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()

    assert parse(raw) == value
    assert render_sorted(parse(raw)) == render_sorted(value)


@pytest.mark.slow
@given(
    st.dictionaries(st.text(st.characters(exclude_categories=("Cs",)), max_size=8), JSON, min_size=1, max_size=5), st.data()
)
def test_a_repeated_key_is_found_wherever_it_stands_and_however_it_is_spelt(
    members: dict[str, Any], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(members)))
    spelling = "".join(f"\\u{ord(c):04x}" if ord(c) < 0x10000 else c for c in name) if data.draw(st.booleans()) else None
    twice = json.dumps(name) if spelling is None else f'"{spelling}"'
    raw = json.dumps(members)[:-1] + f", {twice}: 0}}"
    wrapped = f'{{"outer": [1, {raw}]}}'.encode()

    with pytest.raises(NotStrict) as refused:
        parse(wrapped)

    assert refused.value.fault is Fault.DUPLICATE_KEY


@given(JSON)
def test_slices_join_to_the_same_value(value: Any) -> None:
    raw = render({"a": value, "b": [value]})

    assert parse(join_members(slice_members(raw))) == {"a": value, "b": [value]}


@settings(max_examples=300)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_a_refusal(raw: bytes) -> None:
    try:
        value = parse(raw)
    except NotStrict:
        return
    assert json.loads(raw) == value


@pytest.mark.slow
def test_a_fuzz_run_of_the_decoder_agrees_with_a_slow_reader() -> None:
    """Mutates documents byte by byte; the verdict must be that of a reader that counts every pair."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    corpus = [raw for raw, _ in REFUSED if len(raw) < 1000] + [
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":[1.5,"x\\u00e9"]}}}',
        b'[{"a":1},{"a":{"a":[{}]}},"\\ud83d\\ude00",-0.0,1e5]',
    ]
    alphabet = string.printable.encode() + b"\x00\xff\xc3\xa9\xed"
    for _ in range(60_000):
        raw = bytearray(chance.choice(corpus))
        for _ in range(chance.randint(1, 4)):
            _mutate(raw, chance, alphabet)
        assert _accepts(bytes(raw)) == _slow_accepts(bytes(raw)), bytes(raw)


def _mutate(raw: bytearray, chance: random.Random, alphabet: bytes) -> None:
    place = chance.randint(0, len(raw))
    choice = chance.random()
    if choice < 0.4:
        raw[place:place] = bytes([chance.choice(alphabet)])
    elif choice < 0.7:
        del raw[place : place + chance.randint(1, 3)]
    else:
        start = chance.randint(0, len(raw))
        raw[place:place] = raw[start : start + chance.randint(1, 12)]


def _accepts(raw: bytes) -> bool:
    try:
        parse(raw)
    except NotStrict:
        return False
    return True


def _slow_accepts(raw: bytes) -> bool:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in pairs}) != len(pairs):
            raise ValueError
        return dict(pairs)

    def finite(text: str) -> float:
        number = float(text)
        if number in (float("inf"), float("-inf")):
            raise ValueError
        return number

    def nothing(text: str) -> None:
        raise ValueError(text)

    try:
        text = raw.decode("utf-8")
        if text.startswith("\ufeff"):
            return False
        value = json.loads(text, object_pairs_hook=unique, parse_float=finite, parse_constant=nothing)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        return False
    return _depth(value) <= MAX_DEPTH


def _depth(value: Any) -> int:
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if members is None else 1 + max(map(_depth, members), default=0)


_BRACKETED = st.recursive(
    st.text(alphabet='[]{}",:\\a\n', max_size=6) | st.integers(0, 9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(alphabet='[]{}"a', max_size=4), inner, max_size=3),
    max_leaves=40,
)


@given(_BRACKETED, st.integers(1, 8), st.booleans())
def test_nesting_is_judged_whatever_texts_hold(value: Any, depth: int, spaced: bool) -> None:
    raw = json.dumps(value, ensure_ascii=spaced, separators=(" , ", " : ") if spaced else (",", ":")).encode()
    if _depth(value) <= depth:
        assert parse(raw, Limits(depth=depth)) == value
    else:
        with pytest.raises(NotStrict) as refused:
            parse(raw, Limits(depth=depth))
        assert refused.value.fault is Fault.TOO_DEEP

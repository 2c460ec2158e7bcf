"""Strict JSON: what is refused, what is kept exactly, and that nothing is repaired."""

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
def test_a_document_that_is_not_strict_json_is_refused_with_the_fault(raw: bytes, fault: Fault) -> None:
    with pytest.raises(NotStrict) as refused:
        parse(raw)

    assert refused.value.fault is fault


@pytest.mark.parametrize("member", ["method", "id", "name", "jsonrpc"])
def test_a_duplicate_routing_member_is_refused(member: str) -> None:
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
def test_strict_json_is_decoded_exactly(raw: bytes, value: object) -> None:
    assert parse(raw) == value


def test_a_document_above_the_size_limit_is_refused_without_parsing() -> None:
    with pytest.raises(NotStrict) as refused:
        parse(b"[1,2", Limits(size=3))

    assert refused.value.fault is Fault.TOO_LARGE


def test_the_message_has_the_position_of_the_error_but_no_input() -> None:
    with pytest.raises(NotStrict) as refused:
        parse(b'{"secret":1,}')

    assert str(refused.value) == "not strict JSON: syntax at byte 12"


def test_parse_object_refuses_an_array() -> None:
    with pytest.raises(NotStrict) as refused:
        parse_object(b"[]")

    assert refused.value.fault is Fault.NOT_AN_OBJECT


def test_raw_members_are_kept_byte_for_byte() -> None:
    raw = b'{"z":1.50,"a":{ "k":"\\u00e9" },"n":1e2}'

    members = slice_members(raw)

    assert members == {"z": b"1.50", "a": b'{ "k":"\\u00e9" }', "n": b"1e2"}
    assert join_members(members) == b'{"z":1.50,"a":{ "k":"\\u00e9" },"n":1e2}'


def test_slice_members_refuses_an_array() -> None:
    with pytest.raises(NotStrict):
        slice_members(b"[1]")


def test_raw_items_are_kept_byte_for_byte() -> None:
    assert slice_items(b'[1.0, {"b":1e2} ,"\\u00e9"]') == [b"1.0", b'{"b":1e2}', b'"\\u00e9"']


def test_slice_items_refuses_an_object() -> None:
    with pytest.raises(NotStrict):
        slice_items(b"{}")


def test_render_keeps_the_order_and_render_sorted_sorts() -> None:
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
def test_the_result_of_a_handler_becomes_plain_json(value: object, raw: bytes) -> None:
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
def test_a_result_without_an_exact_json_form_is_refused(value: object) -> None:
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
def test_an_encoded_value_decodes_to_an_equal_value(value: Any) -> None:
    assert parse(render(value)) == value
    assert as_json(value) == (value, render(value))


@given(JSON, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_spaces_and_escapes_do_not_change_the_value(value: Any, ascii_only: bool, indent: Any) -> None:
    raw = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()

    assert parse(raw) == value
    assert render_sorted(parse(raw)) == render_sorted(value)


@pytest.mark.slow
@given(
    st.dictionaries(st.text(st.characters(exclude_categories=("Cs",)), max_size=8), JSON, min_size=1, max_size=5), st.data()
)
def test_a_duplicate_key_is_found_at_any_place_and_with_any_escapes(members: dict[str, Any], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(members)))
    spelling = "".join(f"\\u{ord(c):04x}" if ord(c) < 0x10000 else c for c in name) if data.draw(st.booleans()) else None
    twice = json.dumps(name) if spelling is None else f'"{spelling}"'
    raw = json.dumps(members)[:-1] + f", {twice}: 0}}"
    wrapped = f'{{"outer": [1, {raw}]}}'.encode()

    with pytest.raises(NotStrict) as refused:
        parse(wrapped)

    assert refused.value.fault is Fault.DUPLICATE_KEY


@given(JSON)
def test_joined_slices_decode_to_the_same_value(value: Any) -> None:
    raw = render({"a": value, "b": [value]})

    assert parse(join_members(slice_members(raw))) == {"a": value, "b": [value]}


@settings(max_examples=300)
@given(st.binary(max_size=200))
def test_any_bytes_are_decoded_correctly_or_refused(raw: bytes) -> None:
    try:
        value = parse(raw)
    except NotStrict:
        return
    assert json.loads(raw) == value


@pytest.mark.slow
def test_fuzzed_documents_are_accepted_exactly_when_a_slow_reader_accepts_them() -> None:
    """Mutates documents byte by byte. The slow reader uses the standard library and checks every pair and every level."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    seeded = random.Random(seed)
    corpus = [raw for raw, _ in REFUSED if len(raw) < 1000] + [
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":[1.5,"x\\u00e9"]}}}',
        b'[{"a":1},{"a":{"a":[{}]}},"\\ud83d\\ude00",-0.0,1e5]',
    ]
    alphabet = string.printable.encode() + b"\x00\xff\xc3\xa9\xed"
    for _ in range(60_000):
        raw = bytearray(seeded.choice(corpus))
        for _ in range(seeded.randint(1, 4)):
            _mutate(raw, seeded, alphabet)
        assert _accepts(bytes(raw)) == _slow_accepts(bytes(raw)), bytes(raw)


def _mutate(raw: bytearray, seeded: random.Random, alphabet: bytes) -> None:
    place = seeded.randint(0, len(raw))
    choice = seeded.random()
    if choice < 0.4:
        raw[place:place] = bytes([seeded.choice(alphabet)])
    elif choice < 0.7:
        del raw[place : place + seeded.randint(1, 3)]
    else:
        start = seeded.randint(0, len(raw))
        raw[place:place] = raw[start : start + seeded.randint(1, 12)]


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
def test_brackets_and_quotes_in_strings_do_not_change_the_depth(value: Any, depth: int, spaced: bool) -> None:
    raw = json.dumps(value, ensure_ascii=spaced, separators=(" , ", " : ") if spaced else (",", ":")).encode()
    if _depth(value) <= depth:
        assert parse(raw, Limits(depth=depth)) == value
    else:
        with pytest.raises(NotStrict) as refused:
            parse(raw, Limits(depth=depth))
        assert refused.value.fault is Fault.TOO_DEEP

"""Scalars, flow collections and references of Unity YAML, one by one."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.packs.unity.yaml.block import BlockReader
from strictwire.packs.unity.yaml.faults import Fault, Malformed
from strictwire.packs.unity.yaml.flow import MAX_FLOW_DEPTH, parse_flow
from strictwire.packs.unity.yaml.values import BadValue, Quoted, Reference, maybe_file_id, maybe_reference


def read(text: str) -> Any:
    return BlockReader().read(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("k: plain", "plain"),
        ("k: a # b", "a # b"),
        ("k: #", "#"),
        ("k: a: b", "a: b"),
        ("k: |", "|"),
        ("k: >-", ">-"),
        ("k: &a", "&a"),
        ("k:", ""),
        ("k: ", ""),
        ("k: ''", ""),
        ("k: 'it''s # 1'", "it's # 1"),
        ('k: "a\\nb\\t\\"c\\" \\\\"', 'a\nb\t"c" \\'),
        ('k: "\\x41\\u00e9\\U0001F600"', "Aé😀"),
        ('k: "\\uD83D\\uDE00"', "😀"),
        ('k: "\\uD83D"', "\N{REPLACEMENT CHARACTER}"),
        ("k: wrapped text\n  goes on", "wrapped text goes on"),
        ("k: one\n\n\n  two", "one\n\ntwo"),
        ("k: text\n  - that looks like: an item", "text - that looks like: an item"),
        ("k: text\n  {like: flow", "text {like: flow"),
        ("k: 'one\n  two\n\n  three'", "one two\nthree"),
        ('k: "one\n  two\\\n  three"', "one twothree"),
        ('k: "one \\\n  \\ two"', "one  two"),
        ("k:\n  below", "below"),
        ("k: \t", "\t"),
    ],
)
def test_scalars(text: str, value: str) -> None:
    assert read(text) == {"k": value}


def test_quoted_scalars_are_told_apart_from_plain_ones() -> None:
    found = read("a: '1'\nb: 1\nc: \"1\"")

    assert {key: type(value) for key, value in found.items()} == {"a": Quoted, "b": str, "c": Quoted}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{fileID: 0}", {"fileID": "0"}),
        ("{x: 0, y: -1.5e-05, z: 0}", {"x": "0", "y": "-1.5e-05", "z": "0"}),
        ("{}", {}),
        ("[]", []),
        ("[a, b , c]", ["a", "b", "c"]),
        ("[{fileID: 1}, {fileID: 2}]", [{"fileID": "1"}, {"fileID": "2"}]),
        ("{a: {b: [c]}, d: 'e, f'}", {"a": {"b": ["c"]}, "d": "e, f"}),
        ('{a: "}", b: }', {"a": "}", "b": ""}),
        ("{a: b c}", {"a": "b c"}),
        ("{: v}", {"": "v"}),
    ],
)
def test_flow_collections(text: str, value: Any) -> None:
    assert parse_flow(text) == value


@pytest.mark.parametrize("text", ["{a}", "{a: b", "{a: b}}", "{a: b} c", "[a", "{a: 'b}", "{,}", "[a}"])
def test_malformed_flow_collections_are_refused(text: str) -> None:
    with pytest.raises(BadValue):
        parse_flow(text)


def test_flow_collections_nest_only_so_deep() -> None:
    assert parse_flow("[" * MAX_FLOW_DEPTH + "]" * MAX_FLOW_DEPTH)

    with pytest.raises(BadValue):
        parse_flow("[" * 100_000 + "]" * 100_000)


def test_a_wrapped_flow_map_is_one_value() -> None:
    text = "a: {fileID: 1, guid: 00000000000000000000000000000001,\n  type: 3}\nb: 1"

    assert read(text) == {
        "a": {"fileID": "1", "guid": "00000000000000000000000000000001", "type": "3"},
        "b": "1",
    }


@pytest.mark.parametrize(
    ("value", "reference"),
    [
        ({"fileID": "0"}, Reference(0)),
        ({"fileID": "-12"}, Reference(-12)),
        ({"fileID": "9223372036854775807", "guid": "ab", "type": "3"}, Reference(2**63 - 1, "ab")),
        ({"fileID": "9223372036854775808"}, None),
        ({"fileID": "1" * 5000}, None),
        ({"fileID": "x"}, None),
        ({"guid": "ab"}, None),
        ("text", None),
        ([], None),
    ],
)
def test_references(value: object, reference: Reference | None) -> None:
    assert maybe_reference(value) == reference


@pytest.mark.parametrize(("text", "number"), [("-9223372036854775808", -(2**63)), ("0", 0), ("-7", -7), ("007", 7)])
def test_file_ids(text: str, number: int) -> None:
    assert maybe_file_id(text) == maybe_file_id(text.encode()) == number


@pytest.mark.parametrize("text", ["1.0", "", "1_0", " 1", "+1", "-", "٣", "²", "--1"])
def test_what_is_no_file_id(text: str) -> None:
    assert maybe_file_id(text) is None


@pytest.mark.parametrize(
    ("text", "fault", "line"),
    [
        ("a: 'open", Fault.TRUNCATED, 1),
        ('a: 1\nb: "open', Fault.TRUNCATED, 2),
        ("a: {fileID: 12", Fault.TRUNCATED, 1),
        ("a: 'one' two\nb: 1\nc: 2", Fault.BAD_VALUE, 1),
        ('a: "\\q"\nb: 1', Fault.BAD_VALUE, 1),
        ("a: 1\nno key", Fault.BAD_LINE, 2),
        ("<<<<<<< HEAD\na: 1", Fault.BAD_LINE, 1),
        ("a: 1\n=======\nb: 1", Fault.BAD_LINE, 2),
        ("a:\n    b: 1\n  c: 2", Fault.BAD_INDENT, 3),
        ("a: {b: 1}\n  c: 2", Fault.BAD_INDENT, 2),
        ("a: text\n- item", Fault.BAD_INDENT, 2),
        ("  a: 1", Fault.BAD_INDENT, 1),
        ("\n".join(f"{' ' * depth}k:" for depth in range(300)), Fault.TOO_DEEP, 130),
        ("- " * 10_000 + "x", Fault.BAD_VALUE, 1),
    ],
)
def test_malformed_text_is_refused_with_its_line(text: str, fault: Fault, line: int) -> None:
    with pytest.raises(Malformed) as caught:
        read(text)

    assert (caught.value.problem.fault, caught.value.problem.line) == (fault, line)

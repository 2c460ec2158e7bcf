"""Raw messages are changed at one member and nowhere else."""

from __future__ import annotations

import pytest

from strictwire.canon.json import NotStrict, parse_object
from strictwire.gateway.rewrite import one_line, replace_at, slice_at, value_at, without_tools

RAW = b'{"id":7,"params":{"b":1.0,"a":1e2,"_meta":{"progressToken":"t","z":"\\u00e9"}},"more":[1, 2]}'


def test_a_replaced_member_leaves_the_text_of_all_others() -> None:
    changed = replace_at(RAW, ("params", "_meta", "progressToken"), b"9")

    assert changed == RAW.replace(b'"progressToken":"t"', b'"progressToken":9')


def test_a_member_that_is_not_there_is_added_at_the_end() -> None:
    assert replace_at(b'{"a":1}', ("id",), b'"x"') == b'{"a":1,"id":"x"}'


def test_a_path_through_something_else_is_refused() -> None:
    with pytest.raises(NotStrict):
        replace_at(b'{"a":1}', ("a", "b"), b"2")


@pytest.mark.parametrize(
    ("path", "expected"),
    [(("id",), b"7"), (("params", "a"), b"1e2"), (("params", "x"), None), (("more",), b"[1, 2]")],
)
def test_a_slice_is_the_text_of_a_member(path: tuple[str, ...], expected: bytes | None) -> None:
    assert slice_at(RAW, path) == expected


@pytest.mark.parametrize(
    ("path", "expected"), [(("a", "b"), 1), (("a", "c"), None), (("a", "b", "c"), None), (("x",), None)]
)
def test_a_value_is_found_or_none(path: tuple[str, ...], expected: object) -> None:
    assert value_at({"a": {"b": 1}}, *path) == expected


def test_line_breaks_between_tokens_become_spaces() -> None:
    assert one_line(b'{\r\n "a":\n"x\\n"}') == b'{   "a": "x\\n"}'


def test_hidden_tools_go_and_the_bytes_of_the_others_stay() -> None:
    raw = b'{"id":1,"result":{"tools":[{"name":"a","n":1.0},{"name":"b"}, {"name":"c","n":1e2}],"ttlMs":5}}'
    result = parse_object(raw)["result"]

    assert without_tools(raw, result, lambda entry: entry["name"] == "b") == (
        b'{"id":1,"result":{"tools":[{"name":"a","n":1.0},{"name":"c","n":1e2}],"ttlMs":5}}'
    )
    assert without_tools(raw, result, lambda _entry: False) is raw
    assert without_tools(b'{"result":{"tools":5}}', {"tools": 5}, lambda _entry: True) == b'{"result":{"tools":5}}'

"""A raw message is rewritten at one member only."""

from __future__ import annotations

import pytest

from strictwire.canon.json import NotStrict
from strictwire.gateway.links.raw_message import one_line, replace_at, replace_id, slice_at, value_at

RAW = b'{"id":7,"params":{"b":1.0,"a":1e2,"_meta":{"progressToken":"t","z":"\\u00e9"}},"more":[1, 2]}'


def test_replacing_a_member_keeps_the_bytes_of_all_others() -> None:
    changed = replace_at(RAW, ("params", "_meta", "progressToken"), b"9")

    assert changed == RAW.replace(b'"progressToken":"t"', b'"progressToken":9')


def test_a_missing_member_is_added_at_the_end() -> None:
    assert replace_at(b'{"a":1}', ("id",), b'"x"') == b'{"a":1,"id":"x"}'


def test_a_path_through_a_value_that_is_no_object_is_refused() -> None:
    with pytest.raises(NotStrict):
        replace_at(b'{"a":1}', ("a", "b"), b"2")


@pytest.mark.parametrize(
    ("path", "expected"),
    [(("id",), b"7"), (("params", "a"), b"1e2"), (("params", "x"), None), (("more",), b"[1, 2]")],
)
def test_a_slice_is_the_bytes_of_a_member(path: tuple[str, ...], expected: bytes | None) -> None:
    assert slice_at(RAW, path) == expected


@pytest.mark.parametrize(
    ("path", "expected"), [(("a", "b"), 1), (("a", "c"), None), (("a", "b", "c"), None), (("x",), None)]
)
def test_a_value_is_found_or_none(path: tuple[str, ...], expected: object) -> None:
    assert value_at({"a": {"b": 1}}, *path) == expected


def test_line_breaks_between_tokens_become_spaces() -> None:
    assert one_line(b'{\r\n "a":\n"x\\n"}') == b'{   "a": "x\\n"}'


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b'{"jsonrpc":"2.0","id":7,"result":{"id":7}}', b'{"jsonrpc":"2.0","id":"x","result":{"id":7}}'),
        (b'{"result":{"id":7},"jsonrpc":"2.0","id":7}', b'{"result":{"id":7},"jsonrpc":"2.0","id":"x"}'),
        (b'{"id":7,"jsonrpc":"2.0","result":{}}', b'{"id":"x","jsonrpc":"2.0","result":{}}'),
        (b'{"jsonrpc": "2.0", "id": 7, "result": {}}', b'{"jsonrpc":"2.0","id":"x","result":{}}'),
        (b'{"jsonrpc":"2.0","id":77,"result":{}}', b'{"jsonrpc":"2.0","id":"x","result":{}}'),
        (b'{"result":{"a":1,"jsonrpc":"2.0","id":7},"id":7}', b'{"result":{"a":1,"jsonrpc":"2.0","id":7},"id":"x"}'),
        (b'{"a":",\\"jsonrpc\\":\\"2.0\\",\\"id\\":7}","id":7}', b'{"a":",\\"jsonrpc\\":\\"2.0\\",\\"id\\":7}","id":"x"}'),
    ],
)
def test_only_the_id_of_the_message_itself_is_replaced(raw: bytes, expected: bytes) -> None:
    assert replace_id(raw, b"7", b'"x"') == expected

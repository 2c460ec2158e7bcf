"""Bytes that are no request, and what each must be answered with. The same on every transport."""

from __future__ import annotations

from typing import Any, Final

from tests.fixtures.live import META, modern

CALL: Final = modern(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})


def deep(levels: int) -> bytes:
    """A request whose arguments are nested so deep."""
    return b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":' + b"[" * levels + b"]" * levels + b"}}"


def changed(old: bytes, new: bytes) -> bytes:
    """The good call with one thing wrong."""
    assert old in CALL
    return CALL.replace(old, new, 1)


NOT_JSON: Final[dict[str, bytes]] = {
    "empty object missing": b"{",
    "text": b"hello",
    "python": b"{'jsonrpc': '2.0'}",
    "trailing text": CALL + b" x",
    "two documents": CALL + CALL,
    "trailing comma": changed(b'"id":1,', b'"id":1,,'),
    "comment": b"/* */" + CALL,
    "byte order mark": b"\xef\xbb\xbf" + CALL,
    "utf-16": CALL.decode().encode("utf-16-le").replace(b"\n", b""),
    "latin-1": changed(b'"add"', b'"\xe4dd"'),
    "overlong utf-8": changed(b'"add"', b'"\xc0\xaf"'),
    "utf-8 surrogate": changed(b'"add"', b'"\xed\xa0\x80"'),
    "truncated utf-8": changed(b'"add"', b'"\xe2\x82"'),
    "lone surrogate escape": changed(b'"add"', b'"\\ud800"'),
    "raw control character": changed(b'"add"', b'"a\x01d"'),
    "raw tab in a string": changed(b'"add"', b'"a\tdd"'),
    "NaN": changed(b'"a":1', b'"a":NaN'),
    "Infinity": changed(b'"a":1', b'"a":Infinity'),
    "minus Infinity": changed(b'"a":1', b'"a":-Infinity'),
    "1e400": changed(b'"a":1', b'"a":1e400'),
    "leading zero": changed(b'"a":1', b'"a":01'),
    "plus": changed(b'"a":1', b'"a":+1'),
    "hexadecimal": changed(b'"a":1', b'"a":0x1'),
    "5000 digits": changed(b'"a":1', b'"a":' + b"9" * 5000),
    "duplicate argument": changed(b'"a":1', b'"a":1,"a":2'),
    "duplicate method": changed(b'"method"', b'"method":"x","method"'),
    "duplicate id": changed(b'"id":1', b'"id":1,"id":2'),
    "duplicate name": changed(b'"name":"add"', b'"name":"add","name":"leak"'),
    "duplicate by escape": changed(b'"name":"add"', b'"name":"add","n\\u0061me":"leak"'),
    "129 levels": deep(129),
    "300 levels": deep(300),
    "50000 levels": deep(50_000),
    "unclosed levels": b"[" * 100_000,
    "NUL": b"\x00",
    "NUL inside": changed(b'"id":1', b'"id":1\x00'),
}
"""-32700, HTTP 400, no id."""

NOT_A_REQUEST: Final[dict[str, tuple[bytes, Any]]] = {
    "empty batch": (b"[]", None),
    "batch": (b"[" + CALL + b"]", None),
    "string": (b'"tools/list"', None),
    "number": (b"1", None),
    "null": (b"null", None),
    "true": (b"true", None),
    "empty object": (b"{}", None),
    "no jsonrpc": (changed(b'"jsonrpc":"2.0",', b""), 1),
    "jsonrpc 1.0": (changed(b'"2.0"', b'"1.0"'), 1),
    "jsonrpc number": (changed(b'"2.0"', b"2.0"), 1),
    "id null": (changed(b'"id":1', b'"id":null'), None),
    "id true": (changed(b'"id":1', b'"id":true'), None),
    "id 1.5": (changed(b'"id":1', b'"id":1.5'), None),
    "id 1.0": (changed(b'"id":1', b'"id":1.0'), None),
    "id 1e2": (changed(b'"id":1', b'"id":1e2'), None),
    "id object": (changed(b'"id":1', b'"id":{}'), None),
    "id array": (changed(b'"id":1', b'"id":[1]'), None),
    "id missing": (changed(b'"id":1,', b""), None),
    "method missing": (changed(b'"method":"tools/call",', b""), 1),
    "method empty": (changed(b'"tools/call"', b'""'), 1),
    "method number": (changed(b'"tools/call"', b"7"), 1),
    "method null": (changed(b'"tools/call"', b"null"), 1),
    "method and result": (changed(b'"id":1,', b'"id":1,"result":{},'), 1),
    "an answer to nothing": (b'{"jsonrpc":"2.0","id":9,"result":{}}', None),
    "an error to nothing": (b'{"jsonrpc":"2.0","id":9,"error":{"code":1,"message":"x"}}', None),
}
"""-32600, HTTP 400, the id where it can be read."""

_VERSION, _CAPABILITIES = META

BAD_PARAMS: Final[dict[str, bytes]] = {
    "params array": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}',
    "params null": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}',
    "params string": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"x"}',
    "arguments array": modern(1, "tools/call", {"name": "add", "arguments": []}),
    "arguments null": modern(1, "tools/call", {"name": "add", "arguments": None}),
    "name missing": modern(1, "tools/call", {"arguments": {}}),
    "name number": modern(1, "tools/call", {"name": 5}),
    "name empty": modern(1, "tools/call", {"name": ""}),
    "unknown tool": modern(1, "tools/call", {"name": "nope"}),
    "unknown prompt": modern(1, "prompts/get", {"name": "nope"}),
    "prompt argument missing": modern(1, "prompts/get", {"name": "greet"}),
    "prompt argument unknown": modern(1, "prompts/get", {"name": "greet", "arguments": {"name": "a", "x": "y"}}),
    "prompt argument number": modern(1, "prompts/get", {"name": "greet", "arguments": {"name": 5}}),
    "unknown resource": modern(1, "resources/read", {"uri": "hard://nope"}),
    "uri missing": modern(1, "resources/read", {}),
    "uri number": modern(1, "resources/read", {"uri": 5}),
    "cursor number": modern(1, "tools/list", {"cursor": 1}),
    "cursor unknown": modern(1, "tools/list", {"cursor": "abc.1"}),
    "cursor of 5000 digits": modern(1, "tools/list", {"cursor": "abc." + "9" * 5000}),
    "log level": modern(1, "tools/list", {}, **{"io.modelcontextprotocol/logLevel": "loud"}),
    "progress token": modern(1, "tools/list", {}, progressToken=1.5),
    "progress token true": modern(1, "tools/list", {}, progressToken=True),
    "capabilities array": modern(1, "tools/list", {}, **{_CAPABILITIES: []}),
    "state": modern(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 1}, "requestState": "x"}),
    "state number": modern(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 1}, "requestState": 7}),
    "responses array": modern(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 1}, "inputResponses": []}),
    "listen without a wish": modern(1, "subscriptions/listen", {}),
    "completion ref": modern(1, "completion/complete", {"ref": {"type": "x"}, "argument": {"name": "a", "value": "b"}}),
    "completion ref unnamed": modern(
        1, "completion/complete", {"ref": {"type": "ref/prompt"}, "argument": {"name": "a", "value": "b"}}
    ),
    "completion argument": modern(
        1, "completion/complete", {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {}}
    ),
}
"""-32602, HTTP 400, id 1."""

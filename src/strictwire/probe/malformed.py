"""Probes that send malformed bytes: invalid JSON, encodings, numbers, duplicate keys, envelopes, ids, deep nesting.

Each row derives its bytes from a well-formed message of the era. A result means that the server executed a message that
it should have refused; no response means that the client waits until its timeout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from strictwire.canon import json
from strictwire.canon.json import JsonObject
from strictwire.probe.definition import Evaluation, Probe, ProbeContext, ProbeFunction, found, passed
from strictwire.probe.observation import Observation, ResponseKind
from strictwire.probe.wire import PLACEHOLDER, MessageFactory, splice

Bytes: TypeAlias = Callable[[MessageFactory], tuple[bytes, JsonObject]]
"""Returns the bytes to send and the well-formed message that they are derived from."""

NOT_JSON: Final = frozenset({-32700})
NOT_STRICT: Final = frozenset({-32700, -32600})
NOT_A_REQUEST: Final = frozenset({-32600})
BAD_PARAMS: Final = frozenset({-32600, -32602})

_HANGS: Final = "a client that gets no response waits until its own timeout"
_GUESSES: Final = "a server that repairs input executes something that the client did not send"
_SMUGGLES: Final = "a proxy that reads the first value and a server that reads the last one see different requests"
_LOSES: Final = "a server that takes the request for a notification drops it silently"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    id: str
    what: str
    make: Bytes
    codes: frozenset[int]
    why: str


def _text(change: Callable[[bytes], bytes]) -> Bytes:
    """A harmless request with changed bytes."""

    def make(messages: MessageFactory) -> tuple[bytes, JsonObject]:
        well_formed = messages.harmless_request()
        return change(json.render(well_formed)), well_formed

    return make


def _value(fragment: bytes) -> Bytes:
    """A harmless request with raw bytes as a value inside `_meta`."""
    return lambda messages: messages.with_raw_value(fragment)


def _member(name: str, fragment: bytes | None) -> Bytes:
    """A harmless request with one member of the envelope replaced by raw bytes, or removed."""

    def make(messages: MessageFactory) -> tuple[bytes, JsonObject]:
        well_formed = messages.harmless_request()
        members = {key: json.render(value) for key, value in well_formed.items() if key != name}
        return json.join_members(members if fragment is None else {**members, name: fragment}), well_formed

    return make


def _twice(name: str) -> Bytes:
    """A harmless request with one member of the envelope written twice."""

    def make(messages: MessageFactory) -> tuple[bytes, JsonObject]:
        well_formed = messages.harmless_request()
        again = json.render(name) + b":" + json.render(well_formed[name])
        return b"{" + again + b"," + json.render(well_formed)[1:], well_formed

    return make


def _call_with(arguments: bytes, name: bytes = b'"name":"strictwire-no-such-tool"') -> Bytes:
    """A call of an unknown tool: a server that parses it reports the tool, a strict server reports the bytes."""

    def make(messages: MessageFactory) -> tuple[bytes, JsonObject]:
        well_formed = messages.request("tools/call", {"name": "strictwire-no-such-tool", "arguments": PLACEHOLDER})
        return splice(well_formed, arguments).replace(b'"name":"strictwire-no-such-tool"', name), well_formed

    return make


def _nested(depth: int) -> Bytes:
    return _value(b"[" * depth + b"]" * depth)


_REFUSED_ROWS: Final = (
    _Row(
        id="JSON_TRUNCATED",
        what="truncated JSON",
        make=_text(lambda raw: raw[:-9]),
        codes=NOT_JSON,
        why=_HANGS,
    ),
    _Row(
        id="JSON_TRAILING_TEXT",
        what="text after the JSON",
        make=_text(lambda raw: raw + b" x"),
        codes=NOT_JSON,
        why=_HANGS,
    ),
    _Row(
        id="JSON_TRAILING_COMMA",
        what="a trailing comma",
        make=_text(lambda raw: raw[:-1] + b",}"),
        codes=NOT_JSON,
        why=_HANGS,
    ),
    _Row(
        id="JSON_CONTROL_CHARACTER",
        what="a raw control character in a string",
        make=_value(b'"a\x01b"'),
        codes=NOT_JSON,
        why=_HANGS,
    ),
    _Row(
        id="ENCODING_INVALID_UTF8",
        what="invalid UTF-8 in a string",
        make=_value(b'"caf\xe9"'),
        codes=NOT_JSON,
        why=_GUESSES,
    ),
    _Row(
        id="ENCODING_OVERLONG_UTF8",
        what="an overlong UTF-8 sequence",
        make=_value(b'"\xc0\xaf"'),
        codes=NOT_JSON,
        why=_GUESSES,
    ),
    _Row(
        id="ENCODING_BOM",
        what="a byte order mark",
        make=_text(lambda raw: b"\xef\xbb\xbf" + raw),
        codes=NOT_JSON,
        why=_GUESSES,
    ),
    _Row(
        id="ENCODING_UTF16",
        what="UTF-16",
        make=_text(lambda raw: raw.decode().encode("utf-16-be")),
        codes=NOT_JSON,
        why=_GUESSES,
    ),
    _Row(
        id="ENCODING_LONE_SURROGATE",
        what="a lone surrogate escape",
        make=_value(b'"\\ud800"'),
        codes=NOT_JSON,
        why=_GUESSES,
    ),
    _Row(id="NUMBER_NAN", what="NaN", make=_value(b"NaN"), codes=NOT_JSON, why=_GUESSES),
    _Row(id="NUMBER_INFINITY", what="Infinity", make=_value(b"-Infinity"), codes=NOT_JSON, why=_GUESSES),
    _Row(id="NUMBER_OVERFLOW", what="1e400", make=_value(b"1e400"), codes=NOT_STRICT, why=_GUESSES),
    _Row(id="KEY_TWICE_METHOD", what="`method` written twice", make=_twice("method"), codes=NOT_STRICT, why=_SMUGGLES),
    _Row(id="KEY_TWICE_ID", what="`id` written twice", make=_twice("id"), codes=NOT_STRICT, why=_SMUGGLES),
    _Row(id="KEY_TWICE_PARAMS", what="`params` written twice", make=_twice("params"), codes=NOT_STRICT, why=_SMUGGLES),
    _Row(
        id="KEY_TWICE_NAME",
        what="the tool's name written twice",
        make=_call_with(b"{}", b'"name":"strictwire-no-such-tool","name":"strictwire-no-such-tool"'),
        codes=NOT_STRICT,
        why=_SMUGGLES,
    ),
    _Row(
        id="KEY_TWICE_ARGUMENT",
        what="an argument written twice",
        make=_call_with(b'{"a":1,"a":2}'),
        codes=NOT_STRICT,
        why=_SMUGGLES,
    ),
    _Row(
        id="KEY_TWICE_DEEP",
        what="a nested key written twice",
        make=_value(b'{"a":[{"b":1,"b":2}]}'),
        codes=NOT_STRICT,
        why=_SMUGGLES,
    ),
    _Row(
        id="KEY_TWICE_ESCAPED",
        what="a key written twice, once with an escape",
        make=_value(b'{"a":1,"\\u0061":2}'),
        codes=NOT_STRICT,
        why=_SMUGGLES,
    ),
    _Row(
        id="ENVELOPE_NO_VERSION",
        what="a request without `jsonrpc`",
        make=_member("jsonrpc", None),
        codes=NOT_A_REQUEST,
        why=_HANGS,
    ),
    _Row(
        id="ENVELOPE_WRONG_VERSION",
        what="a request with `jsonrpc` 1.0",
        make=_member("jsonrpc", b'"1.0"'),
        codes=NOT_A_REQUEST,
        why=_HANGS,
    ),
    _Row(
        id="ENVELOPE_NO_METHOD",
        what="a request without a method",
        make=_member("method", None),
        codes=NOT_A_REQUEST,
        why=_HANGS,
    ),
    _Row(
        id="ENVELOPE_METHOD_NUMBER",
        what="a method that is a number",
        make=_member("method", b"7"),
        codes=NOT_A_REQUEST,
        why=_HANGS,
    ),
    _Row(
        id="ENVELOPE_PARAMS_ARRAY",
        what="params that are an array",
        make=_member("params", b"[1]"),
        codes=BAD_PARAMS,
        why=_HANGS,
    ),
    _Row(id="ENVELOPE_SCALAR", what="a bare number", make=_text(lambda _raw: b"42"), codes=NOT_A_REQUEST, why=_HANGS),
    _Row(id="ENVELOPE_BATCH", what="a batch", make=_text(lambda raw: b"[" + raw + b"]"), codes=NOT_A_REQUEST, why=_HANGS),
    _Row(
        id="ENVELOPE_BATCH_EMPTY",
        what="an empty batch",
        make=_text(lambda _raw: b"[]"),
        codes=NOT_A_REQUEST,
        why=_HANGS,
    ),
    _Row(id="ID_NULL", what="an id that is null", make=_member("id", b"null"), codes=NOT_A_REQUEST, why=_LOSES),
    _Row(id="ID_BOOLEAN", what="an id that is true", make=_member("id", b"true"), codes=NOT_A_REQUEST, why=_LOSES),
    _Row(id="ID_FRACTION", what="an id that is 1.5", make=_member("id", b"1.5"), codes=NOT_A_REQUEST, why=_LOSES),
    _Row(id="ID_OBJECT", what="an id that is an object", make=_member("id", b"{}"), codes=NOT_A_REQUEST, why=_LOSES),
    _Row(id="ID_ARRAY", what="an id that is an array", make=_member("id", b"[1]"), codes=NOT_A_REQUEST, why=_LOSES),
)

_RESPONSE_ROWS: Final = (
    _Row(
        id="NUMBER_HUGE_INTEGER",
        what="an integer of 5000 digits",
        make=_value(b"9" * 5000),
        codes=NOT_STRICT,
        why=_HANGS,
    ),
    _Row(id="NESTING_100", what="100 nested arrays", make=_nested(100), codes=NOT_STRICT, why=_HANGS),
    _Row(id="NESTING_150", what="150 nested arrays", make=_nested(150), codes=NOT_STRICT, why=_HANGS),
    _Row(id="NESTING_300", what="300 nested arrays", make=_nested(300), codes=NOT_STRICT, why=_HANGS),
    _Row(id="NESTING_1000", what="1000 nested arrays", make=_nested(1000), codes=NOT_STRICT, why=_HANGS),
    _Row(
        id="NESTING_100000",
        what="100,000 nested arrays",
        make=_nested(100_000),
        codes=NOT_STRICT,
        why="a crash of the parser stops the server",
    ),
)


def _refuses(row: _Row) -> Probe:
    """Passes only if the server responds with one of the error codes."""

    async def run(context: ProbeContext) -> Evaluation:
        seen = await _send(context, row)
        return passed(seen) if seen.kind is ResponseKind.ERROR and seen.code in row.codes else found(seen)

    return _probe(row, run, f"Checks that {row.what} is refused.", f"error {_words(row.codes)}")


def _responds(row: _Row) -> Probe:
    """Passes if the server responds with a result or one of the error codes: servers may choose their own limits."""

    async def run(context: ProbeContext) -> Evaluation:
        seen = await _send(context, row)
        is_fine = seen.kind is ResponseKind.RESULT or (seen.kind is ResponseKind.ERROR and seen.code in row.codes)
        return passed(seen) if is_fine else found(seen)

    return _probe(row, run, f"Checks that {row.what} gets a response.", f"a result or error {_words(row.codes)}")


async def _send(context: ProbeContext, row: _Row) -> Observation:
    return await context.wire.send(*row.make(context.wire.messages))


def _probe(row: _Row, run: ProbeFunction, purpose: str, expected: str) -> Probe:
    return Probe(id=row.id, purpose=purpose, expected=expected, why=row.why, run=run, across_eras=True)


def _words(codes: Iterable[int]) -> str:
    return " or ".join(str(code) for code in sorted(codes))


PROBES: Final = (*map(_refuses, _REFUSED_ROWS), *map(_responds, _RESPONSE_ROWS))

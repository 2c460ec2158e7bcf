"""Requests as bytes, and the check of every response against the expected result.

Pure: no pipes, sockets or clock. Checking is fast: the first correct response to a call becomes a pattern, and later
responses to the same call must equal it byte for byte except for the id. Otherwise they are parsed and checked again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from benchmarks.fixture import ExpectedCall

FIRST_ID: Final = 100_000_000
WIDTH: Final = 9
"""Ids are integers of nine digits, so that all requests of one call have the same length, and so do all responses."""

MODERN: Final = "2026-07-28"
LEGACY: Final = "2025-11-25"
_META: Final = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}
_ID_TOKEN: Final = b'"id":'


class Revision(StrEnum):
    """The protocol revision, one per era."""

    LEGACY = LEGACY
    MODERN = MODERN


class WrongResponse(Exception):
    """A response has the wrong result, or belongs to no request."""


def _compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def initialize() -> bytes:
    """The first message of a legacy client."""
    params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    return _compact({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})


INITIALIZED: Final = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'


def render_call(call: ExpectedCall, revision: Revision) -> tuple[bytes, bytes]:
    """The bytes of a request before and after its id."""
    params: dict[str, Any] = {"name": call.tool, "arguments": call.arguments}
    if revision is Revision.MODERN:
        params["_meta"] = _META
    return b'{"jsonrpc":"2.0","id":', b',"method":"tools/call","params":' + _compact(params) + b"}"


def find_problem(answer: Any, call: ExpectedCall) -> str | None:
    """Why a response is wrong, or None."""
    result = answer.get("result") if isinstance(answer, dict) else None
    if call.expected is None:
        refused = isinstance(answer, dict) and ("error" in answer or (result or {}).get("isError") is True)
        return None if refused else "a call that must be refused was accepted"
    if not isinstance(result, dict) or result.get("isError"):
        return "no result"
    if result.get("structuredContent") != call.expected:
        return "unexpected result"
    if not result.get("content"):
        return "no content"
    return None


@dataclass(frozen=True, slots=True)
class Pattern:
    """A correct response without its id."""

    before: bytes
    after: bytes

    def fits(self, raw: bytes) -> bool:
        """Whether a response equals the pattern, except for the id."""
        return (
            len(raw) == len(self.before) + WIDTH + len(self.after)
            and raw.startswith(self.before)
            and raw.endswith(self.after)
        )


class CallStream:
    """Requests for the expected calls in turn, and the check of the responses, which may come in any order."""

    def __init__(self, expected_calls: Sequence[ExpectedCall], revision: Revision) -> None:
        self.expected_calls = expected_calls
        self.parts = [render_call(call, revision) for call in expected_calls]
        self.parsed = 0
        """Number of responses that were parsed."""
        self._patterns: dict[int, Pattern] = {}
        self._next = FIRST_ID
        self._find_id: Callable[[bytes], int] | None = None

    def next_request(self) -> tuple[int, bytes]:
        """The id and the bytes of the next request."""
        number = self._next
        self._next = number + 1
        before, after = self.parts[number % len(self.parts)]
        return number, b"%b%d%b" % (before, number, after)

    def check(self, raw: bytes) -> int:
        """Check a response and return its id. Raises WrongResponse."""
        if self._find_id is not None:
            try:
                number = self._find_id(raw)
            except ValueError:
                return self._read(raw)
            pattern = self._patterns.get(number % len(self.parts))
            if pattern is not None and pattern.fits(raw):
                return number
        return self._read(raw)

    def _read(self, raw: bytes) -> int:
        self.parsed += 1
        try:
            answer = json.loads(raw)
            number = answer["id"]
        except (ValueError, TypeError, KeyError) as exc:
            raise WrongResponse(f"not a response: {raw[:200]!r}") from exc
        if not isinstance(number, int) or number < FIRST_ID:
            raise WrongResponse(f"unknown id: {raw[:200]!r}")
        index = number % len(self.parts)
        problem = find_problem(answer, self.expected_calls[index])
        if problem is not None:
            raise WrongResponse(f"{problem}: {raw[:300]!r}")
        self._learn(raw, number, index)
        return number

    def _learn(self, raw: bytes, number: int, index: int) -> None:
        mark = _ID_TOKEN + str(number).encode()
        spaced = b'"id": ' + str(number).encode()
        used = mark if mark in raw else spaced
        at = raw.find(used) + len(used) - WIDTH
        if at < 0 or raw.count(used) != 1:
            return
        self._patterns[index] = Pattern(before=raw[:at], after=raw[at + WIDTH :])
        # Some servers write the id first, others last: its distance from one of the two ends is constant.
        self._find_id = _from_start(at) if at < len(raw) - at else _from_end(len(raw) - at)


def _from_start(at: int) -> Callable[[bytes], int]:
    return lambda raw: int(raw[at : at + WIDTH])


def _from_end(back: int) -> Callable[[bytes], int]:
    return lambda raw: int(raw[len(raw) - back : len(raw) - back + WIDTH])


class MalformedStream:
    """Requests that are not JSON; each must get a parse error. These have no id, so responses are counted."""

    BODY: Final = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}'

    def __init__(self) -> None:
        self.parsed = 0
        self._sent = self._received = FIRST_ID
        self._known = b""

    def next_request(self) -> tuple[int, bytes]:
        """The number and the bytes of the next request."""
        self._sent += 1
        return self._sent, self.BODY

    def check(self, raw: bytes) -> int:
        """Check that a response is the error -32700. Raises WrongResponse."""
        self._received += 1
        if raw != self._known:
            self.parsed += 1
            if json.loads(raw).get("error", {}).get("code") != -32700:
                raise WrongResponse(f"not a parse error: {raw[:200]!r}")
            self._known = raw
        return self._received


RequestStream = CallStream | MalformedStream


def http_head(*, port: int, path: str, length: int, fields: Mapping[str, str]) -> bytes:
    """The request line and headers of one POST."""
    shown = {
        "Host": f"127.0.0.1:{port}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **fields,
        "Content-Length": str(length),
    }
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in shown.items()), "", ""]
    return "\r\n".join(lines).encode()

"""What a client says and how every answer is judged: requests as bytes, answers checked against what must come back.

Pure: no pipe, socket or clock. An answer that has been read once and found right becomes a pattern; later answers to the
same question must be equal to it byte for byte except for the id, or are read in full again. So each answer is checked, and
the check costs little.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from benchmarks.fixture import Question

FIRST_ID: Final = 100_000_000
WIDTH: Final = 9
"""Ids are integers of nine digits, so that all requests for one question have one length, and all answers too."""

MODERN: Final = "2026-07-28"
LEGACY: Final = "2025-11-25"
_META: Final = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}
_ID_TOKEN: Final = b'"id":'


class Wire(StrEnum):
    """Which era of the protocol is spoken."""

    LEGACY = LEGACY
    MODERN = MODERN


class WrongAnswer(Exception):
    """An answer is not the right one, or answers nothing that was asked."""


def _compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def initialize() -> bytes:
    """The first message of a legacy client."""
    params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    return _compact({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})


INITIALIZED: Final = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'


def render_call(question: Question, wire: Wire) -> tuple[bytes, bytes]:
    """A request in two parts; the id goes between them."""
    params: dict[str, Any] = {"name": question.tool, "arguments": question.arguments}
    if wire is Wire.MODERN:
        params["_meta"] = _META
    return b'{"jsonrpc":"2.0","id":', b',"method":"tools/call","params":' + _compact(params) + b"}"


def find_problem(answer: Any, question: Question) -> str | None:
    """Why an answer is not the one that the question must have, or None."""
    result = answer.get("result") if isinstance(answer, dict) else None
    if question.expected is None:
        refused = isinstance(answer, dict) and ("error" in answer or (result or {}).get("isError") is True)
        return None if refused else "a call that must be refused was accepted"
    if not isinstance(result, dict) or result.get("isError"):
        return "no result"
    if result.get("structuredContent") != question.expected:
        return "another result"
    if not result.get("content"):
        return "no content"
    return None


@dataclass(frozen=True, slots=True)
class Pattern:
    """An answer that was found right, around its id."""

    before: bytes
    after: bytes

    def fits(self, raw: bytes) -> bool:
        """Whether this is the same answer, whatever its id."""
        return (
            len(raw) == len(self.before) + WIDTH + len(self.after)
            and raw.startswith(self.before)
            and raw.endswith(self.after)
        )


class Talk:
    """Asks questions in turn and judges the answers, in whatever order they come."""

    def __init__(self, questions: Sequence[Question], wire: Wire) -> None:
        self.questions = questions
        self.parts = [render_call(question, wire) for question in questions]
        self.read_in_full = 0
        """Answers that had to be parsed."""
        self._patterns: dict[int, Pattern] = {}
        self._next = FIRST_ID
        self._find_id: Callable[[bytes], int] | None = None

    def ask(self) -> tuple[int, bytes]:
        """The next request and its id."""
        number = self._next
        self._next = number + 1
        before, after = self.parts[number % len(self.parts)]
        return number, b"%b%d%b" % (before, number, after)

    def judge(self, raw: bytes) -> int:
        """The id that an answer answers. Raises WrongAnswer."""
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
        self.read_in_full += 1
        try:
            answer = json.loads(raw)
            number = answer["id"]
        except (ValueError, TypeError, KeyError) as exc:
            raise WrongAnswer(f"not an answer: {raw[:200]!r}") from exc
        if not isinstance(number, int) or number < FIRST_ID:
            raise WrongAnswer(f"not an id of ours: {raw[:200]!r}")
        place = number % len(self.parts)
        problem = find_problem(answer, self.questions[place])
        if problem is not None:
            raise WrongAnswer(f"{problem}: {raw[:300]!r}")
        self._learn(raw, number, place)
        return number

    def _learn(self, raw: bytes, number: int, place: int) -> None:
        mark = _ID_TOKEN + str(number).encode()
        spaced = b'"id": ' + str(number).encode()
        used = mark if mark in raw else spaced
        at = raw.find(used) + len(used) - WIDTH
        if at < 0 or raw.count(used) != 1:
            return
        self._patterns[place] = Pattern(before=raw[:at], after=raw[at + WIDTH :])
        # Some servers write the id first, others last: its place is fixed from one of the two ends.
        self._find_id = _from_start(at) if at < len(raw) - at else _from_end(len(raw) - at)


def _from_start(at: int) -> Callable[[bytes], int]:
    return lambda raw: int(raw[at : at + WIDTH])


def _from_end(back: int) -> Callable[[bytes], int]:
    return lambda raw: int(raw[len(raw) - back : len(raw) - back + WIDTH])


class Garbage:
    """Sends bytes that are not JSON and expects to be told so. There is no id: answers are counted."""

    BODY: Final = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}'

    def __init__(self) -> None:
        self.read_in_full = 0
        self._asked = self._answered = FIRST_ID
        self._known = b""

    def ask(self) -> tuple[int, bytes]:
        """The bytes."""
        self._asked += 1
        return self._asked, self.BODY

    def judge(self, raw: bytes) -> int:
        """Raises WrongAnswer unless it is the error -32700."""
        self._answered += 1
        if raw != self._known:
            self.read_in_full += 1
            if json.loads(raw).get("error", {}).get("code") != -32700:
                raise WrongAnswer(f"not a parse error: {raw[:200]!r}")
            self._known = raw
        return self._answered


Speaker = Talk | Garbage


def http_head(*, port: int, path: str, length: int, fields: Mapping[str, str]) -> bytes:
    """The head of one POST."""
    shown = {
        "Host": f"127.0.0.1:{port}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **fields,
        "Content-Length": str(length),
    }
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in shown.items()), "", ""]
    return "\r\n".join(lines).encode()

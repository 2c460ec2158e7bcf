"""Probes that search every response so far for leaked internals. They send nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from strictwire.canon import json
from strictwire.probe.arguments import CANARY
from strictwire.probe.definition import Evaluation, Probe, ProbeContext, found, passed, skipped
from strictwire.probe.observation import Observation, ResponseKind, shorten

_FAILURES: Final = frozenset({ResponseKind.ERROR, ResponseKind.TOOL_ERROR, ResponseKind.REFUSED})
_ANY: Final = _FAILURES | {ResponseKind.RESULT}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    id: str
    purpose: str
    pattern: re.Pattern[str]
    kinds: frozenset[ResponseKind]
    why: str


_ROWS: Final = (
    _Row(
        id="LEAK_PATH",
        purpose="Checks that no error contains a file path of the server.",
        pattern=re.compile(
            r"(?<![\w/:.])/(?:home|root|srv|usr|var|tmp|etc|opt|app|Users|work|mnt|private|data)/[\w.@%+-]+"
            r"|\b[A-Za-z]:\\{1,2}[\w.-]+\\|site-packages"
        ),
        kinds=_FAILURES,
        why="exception texts reach the client, and the model may repeat them",
    ),
    _Row(
        id="LEAK_TRACE",
        purpose="Checks that no error contains a stack trace or an exception class.",
        pattern=re.compile(
            r"Traceback \(most recent|File \"[^\"]+\", line \d+|\n\s+at \S+ \([^)]*:\d+:\d+\)"
            r"|\b(?:[A-Z]\w*(?:Error|Exception))\b[:(]"
        ),
        kinds=_FAILURES,
        why="internals of the server help an attacker",
    ),
    _Row(
        id="LEAK_SECRET",
        purpose="Checks that no error contains what looks like a credential.",
        # A redaction mark such as [redacted] is not a leak.
        pattern=re.compile(
            r"(?i)\b(?:password|passwd|secret|token|api[_-]?key)\s*[=:]\s*(?!\[(?:redacted|masked|filtered)\]|\*{3})\S+"
        ),
        kinds=_FAILURES,
        why="exception texts of libraries often contain connection strings",
    ),
    _Row(
        id="LEAK_VALIDATOR",
        purpose="Checks that errors do not contain the text of a validation library.",
        pattern=re.compile(r"errors\.pydantic\.dev|input_value=|input_type=|\[type=\w+|validation errors? for "),
        kinds=_FAILURES,
        why="the text changes with the version of the library and reveals it",
    ),
    _Row(
        id="LEAK_INPUT",
        purpose="Checks that no error repeats a refused value.",
        pattern=re.compile(re.escape(CANARY)),
        kinds=_FAILURES,
        why="error texts carry values into logs and models",
    ),
    _Row(
        id="LEAK_ADDRESS",
        purpose="Checks that no response contains the memory address of an object.",
        pattern=re.compile(r"\bat 0x[0-9a-fA-F]{6,16}\b|<[\w.]+ object at (?!\[)"),
        kinds=_ANY,
        why="the server converted a value without a JSON form to text, which differs each time and helps exploits",
    ),
)


def _reads(row: _Row) -> Probe:
    async def run(context: ProbeContext) -> Evaluation:
        if not context.log:
            return skipped("there was no response")
        hits = dict(_hits(context, row))
        shown = "; ".join(f"{where}: {shorten(text)!r}" for where, text in list(hits.items())[:5])
        return found(got=shown) if hits else passed(got=f"{len(context.log)} responses checked")

    return Probe(id=row.id, purpose=row.purpose, expected="none in any response", why=row.why, run=run, compared=False)


def _hits(context: ProbeContext, row: _Row) -> Iterator[tuple[str, str]]:
    for where, seen in context.log:
        text = _readable(seen)
        match = row.pattern.search(text) if seen.kind in row.kinds else None
        if match:
            yield where, text[max(0, match.start() - 40) : match.end() + 60]


def _readable(seen: Observation) -> str:
    """The text of a response, and its data as JSON."""
    if seen.kind is ResponseKind.REFUSED:
        return seen.raw.decode("utf-8", "replace")
    data = "" if seen.data is None else json.render(seen.data).decode()
    return f"{seen.text}\n{data}"


PROBES: Final = tuple(map(_reads, _ROWS))

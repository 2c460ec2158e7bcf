"""Probes of what answers give away. They send nothing: they read everything that was seen on the lane so far."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from strictwire.canon import json
from strictwire.probe.arguments import CANARY
from strictwire.probe.bench import Bench, Judged, Probe, found, passed, skipped
from strictwire.probe.observation import Kind, Observation, shorten

_FAILURES: Final = frozenset({Kind.ERROR, Kind.TOOL_ERROR, Kind.REFUSED})
_ANY: Final = _FAILURES | {Kind.RESULT}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    id: str
    purpose: str
    pattern: re.Pattern[str]
    kinds: frozenset[Kind]
    why: str


_ROWS: Final = (
    _Row(
        id="LEAK_PATH",
        purpose="Checks that no failure names a file of the server's machine.",
        pattern=re.compile(
            r"(?<![\w/:.])/(?:home|root|srv|usr|var|tmp|etc|opt|app|Users|work|mnt|private|data)/[\w.@%+-]+"
            r"|\b[A-Za-z]:\\{1,2}[\w.-]+\\|site-packages"
        ),
        kinds=_FAILURES,
        why="exception text reaches whoever calls, and a model that repeats it",
    ),
    _Row(
        id="LEAK_TRACE",
        purpose="Checks that no failure carries a stack or an exception class.",
        pattern=re.compile(
            r"Traceback \(most recent|File \"[^\"]+\", line \d+|\n\s+at \S+ \([^)]*:\d+:\d+\)"
            r"|\b(?:[A-Z]\w*(?:Error|Exception))\b[:(]"
        ),
        kinds=_FAILURES,
        why="internals of the server are an attacker's map",
    ),
    _Row(
        id="LEAK_SECRET",
        purpose="Checks that no failure carries what looks like a credential.",
        # What was taken out on purpose, and marked as such, is no leak.
        pattern=re.compile(
            r"(?i)\b(?:password|passwd|secret|token|api[_-]?key)\s*[=:]\s*(?!\[(?:redacted|masked|filtered)\]|\*{3})\S+"
        ),
        kinds=_FAILURES,
        why="exception text of libraries often holds connection strings",
    ),
    _Row(
        id="LEAK_VALIDATOR",
        purpose="Checks that refusals are not a validation library's own text.",
        pattern=re.compile(r"errors\.pydantic\.dev|input_value=|input_type=|\[type=\w+|validation errors? for "),
        kinds=_FAILURES,
        why="the text changes with a library's version and tells what the server is made of",
    ),
    _Row(
        id="LEAK_INPUT",
        purpose="Checks that a refused value is not repeated.",
        pattern=re.compile(re.escape(CANARY)),
        kinds=_FAILURES,
        why="values travel into logs and models by way of error texts",
    ),
    _Row(
        id="LEAK_ADDRESS",
        purpose="Checks that no answer carries the address of an object.",
        pattern=re.compile(r"\bat 0x[0-9a-fA-F]{6,16}\b|<[\w.]+ object at (?!\[)"),
        kinds=_ANY,
        why="a value that has no JSON form was turned into text: different each time, and it helps exploits",
    ),
)


def _reads(row: _Row) -> Probe:
    async def judge(bench: Bench) -> Judged:
        if not bench.log:
            return skipped("nothing was answered")
        hits = dict(_hits(bench, row))
        shown = "; ".join(f"{where}: {shorten(text)!r}" for where, text in list(hits.items())[:5])
        return found(got=shown) if hits else passed(got=f"{len(bench.log)} answers read")

    return Probe(id=row.id, purpose=row.purpose, expected="none in any answer", why=row.why, judge=judge, compared=False)


def _hits(bench: Bench, row: _Row) -> Iterator[tuple[str, str]]:
    for where, seen in bench.log:
        text = _readable(seen)
        match = row.pattern.search(text) if seen.kind in row.kinds else None
        if match:
            yield where, text[max(0, match.start() - 40) : match.end() + 60]


def _readable(seen: Observation) -> str:
    """Text as people see it, and data as they were written."""
    if seen.kind is Kind.REFUSED:
        return seen.raw.decode("utf-8", "replace")
    data = "" if seen.data is None else json.render(seen.data).decode()
    return f"{seen.text}\n{data}"


PROBES: Final = tuple(map(_reads, _ROWS))

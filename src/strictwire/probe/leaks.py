"""Probes that search every response so far for leaked internals. They send nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from strictwire.canon import json
from strictwire.probe.arguments import CANARY
from strictwire.probe.definition import Evaluation, Lane, Probe, ProbeContext, judged, skipped
from strictwire.probe.harm import Harm
from strictwire.probe.observation import Observation, ResponseKind, shorten
from strictwire.probe.record import Problem

_FAILURES: Final = frozenset({ResponseKind.ERROR, ResponseKind.TOOL_ERROR, ResponseKind.REFUSED})
EXAMPLE_CHARACTERS: Final = 60
"""Characters before a match in which "e.g." makes it an example: enough for a second one after it."""

_EXAMPLE: Final = re.compile(r"(?i)\be\.g\.|\bfor example\b|\bsuch as\b")
_ANY: Final = _FAILURES | {ResponseKind.RESULT}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    id: str
    purpose: str
    pattern: re.Pattern[str]
    kinds: frozenset[ResponseKind]
    why: str
    harm: Harm = Harm.EXPOSURE


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
        harm=Harm.STYLE,
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
        problems = [Problem(subject=where, got=repr(shorten(text))) for where, text in dict(_hits(context, row)).items()]
        return judged(problems, clean=f"{len(context.log)} responses checked")

    return Probe(
        id=row.id,
        purpose=row.purpose,
        expected="none in any response",
        why=row.why,
        run=run,
        harm=row.harm,
        lane=Lane.AFTER,
        compared=False,
    )


def _hits(context: ProbeContext, row: _Row) -> Iterator[tuple[str, str]]:
    for where, seen in context.log:
        text = _readable(seen)
        at = find_leak(row.pattern, text) if seen.kind in row.kinds else None
        if at is not None:
            yield where, text[max(0, at.start() - 40) : at.end() + 60]


def find_leak(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The first match that is not an example, such as the path in "must be absolute, e.g. /home/me/a.txt"."""
    before = ((match, text[max(0, match.start() - EXAMPLE_CHARACTERS) : match.start()]) for match in pattern.finditer(text))
    return next((match for match, words in before if not _EXAMPLE.search(words.rpartition("\n")[2])), None)


def _readable(seen: Observation) -> str:
    """The text of a response, and its data as JSON."""
    if seen.kind is ResponseKind.REFUSED:
        return seen.raw.decode("utf-8", "replace")
    data = "" if seen.data is None else json.render(seen.data).decode()
    return f"{seen.text}\n{data}"


PROBES: Final = tuple(map(_reads, _ROWS))

"""A process that judges documents by schemas its callers wrote: `python -m strictwire.packs.basics.judge SECONDS`.

The schema engine runs natively and cannot be interrupted, and a short schema can ask for work without end. So a foreign
schema is never judged inside the server: here it can be killed. One request a line on stdin, one answer a line on stdout;
the process ends with its stdin, or when one request takes longer than SECONDS, even if nobody is left to kill it.
"""

from __future__ import annotations

import sys
from typing import Final

from strictwire.canon.json import JsonObject, NotStrict, parse_object, render
from strictwire.contract.conform import Violation, compile_schema
from strictwire.contract.schema import SchemaRefused
from strictwire.packs.kit.text import cut_characters

MAX_WORD: Final = 1024
"""Characters of a pointer or of a word of the schema; the output schema says the same."""

MAX_MEMORY: Final = 1024 * 1024 * 1024
"""Bytes of address space. Python and the engine take a fifth of it before any work."""


def judge(request: JsonObject) -> JsonObject:
    """`{valid, violations}`, or `{problem, pointer}` of a schema that cannot be used."""
    try:
        conformer = compile_schema(request["schema"])
    except SchemaRefused as exc:
        return {"problem": exc.problem.value, "pointer": _word(exc.pointer)}
    found = conformer.find_violations(request["document"])
    return {"valid": not found, "violations": [_as_json(each) for each in found]}


def _as_json(violation: Violation) -> JsonObject:
    words = (violation.path, violation.keyword, violation.expected, violation.actual)
    return dict(zip(("path", "keyword", "expected", "actual"), map(_word, words), strict=True))


def _word(text: str) -> str:
    return cut_characters(text, MAX_WORD).text


def _limit_memory() -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_time(seconds: float) -> None:
    """End the process at that time from now; 0 takes it back. The system does it, whatever the engine is at."""
    if sys.platform != "win32":
        import signal

        signal.setitimer(signal.ITIMER_REAL, seconds)


def main(seconds: float) -> None:
    """Serve until stdin ends."""
    _limit_memory()
    for line in sys.stdin.buffer:
        _limit_time(seconds)
        try:
            answer = judge(parse_object(line))
        except NotStrict:
            # Deeper than a request may be: whatever wrote this line is not our parent.
            break
        _limit_time(0)
        sys.stdout.buffer.write(render(answer) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(float(sys.argv[1]))

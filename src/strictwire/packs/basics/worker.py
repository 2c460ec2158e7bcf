"""Worker process that validates documents against schemas from clients: `python -m strictwire.packs.basics.worker SECONDS`.

The schema engine is native code and cannot be interrupted, and a short schema can require an unbounded amount of work. So a
client's schema is never evaluated in the server process: a worker can be killed. The protocol is one JSON request per line
on stdin and one JSON answer per line on stdout. The worker exits when stdin closes, or when one request takes longer than
SECONDS, so it ends even if the server that started it has died.
"""

from __future__ import annotations

import sys
from typing import Final

from strictwire.canon.json import JsonObject, NotStrict, parse_object, render
from strictwire.contract.conform import Violation, compile_schema
from strictwire.contract.schema import SchemaRefused
from strictwire.packs.kit.text import cut_characters

MAX_TEXT: Final = 1024
"""Longest text in an answer, in characters. The output schema has the same limit."""

MAX_MEMORY: Final = 1024 * 1024 * 1024
"""Address space of the process, in bytes. Python and the schema engine use about a fifth of it before any work."""


def validate(request: JsonObject) -> JsonObject:
    """Return `{valid, violations}`, or `{problem, pointer}` if the schema cannot be used."""
    try:
        conformer = compile_schema(request["schema"])
    except SchemaRefused as exc:
        return {"problem": exc.problem.value, "pointer": _bounded(exc.pointer)}
    found = conformer.find_violations(request["document"])
    return {"valid": not found, "violations": [_as_json(each) for each in found]}


def _as_json(violation: Violation) -> JsonObject:
    texts = (violation.path, violation.keyword, violation.expected, violation.actual)
    return dict(zip(("path", "keyword", "expected", "actual"), map(_bounded, texts), strict=True))


def _bounded(text: str) -> str:
    return cut_characters(text, MAX_TEXT).text


def _limit_memory() -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_time(seconds: float) -> None:
    """Let SIGALRM end the process after that many seconds; 0 cancels it. Its default action also stops native code."""
    if sys.platform != "win32":
        import signal

        signal.setitimer(signal.ITIMER_REAL, seconds)


def main(seconds: float) -> None:
    """Serve requests until stdin closes."""
    _limit_memory()
    for line in sys.stdin.buffer:
        _limit_time(seconds)
        try:
            answer = validate(parse_object(line))
        except NotStrict:
            # The server sends strict JSON only, so this line is not from the server.
            break
        _limit_time(0)
        sys.stdout.buffer.write(render(answer) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(float(sys.argv[1]))

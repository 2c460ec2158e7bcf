"""Requests that a client cancels before the process behind a guard has read them."""

from __future__ import annotations

from tests.fixtures.live import StdioProcess, command, modern

MEGABYTE = 1024 * 1024
TEXT = "x" * (3 * MEGABYTE)
CALLS = 100
LIMIT = 150 * MEGABYTE
"""These calls took 260 MB, and 300 of them 940 MB, while cancelled requests stayed in the buffer of the pipe."""

ADD = modern("add", "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})


class Guarded(StdioProcess):
    """A server behind a guard; both on stdio."""

    def command(self, place: str, *_arguments: str) -> list[str]:
        strictwire, *serve = command(place, "--stdio")
        return [strictwire, "guard", "--", strictwire, *serve]


def test_cancelled_requests_do_not_wait_in_the_memory_of_the_guard() -> None:
    with Guarded("hard:server") as guard:
        guard.ask(ADD)
        before = guard.memory()
        for number in range(CALLS):
            guard.send(modern(number, "tools/call", {"name": "wait", "arguments": {"text": TEXT}}))
            guard.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}' % number)
        answer = guard.ask(ADD)
        taken = guard.memory() - before

    assert answer["result"]["structuredContent"] == {"result": 3}
    assert taken < LIMIT, f"{taken / MEGABYTE:.0f} MB"

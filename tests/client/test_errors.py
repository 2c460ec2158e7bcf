"""Error messages, and the behaviour without the extra `client`."""

from __future__ import annotations

import subprocess
import sys

import pytest

from strictwire.client import (
    CannotReach,
    ClientError,
    NotUnderstood,
    OutputInvalid,
    RequestFailed,
    ServerGone,
    SessionExpired,
    TimedOut,
    TooLarge,
    ToolFailed,
)
from strictwire.fault.failure import fail

UNREAD = "the response of the server was not understood"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (CannotReach("a", "no such host"), "cannot reach a: no such host"),
        (ServerGone(), "the server closed the connection"),
        (ServerGone(3), "the server exited 3"),
        (TimedOut("tools/list", 1.5), "no answer within 1.5 s: tools/list"),
        (TooLarge("a line", 10), "the server sent a line larger than 10 bytes"),
        (NotUnderstood("why"), "the response of the server was not understood: why"),
        (NotUnderstood("HTTP 404", status=404), f"{UNREAD}: HTTP 404; check the path of the URL, which is often /mcp"),
        (
            NotUnderstood("HTTP 500", status=500),
            f"{UNREAD}: HTTP 500; read the log of the server, and check the path of the URL, which is often /mcp",
        ),
        (NotUnderstood("HTTP 401", status=401), f"{UNREAD}: HTTP 401; check the token in the Authorization header"),
        (NotUnderstood("HTTP 200", status=200), f"{UNREAD}: HTTP 200"),
        (CannotReach("http://u:p@h:1/a?k=v#f", "no"), "cannot reach http://h:1/a: no"),
        (CannotReach("http://[", "no"), "cannot reach the URL: no"),
        (TimedOut("http://u:p@h/a?k=v", 1), "no answer within 1 s: http://h/a"),
        (SessionExpired(), "the session has expired at the server; open a new one"),
        (
            OutputInvalid("t\x1b", [{"path": "/a", "keyword": "type"}]),
            "t\\u001b: the structured content does not match its schema: /a (type)",
        ),
        (RequestFailed("t", fail("RATE_LIMITED", text="slow\ndown"), number=1), "t: RATE_LIMITED: slow\\u000adown"),
        (ToolFailed("t", fail("TOOL_FAILED", text="x" * 9999), {}), f"t: TOOL_FAILED: {'x' * 500}"),
    ],
)
def test_every_error_is_a_client_error_with_a_message(error: ClientError, message: str) -> None:
    assert isinstance(error, ClientError)
    assert str(error) == message


@pytest.mark.parametrize(
    ("error", "code", "retryable"),
    [
        (CannotReach("a", "b"), "UPSTREAM_GONE", True),
        (ServerGone(3), "UPSTREAM_GONE", True),
        (SessionExpired(), "UPSTREAM_GONE", True),
        (TimedOut("a", 1), "TIMEOUT", True),
        (TooLarge("a", 1), "CAP_EXCEEDED", False),
        (NotUnderstood("a"), "UPSTREAM_BROKE", False),
        (NotUnderstood("a", status=401), "UNAUTHENTICATED", False),
        (NotUnderstood("a", status=429), "RATE_LIMITED", True),
        (NotUnderstood("a", status=503), "UPSTREAM_GONE", True),
        (OutputInvalid("t", []), "OUTPUT_INVALID", False),
        (RequestFailed("t", fail("OVERLOADED")), "OVERLOADED", True),
    ],
)
def test_every_error_has_a_failure_to_act_on(error: ClientError, code: str, retryable: bool) -> None:
    assert (error.failure.code, error.failure.retryable) == (code, retryable)
    assert error.action


def test_without_aiohttp_the_probe_loads_and_the_error_of_an_http_session_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['aiohttp'] = None\n"
        "import asyncio, strictwire.probe\n"
        "from strictwire.client import CannotReach, open_http\n"
        "try: asyncio.run(open_http('http://127.0.0.1:1/'))\n"
        "except CannotReach as exc: print(exc.reason)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)

    assert (done.stdout, done.stderr) == ("HTTP sessions need aiohttp; run: pip install 'strictwire[client]'\n", "")

"""Error messages, and the behaviour without the extra `client`."""

from __future__ import annotations

import subprocess
import sys

import pytest

from strictwire.client.errors import CannotReach, ClientError, NotUnderstood, ServerGone, TimedOut, TooLarge


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (CannotReach("a", "no such host"), "cannot reach a: no such host"),
        (ServerGone(), "the server closed the connection"),
        (ServerGone(3), "the server exited 3"),
        (TimedOut("tools/list", 1.5), "no answer within 1.5 s: tools/list"),
        (TooLarge("a line", 10), "the server sent a line larger than 10 bytes"),
        (NotUnderstood("why"), "the response of the server was not understood: why"),
    ],
)
def test_every_error_is_a_client_error_with_a_message(error: ClientError, message: str) -> None:
    assert isinstance(error, ClientError)
    assert str(error) == message


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

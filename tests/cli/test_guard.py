"""`strictwire guard` as a person or a client starts it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.fixtures.guards import STRICTWIRE, guard_http
from tests.fixtures.live import PATIENCE, environment, initialize, legacy, modern

from strictwire.canon.json import parse_object
from strictwire.cli.main import main

FAKE = str(Path(__file__).parent.parent / "fixtures" / "fake_upstream.py")
CALL = {"name": "act", "arguments": {"x": 1}}


def guard(*arguments: str, said: bytes) -> subprocess.CompletedProcess[bytes]:
    command = [STRICTWIRE, "guard", *arguments, "--", sys.executable, "-S", FAKE, "good"]
    return subprocess.run(command, input=said, env=environment(), capture_output=True, timeout=PATIENCE, check=False)


def test_what_was_asked_before_the_end_of_input_is_answered() -> None:
    done = guard(said=modern(1, "tools/call", CALL) + b"\n")

    assert done.returncode == 0
    assert [parse_object(line)["result"]["structuredContent"] for line in done.stdout.splitlines()] == [{"y": 1}]


def test_a_legacy_session_works_over_stdio() -> None:
    """Everything in one write: the guard must not let a request overtake the end of the opening."""
    opening = subprocess.Popen(
        [STRICTWIRE, "guard", "--", sys.executable, "-S", FAKE, "tells_state"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
    )
    with opening:
        assert opening.stdin is not None
        assert opening.stdout is not None
        opening.stdin.write(initialize() + b"\n")
        opening.stdin.flush()
        opened = parse_object(opening.stdout.readline())
        initialized = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
        opening.stdin.write(initialized + b"\n" + legacy(1, "ping") + b"\n" + legacy(2, "tools/call", CALL) + b"\n")
        opening.stdin.close()
        answers = {answer["id"]: answer["result"] for answer in map(parse_object, opening.stdout)}
    seen = [method for method, _ in answers[2]["structuredContent"]["seen"]]

    assert opened["result"]["protocolVersion"] == "2025-11-25"
    assert sorted(answers) == [1, 2]
    assert seen[:2] == ["initialize", "notifications/initialized"]


def test_noise_of_the_upstream_never_reaches_standard_output() -> None:
    command = [STRICTWIRE, "guard", "--", sys.executable, "-S", FAKE, "noise_before"]
    said = modern(1, "tools/call", CALL) + b"\n"
    done = subprocess.run(command, input=said, env=environment(), capture_output=True, timeout=PATIENCE, check=False)

    assert [parse_object(line)["id"] for line in done.stdout.splitlines()] == [1]


def test_the_guard_says_where_it_listens() -> None:
    with guard_http("--", sys.executable, "-S", FAKE, "good") as url:
        assert url.startswith("http://127.0.0.1:")
        assert url.endswith("/mcp")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "name one server"),
        (["--upstream-http", "http://x/mcp", "--", "cmd"], "name one server"),
        (["--http", "nowhere", "--", "cmd"], "expected HOST:PORT"),
        (["--timeout", "0", "--", "cmd"], "--timeout"),
        (["--trust-on-first-use", "--", "cmd"], "needs --lock"),
        (["--upstream-http", "http://x/mcp", "--upstream-token-env", "NO_SUCH_VARIABLE"], "is not set"),
    ],
)
def test_wrong_usage_says_what_to_do(arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guard", *arguments]) == 2
    assert reason in capsys.readouterr().err


def test_a_guard_that_others_could_reach_needs_a_token(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guard", "--http", "0.0.0.0:0", "--", "cmd"]) == 1
    assert "server.tokens" in capsys.readouterr().err

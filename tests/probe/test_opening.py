"""Why a server cannot be tested: its own words, without secrets, and without waiting for an era that never responds."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from strictwire.client import CannotReach
from strictwire.probe import ProbeOptions, run_with
from strictwire.probe.opening import MAX_STDERR_LINES, quote_stderr, stderr_lines

FRAGILE = [sys.executable, str(Path(__file__).parent / "servers" / "fragile.py")]


def test_a_server_that_does_not_start_is_quoted_once_without_secrets() -> None:
    with pytest.raises(CannotReach) as caught:
        asyncio.run(run_with(ProbeOptions(stdio=[*FRAGILE, "never-starts", "--token", "abc"])))

    text = str(caught.value)
    assert "never-starts --token [redacted]: stdio/modern, stdio/legacy: the server exited 1" in text
    assert text.count("| settings.toml is missing; api_key=[redacted]") == 1


@pytest.mark.slow
def test_an_era_without_a_response_is_given_up_once_the_other_has_responded() -> None:
    """The start-up limit is longer than the test may take."""
    options = ProbeOptions(
        stdio=[*FRAGILE, "mute-discover"], only=frozenset({"TOOL_UNKNOWN"}), budget=3600, start_seconds=3600
    )
    report = asyncio.run(run_with(options))

    assert [str(variant) for variant in report.variants] == ["stdio/legacy"]
    assert list(report.closed.values()) == ["no response to the first request in time"]


def test_only_the_last_lines_of_stderr_are_quoted() -> None:
    raw = b"\n".join(b"line %d" % number for number in range(50))

    assert stderr_lines(raw) == [f"line {number}" for number in range(50 - MAX_STDERR_LINES, 50)]
    assert quote_stderr(b"") == ""
    assert quote_stderr(b"token=abcdef123456\n").splitlines()[1:] == [
        "  | stderr of the server:",
        "  | token=[redacted]",
    ]

"""An upstream that does its worst, behind a guard that other clients use: the guard answers in time and stays small."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.guards import GuardStdioProcess
from tests.fixtures.live import INITIALIZED, initialize, legacy

UPSTREAM = str(Path(__file__).parent.parent / "fixtures" / "hostile_upstream.py")
PATIENCE = 5.0
"""Seconds for the answers of a test. Without budgets they take from 7 s to for ever, or gigabytes."""


@pytest.fixture(scope="module")
def guard() -> Iterator[GuardStdioProcess]:
    with GuardStdioProcess("", "--", sys.executable, UPSTREAM) as process:
        process.ask(initialize())
        process.send(INITIALIZED)
        yield process


def call(guard: GuardStdioProcess, name: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
    """The answer to a call, in time, and that of another call right behind it."""
    began = time.monotonic()
    guard.send(legacy(name, "tools/call", {"name": name, "arguments": arguments or {}}))
    guard.send(legacy("other", "tools/call", {"name": "good", "arguments": {}}))
    answers = {answer["id"]: answer for answer in (guard.receive(), guard.receive())}

    assert time.monotonic() - began < PATIENCE
    assert answers["other"]["result"] == {"content": []}
    return answers[name]


@pytest.mark.parametrize(
    ("name", "given", "reason"),
    [
        ("doubling", 1, "schema_too_complex"),
        ("doubling_output", 1, "schema_too_complex"),
        ("options", ["no option"] * 500, "schema_too_large"),
        ("branches", [-1] * 200, "schema_too_large"),
    ],
    ids=["doubling", "doubling_output", "options", "branches"],
)
def test_a_tool_with_a_costly_schema_is_refused_and_the_others_are_served(
    guard: GuardStdioProcess, name: str, given: object, reason: str
) -> None:
    answer = call(guard, name, {"x": given})

    assert reason in answer["result"]["content"][0]["text"]


def test_a_result_with_20_000_violations_has_one_explained(guard: GuardStdioProcess) -> None:
    assert "OUTPUT_INVALID" in call(guard, "bad_items")["result"]["content"][0]["text"]


def test_an_error_full_of_secrets_is_redacted_in_time(guard: GuardStdioProcess) -> None:
    """Two texts of 60 KB. A search that takes quadratic time needs seconds for each."""
    began = time.monotonic()
    codes = [call(guard, "tokens")["error"]["code"] for _ in range(8)]

    assert codes == [-32000] * 8
    assert time.monotonic() - began < PATIENCE


@pytest.mark.parametrize("name", ["brackets", "towers"])
def test_large_lines_that_nobody_asked_for_take_a_bounded_amount_of_memory(guard: GuardStdioProcess, name: str) -> None:
    before = guard.memory()

    assert call(guard, name)["result"] == {"content": []}
    assert guard.memory() - before < 128 * 1024 * 1024


def test_an_answer_is_counted_before_it_is_decoded(guard: GuardStdioProcess) -> None:
    """1.5 million empty arrays in 6 MB take 100 MB decoded."""
    before = guard.memory()

    assert "UPSTREAM_BROKE" in str(call(guard, "arrays"))
    assert guard.memory() - before < 64 * 1024 * 1024

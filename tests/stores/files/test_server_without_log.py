"""A real server over stdio whose log is taken away under load: every call is told, and all goes on when it is back."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from strictwire.stores.files.disk import FolderDisk
from strictwire.stores.files.layout import ACTIVE
from tests.stores.trails import TrailConfig, records_of, remove_folder, trail_in, verify

SERVER = Path(__file__).parent.parent / "served.py"
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
AT_ONCE = 32
ROOM = 40 * 1024
RECORD = 1024
"""Bytes that a record has at most."""


@contextmanager
def served(trail: TrailConfig, mode: str) -> Iterator[subprocess.Popen[bytes]]:
    audit = {"MODE": mode, "FOLDER": str(trail.folder), "KEY": str(trail.key_path)}
    process = subprocess.Popen(
        [sys.executable, str(SERVER), "--stdio"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **{f"STRICTWIRE_AUDIT_{name}": value for name, value in audit.items()}},
    )
    try:
        ask(process, [{"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": HELLO}])
        yield process
    finally:
        process.communicate(timeout=20)


def ask(process: subprocess.Popen[bytes], messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sends all of them in one go, and waits for as many answers."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"".join(json.dumps(each).encode() + b"\n" for each in messages))
    process.stdin.flush()
    return [json.loads(process.stdout.readline()) for _ in messages]


def calls(first: int, reading: str) -> list[dict[str, Any]]:
    """Calls of a tool that reads and of one that writes, in turns."""
    return [
        {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": (reading, "change")[number % 2], "arguments": {"number": number}},
        }
        for number in range(first, first + AT_ONCE)
    ]


def code_of(answer: dict[str, Any]) -> str:
    """The code of an answer that is a failure and nothing else."""
    result = answer["result"]
    assert (result["isError"], "structuredContent" in result) == (True, False)
    code: str = json.loads(result["content"][0]["text"])["error"]["code"]
    return code


@pytest.mark.parametrize("reading", ["look", "wait", "plain"])
@pytest.mark.parametrize("mode", ["sync", "batched"])
def test_calls_that_come_at_once_are_all_told_that_there_is_no_log(tmp_path: Path, mode: str, reading: str) -> None:
    trail = trail_in(tmp_path)
    with served(trail, mode) as process:
        before = ask(process, calls(0, reading))
        remove_folder(trail.folder)
        refused = ask(process, calls(100, reading))
        trail.folder.mkdir()
        after = ask(process, calls(200, reading))

    good = [each["result"]["structuredContent"]["result"] for each in before + after]
    assert sorted(good) == [*range(AT_ONCE), *range(200, 200 + AT_ONCE)]
    assert sorted(each["id"] for each in refused) == list(range(100, 100 + AT_ONCE))
    assert [code_of(each) for each in refused] == ["AUDIT_UNAVAILABLE"] * AT_ONCE
    kinds = [each["kind"] for each in records_of(FolderDisk(trail.folder))]
    halves = AT_ONCE // 2
    assert [kinds.count(kind) for kind in ("call", "intent", "outcome")] == [2 * halves] * 3
    assert verify(trail).ok


def call(process: subprocess.Popen[bytes], number: int) -> dict[str, Any]:
    params = {"name": "look", "arguments": {"number": number}}
    (answer,) = ask(process, [{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}])
    return answer


@pytest.mark.parametrize("mode", ["sync", "batched"])
def test_calls_are_told_when_the_log_cannot_grow_and_recorded_again_when_it_can(tmp_path: Path, mode: str) -> None:
    """A limit on the size of files is to the process what a full disk is."""
    trail = trail_in(tmp_path)
    answers, refused = [], []
    with served(trail, mode) as process:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (ROOM, resource.RLIM_INFINITY))
        while not refused:
            answer = call(process, len(answers))
            (refused if answer["result"].get("isError") else answers).append(answer)
        recorded = (trail.folder / ACTIVE).stat().st_size
        refused.append(call(process, len(answers)))
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        answers.append(call(process, len(answers)))

    assert ROOM - RECORD < recorded <= ROOM, "the log was written up to its last record that fits"
    assert [code_of(each) for each in refused] == ["AUDIT_UNAVAILABLE"] * 2
    assert [each["result"]["structuredContent"]["result"] for each in answers] == list(range(len(answers)))
    assert [each["kind"] for each in records_of(FolderDisk(trail.folder))].count("call") == len(answers)
    assert verify(trail).ok

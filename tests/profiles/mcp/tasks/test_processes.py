"""Tasks of a real server over HTTP: they outlive connections, legacy clients get none, and shutdown records them."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from strictwire.canon.json import parse_object
from tests.fixtures.live import HttpProcess, StdioProcess, command, initialize, legacy, modern, run, serve_http, wait_for

pytestmark = pytest.mark.slow

ABLE = {"io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}


def start(server: HttpProcess, seconds: float) -> str:
    call = {"name": "slow_compute", "arguments": {"seconds": seconds, "label": "x"}}
    return str(server.ask(modern(1, "tools/call", call, **ABLE)).json()["result"]["taskId"])


def get(server: HttpProcess, task_id: str) -> dict[str, Any]:
    return dict(server.ask(modern(1, "tasks/get", {"taskId": task_id}, **ABLE)).json()["result"])


def test_a_task_outlives_its_connection_and_ends_recorded_with_the_server(tmp_path: Path) -> None:
    folder, key = tmp_path / "audit", tmp_path / "keys" / "key"
    env = {"STRICTWIRE_AUDIT_MODE": "sync", "STRICTWIRE_AUDIT_FOLDER": str(folder), "STRICTWIRE_AUDIT_KEY": str(key)}
    with serve_http("everything:server", env=env) as server:
        short, long = start(server, 0), start(server, 600)
        wait_for(lambda: get(server, short)["status"] == "completed")
        running = get(server, long)
        server.process.send_signal(signal.SIGTERM)
        code = server.process.wait(20)
    records = [parse_object(line) for line in (folder / "audit-log.jsonl").read_bytes().splitlines()]
    verified = run([command("")[0], "audit", "verify", "--folder", str(folder), "--key", str(key)])

    assert (running["status"], running["statusMessage"], code) == ("working", "0 of 600: x", 0)
    assert sorted((each["kind"], str(each.get("error_code"))) for each in records) == [
        ("intent", "None"), ("intent", "None"), ("outcome", "CANCELLED"), ("outcome", "None"),
    ]  # fmt: skip
    assert verified.returncode == 0


def test_a_client_of_the_legacy_era_gets_plain_calls_or_a_refusal() -> None:
    with StdioProcess("everything:server") as process:
        opened = process.ask(initialize(capabilities={"extensions": {"io.modelcontextprotocol/tasks": {}}}))
        plain = process.ask(legacy(1, "tools/call", {"name": "slow_compute", "arguments": {"seconds": 0, "label": "x"}}))
        while "method" in plain:  # progress
            plain = process.receive()
        required = process.ask(legacy(2, "tools/call", {"name": "failing_job", "arguments": {}}))
        method = process.ask(legacy(3, "tasks/get", {"taskId": "x"}))

    assert "extensions" not in opened["result"]["capabilities"]
    assert plain["result"]["content"] == [{"type": "text", "text": "x is done"}]
    assert (required["error"]["code"], required["error"]["data"]["code"]) == (-32602, "MISSING_CAPABILITY")
    assert method["error"]["code"] == -32601


def test_large_requests_of_running_tasks_take_a_bounded_amount_of_memory() -> None:
    """A request that is answered with a task no longer counts as in flight, but its handler holds the arguments."""
    call = {"name": "slow_compute", "arguments": {"seconds": 600, "label": "x" * 3_900_000}}
    small = {"name": "slow_compute", "arguments": {"seconds": 600, "label": "x"}}
    with serve_http("everything:server") as server:
        answers = [server.ask(modern(1, "tools/call", call, **ABLE)).json()["result"] for _ in range(80)]
        beside = server.ask(modern(1, "tools/call", small, **ABLE)).json()["result"]
        resident = int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    refused = [each["structuredContent"]["error"] for each in answers if "taskId" not in each]
    assert {(each["code"], each["details"]["reason"]) for each in refused} == {("OVERLOADED", "task memory")}
    assert (len(answers) - len(refused), "taskId" in beside) == (8, True)
    assert resident < 200_000_000

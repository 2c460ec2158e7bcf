"""Real servers and the real command line: what is recorded of odd calls, and what a start says about a changed trail."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from strictwire.stores.files.config import TrailConfig
from tests.stores.files import tampering
from tests.stores.trails import records_of, trail_in

pytestmark = pytest.mark.slow

SERVER = Path(__file__).parent.parent / "served.py"
UPSTREAM = Path(__file__).parent.parent / "odd_upstream.py"
CLI = [sys.executable, "-m", "strictwire.cli.main"]
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
OPENING = [
    {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]
SECONDS = 60


def environment(trail: TrailConfig) -> dict[str, str]:
    audit = {"MODE": "sync", "FOLDER": str(trail.folder), "KEY": str(trail.key_path), "ROTATE_BYTES": "4096"}
    return {**os.environ, **{f"STRICTWIRE_AUDIT_{name}": value for name, value in audit.items()}}


def call(name: str, request: int = 1, /, **arguments: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def run(trail: TrailConfig, *calls: dict[str, Any], command: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    """Start a server on stdio, make some calls, and let it end."""
    process = subprocess.Popen(
        command or [sys.executable, str(SERVER), "--stdio"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(trail),
        text=True,
    )
    lines = "".join(json.dumps(each) + "\n" for each in [*OPENING, *calls])
    out, err = process.communicate(lines, timeout=SECONDS)
    return subprocess.CompletedProcess([], process.returncode, out, err)


def answers(done: subprocess.CompletedProcess[str]) -> dict[Any, dict[str, Any]]:
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {each["id"]: each for each in found if "id" in each}


def audit(trail: TrailConfig, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*CLI, "audit", *arguments], env=environment(trail), capture_output=True, text=True, timeout=SECONDS, check=False
    )


@pytest.fixture
def trail(tmp_path: Path) -> TrailConfig:
    """The trail, in several files, of a server that was started three times."""
    trail = trail_in(tmp_path)
    for count in (12, 12, 2):
        done = run(trail, *(call("look", number, number=number) for number in range(count)))
        assert len(answers(done)) == count + 1
    assert len(tampering.older(trail)) == 2
    return trail


def assert_refused(trail: TrailConfig) -> None:
    """`verify` finds it, no server starts, a person repairs it, and then one starts."""
    assert audit(trail, "verify").returncode == 100
    refused = run(trail, call("look", number=1))
    envelope = json.loads(refused.stderr.splitlines()[-1])
    assert (refused.returncode, refused.stdout, envelope["error_code"]) == (1, "", "SELF_AUDIT_FAILURE")
    assert "strictwire audit repair" in envelope["human_message"]
    assert audit(trail, "verify").returncode == 100
    assert audit(trail, "repair", "--reason", "accepted in a test").returncode == 0
    assert run(trail, call("look", number=1)).returncode == 0
    assert audit(trail, "verify").returncode == 0


@pytest.mark.clause("S13")
@pytest.mark.parametrize(
    "tamper",
    [
        tampering.append_a_forged_prune_and_delete_a_file,
        tampering.append_a_forged_prune_and_delete_all_signed_files,
        tampering.delete_the_oldest_file,
        tampering.remove_the_first_checkpoint,
        tampering.plant_a_file_of_forged_records,
    ],
)
def test_a_server_does_not_start_on_a_trail_that_was_tampered_with(trail: TrailConfig, tamper: tampering.Tamper):
    tamper(trail)

    assert_refused(trail)
    assert '"accepted in a test"' in audit(trail, "show", "--kind", "repair").stdout


@pytest.mark.clause("S13")
def test_a_server_does_not_start_on_an_emptied_folder_with_one_for_a_worker(trail: TrailConfig):
    shutil.rmtree(trail.folder)
    (trail.folder / "worker-0").mkdir(parents=True)

    assert_refused(trail)


@pytest.mark.clause("S13")
def test_a_server_does_not_start_on_an_earlier_copy_behind_a_link(tmp_path: Path):
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "audit").symlink_to(real)
    trail = trail_in(tmp_path)
    run(trail, call("look", number=1))
    shutil.copytree(real, tmp_path / "copy")
    run(trail, call("look", number=2))
    (tmp_path / "audit").unlink()
    (tmp_path / "audit").symlink_to(tmp_path / "copy")

    assert_refused(trail)


@pytest.mark.slow
@pytest.mark.clause("S13")
def test_the_removed_log_of_a_worker_is_missed(tmp_path: Path):
    trail = trail_in(tmp_path)
    process = subprocess.Popen(
        [sys.executable, str(SERVER), "--http", "127.0.0.1:0", "--workers", "2"],
        stderr=subprocess.PIPE,
        env=environment(trail),
        text=True,
    )
    while len(trail.known_workers()) < 2 or not all(trail.for_worker(n).anchor_path.exists() for n in range(2)):
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=SECONDS)
    assert audit(trail, "verify").returncode == 0
    shutil.rmtree(trail.folder / "worker-1")

    assert_refused(trail)


# What is recorded.


def recorded(trail: TrailConfig, tool: str) -> list[dict[str, Any]]:
    return [each for each in records_of(tampering.disk_of(trail)) if each.get("tool_name") == tool]


@pytest.mark.clause("S7")
def test_a_wrong_member_with_a_numeric_name_is_refused_and_recorded(tmp_path: Path):
    trail = trail_in(tmp_path)
    done = run(trail, call("fetch", headers={"1": 5}))

    assert answers(done)[1]["result"]["isError"] is True
    assert [(each["kind"], each["error_code"]) for each in recorded(trail, "fetch")] == [("refusal", "INVALID_PARAMS")]


@pytest.mark.clause("S7")
def test_a_handler_that_wants_to_end_the_process_is_recorded(tmp_path: Path):
    trail = trail_in(tmp_path)
    done = run(trail, call("leave"), call("look", 2, number=7))

    assert answers(done)[1]["result"]["isError"] is True
    assert [(each["kind"], each.get("error_code")) for each in recorded(trail, "leave")] == [
        ("intent", None),
        ("outcome", "TOOL_FAILED"),
    ]


@pytest.mark.clause("S7")
def test_an_output_schema_that_nothing_satisfies_leaves_no_intent_without_outcome(tmp_path: Path):
    trail = trail_in(tmp_path)
    done = run(trail, call("act"), command=[*CLI, "guard", "--", sys.executable, str(UPSTREAM)])
    found = recorded(trail, "act")

    assert 1 in answers(done)
    assert [each["kind"] for each in found] == ["intent", "outcome"]
    assert (found[1]["error_code"], found[1]["outcome"]) == ("OUTPUT_INVALID", "error")
    assert {each["upstream"] for each in found} == {found[0]["upstream"]}


def test_a_long_name_is_recorded_by_its_beginning_and_digest(tmp_path: Path):
    trail = trail_in(tmp_path)
    done = run(trail, call("x" * 3_000_000))
    (record,) = [each for each in records_of(tampering.disk_of(trail)) if each["kind"] == "refusal"]

    assert answers(done)[1]["error"]["code"] == -32602
    assert record["tool_name"].startswith("x" * 100)
    assert len(json.dumps(record)) < 4_000

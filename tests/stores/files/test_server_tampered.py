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
from tests.fixtures.live import modern, serve_http, wait_for
from tests.stores.files import tampering
from tests.stores.trails import records_of, trail_in

pytestmark = pytest.mark.slow

SERVER = Path(__file__).parent.parent / "served.py"
UPSTREAM = Path(__file__).parent.parent / "odd_upstream.py"
CLI = [sys.executable, "-m", "strictwire.cli.main"]
SERVE = [sys.executable, str(SERVER), "--stdio"]
GUARD = [*CLI, "guard", "--", sys.executable, str(UPSTREAM)]
SECONDS = 60


def environment(trail: TrailConfig, **more: str) -> dict[str, str]:
    audit = {"MODE": "sync", "FOLDER": str(trail.folder), "KEY": str(trail.key_path), "ROTATE_BYTES": "4096", **more}
    return {**os.environ, **{f"STRICTWIRE_AUDIT_{name}": value for name, value in audit.items()}}


def call(name: str, request: int = 1, /, **arguments: object) -> bytes:
    return modern(request, "tools/call", {"name": name, "arguments": arguments})


def run(trail: TrailConfig, *calls: bytes, command: list[str] = SERVE, **settings: str) -> subprocess.CompletedProcess[str]:
    """Start a server on stdio, make some calls, and let it end."""
    return subprocess.run(
        command,
        input="".join(each.decode() + "\n" for each in calls),
        env=environment(trail, **settings),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


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
        assert len(answers(done)) == count
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
        tampering.append_an_untagged_prune_and_delete_all_signed_files,
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


@pytest.mark.clause("S13")
def test_the_removed_log_of_a_worker_is_missed(tmp_path: Path):
    trail = trail_in(tmp_path)
    logs = [trail.folder / f"worker-{number}" / "audit-log.jsonl" for number in range(2)]
    env = {**environment(trail), "PYTHONPATH": str(SERVER.parent)}
    with serve_http("served:server", "--workers", "2", env=env) as server:
        wait_for(lambda: server.ask(call("look", number=1)) and all(map(_has_records, logs)))
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(SECONDS)
    assert audit(trail, "verify").returncode == 0
    shutil.rmtree(trail.folder / "worker-1")

    assert_refused(trail)


def _has_records(log: Path) -> bool:
    return log.exists() and log.stat().st_size > 0


# What is recorded.


def recorded(trail: TrailConfig, tool: str) -> list[dict[str, Any]]:
    return [each for each in records_of(tampering.disk_of(trail)) if each.get("tool_name") == tool]


@pytest.mark.clause("S7")
@pytest.mark.parametrize("command", [SERVE, GUARD], ids=["server", "guard"])
def test_a_wrong_member_with_any_name_is_refused_and_recorded(tmp_path: Path, command: list[str]):
    """The two schemas differ: that of the server is simple, that of the guard's upstream has `patternProperties`."""
    names = ["1", "01", "+1", "-1", "", "a/b~c"]
    trail = trail_in(tmp_path)
    done = run(trail, *(call("fetch", number, headers={name: 5}) for number, name in enumerate(names)), command=command)

    assert [answers(done)[number]["result"]["isError"] for number in range(len(names))] == [True] * len(names)
    expected = [("refusal", "INVALID_PARAMS")] * len(names)
    assert [(each["kind"], each["error_code"]) for each in recorded(trail, "fetch")] == expected


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
@pytest.mark.parametrize("tool", ["act", "act_untyped"])
def test_an_output_schema_that_nothing_satisfies_leaves_no_intent_without_outcome(tmp_path: Path, tool: str):
    trail = trail_in(tmp_path)
    done = run(trail, call(tool), command=GUARD)
    found = recorded(trail, tool)

    assert answers(done)[1]["result"]["isError"] is True
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


def test_stored_values_are_searched_for_secrets_in_time(tmp_path: Path):
    """A search that takes quadratic time needs minutes for this text; `run` gives up after one."""
    trail = trail_in(tmp_path)
    done = run(trail, call("fetch", headers={"a": "token:" * 100_000}), call("look", 2, number=7), STORE_VALUES="true")

    assert [answers(done)[number]["result"].get("isError") for number in (1, 2)] == [None, None]
    assert recorded(trail, "fetch")[-1]["outcome"] == "ok"

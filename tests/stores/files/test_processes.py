"""Real processes on a real folder: several at once, and killed at random moments."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from strictwire.stores.files.disk import FolderDisk
from strictwire.stores.files.keys import read_public_key
from strictwire.stores.files.verify import verify_trail
from tests.stores.trails import call_ids, records_of, trail_in

WRITER = Path(__file__).parent.parent / "writer.py"
SEED = 20260115
KILLS = 50


def _start(root: Path, label: str, count: int, mode: str = "sync") -> subprocess.Popen[str]:
    command = [sys.executable, str(WRITER), str(root), label, str(count), mode]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "opened\n"
    return process


def _kill_after(process: subprocess.Popen[str], answers: int) -> list[str]:
    """Read so many answers, kill, and read what it had still said."""
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(answers)]
    process.send_signal(signal.SIGKILL)
    said += process.stdout.readlines()
    process.stdout.close()
    process.wait(10)
    return [line.rstrip("\n") for line in said if line.endswith("\n")]


def _assert_whole(root: Path, answered: list[str]) -> None:
    trail = trail_in(root)
    verdict = verify_trail(trail.folder, read_public_key(trail.key_path), anchor=trail.anchor_path)
    kept = set(call_ids(records_of(FolderDisk(trail.folder))))

    assert verdict.finding is None, verdict.finding
    assert set(answered) <= kept


@pytest.mark.slow
@pytest.mark.clause("S7")
@pytest.mark.parametrize("mode", ["sync", "batched"])
def test_killed_at_random_moments_no_answered_call_is_missing_and_the_log_verifies_every_time(tmp_path: Path, mode: str):
    dice = random.Random(SEED)
    print("seed", SEED)
    answered: list[str] = []
    for number in range(KILLS // 2):
        process = _start(tmp_path, f"run{number}", 100_000, mode)
        answered += _kill_after(process, dice.randrange(0, 200))

        _assert_whole(tmp_path, answered)


@pytest.mark.slow
def test_two_processes_write_one_log_at_the_same_time(tmp_path: Path):
    processes = [_start(tmp_path, label, 300) for label in ("one", "two")]
    # Without a time limit: with one, what was read ahead with the first line is passed over.
    said = [line for process in processes for line in process.communicate()[0].splitlines()]
    _assert_whole(tmp_path, said)

    assert sorted(said) == sorted(f"{label}-{number}" for label in ("one", "two") for number in range(300))
    assert [process.returncode for process in processes] == [0, 0]

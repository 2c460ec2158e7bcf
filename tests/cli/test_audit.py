"""The audit subcommands on a trail that a real server wrote."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from strictwire.cli.main import main

FIXTURES = Path(__file__).parents[1] / "fixtures"
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


@pytest.fixture
def trail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trail folder with four records: three successful calls and one of an unknown tool."""
    settings = {
        "STRICTWIRE_AUDIT_MODE": "sync",
        "STRICTWIRE_AUDIT_FOLDER": str(tmp_path / "trail"),
        "STRICTWIRE_AUDIT_KEY": str(tmp_path / "keys" / "audit.key"),
        "STRICTWIRE_AUDIT_STORE_VALUES": "true",
        "STRICTWIRE_LOG_LEVEL": "error",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    names = ["test_simple_text", "test_simple_text", "test_error_handling", "nowhere"]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": name, "_meta": META}})
        for n, name in enumerate(names)
    ]
    command = [sys.executable, "-m", "strictwire.cli.main", "serve", "everything:server", "--stdio"]
    done = subprocess.run(
        command, input="\n".join(lines).encode(), capture_output=True, cwd=FIXTURES, env=os.environ, check=True, timeout=60
    )
    assert len(done.stdout.splitlines()) == 4
    return tmp_path / "trail"


def test_verify_accepts_an_intact_trail_and_names_a_changed_record(trail: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "verify"]) == 0
    assert capsys.readouterr().out.startswith("ok: 4 records from 0, 4 signed by")

    log = trail / "audit-log.jsonl"
    log.write_bytes(log.read_bytes().replace(b"test_error_handling", b"test_error_handlinG", 1))

    assert main(["audit", "verify"]) == 100
    broken, advice = capsys.readouterr().out.splitlines()
    assert broken.startswith("BROKEN: record")
    assert advice.endswith("then run `strictwire audit repair --reason TEXT`")


def test_verify_without_a_trail_says_how_to_name_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = tmp_path / "audit.key"

    assert main(["audit", "verify", "--folder", str(tmp_path / "trail"), "--key", str(key)]) == 1
    assert capsys.readouterr().err == (
        f"strictwire audit verify: {key}.pub: No such file or directory; a server creates it with the first trail. "
        "Name another trail with --config FILE, or --folder DIR and --key FILE\n"
    )


def test_a_proof_can_be_checked_with_the_public_key_alone(
    trail: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proof, key = tmp_path / "record.proof", tmp_path / "alone.pub"
    key.write_bytes((tmp_path / "keys" / "audit.key.pub").read_bytes())

    assert main(["audit", "prove", "1", "--out", str(proof)]) == 0
    (trail / "audit-log.jsonl").unlink()
    assert main(["audit", "check", str(proof), "--public-key", str(key)]) == 0
    assert "ok: record 1 is one of the 4" in capsys.readouterr().out

    proof.write_bytes(proof.read_bytes().replace(b"index 1", b"index 2"))
    assert main(["audit", "check", str(proof), "--public-key", str(key)]) == 100


def test_records_are_shown_counted_and_exported_by_filter(
    trail: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "show", "--code", "UNKNOWN_TOOL"]) == 0
    shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(each["kind"], each["tool_name"]) for each in shown] == [("refusal", "nowhere")]

    assert main(["audit", "stats"]) == 0
    assert "records      4" in capsys.readouterr().out

    out = tmp_path / "calls.csv"
    assert main(["audit", "export", "--format", "csv", "--out", str(out), "--tool", "test_simple_text"]) == 0
    with out.open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 2


def test_replay_compares_results_with_the_recorded_ones(
    trail: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(FIXTURES)

    assert main(["audit", "replay", "everything:server"]) == 0
    assert "3 same, 0 different" in capsys.readouterr().out


def test_a_missing_trail_exits_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STRICTWIRE_AUDIT_KEY", str(tmp_path / "none.key"))

    assert main(["audit", "verify", "--folder", str(tmp_path / "nowhere")]) == 1
    assert "No such file" in capsys.readouterr().err


def test_a_missing_record_cannot_be_proved(trail: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "prove", "99"]) == 1
    assert "no checkpoint covers this record" in capsys.readouterr().err

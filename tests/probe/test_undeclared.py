"""The probe calls only tools that declare themselves read-only."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from strictwire.probe import ProbeOptions, ProbeReport, run_with

SERVERS = Path(__file__).parent / "servers"
UNDECLARED = {"send_money", "drop_database", "delete_notes", "add_note"}


def probed(name: str, called: Path, monkeypatch: pytest.MonkeyPatch, **options: object) -> tuple[ProbeReport, set[str]]:
    """The report, and the tools that were called."""
    monkeypatch.setenv("CALLED", str(called))
    monkeypatch.setenv("STRICTWIRE_AUDIT_MODE", "off")
    command = [sys.executable, str(SERVERS / f"{name}.py")]
    report = asyncio.run(run_with(ProbeOptions(stdio=command, budget=600, eof_tries=2, **options)))  # type: ignore[arg-type]
    return report, set(called.read_text().split()) if called.exists() else set()


@pytest.mark.slow
def test_tools_that_are_not_declared_read_only_are_never_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All probes run, and the server counts its calls. Arguments for a tool are no permission to call it."""
    report, called = probed("undeclared", tmp_path / "called", monkeypatch, tools={"send_money": {"amount": 2}})

    assert called == {"read_note"}
    assert dict(report.uncalled) == dict.fromkeys(UNDECLARED, "it is not declared read-only; --call-anything calls it")
    assert report.not_run == ()


@pytest.mark.slow
def test_with_call_anything_all_are_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only = frozenset({"OUTPUT_SCHEMA"})
    report, called = probed("undeclared", tmp_path / "called", monkeypatch, only=only, call_anything=True)

    assert called == {*UNDECLARED, "read_note"}
    assert dict(report.uncalled) == {}


def test_contradictory_and_malformed_hints_declare_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also a name that is listed twice, with different hints."""
    _, called = probed("contradictory", tmp_path / "called", monkeypatch, only=frozenset({"OUTPUT_SURVIVED", "CALL_VARIED"}))

    assert called == {"fine"}

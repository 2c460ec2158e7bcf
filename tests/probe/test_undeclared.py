"""The probe calls only tools that declare themselves read-only."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from strictwire.probe import ProbeOptions, run_with

SERVER = [sys.executable, str(Path(__file__).parent / "servers" / "undeclared.py")]

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("call_all", "expected"), [(False, False), (True, True)])
def test_tools_that_are_not_declared_read_only_are_never_called(
    call_all: bool, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `--call-all` the same server is called: the file would show a call."""
    called = tmp_path / "called"
    monkeypatch.setenv("CALLED", str(called))
    monkeypatch.setenv("STRICTWIRE_AUDIT_MODE", "off")
    only = frozenset({"OUTPUT_SCHEMA"}) if call_all else None
    report = asyncio.run(run_with(ProbeOptions(stdio=SERVER, call_all=call_all, only=only), lambda _progress: None))

    assert called.exists() is expected
    assert report.variants

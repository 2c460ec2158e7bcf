"""One HTTP server for all clients of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from mcp.client import session as mcp_session

from tests.fixtures.live import HttpProcess, serve_http


@pytest.fixture
def http() -> Iterator[HttpProcess]:
    """The hard server over HTTP, with a story that begins anew."""
    with serve_http("hard:server") as process:
        yield process


@pytest.fixture
def patient_discovery(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client falls back to the legacy era if two processes are not up in ten seconds, which a busy machine may need."""
    monkeypatch.setattr(mcp_session, "DISCOVER_TIMEOUT_SECONDS", 60.0)

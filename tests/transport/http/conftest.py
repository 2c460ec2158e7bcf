"""Servers that drive the HTTP rules: our own, and uvicorn through ASGI."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fixtures.live import SERVERS, HttpProcess, serve_http


@pytest.fixture(scope="module", params=SERVERS)
def either(request: pytest.FixtureRequest) -> Iterator[HttpProcess]:
    """The hard server over HTTP, by each of them in turn."""
    with serve_http("hard:server", by=request.param) as process:
        yield process

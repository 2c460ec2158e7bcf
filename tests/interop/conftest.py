"""One HTTP server for all clients of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fixtures.live import HttpProcess, serve_http


@pytest.fixture
def http() -> Iterator[HttpProcess]:
    """The hard server over HTTP, with a story that begins anew."""
    with serve_http("hard:server") as process:
        yield process

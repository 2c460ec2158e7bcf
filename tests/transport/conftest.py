"""One server a module: starting a process costs more than any test here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fixtures.live import HttpProcess, StdioProcess, serve_http


@pytest.fixture(scope="module")
def http() -> Iterator[HttpProcess]:
    """The hard server over HTTP."""
    with serve_http("hard:server") as process:
        yield process


@pytest.fixture(scope="module")
def hasty() -> Iterator[HttpProcess]:
    """The hard server over HTTP, with no patience."""
    with serve_http("hasty:server") as process:
        yield process


@pytest.fixture(scope="module")
def stdio() -> Iterator[StdioProcess]:
    """The hard server over stdio, for tests that leave nothing behind."""
    with StdioProcess("hard:server") as process:
        yield process


@pytest.fixture
def fresh() -> Iterator[StdioProcess]:
    """A process of the test's own."""
    with StdioProcess("hard:server") as process:
        yield process

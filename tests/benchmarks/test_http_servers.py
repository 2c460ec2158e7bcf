"""The comparison of HTTP servers: what is compared, and that a breach is seen."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from benchmarks.http_servers import MANY, find_ratios
from benchmarks.messages import Revision
from benchmarks.results import Summary

from benchmarks import http_hostile


def summary(rate: float, cpu: float) -> Summary:
    return Summary(rate=rate, p50=1.0, cpu=cpu, busy=0.5, rates=(rate,), p50s=(1.0,), cpus=(cpu,))


def test_ours_at_its_slower_revision_is_compared_with_the_fastest_other() -> None:
    found = {
        ("ours", Revision.LEGACY, MANY): summary(300, 10),
        ("ours", Revision.MODERN, MANY): summary(200, 20),
        ("ours-uvloop", Revision.MODERN, MANY): summary(900, 1),
        ("uvicorn", Revision.MODERN, MANY): summary(100, 40),
        ("granian", Revision.LEGACY, MANY): summary(50, 80),
        ("granian", Revision.LEGACY, 1): summary(800, 1),
    }

    assert find_ratios(found) == (2.0, 2.0)


class Silent:
    """A server that accepts connections and does nothing."""

    def __init__(self, listening: socket.socket) -> None:
        self.port: int = listening.getsockname()[1]


@contextmanager
def silent() -> Iterator[Any]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        held: list[socket.socket] = []
        thread = threading.Thread(target=lambda: held.append(listening.accept()[0]))
        thread.start()
        yield Silent(listening)
        thread.join()
        for each in held:
            each.close()


def test_a_client_that_is_waited_for_is_a_breach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_hostile, "PATIENCE", 0.05)
    with silent() as running:
        assert http_hostile.CASES["slow head"](running) == "waits more than 0.05 s"

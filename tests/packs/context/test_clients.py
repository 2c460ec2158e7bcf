"""Many concurrent clients of real server processes: each gets the same bytes as a single client."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.fixtures.live import PATIENCE, HttpProcess, StdioProcess, legacy, modern, modern_headers, serve_http
from tests.packs.context.caches import make_cache

from strictwire.canon.json import parse_object

CLIENTS = 32
PROCESSES = 4
WORDS = ("alpha", "beta gamma", "delta", "the", "", "alpha alpha", "absent", "Beta")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("clients")
    texts = {
        f"part{number % 3}/{number:03}.md": f"# Page {number}\n\nthe {WORDS[number % 4]} {number} " + "x " * (number % 17)
        for number in range(300)
    }
    make_cache(folder, texts, "one")
    make_cache(folder, {"only.md": "# Only\n\nbeta alone"}, "two")
    (folder / "empty").mkdir()
    return folder


@pytest.fixture(scope="module")
def settings(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("settings") / "strictwire.toml"
    file.write_text(f'[packs.context]\nroot = "{root}"\n')
    return file


def calls() -> list[tuple[str, dict[str, object]]]:
    """Calls of every tool: answers and refusals, and budgets that fit no, some and all documents."""
    made: list[tuple[str, dict[str, object]]] = [("context.list_caches", {})]
    for place, words in enumerate(WORDS):
        budget = (0, 7, 200, 100_000)[place % 4]
        made.append(("context.resolve", {"cache": "one", "query": words, "budget": budget}))
        made.append(("context.search", {"query": words or "page", "budget": budget, "limit": 5}))
        made.append(("context.inspect_cache", {"cache": ("one", "two", "empty", "absent")[place % 4]}))
        made.append(("context.resolve", {"cache": ("two", "empty", "absent", "../x")[place % 4], "query": "q", "budget": 9}))
    return made


REQUESTS = [
    modern(number, "tools/call", {"name": name, "arguments": arguments}) for number, (name, arguments) in enumerate(calls())
]


def turned(items: Sequence[bytes], by: int) -> list[bytes]:
    """Return the requests rotated, so that no two clients send the same request at the same time."""
    at = by % len(items)
    return [*items[at:], *items[:at]]


def ask_over_http(server: HttpProcess, requests: Sequence[bytes], ready: threading.Barrier) -> dict[bytes, bytes]:
    with server.connect() as connection:
        ready.wait(PATIENCE)
        return {body: connection.post(body, modern_headers(body)).body for body in requests}


@pytest.mark.slow
def test_32_clients_over_http_get_the_same_bytes_as_one_client(settings: Path) -> None:
    """First many clients call a server that has loaded nothing; then one client sends the same requests in order."""
    with serve_http("--pack=context", "--config", str(settings)) as server, ThreadPoolExecutor(CLIENTS) as pool:
        ready = threading.Barrier(CLIENTS)
        crowd = [pool.submit(ask_over_http, server, turned(REQUESTS, place), ready) for place in range(CLIENTS)]
        together = [each.result(PATIENCE) for each in crowd]
        alone = ask_over_http(server, REQUESTS, threading.Barrier(1))

    assert [each for each in together if each != alone] == []
    assert len(set(alone.values())) == len(REQUESTS)
    assert all(parse_object(answer)["id"] == number for number, answer in enumerate(alone.values()))


def ask_over_stdio(server: StdioProcess, requests: Sequence[bytes]) -> dict[object, bytes]:
    """Send all requests at once; answers may arrive in any order."""
    server.send(*requests)
    lines = [server.line() for _ in requests]
    return {parse_object(line)["id"]: line for line in lines}


@pytest.mark.slow
def test_32_calls_in_flight_over_stdio_get_the_same_bytes_as_one_client(settings: Path) -> None:
    with ExitStack() as stack, ThreadPoolExecutor(PROCESSES) as pool:
        servers = [stack.enter_context(StdioProcess("--pack=context", "--config", str(settings))) for _ in range(PROCESSES)]
        crowd = [pool.submit(ask_over_stdio, server, turned(REQUESTS, 7 * place)) for place, server in enumerate(servers)]
        together = [each.result(PATIENCE) for each in crowd]
        alone: dict[object, bytes] = {}
        for request in REQUESTS:
            alone.update(ask_over_stdio(servers[0], [request]))

    assert len(REQUESTS) >= CLIENTS
    assert [each for each in together if each != alone] == []
    assert list(alone) == list(range(len(REQUESTS)))


@pytest.mark.v0("2.11")
@pytest.mark.slow
def test_lines_piped_into_the_frozen_surface_are_answered_one_after_another(root: Path) -> None:
    lines = [
        legacy(number, "tools/call", {"name": name, "arguments": arguments})
        for number, (name, arguments) in enumerate(calls())
        if name != "context.search"
    ]
    with StdioProcess("--pack=context", "--exact-v0", env={"CONTEXT_CACHE_ROOT": str(root)}) as server:
        server.ask(legacy("init", "initialize"))
        server.send(*lines)
        together = [server.line() for _ in lines]
        alone = []
        for line in lines:
            server.send(line)
            alone.append(server.line())

    assert together == alone

"""Public servers from npm and PyPI behind the guard, with the official Python and TypeScript clients.

The Python client negotiates, so it speaks 2026-07-28 to every one of them, over a bridge where the server has sessions
only; the TypeScript client is the one of the legacy era.
"""

from __future__ import annotations

import functools
import http.server
import json
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import MCPError
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from strictwire.canon.json import parse_object
from tests.fixtures.guards import STRICTWIRE
from tests.fixtures.live import PATIENCE, environment

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
PACKAGES = HERE / "node" / "node_modules" / "@modelcontextprotocol"
PYTHON_SERVERS = HERE.parents[1] / ".venv-servers" / "bin"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("patient_discovery"),
    pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning"),
]

THOUGHT = {"thought": "one", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1}
ENTITY = {"name": "guard", "entityType": "tool", "observations": ["strict"]}
REFUSED = "INVALID_PARAMS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Public:
    """One public server: how it is started in a folder, and calls with a piece of the text that answers each.

    `{folder}` and `{url}` stand for a folder with `note.txt` in a repository, and for a page that is served from it.
    """

    command: Callable[[str], list[str]]
    server: str
    tools: int
    calls: tuple[tuple[str, dict[str, Any], str], ...]


def on_npm(name: str, *arguments: str) -> Callable[[str], list[str]]:
    script = PACKAGES / f"server-{name}" / "dist" / "index.js"
    return lambda folder: [str(BIN / "node"), str(script), *(each.format(folder=folder) for each in arguments)]


def on_pypi(name: str, *arguments: str) -> Callable[[str], list[str]]:
    return lambda _folder: [str(PYTHON_SERVERS / f"mcp-server-{name}"), *arguments]


SERVERS = {
    "filesystem": Public(
        command=on_npm("filesystem", "{folder}"),
        server="secure-filesystem-server",
        tools=14,
        calls=(
            ("read_text_file", {"path": "{folder}/note.txt"}, "remember"),
            ("read_text_file", {"path": "/etc/passwd"}, "Access denied"),
            ("read_text_file", {"path": 5}, REFUSED),
        ),
    ),
    "everything": Public(
        command=on_npm("everything"),
        server="mcp-servers/everything",
        tools=13,
        calls=(
            ("echo", {"message": "grüß"}, "Echo: grüß"),
            ("get-sum", {"a": 2, "b": 3.5}, "5.5"),
            ("get-structured-content", {"location": "New York"}, "temperature"),
            ("get-sum", {"a": "2", "b": 3}, REFUSED),
        ),
    ),
    "memory": Public(
        command=on_npm("memory"),
        server="memory-server",
        tools=9,
        calls=(
            ("create_entities", {"entities": [ENTITY]}, "guard"),
            ("read_graph", {}, "strict"),
            ("create_entities", {"entities": [{"name": "x"}]}, REFUSED),
        ),
    ),
    "sequential-thinking": Public(
        command=on_npm("sequential-thinking"),
        server="sequential-thinking-server",
        tools=1,
        calls=(("sequentialthinking", THOUGHT, "thoughtNumber"), ("sequentialthinking", {"thought": "one"}, REFUSED)),
    ),
    "git": Public(
        command=on_pypi("git"),
        server="mcp-git",
        tools=12,
        calls=(
            ("git_status", {"repo_path": "{folder}"}, "note.txt"),
            ("git_status", {}, REFUSED),
        ),
    ),
    "fetch": Public(
        command=on_pypi("fetch", "--ignore-robots-txt", "--allow-private-ips"),
        server="mcp-fetch",
        tools=1,
        calls=(("fetch", {"url": "{url}/note.txt", "raw": True}, "remember"), ("fetch", {"url": 1}, REFUSED)),
    ),
    "time": Public(
        command=on_pypi("time"),
        server="mcp-time",
        tools=2,
        calls=(("get_current_time", {"timezone": "UTC"}, "+00:00"), ("get_current_time", {"timezone": []}, REFUSED)),
    ),
}


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder without a word."""

    def log_message(self, *_: Any) -> None:
        """Not here."""


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "note.txt").write_text("remember the milk")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True, timeout=PATIENCE)
    return str(tmp_path)


@contextmanager
def served(folder: str) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join(PATIENCE)


def with_typescript(calls: list[tuple[str, dict[str, Any]]], command: list[str], env: dict[str, str]) -> dict[str, Any]:
    script = [str(BIN / "node"), str(HERE / "node" / "public.mjs"), json.dumps(calls), *command]
    done = subprocess.run(script, env=env, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return parse_object(done.stdout.strip())


def with_python(calls: list[tuple[str, dict[str, Any]]], command: list[str], env: dict[str, str]) -> dict[str, Any]:
    async def main() -> dict[str, Any]:
        target = StdioServerParameters(command=command[0], args=command[1:], env=env)
        with anyio.fail_after(60), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            async with Client(target, mode="auto") as client:
                assert client.protocol_version == "2026-07-28"
                tools = [each.name for each in (await client.list_tools()).tools]
                said = [await call(client, name, given) for name, given in calls]
                return {"server": client.server_info.name if client.server_info else None, "tools": tools, "said": said}

    async def call(client: Client, name: str, given: dict[str, Any]) -> list[Any]:
        try:
            result = await client.call_tool(name, given)
        except MCPError as exc:
            return [exc.error.code, ""]
        return [result.is_error or False, "\n".join(getattr(each, "text", "") for each in result.content)]

    return anyio.run(main)


CLIENTS = {"python": with_python, "typescript": with_typescript}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("name", SERVERS)
def test_a_public_server_works_behind_the_guard(name: str, client: str, folder: str) -> None:
    public = SERVERS[name]
    command = public.command(folder)
    assert all(Path(each).exists() for each in command[:2] if "/" in each), "run ./scripts/npm and ./scripts/peers"
    env = environment({"MEMORY_FILE_PATH": f"{folder}/memory.jsonl", "NO_PROXY": "127.0.0.1"})
    env = {key: value for key, value in env.items() if not key.lower().endswith("_proxy") or key == "NO_PROXY"}
    with served(folder) as url:
        places = {"folder": folder, "url": url}
        calls = [
            (tool, {key: each.format(**places) if isinstance(each, str) else each for key, each in given.items()})
            for tool, given, _ in public.calls
        ]
        told = CLIENTS[client](calls, [STRICTWIRE, "guard", "--", *command], env)

    assert (told["server"], len(told["tools"])) == (public.server, public.tools)
    pieces = [piece for _, _, piece in public.calls]
    assert [piece in text for piece, (_, text) in zip(pieces, told["said"], strict=True)] == [True] * len(pieces), told
    assert [failed for failed, _ in told["said"]] == [piece in (REFUSED, "Access denied") for piece in pieces]
